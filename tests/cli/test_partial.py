"""A value that leaves something out is marked in every format, and proves nothing; means have their weights."""
import json
import pathlib
import tempfile

from support import FIXTURES, CliTest, build_plugin, main, report, tmeter

# A network of linear layers and an operator without a plugin: acme::gated_mlp.
NET = FIXTURES / "in_house" / "net.pt2"
ROWS = 2 * 8
EMBED, HEAD = ROWS * 24 * 32, ROWS * 32 * 10  # MACs of the linear layers, by hand


class Partial(CliTest):
    def test_json_marks_incomplete_values(self):
        document = report(NET, "--plugins=params,flops")
        self.assertEqual(document["totals"]["macs"], EMBED + HEAD)
        self.assertEqual(document["totals_status"]["macs"], "lower_bound")
        self.assertNotIn("params", document["totals_status"])
        modules = {m["path"]: m for m in document["modules"]}
        self.assertIn("macs", modules[""]["lower_bound"])
        self.assertNotIn("lower_bound", modules["embed"])

    def test_a_module_of_unknown_operators_is_unknown_not_0(self):
        modules = {m["path"]: m for m in report(NET, "--plugins=flops")["modules"]}
        for path in ("mlp", "blocks", "blocks.0", "blocks.0.mlp"):  # blocks is a ModuleList
            self.assertIsNone(modules[path]["values"]["macs"], path)
            self.assertIn("macs", modules[path]["unknown"], path)

    def test_every_format_marks_the_total(self):
        total = f"{EMBED + HEAD}"
        for name, mark in {"text": "≥17.41 K", "full-text": "≥17,408", "markdown": "≥17,408", "csv": "macs: lower_bound",
                           "tsv": "macs: lower_bound", "xml": f'metric="macs" value="{total}" status="lower-bound"',
                           "junit": f"{total} (lower_bound)", "netron": "≥17,408", "dot": "≥17.41 K",
                           "fvcore-json": '"status": {\n      "": "lower_bound"'}.items():
            with self.subTest(format=name):
                done = tmeter(NET, "--plugins=flops", "--columns=macs", "--report", name, "--set", "dot.attributes=macs")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(mark, done.stdout)

    def test_a_lower_bound_proves_no_upper_bound(self):
        for bound, status in {"macs<5G": 3, "macs==17408": 3, "macs>=17408": 0, "macs!=17407": 0,
                              'module("embed").macs<5G': 0, 'module("mlp").macs<5G': 3}.items():
            with self.subTest(bound=bound):
                done = tmeter(NET, "--plugins=flops", "--assert", bound)
                self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("17408 without unknown values", tmeter(NET, "--plugins=flops", "--assert", "macs<5G").stderr)


class Means(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-mean-")
        cls.addClassCleanup(built.cleanup)
        cls.plugin = pathlib.Path(built.name) / "mean.tmeter"
        build_plugin("mean_plugin.cpp", cls.plugin)

    def run_with(self, weight):
        return tmeter(NET, "--plugins=params,flops", "--plugin", self.plugin, "--report", "json", env={"MEAN_WEIGHT": weight})

    def test_a_mean_is_weighted_by_the_metric_it_names(self):
        done = self.run_with("output_elements_that_nobody_counts")
        self.assertEqual(done.returncode, 5, done.stderr)
        for word in ("com.stranger.mean", "'usage'", "'output_elements_that_nobody_counts'", "no loaded plugin has"):
            self.assertIn(word, done.stderr)

        done = self.run_with("params")  # a metric of tensors instead of operators
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("that metric has another axis", done.stderr)

        done = self.run_with("macs")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        # An operator with an unknown weight is left out of the mean and counts as missing.
        self.assertAlmostEqual(document["totals"]["usage"], (EMBED * 0.5 + HEAD * 1.0) / (EMBED + HEAD), 12)
        self.assertEqual(document["totals_status"]["usage"], "partial")
        modules = {m["path"]: m for m in document["modules"]}
        self.assertEqual(modules["head"]["values"]["usage"], 1.0)
        self.assertIn("usage", modules["mlp"]["unknown"])


if __name__ == "__main__":
    main()
