"""docs/examples: plugins in other languages, built as described in their comments, and run."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from support import SOURCE, CliTest, main, tmeter

EXAMPLES = SOURCE / "docs" / "examples"
MODEL = SOURCE / "sdk" / "template" / "common" / "model.pt2"


class Examples(CliTest):
    def build(self, *command, **kwargs):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **kwargs)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_fine(self, plugin):
        checked = tmeter("plugin", "check", plugin)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertIn("\nfine: ", checked.stdout)
        return checked.stdout

    def test_a_metric_in_c(self):
        plugin = self.folder / "elements.tmeter"
        self.build("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
                   "-I", SOURCE / "sdk" / "include", EXAMPLES / "c-metric" / "elements.c", "-o", plugin)
        self.assert_fine(plugin)
        # linear, relu and gated_mlp give 4 × 32 elements each.
        done = tmeter(MODEL, "--plugins=c-metric", "--plugin", plugin, "--assert", "c_elements==384")
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("cargo"), "cargo is not installed")
    def test_a_report_in_rust(self):
        source = shutil.copytree(EXAMPLES / "rust-report", self.folder / "rust-report")
        self.build("cargo", "build", "--offline", cwd=source,
                   env={**os.environ, "CARGO_TARGET_DIR": str(self.folder / "target")})
        plugin = shutil.copy(self.folder / "target" / "debug" / "librust_report.so", self.folder / "totals.tmeter")
        self.assertIn("--report totals writes", self.assert_fine(plugin))
        done = tmeter(MODEL, "--plugins=params,flops", "--plugin", plugin, "--report", "totals")
        self.assertEqual(done.returncode, 0, done.stderr)
        # 16·32 + 32 + 128·32 + 32·64 parameters; the linear layer's 4·16·32 multiply-adds, without those of gated_mlp,
        # which has no rule here.
        self.assertIn("params 6688 \n", done.stdout)
        self.assertIn("macs 2048 (partial) MAC\n", done.stdout)


if __name__ == "__main__":
    main()
