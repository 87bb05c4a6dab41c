"""tmeter show: a saved report, read and written again, is the same byte for byte, and every other format made from it
equals the one made from the model."""
import unittest

from support import FIXTURES, HAVE_TORCH, MODELS, SOURCE, CliTest, tmeter

FORMATS = ["json", "text", "csv", "tsv", "xml", "markdown", "dot", "full-text", "html", "netron", "fvcore-json", "junit", "github"]


class Document(CliTest):
    def formats(self):
        """The formats of this build (html needs node to be built)."""
        listed = tmeter("plugin", "list").stdout
        return [f for f in FORMATS if f != "html" or "html" in listed]

    def assert_same(self, *arguments, views=()):
        """Every format, from the model and from the saved report."""
        direct, saved = self.folder / "direct", self.folder / "saved"
        for folder in (direct, saved):
            folder.mkdir(exist_ok=True)
        formats = self.formats()
        done = tmeter(*arguments, *views, *[f"--report={f}={direct / f}" for f in formats])
        self.assertEqual(done.returncode, 0, done.stderr)
        done = tmeter("show", direct / "json", *views, *[f"--report={f}={saved / f}" for f in formats])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for f in formats:
            self.assertEqual((direct / f).read_bytes(), (saved / f).read_bytes(), f"{arguments}: {f} differs")

    def test_exported_models(self):
        models = sorted(MODELS.glob("*.pt2")) + sorted((MODELS / "versions").glob("*.pt2"))
        self.assertGreater(len(models), 20)
        for model in models:
            for plugins in ((), ("--plugins=all",)):
                with self.subTest(model=model.name, plugins=plugins):
                    self.assert_same(model, *plugins)

    def test_weights(self):
        files = [FIXTURES / "trained/model.safetensors", *sorted((FIXTURES / "checkpoints").glob("*.pt"))[:12]]
        for file in files:
            with self.subTest(file=file.name):
                self.assert_same(file, "--plugins=all")

    @unittest.skipUnless(HAVE_TORCH, "built without LibTorch")
    def test_torchscript(self):
        for name in ("resnet50.traced.pt", "bert_like.scripted.pt", "detr_like.scripted.pt", "lstm.scripted.pt", "tied.scripted.pt",
                     "ops_zoo.traced.pt", "gpt2_like.traced.pt", "vit_b_16.scripted.pt"):
            with self.subTest(model=name):
                self.assert_same(MODELS / name, "--plugins=all")

    def test_every_kind_of_value(self):
        """The report of the writers' unit tests: every kind of cell and value, and hostile names."""
        golden = SOURCE / "tests/unit/reports/golden/report.json"
        done = tmeter("show", golden, "--report", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.encode(), golden.read_bytes())

    def test_views(self):
        model = MODELS / "resnet50.pt2"
        for view in (["--by=operator"], ["--by=operator", "--depth=2"], ["--by=type", "--depth=2"], ["--by=tensor", "--sort=params"],
                     ["--repr", "--no-fold", "--depth=all"], ["--columns=macs,input_size,output_size", "--raw"],
                     ["--set=dot.of=operators", "--columns=all"]):
            with self.subTest(view=view):
                self.assert_same(model, views=view)

    def test_sizes_assertions_and_hardware(self):
        self.assert_same(MODELS / "dynamic_bert.pt2", "--plugins=all", "--sweep", "input_ids.0=1,8", "--sweep", "input_ids.1=64,128")
        self.assert_same(MODELS / "dynamic_mlp.pt2", "--bind", "x.0=7", "--assert", "coverage==100%", "--assert", 'module("").macs>0')
        self.assert_same(MODELS / "resnet50.pt2", "--plugins=energy", "--hardware=nvidia-a100", "--assert=energy>0", "--assert=unknown==0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
