"""Plugins that break the contract: whatever they do, the user gets their name, status 5, and the figures of all the rest."""
import json
import pathlib
import tempfile

from support import MODELS, CliTest, build_plugin, main, report, tmeter

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
    "nan": [HANDLER, "metric 'outer' was given NaN"],
    "infinity": [HANDLER, "metric 'outer' was given infinity"],
    "negative": [HANDLER, "metric 'outer' counts something and was given less than 0"],
    "kind": [HANDLER, "metric 'outer' was given a number of unknown kind 99"],
    "handler-emits-at": [HANDLER, "emit_at is for analyses"],
    "foreign-metric": [PASS, "metric 'macs' belongs to plugin org.tmeter.flops"],
    "foreign-convention": [PASS, "metric 'macs' belongs to plugin org.tmeter.flops"],
    "foreign-provenance": [PASS, "metric 'macs' belongs to plugin org.tmeter.flops"],
    "no-such-metric": [PASS, "metric 'mac' is not declared by any loaded plugin"],
    "foreign-axis": [PASS, "metric 'table' was emitted for another table than it is declared for (axis 0 instead of 3)"],
    "no-such-axis": [PASS, "metric 'table' was emitted for another table than it is declared for (axis 77 instead of 3)"],
    "negative-axis": [PASS, "metric 'table' was emitted for another table than it is declared for (axis -1 instead of 3)"],
    "analysis-nan": [PASS, "metric 'table' was given NaN"],
    "provenance-kind": [PASS, "metric 'outer' was given a provenance of unknown kind 99"],
    "severity": [PASS, "finding 'rule' has an unknown severity, 99"],
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


# A plugin of one metric, one handler and one writer, each with a name that is given.
NAMED = """
#include <tmeter/cpp/plugin.hpp>
TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = ID, .version = "1.0.0", .needs = NEEDS, .name = NAME}), [](tmeter::Registrar& r) {
  const std::string_view metric = METRIC, op = OP, of = OF, writer = WRITER;
  if (!metric.empty()) r.metric({.id = metric, .title = metric, .axis = TMETER_AXIS_MODEL, .convention = "7"});
  if (!op.empty()) r.op(op).handle(of, [](const tmeter::Node&) { return tmeter::Count(7); }, PRIORITY);
  if (!writer.empty()) r.writer(writer, "txt", "text/plain", [](const tmeter::Report&, tmeter::Output& out, tmeter::Call&) { out.write(ID); });
})
"""


class Names(CliTest):
    """Two of one name: the user is told both and the way out, and gets what is asked for by full id."""

    def named(self, id, name=None, metric="", op="", of="macs", writer="", priority=10, needs="", file=None):
        out = self.folder / f"{file or id}.tmeter"
        source = self.file("named.cpp", NAMED)
        texts = {"ID": id, "NAME": name or id.rpartition(".")[2], "METRIC": metric, "OP": op, "OF": of, "WRITER": writer, "NEEDS": needs}
        build_plugin(source, out, f"-DPRIORITY={priority}", *(f'-D{k}="{v}"' for k, v in texts.items()))
        return out

    def test_a_short_name_that_two_have_is_refused_and_a_full_id_is_not(self):
        self.named("com.evil.flops", metric="evil")
        folder = ["--plugin-path", self.folder]
        self.assert_refused(2, ["2 plugins are called 'flops'", "com.evil.flops", "org.tmeter.flops", "full id", "--plugins=-"],
                            RESNET, "--plugins=flops", *folder)
        self.assert_refused(2, ["2 plugins are called 'flops'"], RESNET, "--set", "flops.convention=torch", *folder)
        for id, metric, other in (("com.evil.flops", "evil", "macs"), ("org.tmeter.flops", "macs", "evil")):
            ids = {m["id"] for m in report(RESNET, f"--plugins={id}", *folder)["metrics"]}
            self.assertIn(metric, ids)
            self.assertNotIn(other, ids)

    def test_a_plugin_in_a_folder_does_not_take_the_name_of_one_of_the_default_set(self):
        self.named("com.evil.flops", metric="macs")
        for arguments in ([], ["--plugins=energy"]):  # energy needs flops: that of its own family
            document = report(RESNET, "--plugin-path", self.folder, *arguments)
            self.assertEqual(document["totals"]["macs"], MACS)

    def test_leaving_one_out_resolves_every_conflict(self):
        self.named("com.evil.flops", metric="macs", writer="json")
        folder = ["--plugin-path", self.folder]
        self.assert_refused(2, ["report format 'json'", "com.evil.flops", "org.tmeter.json", "--plugins=-"], RESNET, "--report", "json", *folder)
        self.assert_refused(5, ["com.evil.flops", "org.tmeter.flops", "both define metric 'macs'", "--plugins=-"],
                            RESNET, "--plugins=com.evil.flops,org.tmeter.flops", *folder)
        self.assertEqual(report(RESNET, "--plugins=-com.evil.flops", *folder)["totals"]["macs"], MACS)

    def test_a_left_out_plugin_is_not_opened_by_itself(self):
        self.named("com.acme.conv", op="aten::conv2d")
        folder = ["--plugin-path", self.folder]
        counted = report(RESNET, "--plugins=flops", *folder)
        self.assertNotEqual(counted["totals"]["macs"], MACS)  # found by the operator it handles
        self.assertTrue(any(w == "plugin com.acme.conv gives 'macs' of aten::conv2d in place of org.tmeter.flops"
                            for w in counted["warnings"]), counted["warnings"])
        without = report(RESNET, "--plugins=flops,-com.acme.conv", *folder)
        self.assertEqual(without["totals"]["macs"], MACS)
        self.assertEqual(without["warnings"], [])

    def test_a_given_file_is_left_out_too(self):
        plugin = self.named("com.acme.seven", metric="seven")
        ids = {m["id"] for m in report(RESNET, "--plugins=params,-seven", "--plugin", plugin)["metrics"]}
        self.assertNotIn("seven", ids)

    def test_equal_handlers_are_told_alike_whatever_the_order(self):
        a, b = self.named("com.acme.a", op="aten::conv2d"), self.named("com.acme.b", op="aten::conv2d")
        words = ["plugins com.acme.a and com.acme.b both handle 'aten::conv2d' for metric 'macs'", "--plugins=-com.acme.b"]
        self.assert_refused(5, words, RESNET, "--plugin", a, "--plugin", b)
        self.assert_refused(5, words, RESNET, "--plugin", b, "--plugin", a)

    def test_equal_ids_are_told_and_the_first_is_used(self):
        for name in ("first", "second"):
            self.named("com.acme.seven", metric="seven", file=name)
        done = tmeter(RESNET, "--plugins=seven", "--plugin-path", self.folder, "--report", "json")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Atmeter: note: plugin com.acme.seven is there twice: .*/first.tmeter is used, "
                                      r".*/second.tmeter is not; remove one of them\n\Z")

    def test_what_a_plugin_needs_and_does_not_get_costs_that_plugin(self):
        plugin = self.named("com.acme.needy", metric="needy", needs="nosuch")
        done = tmeter(RESNET, "--plugins=params,needy", "--plugin", plugin, "--report", "json")
        self.assertEqual(done.returncode, 5)
        self.assertIn("plugin com.acme.needy failed while it was opened: it needs plugin 'nosuch', which is not installed", done.stderr)
        self.assertIn("params", json.loads(done.stdout)["totals"])


if __name__ == "__main__":
    main()
