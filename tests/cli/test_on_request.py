"""Metrics that any plugin computes on request only (TMETER_METRIC_ON_REQUEST)."""
import os
import pathlib
import tempfile
from unittest import mock

from support import FIXTURES, CliTest, build_plugin, main, report, tmeter

NET = FIXTURES / "in_house" / "net.pt2"
DYNAMIC = FIXTURES / "models" / "dynamic_mlp.pt2"
WORKED_OUT = "dear is worked out"


class OnRequest(CliTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tmeter-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.plugin = pathlib.Path(folder.name) / "dear.tmeter"
        build_plugin("dear_plugin.cpp", cls.plugin)

    def run_with(self, *arguments, model=NET):
        done = report(model, "--plugin", self.plugin, *arguments)
        return {m["id"] for m in done["metrics"]}, done

    def test_without_a_request_nothing_is_computed(self):
        ids, done = self.run_with()
        self.assertIn("cheap", ids)
        self.assertFalse({"dear_model", "dear_nodes"} & ids)
        self.assertEqual(done["totals"]["cheap"], 1)
        self.assertNotIn(WORKED_OUT, done["warnings"])

    def test_each_way_to_request(self):
        for metric, arguments in (("dear_model", ["--columns", "macs,dear_model"]), ("dear_nodes", ["--sort", "dear_nodes"]),
                                  ("dear_model", ["--assert", "dear_model == 7"]), ("dear_nodes", ["--assert", "dear_nodes>0"])):
            ids, done = self.run_with(*arguments)
            self.assertEqual({"dear_model", "dear_nodes"} & ids, {metric}, arguments)
            self.assertEqual(WORKED_OUT in done["warnings"], metric == "dear_model", arguments)
            self.assertIsNotNone(done["totals"][metric])
        ids, _ = self.run_with("--columns", "all")
        self.assertLessEqual({"dear_model", "dear_nodes"}, ids)

    def test_a_part_of_a_name_is_not_a_request(self):
        ids, _ = self.run_with("--set", "memory.threads=1", "--assert", "cheap >= 0")
        self.assertFalse({"dear_model", "dear_nodes"} & ids)

    def test_an_analysis_requests_its_required_metric(self):
        with mock.patch.dict(os.environ, DEAR_NEEDED="1"):
            ids, done = self.run_with()
        self.assertEqual({"dear_model", "dear_nodes"} & ids, {"dear_model"})
        self.assertEqual(done["totals"]["cheap"], 2)

    def test_formulas_belong_to_their_columns_when_others_are_left_out(self):
        # The report omits dear_nodes, and later columns must not shift.
        _, alone = self.run_with("--plugins=flops,activations", model=DYNAMIC)
        expected = report(DYNAMIC, "--plugins=flops,activations")
        self.assertEqual(alone["formulas"], expected["formulas"])
        everything = report(DYNAMIC, "--plugins=all")
        of = lambda document: {f["metric"]: f["text"] for f in document["formulas"] if f["module"] == ""}
        self.assertEqual(of(everything)["activations"], of(expected)["activations"])

    def test_a_report_without_the_metric_names_the_command_for_it(self):
        file = self.folder / "net.json"
        tmeter("--report", f"json={file}", str(NET))
        for arguments in (["--columns", "spectral_norm"], ["--sort", "spectral_norm"]):
            self.assert_refused(2, ["`tmeter MODEL --plugins=params,flops,memory,param-stats --columns=spectral_norm` has it"], "show", *arguments, file)
        self.assert_refused(2, ["spectral_norm", "param-stats --columns=spectral_norm` has it"], "show", "--assert", "spectral_norm<=3", file)
        self.assertNotIn("works it out", tmeter("show", "--columns", "mac", str(file)).stderr)


if __name__ == "__main__":
    main()
