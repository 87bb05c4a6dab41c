"""Real reports are valid against docs/schema/tmeter-report-1.schema.json."""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import MODELS, SOURCE, CliTest, tmeter  # noqa: E402

SCHEMA = SOURCE / "docs" / "schema" / "tmeter-report-1.schema.json"
VALIDATE = pathlib.Path(__file__).with_name("validate_report.py")


class Reports(CliTest):
    def check(self, *arguments):
        path = self.folder / "report.json"
        done = tmeter(*arguments, "--report", f"json={path}")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([sys.executable, VALIDATE, path, SCHEMA], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_fixture(self):
        for model in sorted(MODELS.glob("*.pt2")):
            with self.subTest(model=model.name):
                self.check(model, "--plugins=all")

    def test_every_convention(self):
        for convention in ("torch", "fvcore", "torchvision", "full"):
            with self.subTest(convention=convention):
                self.check(MODELS / "ops_zoo.pt2", "--set", f"flops.convention={convention}")

    def test_every_hardware_profile(self):
        profiles = sorted((SOURCE / "plugins/metrics/energy/hardware").glob("*.toml"))
        self.assertGreaterEqual(len(profiles), 3)
        for profile in profiles:
            with self.subTest(profile=profile.stem):
                self.check(MODELS / "resnet50.pt2", "--plugins=energy", "--hardware", profile.stem)

    def test_sweeps(self):
        self.check(MODELS / "dynamic_mlp.pt2", "--plugins=all", "--sweep", "x.0=1,8,64")
        self.check(MODELS / "dynamic_bert.pt2", "--columns=all", "--sweep", "input_ids.0=1..3",
                   "--sweep", "input_ids.1=128,512")

    def test_a_wrong_report_is_noticed(self):
        path = self.file("bad.json", '{"schema": "tmeter-report/1"}')
        done = subprocess.run([sys.executable, VALIDATE, path, SCHEMA], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
