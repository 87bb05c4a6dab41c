"""Plugins that break the contract: whatever they do, the user gets their name, status 5, and the figures of all the rest."""
import json
import pathlib
import tempfile

from support import MODELS, CliTest, build_plugin, main, tmeter

RESNET = MODELS / "resnet50.pt2"
MACS = 4089184256  # torchvision's ResNet-50 at 224 × 224: FlopCounterMode / 2, tests/fixtures/expected
ID = "com.rogue.contract"

HANDLER = "on metric 'outer' on node 0 (aten::conv2d in conv1"
PASS = "in analysis 'pass'"
DEEDS = {  # what it does → words of what the user is told
    "nested-error": [HANDLER, "the reason of the outer one"],
    "throw-std": [HANDLER, "it let an exception out: raw"],
    "throw-int": [HANDLER, "it let an exception of unknown type out"],
    "no-value": [HANDLER, "it ends well but gives no value"],
    "no-reason": [HANDLER, "it does not say why (status 3)"],
    "odd-status": [HANDLER, "it does not say why (status 4711)"],
    "cancels": [HANDLER, "it does not say why (status 6)"],
    "analysis-throws": [PASS, "it let an exception out: raw"],
    "analysis-throws-int": [PASS, "it let an exception of unknown type out"],
}


class ContractTest(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-contract-")
        cls.addClassCleanup(built.cleanup)
        cls.plugin = pathlib.Path(built.name) / "contract.tmeter"
        build_plugin("contract_plugin.cpp", cls.plugin)

    def run_mode(self, mode, *arguments, **kwargs):
        return tmeter("--plugins=params,flops,contract", "--plugin", self.plugin, *arguments, RESNET, env={"CONTRACT": mode}, **kwargs)

    def assert_report_without_it(self, done, words, plugin=ID):
        """One message with the plugin's name, status 5, and a report of everything but its columns."""
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith(f"tmeter: plugin {plugin} "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["totals"]["macs"], MACS)
        self.assertIsNone(document["totals"].get("outer"))
        self.assertTrue(any(plugin in w for w in document["warnings"]), document["warnings"])
        return document


class Calls(ContractTest):
    def test_a_good_plugin_is_left_alone(self):
        done = self.run_mode("", "--report", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["totals"]["outer"], 175)  # operators of ResNet-50

    def test_scratch_memory_outlives_a_nested_read(self):
        done = self.run_mode("nested-scratch", "--report", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["totals"]["outer"], 175)

    def test_every_misdeed_costs_its_own_columns_only(self):
        for mode, words in DEEDS.items():
            with self.subTest(mode=mode):
                document = self.assert_report_without_it(self.run_mode(mode, "--report", "json"), words)
                for column in ("outer", "inner", "table"):
                    metric = next(m for m in document["metrics"] if m["id"] == column)
                    self.assertEqual(metric["provenance"]["kind"], "unavailable")
                    self.assertIn(ID, metric["provenance"]["text"])

    def test_a_writer_that_fails_costs_its_own_report_only(self):
        for mode in ("writer-throws", "writer-throws-int"):
            with self.subTest(mode=mode):
                out = self.folder / "out.txt"
                done = self.run_mode(mode, "--report", "json", "--report", f"contract={out}")
                done.stderr, _ = done.stderr.rsplit("tmeter: report contract is not written", 1)
                self.assert_report_without_it(done, ["while writing report 'contract'", "it let an exception"])
                self.assertFalse(out.exists())


if __name__ == "__main__":
    main()
