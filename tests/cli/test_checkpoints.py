"""Checkpoints and safetensors files: tmeter reads the tensors that PyTorch and safetensors load.

fixtures/make_checkpoints.py (torch 2.15) writes the files and expected.json. The bytes of each tensor are compared by a
digest that a plugin computes while they are streamed.
"""
import io
import json
import shutil
import struct
import tempfile
import zipfile

from support import FIXTURES, CliTest, build_plugin, main, report, tmeter

HERE = FIXTURES / "checkpoints"
EXPECTED = json.loads((HERE / "expected.json").read_text())["files"]


class Reading(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-digest-")
        cls.addClassCleanup(built.cleanup)
        cls.plugin = f"{built.name}/digest.tmeter"
        build_plugin("digest_plugin.cpp", cls.plugin)

    def read(self, path, *arguments):
        return report(path, "--plugins=params,digest", "--plugin", self.plugin, *arguments)

    def assert_tensors(self, document, expected):
        found = {t["name"]: t for t in document["tensors"]}
        self.assertEqual(sorted(found), sorted(expected))
        for name, reference in expected.items():
            with self.subTest(tensor=name):
                t = found[name]
                for key in ("shape", "dtype", "numel", "kind", "trainable"):
                    self.assertEqual(t[key], reference[key], key)
                if "tied_to" not in t:
                    self.assertEqual(t["values"].get("digest"), reference["digest"])

    def test_every_tensor_equals_the_one_pytorch_loads(self):
        for name, expected in EXPECTED.items():
            with self.subTest(file=name):
                document = self.read(HERE / name)
                self.assert_tensors(document, expected["tensors"])
                if "params" in expected:
                    self.assertEqual(document["totals"]["params"], expected["params"])

    def test_a_recompressed_file_is_read_equally(self):
        out = io.BytesIO()
        with zipfile.ZipFile(HERE / "state_dict.pt") as z, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
            for entry in z.namelist():
                target.writestr(entry.split("/", 1)[1], z.read(entry))
        document = report(self.file("again.pt", out.getvalue()), "--plugins=params")
        self.assertEqual(document["totals"]["params"], EXPECTED["state_dict.pt"]["params"])

    def test_the_name_does_not_decide_the_format(self):
        for name in ("state_dict.pt", "legacy.pt", "net.safetensors"):
            path = self.folder / "weights.bin"
            shutil.copy(HERE / name, path)
            self.assert_tensors(self.read(path), EXPECTED[name]["tensors"])


class Modules(CliTest):
    def setUp(self):
        super().setUp()
        self.document = report(HERE / "module.pt", "--plugins=params")
        self.modules = {m["path"]: m for m in self.document["modules"]}

    def test_the_tree_has_the_types_pytorch_has(self):
        self.assertEqual({path: m["qualified_type"] for path, m in self.modules.items()}, EXPECTED["module.pt"]["types"])

    def test_hyper_parameters_can_be_read(self):
        attributes = {path: m.get("attributes", {}) for path, m in self.modules.items()}
        stem = attributes["stem"]
        self.assertEqual((stem["in_channels"], stem["out_channels"]), (3, 8))
        self.assertEqual((stem["kernel_size"], stem["stride"]), ([3, 3], [2, 2]))
        self.assertEqual(attributes["blocks.0.norm"]["eps"], 1e-3)
        self.assertEqual(attributes["blocks.0.act"]["approximate"], "tanh")
        self.assertEqual(attributes["attention"]["num_heads"], 2)
        self.assertEqual(attributes["attention"]["dropout"], 0.1)
        self.assertEqual(attributes[""]["sizes"], [4, 8, 16])
        self.assertEqual(attributes[""]["title"], "net")

    def test_a_legacy_file_has_the_same_tree(self):
        legacy = report(HERE / "legacy_module.pt", "--plugins=params")
        self.assertEqual([(m["path"], m["qualified_type"]) for m in legacy["modules"]],
                         [(m["path"], m["qualified_type"]) for m in self.document["modules"]])

    def test_frozen_weights_are_not_trainable(self):
        self.assertEqual(self.document["totals"]["params"] - self.document["totals"]["params_trainable"], 8)


class Choosing(CliTest):
    def test_the_model_of_a_training_checkpoint_is_chosen_with_a_warning(self):
        document = report(HERE / "training.pt", "--plugins=params")
        self.assertEqual(document["model"]["format"], "torch.save checkpoint (zip)")
        self.assertEqual(document["model"]["part"], "model_state_dict")
        self.assertTrue(any("the report shows model_state_dict, not extra.ema" in w for w in document["warnings"]),
                        document["warnings"])
        names = {t["name"] for t in document["tensors"]}
        self.assertEqual(names, set(EXPECTED["training.pt"]["tensors"]))

    def test_another_part_can_be_requested(self):
        document = report(HERE / "training.pt", "--plugins=params", "--set", "checkpoint.key=extra.ema")
        self.assertEqual(len(document["tensors"]), len(EXPECTED["training.pt"]["tensors"]))
        self.assertEqual(document["warnings"], [])

    def test_all_parts_can_be_requested(self):
        document = report(HERE / "training.pt", "--plugins=params", "--set", "checkpoint.key=.")
        names = {t["name"] for t in document["tensors"]}
        self.assertIn("model_state_dict.stem.weight", names)
        self.assertIn("optimizer_state_dict.state.0.exp_avg", names)

    def test_a_wrong_key_lists_the_existing_ones(self):
        self.assert_refused(2, ["checkpoint.key=nowhere", "epoch", "model_state_dict", "optimizer_state_dict"],
                            HERE / "training.pt", "--set", "checkpoint.key=nowhere")
        self.assert_refused(2, ["'extra'", "ema"], HERE / "training.pt", "--set", "checkpoint.key=extra.model")

    def test_a_part_without_tensors_is_refused(self):
        self.assert_refused(2, ["no tensors"], HERE / "training.pt", "--set", "checkpoint.key=epoch")


class Speed(CliTest):
    def test_weights_are_not_read(self):
        """Ten gigabytes, a hole in the file: mapped and never read."""
        header = json.dumps({"w": {"dtype": "U8", "shape": [10 << 30], "data_offsets": [0, 10 << 30]}}).encode()
        path = self.file("big.safetensors", struct.pack("<Q", len(header)) + header)
        with open(path, "r+b") as f:
            f.truncate(8 + len(header) + (10 << 30))
        done = tmeter(path, "--plugins=params", timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("10,737,418,240", done.stdout)


if __name__ == "__main__":
    main()
