"""Standard output has only the report. All messages go to standard error, fewer with --quiet, more with --verbose."""
import json
import re
import unittest

from support import FIXTURES, MODELS, CliTest, build_plugin, main, tmeter

TIMES = re.compile(r'"analysis_seconds":[0-9.e-]+| *analysed in [0-9.]+ \w+|"command":"[^\n]*')
RUNS = {
    "a model": [MODELS / "tied.pt2"],
    "weights": [FIXTURES / "trained/model.safetensors", "--plugins=all"],
    "open sizes": [MODELS / "dynamic_bert.pt2", "--plugins=all"],
    "assertions": [MODELS / "tied.pt2", "--assert", "macs<1"],
    "a comparison": ["diff", FIXTURES / "pruned/before.pt2", FIXTURES / "pruned/after.pt2"],
}


class Talk(CliTest):
    def test_standard_output_does_not_depend_on_verbosity(self):
        for name, arguments in RUNS.items():
            # The text report has more explanations with --verbose.
            for form, amounts in (("text", [(), ("-q",)]), ("json", [(), ("-q",), ("-v",)])):
                with self.subTest(run=name, format=form):
                    runs = [tmeter(*arguments, "--report", form, *more) for more in amounts]
                    self.assertEqual(len({done.returncode for done in runs}), 1)
                    self.assertEqual(len({TIMES.sub("", done.stdout) for done in runs}), 1)
                    self.assertNotEqual(runs[0].stdout, "")
                    if form == "json":
                        json.loads(runs[0].stdout)

    def test_reports_to_files_leave_standard_output_empty(self):
        for name, arguments in RUNS.items():
            with self.subTest(run=name):
                done = tmeter(*arguments, "--report", f"json={self.folder / 'report.json'}", "-v")
                self.assertEqual(done.stdout, "")
                json.loads((self.folder / "report.json").read_text())

    def test_verbose_lists_the_steps_and_quiet_prints_nothing(self):
        plain, quiet, verbose = (tmeter(MODELS / "tied.pt2", *more).stderr for more in ((), ("-q",), ("-v",)))
        self.assertEqual((plain, quiet), ("", ""))
        self.assertGreater(len(verbose.splitlines()), 1)
        self.assertTrue(all(line.startswith("tmeter: ") for line in verbose.splitlines()), verbose)

    def test_quiet_does_not_suppress_errors(self):
        done = tmeter(self.folder / "none.pt2", "-q")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("none.pt2", done.stderr)

    def test_output_of_a_plugin_never_gets_into_a_report(self):
        plugin = self.folder / "rogue.tmeter"
        build_plugin("rogue_plugin.cpp", plugin, '-DROGUE_RIGHTS=""')
        for more in ((), ("-q",), ("-v",)):
            done = tmeter(MODELS / "tied.pt2", "--plugins=params,rogue", "--plugin", plugin, "--report", "json", *more,
                          env={"ROGUE": "analysis:print"})
            self.assertEqual(json.loads(done.stdout)["totals"]["params"], 124)
            self.assertNotIn("printed", done.stdout)


if __name__ == "__main__":
    main()
