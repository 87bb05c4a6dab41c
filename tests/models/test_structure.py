"""Modules in PyTorch's own notation, and repeats, on the fixtures.

structure.json holds repr() of every leaf module (tests/fixtures/record_structure.py). Our text may omit facts that the file
lacks. Then it is the bare type, never a wrong value.
"""
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, HAVE_TORCH, MODELS, report, tmeter  # noqa: E402

LEAVES = json.loads((FIXTURES / "structure.json").read_text())["leaves"]

# Types without a text of ours, and the reason.
NOT_WRITTEN = {
    "MultiheadAttention", "NonDynamicallyQuantizableLinear",  # run as one operator with packed weights
    "Permute", "StochasticDepth",  # torchvision's, not torch.nn's
}


def plain(text):
    """A file has only the size per dimension, so `3` and `(3, 3)` are equal."""
    return re.sub(r"\((\d+)(, \1)+\)", r"\1", text)


class Texts(unittest.TestCase):
    def check(self, model, *options):
        name = model.name.split(".")[0]
        written, bare, wrong = 0, {}, {}
        for module in report(model, *options)["modules"]:
            expected = LEAVES[name].get(module["path"])
            if expected is None or module["children"]:
                continue
            if plain(module["text"]) == plain(expected):
                written += 1
            elif module["text"] == module["type"]:
                bare[module["path"]] = expected
            else:
                wrong[module["path"]] = (module["text"], expected)
        self.assertEqual(wrong, {})
        return written, bare

    def test_exported_models(self):
        for model in sorted(MODELS.glob("*.pt2")):
            if model.name.split(".")[0] in LEAVES:
                with self.subTest(model=model.name):
                    self.check(model)

    @unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
    def test_scripted_models(self):
        for name in ("resnet50", "mobilenet_v2", "swin_t"):
            with self.subTest(model=name):
                self.check(MODELS / f"{name}.scripted.pt", "--input", "1x3x224x224")

    def test_every_layer_of_the_common_networks_is_written_out(self):
        for name in ("resnet50", "vit_b_16", "densenet121", "mobilenet_v2", "efficientnet_b0", "lstm"):
            with self.subTest(model=name):
                written, bare = self.check(MODELS / f"{name}.pt2")
                unexplained = {p: t for p, t in bare.items() if t.split("(")[0] not in NOT_WRITTEN}
                self.assertEqual(unexplained, {})
                self.assertGreater(written, 0)


class Facts(unittest.TestCase):
    def test_sizes_in_json(self):
        """Sizes of ResNet-50's stages: He et al. 2015, table 1."""
        modules = {m["path"]: m for m in report(MODELS / "resnet50.pt2")["modules"]}
        self.assertEqual(modules["conv1"]["kernel_size"], "[7, 7]")
        self.assertEqual(modules["maxpool"]["kernel_size"], "[3, 3]")
        self.assertNotIn("kernel_size", modules["fc"])
        for path, size in (("", "[1, 1000]"), ("layer1", "[1, 256, 56, 56]"), ("layer2", "[1, 512, 28, 28]"),
                           ("layer3", "[1, 1024, 14, 14]"), ("layer4", "[1, 2048, 7, 7]")):
            self.assertEqual(modules[path]["output_size"], size)
        self.assertEqual(modules["layer2"]["input_size"], "[1, 256, 56, 56]")

    def test_columns_of_words(self):
        done = tmeter(MODELS / "lstm.pt2", "--columns", "input_size,output_size,macs")
        line = next(l for l in done.stdout.splitlines() if " rnn " in l)
        self.assertIn("[2, 20, 128]", line)
        self.assertIn("[2, 20, 256]", line)
        done = tmeter(MODELS / "lstm.pt2", "--columns", "input_size", "--by", "type")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--by module", done.stderr)


class Repeats(unittest.TestCase):
    def repeats(self, model):
        return {m["path"]: (m["repeat"]["window"], m["repeat"]["times"])
                for m in report(MODELS / model)["modules"] if "repeat" in m}

    def test_resnet50(self):
        """Blocks per stage are 3, 4, 6, 3; the first of each has a stride or a projection."""
        found = self.repeats("resnet50.pt2")
        self.assertEqual({p: r for p, r in found.items() if p.count(".") == 1},
                         {"layer1.1": (1, 2), "layer2.1": (1, 3), "layer3.1": (1, 5), "layer4.1": (1, 2)})

    def test_vit(self):
        self.assertEqual(self.repeats("vit_b_16.pt2").get("encoder.layers.encoder_layer_0"), (1, 12))

    def test_folding_hides_rows_not_values(self):
        folded = tmeter(MODELS / "vit_b_16.pt2", "--depth", "all").stdout
        whole = tmeter(MODELS / "vit_b_16.pt2", "--depth", "all", "--no-fold").stdout
        self.assertIn("repeat 12 ×", folded)
        self.assertNotIn("repeat", whole)
        self.assertLess(folded.count("Linear"), whole.count("Linear") / 5)
        self.assertIn("17,563,828,224", folded)


if __name__ == "__main__":
    unittest.main(verbosity=1)
