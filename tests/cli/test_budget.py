"""tmeter budget: the bounds a repository keeps for its models.

ResNet-50 has 25,557,032 parameters (torchvision) and 4,089,184,256 multiply-accumulates, half of FlopCounterMode's
8,178,368,512 FLOPs; gpt2_like half of 443,809,792 (tests/fixtures/expected)."""
import os
import shutil
import unittest

from support import HAVE_TORCH, MODELS, CliTest, tmeter

FILE = """# Budgets of this repository.
plugins = ["params", "flops"]

[[budget]]
model = "resnet50.pt2"     # the backbone
assert = ["macs <= 5 G", "params < 26M"]
slack = "5%"
report = "saved.json"

[[budget]]
model = "gpt2_like.pt2"
assert = [
  "flops <= 400M",  # too little
  "coverage == 100%",
]
"""


class BudgetTest(CliTest):
    def setUp(self):
        super().setUp()
        for name in ("resnet50", "gpt2_like", "mobilenet_v2"):
            shutil.copy(MODELS / f"{name}.pt2", self.folder)
        self.file = self.folder / "tmeter.toml"
        self.file.write_text(FILE)

    def budget(self, *arguments, status):
        done = tmeter("budget", *arguments, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertLessEqual(done.stderr.count("\n"), 1, done.stderr)
        return done

    def test_all_bounds_are_checked_and_listed(self):
        done = self.budget(status=3)
        self.assertEqual(done.stdout.splitlines(), [
            "ok    resnet50.pt2  macs <= 5 G  (macs is 4.089 G)",
            "ok    resnet50.pt2  params < 26M  (params is 25.56 M)",
            "FAIL  gpt2_like.pt2  flops <= 400M  (flops is 443.8 M)",
            "ok    gpt2_like.pt2  coverage == 100%  (coverage is 100 %)"])
        self.assertEqual(done.stderr, "tmeter: 1 of 4 bounds do not hold; `tmeter budget --why` names modules\n")

    def test_one_model(self):
        self.assertEqual(len(self.budget("resnet50.pt2", status=0).stdout.splitlines()), 2)
        self.assertIn("no budget of 'resnet51.pt2' (did you mean 'resnet50.pt2'?)", self.budget("resnet51.pt2", status=2).stderr)

    def test_quiet_prints_nothing_if_all_bounds_hold(self):
        self.assertEqual(self.budget("-q", "resnet50.pt2", status=0).stdout, "")

    def test_update_keeps_the_rest_of_the_file(self):
        done = self.budget("--update", status=0)
        self.assertIn("resnet50.pt2  macs <= 5 G → macs <= 4.294 G\n", done.stdout)
        # 4.089184256 · 1.05 = 4.29364…, 25.557032 · 1.05 = 26.8349, 443.809792: rounded up, so that they hold.
        expected = FILE.replace('["macs <= 5 G", "params < 26M"]', '["macs <= 4.294 G", "params <= 26.84M"]')
        begin, end = expected.index("[\n  \"flops"), expected.rindex("]") + 1
        expected = expected[:begin] + '["flops <= 443.9M", "coverage == 100%"]' + expected[end:]
        self.assertEqual(self.file.read_text(), expected)
        self.assertTrue((self.folder / "saved.json").exists())
        self.budget(status=0)
        self.assertEqual(tmeter("show", self.folder / "saved.json", "--assert", "params == 25557032").returncode, 0)

    def test_update_makes_the_folder_of_a_report(self):
        self.file.write_text(FILE.replace("saved.json", "budgets/of/resnet.json"))
        model = (self.folder / "gpt2_like.pt2").read_bytes()
        (self.folder / "gpt2_like.pt2").unlink()
        self.budget("--update", status=4)
        self.assertFalse((self.folder / "budgets").exists())
        (self.folder / "gpt2_like.pt2").write_bytes(model)
        self.budget("--update", status=0)
        self.assertTrue((self.folder / "budgets/of/resnet.json").exists())

    def test_why_names_modules(self):
        self.budget("--update", status=0)
        shutil.copy(self.folder / "resnet50.pt2", self.folder / "mobilenet_v2.pt2")
        self.file.write_text(self.file.read_text().replace("4.294 G", "4 G"))
        self.assertIn("no module moved", self.budget("--why", status=3).stdout)
        shutil.copy(MODELS / "densenet121.pt2", self.folder / "resnet50.pt2")
        self.file.write_text(self.file.read_text().replace("macs <= 4 G", "macs <= 1 G"))
        moved = next(l for l in self.budget("--why", status=3).stdout.splitlines() if "moved most" in l)
        self.assertEqual(moved.count(","), 4, moved)  # five modules

    def test_without_a_saved_report_the_largest_modules_are_named(self):
        # h.N.c_fc and h.N.mlp_proj: 2 · 2 · 32 · 256 · 1024 FLOPs each.
        line = next(l for l in self.budget("--why", status=3).stdout.splitlines() if "largest" in l)
        self.assertIn("h.0.c_fc 33.55 M", line)

    def test_changes_are_relative_to_the_saved_report(self):
        self.file.write_text(FILE.replace('"macs <= 5 G"', '"diff.macs <= +1%"'))
        done = self.budget("resnet50.pt2", status=2)
        self.assertIn("compares with a report", done.stdout)
        tmeter("resnet50.pt2", "--report", "json=saved.json", cwd=self.folder)
        self.budget("resnet50.pt2", status=0)
        shutil.copy(MODELS / "vit_b_16.pt2", self.folder / "resnet50.pt2")
        self.assertIn("FAIL  resnet50.pt2  diff.macs <= +1%", self.budget("resnet50.pt2", status=3).stdout)

    def test_an_uncheckable_budget_does_not_hide_the_others(self):
        (self.folder / "gpt2_like.pt2").write_bytes(b"PK")
        done = self.budget(status=4)
        self.assertIn("ok    resnet50.pt2  macs <= 5 G", done.stdout)
        self.assertRegex(done.stdout, r"ERROR gpt2_like.pt2  \(tmeter.toml:10:1\) .*gpt2_like.pt2: ")
        self.assertEqual(done.stderr, "tmeter: 1 budget cannot be checked, 0 bounds do not hold\n")

    def test_a_failed_update_changes_nothing(self):
        (self.folder / "gpt2_like.pt2").unlink()
        before = self.file.read_text()
        self.budget("--update", status=4)
        self.assertEqual(self.file.read_text(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["mobilenet_v2.pt2", "resnet50.pt2", "tmeter.toml"])

    def test_an_update_overwrites_no_other_file(self):
        for report in ("resnet50.pt2", "./gpt2_like.pt2", "tmeter.toml"):
            with self.subTest(report=report):
                self.file.write_text(FILE.replace("saved.json", report))
                before = {path.name: path.read_bytes() for path in self.folder.iterdir()}
                self.budget("--update", status=2)
                self.assertEqual({path.name: path.read_bytes() for path in self.folder.iterdir()}, before)
        self.file.write_text(FILE + 'report = "./saved.json"\n')  # two budgets, one report
        self.budget("--update", status=2)

    def test_a_list_of_tables_on_one_line(self):
        self.file.write_text('budget = [{model = "gpt2_like.pt2", assert = ["flops <= 500M", "macs > -3", "params == 3", "flops <= 0"], slack = "1%"}]\n')
        self.budget("--update", status=0)
        # Lower bounds move down: 221,904,896 · 0.99 = 219,685,847.04.
        self.assertEqual(self.file.read_text(),
                         'budget = [{model = "gpt2_like.pt2", assert = ["flops <= 448.3M", "macs >= 2.196e+08", "params == 3448320", "flops <= 4.483e+08"], slack = "1%"}]\n')

    def test_paths_are_relative_to_the_file(self):
        done = tmeter("budget", "--config", self.file, "resnet50.pt2", cwd="/")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_file_is_also_a_configuration(self):
        done = tmeter("resnet50.pt2", "--config", "tmeter.toml", "--report", "csv", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
    def test_sizes(self):
        # Half the height and width of the input: a quarter of the stem's positions, whose 64 filters have 147 weights
        # each.
        self.file.write_text('[[budget]]\nmodel = "resnet50.pt2"\ninput = ["1x3x112x112"]\n'
                             f'assert = [\'module("conv1").macs == {64 * 147 * 56 * 56}\']\n')
        self.budget(status=0)

    MISTAKES = (
        ("", "there is no [[budget]]"),
        ("[budget]\nmodel='a'\n", "tmeter.toml:1:1: [[budget]] tables are expected"),
        ("[[budget]]\nmodel='a'\n", "tmeter.toml:1:1: a budget needs bounds"),
        ("[[budget]]\nassert=['macs<1']\n", "a budget needs `model"),
        ("[[budget]]\nmodel='a'\nassert='macs<1'\n", "tmeter.toml:3:8: a list of strings is expected"),
        ("[[budget]]\nmodel='a'\nassert=[1]\n", "tmeter.toml:3:9: a string is expected"),
        ("[[budget]]\nmodel='a'\nassert=['macs<1']\nslak='1%'\n", "unknown key 'slak' (did you mean 'slack'?)"),
        ("[[budget]]\nmodel='a'\nassert=['macs<1']\nslack='5'\n", "slack is a share, as in \"5%\""),
        ("[[budget]]\nmodel='a'\nassert=['macs<1']\nslack='-5%'\n", "slack is a share"),
    )

    def test_mistakes(self):
        for text, words in self.MISTAKES:
            with self.subTest(text=text):
                self.file.write_text(text)
                self.assertIn(words, self.budget(status=2).stderr)
        self.file.write_text(FILE.replace("macs <= 5 G", "macs <= nan"))
        self.assertIn("ERROR resnet50.pt2", self.budget(status=2).stdout)
        self.file.unlink()
        self.assertIn("there is no tmeter.toml here", self.budget(status=2).stderr)
        for option in ("--update", "--why"):
            done = tmeter(self.folder / "resnet50.pt2", option)
            self.assertEqual((done.returncode, done.stderr), (2, f"tmeter: {option} goes with `tmeter budget`\n"))

    def test_a_list_after_non_latin_text_is_found(self):
        """TOML's columns count characters; the text consists of bytes."""
        self.file.write_text('[[budget]]\nmodel = "gpt2_like.pt2"\nassert = ["flops <= 500M"] # größer: 模型\nreport = "größe.json"\n'
                             '[[budget]] # ü\nmodel = "resnet50.pt2"\n"assert" = ["macs <= 9G"]   # é\n')
        self.budget("--update", status=0)
        self.assertEqual(self.file.read_text(), '[[budget]]\nmodel = "gpt2_like.pt2"\nassert = ["flops <= 443.9M"] # größer: 模型\n'
                         'report = "größe.json"\n[[budget]] # ü\nmodel = "resnet50.pt2"\n"assert" = ["macs <= 4.090G"]   # é\n'.replace("4.090", "4.09"))


if __name__ == "__main__":
    unittest.main()
