"""Trials (abi/draft/trials.h): values under other sizes and options, and that a trial leaves no trace."""
import json
import tempfile
import unittest

from support import MODELS, build_plugin, tmeter

MACS = 75_776 // 4  # of one row of dynamic_mlp, as FlopCounterMode counts (tests/fixtures/expected/dynamic_mlp.json)
MLP = MODELS / "dynamic_mlp.pt2"


class Trials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tmeter-trials-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.plugin = f"{cls.folder.name}/trial.tmeter"
        build_plugin("trial_plugin.cpp", cls.plugin)

    def run_with(self, trial, metric="macs", model=MLP, plugins="flops", arguments=()):
        return tmeter(model, f"--plugins={plugins}", "--plugin", self.plugin, "--report", "json", *arguments,
                      env={"TRIAL": trial, "TRIAL_METRIC": metric})

    def totals(self, *words, **options):
        done = self.run_with(*words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_other_sizes(self):
        for rows in (1, 4, 7, 1024):
            with self.subTest(rows):
                document = self.totals(f"0={rows}")
                self.assertEqual(document["totals"]["trial"], rows * MACS)
                # Afterwards the run's own size holds: in this analysis, in the report and in other plugins.
                self.assertEqual((document["totals"]["trial_own"], document["totals"]["macs"]), (8 * MACS, 4 * MACS))

    def test_other_options(self):
        document = self.totals("flops.convention=fvcore", metric="flops")
        self.assertEqual(document["totals"]["trial"], 4 * MACS)
        self.assertEqual((document["totals"]["trial_own"], document["totals"]["flops"]), (8 * MACS, 8 * MACS))
        self.assertEqual(self.totals("0=8 flops.convention=fvcore", metric="flops")["totals"]["trial"], 8 * MACS)

    def test_a_plugin_that_remembers(self):
        """The plugin memory keeps its tables of a graph until it is configured again."""
        alone = self.totals("0=4", plugins="flops,memory")
        for rows in (1, 1024):
            document = self.totals(f"0={rows}", metric="peak_activation_bytes", plugins="flops,memory")
            for own in ("peak_activation_bytes", "output_bytes", "read_bytes"):
                self.assertEqual(document["totals"][own], alone["totals"][own], own)
            bound = self.totals("0=4", plugins="flops,memory", arguments=("--bind", f"s77={rows}"))
            self.assertEqual(document["totals"]["trial"], bound["totals"]["peak_activation_bytes"])
            self.assertEqual([f["text"] for f in document["findings"]], [f["text"] for f in alone["findings"]])

    def test_impossible_sizes(self):
        for trial in ("0=0", "0=1025", "0=-1", f"0={2**62}"):
            with self.subTest(trial):
                self.assertIsNone(self.totals(trial)["totals"]["trial"])

    def test_missing_metrics(self):
        self.assertIsNone(self.totals("0=8", metric="absent")["totals"]["trial"])

    def test_a_trial_starts_no_further_trials(self):
        self.assertIsNone(self.totals("0=8", metric="trial")["totals"]["trial"])

    def test_an_invalid_trial_is_the_plugins_error(self):
        for trial, metric, words in (
            ("flops.convension=fvcore", "flops", "no plugin of this run has an option 'flops.convension'"),
            ("memory.threads=2", "flops", "no plugin of this run has an option 'memory.threads'"),
            ("flops.convention=mine", "flops", "flops.convention=mine: one of these is expected"),
            ("9=8", "macs", "a size that the graph does not have"),
        ):
            with self.subTest(trial, metric=metric):
                done = self.run_with(trial, metric=metric)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr + done.stdout)

    def test_the_options_of_a_needed_plugin(self):
        done = self.run_with("0=4", arguments=("-v", "--set", "flops.convention=fvcore"))
        self.assertIn("flops.convention is fvcore", done.stderr)


if __name__ == "__main__":
    unittest.main()
