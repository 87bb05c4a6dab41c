"""tmeter.backward-rule/0.1: work and memory of a training step for an operator of a third-party plugin."""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, CliTest, build_plugin, tmeter  # noqa: E402

NET = FIXTURES / "in_house" / "net.pt2"


class BackwardRule(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.folder_of_plugins = pathlib.Path(os.environ["BUILD"]) / "tests" / "backward_rule"
        cls.folder_of_plugins.mkdir(parents=True, exist_ok=True)
        cls.plugin = cls.folder_of_plugins / "acme-backward.tmeter"
        build_plugin("backward_plugin.cpp", cls.plugin)
        cls.other = cls.folder_of_plugins / "other-backward.tmeter"
        build_plugin("backward_plugin.cpp", cls.other, '-DID="com.acme.other"', "-DRULE_ALONE")

    def run_with(self, rule="", plugins=None, *arguments):
        plugin_options = [a for p in (plugins or [self.plugin]) for a in ("--plugin", p)]
        return tmeter(NET, *plugin_options, "--plugins=training", "--columns=all", "--report", "json", *arguments, env={"RULE": rule})

    def report(self, rule="", *arguments):
        done = self.run_with(rule, None, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @staticmethod
    def nodes(report):
        return [n for n in report["nodes"] if n["op"] == "acme::gated_mlp"]

    def test_work_and_kept_bytes(self):
        """x: 2 × 8 rows, their width d from the first weight; the hidden rows are kept in float32."""
        report = self.report()
        for node in self.nodes(report):
            with self.subTest(node["name"]):
                values = node["values"]
                self.assertEqual(values["backward_macs"], 2 * values["macs"])
                self.assertGreater(values["saved_bytes"], 0)
        self.assertEqual(report["totals_status"].get("saved_bytes", "exact"), "exact")

    def test_without_a_rule_saved_bytes_are_a_lower_bound(self):
        report = json.loads(tmeter(NET, "--plugins=training", "--columns=all", "--report", "json").stdout)
        self.assertEqual(report["totals_status"]["saved_bytes"], "lower_bound")
        self.assertEqual(self.report("declines")["totals_status"]["saved_bytes"], "lower_bound")

    def test_a_result_is_kept(self):
        first = self.nodes(self.report("result"))[0]
        self.assertEqual(first["values"]["saved_bytes"], first["values"].get("output_bytes", first["values"]["saved_bytes"]))

    def test_mistakes_name_the_plugin(self):
        for rule, why in {
            "negative": "its backward rule gives a negative amount",
            "negative bytes": "its backward rule gives a negative amount",
            "absent result": "keeps an argument or result that the operator does not have",
            "throws": "no gradient for this",
            "emits": "",
        }.items():
            with self.subTest(rule):
                done = self.run_with(rule)
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn("com.acme.backward", done.stderr)
                self.assertIn(why, done.stderr)

    def test_sizes_that_overflow(self):
        done = self.run_with("huge")
        self.assertNotEqual(done.returncode, 1, done.stderr)
        self.assertIn("2^63", done.stderr + done.stdout)

    def test_two_rules_are_an_error(self):
        done = self.run_with("", [self.plugin, self.other], "--plugins=training")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("com.acme.backward", done.stderr)
        self.assertIn("com.acme.other", done.stderr)


if __name__ == "__main__":
    unittest.main()
