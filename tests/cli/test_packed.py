"""Packed safetensors: logical parameters, stored bytes and decoded numbers, on every packing of fixtures/make_packed.py."""
import json
import shutil
import subprocess
import tempfile

from support import FIXTURES, SOURCE, CliTest, main, report, tmeter

HERE = FIXTURES / "packed"
EXPECTED = json.loads((HERE / "expected.json").read_text())


class Packed(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-digest-")
        cls.addClassCleanup(built.cleanup)
        cls.plugin = f"{built.name}/digest.tmeter"
        subprocess.run(["c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-I", SOURCE / "sdk" / "include",
                        "-o", cls.plugin, SOURCE / "tests" / "cli" / "digest_plugin.cpp"], check=True)

    def read(self, path, *arguments):
        return report(path, "--plugins=params,memory,digest", "--plugin", self.plugin, "--columns=all", *arguments)

    def copy(self, name):
        """The folder of a fixture, to be changed."""
        return self.folder / shutil.copytree(HERE / name, self.folder / name)

    def alone(self, name):
        """The weights without their config.json."""
        folder = self.copy(name)
        (folder / "config.json").unlink(missing_ok=True)
        return folder / "model.safetensors"

    def assert_counted(self, document, expected):
        self.assertEqual(document["totals"]["params"], expected["params"])
        self.assertEqual(document["totals"]["param_bytes"] + document["totals"]["buffer_bytes"], expected["param_bytes"])
        found = {t["name"]: t for t in document["tensors"]}
        for name, wanted in expected["weights"].items():
            t = found.get(name)
            self.assertIsNotNone(t, f"{name} is not among {sorted(found)}")
            self.assertEqual(t["shape"], wanted["shape"], name)
            stored = t["encoding"]["stored_bytes"] if "encoding" in t else t["values"]["param_bytes"]
            self.assertEqual(stored, wanted["bytes"], name)

    def test_every_packing(self):
        for name, expected in EXPECTED.items():
            with self.subTest(packing=name):
                document = self.read(HERE / name / "model.safetensors")
                self.assert_counted(document, expected)
                for t in document["tensors"]:
                    if "encoding" not in t:
                        continue
                    self.assertEqual(t["values"]["digest"], expected["weights"][t["name"]]["digest"], t["name"])
                    self.assertEqual(t["values"]["bits_per_weight"], 8 * t["encoding"]["stored_bytes"] / t["numel"])

    def test_without_a_configuration_where_shapes_tell(self):
        for name, expected in EXPECTED.items():
            with self.subTest(packing=name):
                self.assert_counted(self.read(self.alone(name)), expected)


if __name__ == "__main__":
    main()
