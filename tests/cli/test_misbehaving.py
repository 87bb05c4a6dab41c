"""Plugins that break the contract: in each case the user gets the plugin's name, status 5, and all other values."""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile

from support import FIXTURES, MODELS, CliTest, build_plugin, main, report, tmeter

RESNET = MODELS / "resnet50.pt2"
MACS = 4089184256  # torchvision's ResNet-50 at 224 × 224: FlopCounterMode / 2, tests/fixtures/expected
ID = "com.rogue.contract"

HANDLER = "on metric 'outer' on node 0 (aten::conv2d in conv1"
PASS = "in analysis 'pass'"
DEEDS = {  # misuse → words of the message
    "nested-error": [HANDLER, "the reason of the outer one"],
    "throw-std": [HANDLER, "an exception escaped: raw"],
    "throw-int": [HANDLER, "an exception of unknown type escaped"],
    "no-value": [HANDLER, "it succeeds but gives no value"],
    "no-reason": [HANDLER, "it does not say why (status 3)"],
    "odd-status": [HANDLER, "it does not say why (status 4711)"],
    "cancels": [HANDLER, "it does not say why (status 6)"],
    "nan": [HANDLER, "metric 'outer' was given NaN"],
    "infinity": [HANDLER, "metric 'outer' was given infinity"],
    "negative": [HANDLER, "metric 'outer' is a count and was given a value below 0"],
    "kind": [HANDLER, "metric 'outer' was given a value of unknown kind 99"],
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
    "wrapper:argument": [HANDLER, "aten::conv2d has no argument 'wieght'; it has input, weight, bias, stride"],
    "wrapper:result": [HANDLER, "aten::conv2d has no result 7"],
    "deinit-throws": ["crashed (abort) while it was shut down: an exception of unknown type escaped"],
    "analysis-throws": [PASS, "an exception escaped: raw"],
    "analysis-throws-int": [PASS, "an exception of unknown type escaped"],
}


# The threads that OpenMP starts for a loop stay until the process ends.
POOL = """
#include <tmeter/cpp/plugin.hpp>
int64_t threads() {
  int64_t n = 0;
#pragma omp parallel reduction(+ : n)
  ++n;
  return n;
}
TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "com.acme.pool", .version = "1.0.0", .rights = RIGHTS}), [](tmeter::Registrar& r) {
  r.metric({.id = "pool", .title = "pool", .axis = TMETER_AXIS_NODE, .convention = "threads"});
  r.op("*").handle("pool", [](const tmeter::Node&) { return tmeter::Count(threads()); });
})
"""

# A tensor analysis that throws while it releases its memory.
RELEASES = """
#include <stdexcept>
#include <tmeter/cpp/plugin.hpp>
struct Counter final : tmeter::TensorAnalysis {
  void chunk(const tmeter::Chunk&, tmeter::Call&) override {}
  void merge(tmeter::TensorAnalysis&) override {}
  void emit(const tmeter::Tensor&, tmeter::Call&) override {}
};
#define tmeter_plugin_v1 good_entry
TMETER_PLUGIN("com.rogue.releases", "1.0.0", [](tmeter::Registrar& r) {
  r.metric({.id = "released", .title = "released", .axis = TMETER_AXIS_TENSOR, .flags = TMETER_METRIC_TENSORS, .convention = "none"});
  r.tensor_analysis("releases", "released", [](const tmeter::Tensor&, tmeter::Call&) { return true; },
                    [](const tmeter::TensorPart&, tmeter::Call&) { return std::make_unique<Counter>(); });
})
#undef tmeter_plugin_v1
extern "C" TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) {
  static tmeter_plugin_entry_v1 entry = *good_entry();
  entry.get_capability = [](tmeter_str id, void* user) -> const void* {
    const void* table = good_entry()->get_capability(id, user);
    if (!table || tmeter::to_view(id) != TMETER_CAP_TENSOR_ANALYSIS) return table;
    const auto* t = static_cast<const tmeter_tensor_analyses*>(table);
    const_cast<tmeter_tensor_analysis*>(t->get(0, t->user))->release = [](void*, void*) { throw std::runtime_error("raw"); };
    return table;
  };
  return &entry;
}
"""


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

    def outer_of_nodes(self, mode):
        done = self.run_mode(mode, "--report", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [node["values"].get("outer") for node in json.loads(done.stdout)["nodes"]]

    def test_a_handler_that_reads_beyond_the_signature_is_called_for_each_operator(self):
        by_place = self.outer_of_nodes("place")
        self.assertGreater(len(set(by_place)), 100)  # calls of modules
        self.assertEqual(self.outer_of_nodes("signature:place"), by_place)

    def test_a_handler_with_state_against_its_declaration_is_detected(self):
        self.assertEqual(self.outer_of_nodes("counts"), list(range(1, 176)))
        words = ["on metric 'outer' on node", "TMETER_HANDLER_BY_SIGNATURE"]
        self.assert_report_without_it(self.run_mode("signature:counts", "--report", "json"), words)

    def test_every_misdeed_costs_its_own_columns_only(self):
        for mode, words in DEEDS.items():
            with self.subTest(mode=mode):
                document = self.assert_report_without_it(self.run_mode(mode, "--report", "json"), words)
                for column in ("outer", "inner", "table"):
                    metric = next(m for m in document["metrics"] if m["id"] == column)
                    self.assertEqual(metric["provenance"]["kind"], "unavailable")
                    self.assertIn(ID, metric["provenance"]["text"])

    def test_an_exception_while_memory_is_given_back(self):
        plugin = self.folder / "releases.tmeter"
        build_plugin(self.file("releases.cpp", RELEASES), plugin)
        done = tmeter("--plugins=params,releases", "--plugin", plugin, "--report", "json", FIXTURES / "checkpoints" / "net.safetensors")
        self.assertEqual(done.returncode, 5)
        self.assertEqual(done.stderr, "tmeter: plugin com.rogue.releases crashed (abort) while releasing what it counted: "
                                      "an exception escaped: raw\n")
        self.assertEqual(json.loads(done.stdout)["totals"]["params"], 1041)  # 4,356 bytes of float32, without 48 running means and variances

    def test_a_writer_that_fails_costs_its_own_report_only(self):
        for mode in ("writer-throws", "writer-throws-int"):
            with self.subTest(mode=mode):
                out = self.folder / "out.txt"
                done = self.run_mode(mode, "--report", "json", "--report", f"contract={out}")
                done.stderr, _ = done.stderr.rsplit("tmeter: report contract is not written", 1)
                self.assert_report_without_it(done, ["while writing report 'contract'", "an exception", "escaped"])
                self.assertFalse(out.exists())


# A plugin of one metric, one handler and one writer with given names.
NAMED = """
#include <tmeter/cpp/plugin.hpp>
TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = ID, .version = "1.0.0", .needs = NEEDS, .name = NAME}), [](tmeter::Registrar& r) {
  const std::string_view metric = METRIC, op = OP, of = OF, writer = WRITER;
  if (!metric.empty()) r.metric({.id = metric, .title = metric, .axis = TMETER_AXIS_MODEL, .convention = "7"});
  if (!op.empty()) r.op(op).handle(of, [](const tmeter::Node&) { return tmeter::Count(7); }, PRIORITY);
  if (!writer.empty()) r.writer(writer, "txt", "text/plain", [](const tmeter::Report&, tmeter::Output& out, tmeter::Call&) { out.write(ID); });
})
"""


CHANGES = {  # change of the process → words of the message
    "locale": "it changed the locale",
    "cxx-locale": "it changed the locale",
    "thread-locale": "it changed the locale",
    "rounding": "it changed how the processor computes",
    "traps": "it changed how the processor computes",
    "signal": "it changed what happens at signal 11 (Segmentation fault)",
    "blocked-signal": "it changed which signals are blocked",
    "folder": "it changed the working directory",
    "umask": "it changed the umask",
    "thread": "it left a thread running",
}
PLACES = {"metric": HANDLER, "analysis": PASS, "configure": "to configure itself"}


class LeftBehind(ContractTest):
    """Plugins share a process. A plugin that changes it for others is named, and the values are those of an unchanged
    process."""

    def test_changes_made_in_any_callback_are_reported(self):
        for place, where in PLACES.items():
            for change, words in CHANGES.items():
                with self.subTest(place=place, change=change):
                    self.assert_report_without_it(self.run_mode(f"{place}:{change}", "--report", "json"), [where, words])

    def test_changes_made_in_a_writer_are_reported(self):
        for change, words in CHANGES.items():
            with self.subTest(change=change):
                done = self.run_mode(f"writer:{change}", "--report", f"contract={self.folder}/out.txt", "--report", "json")
                done.stderr, _ = done.stderr.rsplit("tmeter: report contract is not written", 1)
                self.assert_report_without_it(done, ["while writing report 'contract'", words])

    def test_changes_made_while_opening_are_reported(self):
        for change, words in CHANGES.items():
            with self.subTest(change=change):
                done = self.run_mode(f"init:{change}", "--report", "json")
                self.assert_report_without_it(done, ["while it was opened", words], plugin=str(self.plugin))

    def test_a_declared_pool_of_threads_may_stay(self):
        for rights in ("", "threads"):
            plugin = self.folder / f"pool{len(rights)}.tmeter"
            build_plugin(self.file("pool.cpp", POOL), plugin, "-fopenmp", f'-DRIGHTS="{rights}"')
            done = tmeter("--plugins=params,flops,pool", "--plugin", plugin, "--report", "json", RESNET, env={"OMP_NUM_THREADS": "3"})
            if not rights:
                self.assert_report_without_it(done, ["it left a thread running"], plugin="com.acme.pool")
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["totals"]["pool"], 3 * 175)  # at each of 175 operators

    def test_numbers_are_written_with_a_point(self):
        done = self.run_mode("metric:cxx-locale", "--report", "text")
        self.assertEqual(done.returncode, 5)
        self.assertNotRegex(done.stdout, r"\d,\d\d [KMG]i?B")


TABLES = {  # fault in a table → words of the message
    "null-eval": "handler of '*' has no `eval`",
    "null-run": "analysis 'pass' has no `run`",
    "null-write": "report writer 'contract' has no `write`",
    "null-get": "its table tmeter.metrics/1 has no `get`",
    "no-size": "item 0 is too small: struct_size is 0",
    "capability-throws": "its table tmeter.metrics/1: an exception escaped: raw",
    "get-throws": "its table tmeter.metrics/1, item 0: an exception of unknown type escaped",
    "reserved": "its table tmeter.analysis/1, item 0 has `reserved` set, which must be 0",
    "reserved-handler": "its table tmeter.op-handler/1, item 0 has `reserved` set, which must be 0",
    "reserved-writer": "its table tmeter.report-writer/1, item 0 has `reserved` set, which must be 0",
    "long": "metric 'outer' has a string of more than 8,192 bytes, beginning with xxx",
    "long-name": "has a name of more than 1,000 bytes",
    "many-handlers": "its table tmeter.op-handler/1 has 70000 items; at most 65536 are accepted",
    "endless": "its table tmeter.metrics/1 has 4294967295 items; at most 4096 are accepted",
    "id": "metric 'Bad Id' has a name with other characters than",
    "twice": "metric 'same' occurs twice",
    "convention": "metric 'outer' lacks its mandatory convention text",
    "escape": r"metric 'outer' has a string with control characters or broken UTF-8: \x1b[2Jgone",
    "option-default": "option 'wish' has a default that it does not accept, 'x': a whole number is expected",
    "option-range": "option 'wish' has a default that it does not accept, '1': the allowed range is 5 … 7",
    "foreign-produce": "analysis 'pass' produces metric 'macs', which the plugin does not declare",
    "handler-twice": "handler of '*' occurs twice",
}


# A value that a later minor version may define: only that item is lost → the note in the report, the remaining totals.
NOT_KNOWN = {
    "axis": ("metric 'outer' has an unknown axis, 99: the metric is left out", {"inner": 175}),
    "aggregation": ("metric 'outer' has an unknown aggregation, -1: modules and the model have no value for it", {"inner": 175}),
    "option-type": ("option 'wish' has an unknown type, 99: it is taken as a text", {"outer": 175, "inner": 175}),
    "right": ("the right 'gpu' is unknown: it does without", {"outer": 175, "inner": 175}),
}


class Tables(ContractTest):
    def test_an_unknown_value_in_a_table_costs_only_its_item(self):
        for fault, (words, totals) in NOT_KNOWN.items():
            with self.subTest(fault=fault):
                done = self.run_mode(f"table:{fault}", "--report", "json")
                self.assertEqual((done.returncode, done.stderr), (0, "") if fault != "right" else (0, done.stderr))
                document = json.loads(done.stdout)
                self.assertIn(f"plugin {ID}: {words}", document["warnings"])
                own = {k: v for k, v in document["totals"].items() if k in ("outer", "inner") and v is not None}
                self.assertEqual(own, totals)
                self.assertEqual("outer" in {m["id"] for m in document["metrics"]}, fault != "axis")
                self.assertEqual(document["totals"]["macs"], MACS)

    def test_an_invalid_table_is_refused_when_the_plugin_is_opened(self):
        for fault, words in TABLES.items():
            with self.subTest(fault=fault):
                self.assert_refused(5, [f"plugin {ID}: ", words], RESNET, "--plugin", self.plugin, env={"CONTRACT": f"table:{fault}"})

    def test_an_entry_with_reserved_set_is_refused(self):
        self.assert_refused(5, [str(self.plugin), "its tmeter_plugin_info has `reserved` set"], RESNET, "--plugin", self.plugin,
                            env={"CONTRACT": "table:reserved-info"})

    def test_requiring_an_unknown_metric_is_an_error(self):
        self.assert_report_without_it(self.run_mode("table:required", "--report", "json"),
                                      ["in analysis 'pass': metric 'mac' is required but no loaded plugin has it"])

    def test_an_invalid_table_in_a_folder_is_a_note(self):
        for fault in ("null-eval", "no-size", "escape"):
            with self.subTest(fault=fault):
                done = tmeter(RESNET, "--plugin-path", self.plugin.parent, "--report", "json", env={"CONTRACT": f"table:{fault}"})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, rf"\Atmeter: note: plugin {ID}: [^\n]*\n\Z")
                self.assertNotIn("\x1b", done.stderr)
                self.assertEqual(json.loads(done.stdout)["totals"]["macs"], MACS)

    def test_a_handler_for_an_unknown_metric_names_the_nearest_one(self):
        self.assert_report_without_it(self.run_mode("table:unknown-metric", "--report", "json"),
                                      ["it handles metric 'mac', which no plugin has (did you mean 'macs'?)"])


class NamedTest(CliTest):
    def named(self, id, name=None, metric="", op="", of="macs", writer="", priority=10, needs="", file=None):
        out = self.folder / f"{file or id}.tmeter"
        source = self.file("named.cpp", NAMED)
        texts = {"ID": id, "NAME": name or id.rpartition(".")[2], "METRIC": metric, "OP": op, "OF": of, "WRITER": writer, "NEEDS": needs}
        build_plugin(source, out, f"-DPRIORITY={priority}", *(f'-D{k}="{v}"' for k, v in texts.items()))
        return out


class Names(NamedTest):
    """Two plugins of one name: the message names both and the remedy; a full id selects either."""

    def test_an_ambiguous_short_name_is_refused_and_a_full_id_accepted(self):
        self.named("com.evil.flops", metric="evil")
        folder = ["--plugin-path", self.folder]
        self.assert_refused(2, ["2 plugins are called 'flops'", "com.evil.flops", "org.tmeter.flops", "full id", "--plugins=-"],
                            RESNET, "--plugins=flops", *folder)
        self.assert_refused(2, ["2 plugins are called 'flops'"], RESNET, "--set", "flops.convention=torch", *folder)
        for id, metric, other in (("com.evil.flops", "evil", "macs"), ("org.tmeter.flops", "macs", "evil")):
            ids = {m["id"] for m in report(RESNET, f"--plugins={id}", *folder)["metrics"]}
            self.assertIn(metric, ids)
            self.assertNotIn(other, ids)

    def test_a_plugin_in_a_folder_does_not_replace_a_default_plugin(self):
        self.named("com.evil.flops", metric="macs")
        for arguments in ([], ["--plugins=energy"]):  # energy needs the flops plugin of its own family
            document = report(RESNET, "--plugin-path", self.folder, *arguments)
            self.assertEqual(document["totals"]["macs"], MACS)

    def test_leaving_out_a_plugin_resolves_every_conflict(self):
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
        self.assertNotEqual(counted["totals"]["macs"], MACS)  # the plugin is found by the operator it handles
        self.assertTrue(any(w == "plugin com.acme.conv gives 'macs' of aten::conv2d in place of org.tmeter.flops"
                            for w in counted["warnings"]), counted["warnings"])
        without = report(RESNET, "--plugins=flops,-com.acme.conv", *folder)
        self.assertEqual(without["totals"]["macs"], MACS)
        self.assertEqual(without["warnings"], [])

    def test_a_given_file_is_left_out_too(self):
        plugin = self.named("com.acme.seven", metric="seven")
        ids = {m["id"] for m in report(RESNET, "--plugins=params,-seven", "--plugin", plugin)["metrics"]}
        self.assertNotIn("seven", ids)

    def test_equal_handlers_are_refused_alike_in_any_order(self):
        a, b = self.named("com.acme.a", op="aten::conv2d"), self.named("com.acme.b", op="aten::conv2d")
        words = ["plugins com.acme.a and com.acme.b both handle 'aten::conv2d' for metric 'macs'", "--plugins=-com.acme.b"]
        self.assert_refused(5, words, RESNET, "--plugin", a, "--plugin", b)
        self.assert_refused(5, words, RESNET, "--plugin", b, "--plugin", a)

    def test_equal_ids_are_a_note_and_the_first_is_used(self):
        for name in ("first", "second"):
            self.named("com.acme.seven", metric="seven", file=name)
        done = tmeter(RESNET, "--plugins=seven", "--plugin-path", self.folder, "--report", "json")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Atmeter: note: plugin com.acme.seven occurs twice: .*/first.tmeter is used, "
                                      r".*/second.tmeter is not; remove one of them\n\Z")

    def test_a_missing_dependency_costs_only_its_plugin(self):
        plugin = self.named("com.acme.needy", metric="needy", needs="nosuch")
        done = tmeter(RESNET, "--plugins=params,needy", "--plugin", plugin, "--report", "json")
        self.assertEqual(done.returncode, 5)
        self.assertIn("plugin com.acme.needy failed while it was opened: it needs plugin 'nosuch', which is not installed", done.stderr)
        self.assertIn("params", json.loads(done.stdout)["totals"])


class Folders(NamedTest):
    """A broken file in a plugin folder is reported as a note; the command succeeds."""

    def run_in_folder(self, *arguments, env=None, folder=None):
        return tmeter(RESNET, "--plugin-path", folder or self.folder, "--report", "json", *arguments, env=env, timeout=60)

    def assert_note(self, words, *arguments, env=None):
        done = self.run_in_folder(*arguments, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("tmeter: note: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(json.loads(done.stdout)["totals"]["macs"], MACS)
        return done

    def manifest_of(self, plugin):
        """The manifest as the SDK's CMake function writes it."""
        file = plugin.with_name(plugin.name + ".toml")
        done = tmeter("plugin", "manifest", plugin, "--output", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        return file

    def test_a_plugin_that_dies_in_init(self):
        plugin = self.folder / "rogue.tmeter"
        build_plugin("rogue_plugin.cpp", plugin, '-DROGUE_RIGHTS=""')
        for deed, words in (("segv", "crashed (segmentation fault)"), ("_exit", "ended the process (exit 0)")):
            with self.subTest(deed=deed):
                self.assert_note([str(plugin), words, "it is left out"], env={"ROGUE": f"init:{deed}"})
        # A user who requests the plugin reads the reason for its absence.
        done = self.run_in_folder("--plugins=flops,rogue", env={"ROGUE": "init:segv"})
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn(str(plugin), done.stderr)
        self.assertEqual(json.loads(done.stdout)["totals"]["macs"], MACS)

    def test_files_that_are_not_plugins(self):
        os.mkfifo(self.folder / "pipe.tmeter")
        self.assert_note(["pipe.tmeter is not a regular file"])
        (self.folder / "pipe.tmeter").unlink()
        (self.folder / "folder.tmeter").mkdir()
        self.assert_note(["folder.tmeter is a folder"])
        (self.folder / "folder.tmeter").rmdir()
        (self.folder / "gone.tmeter").symlink_to("/nonexistent/x.tmeter")
        self.assert_note(["gone.tmeter does not exist"])

    def test_unreadable_manifests(self):
        plugin = self.named("com.acme.seven", metric="seven")
        manifest = self.manifest_of(plugin)
        for name, make in (("garbage", lambda: manifest.write_bytes(b"\x00\xff = [")), ("a pipe", lambda: os.mkfifo(manifest)),
                           ("a folder", manifest.mkdir), ("endless", lambda: manifest.write_bytes(b"#" * (2 << 20))),
                           ("dotted", lambda: manifest.write_bytes(b"a." * 40_000 + b"a = 1\n")),
                           ("lists", lambda: manifest.write_bytes(b"a = " + b"[" * 40_000)),
                           ("tables", lambda: manifest.write_bytes(b"a = " + b"{ a = " * 40_000))):
            with self.subTest(name):
                manifest.rmdir() if manifest.is_dir() else manifest.unlink()
                make()
                self.assert_note([str(manifest), "the plugin itself is described instead"])
                self.assertIn('"seven"', self.run_in_folder("--plugins=flops,seven").stdout)

    def index_with_seven(self):
        plugin = self.named("com.acme.seven", metric="seven")
        manifest = self.manifest_of(plugin)
        done = tmeter("plugin", "index", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return plugin, manifest, self.folder / "plugins.index"

    def test_unusable_indexes(self):
        _, _, index = self.index_with_seven()
        good = index.read_bytes()
        for name, make, words in (
                ("garbage", lambda: index.write_bytes(b"\x00\xff"), "not one of this version"),
                ("cut", lambda: index.write_bytes(good[:-9]), "it is damaged"),
                ("a pipe", lambda: os.mkfifo(index), "not a regular file"),
                ("a folder", index.mkdir, "not a regular file"),
                ("endless", lambda: index.write_bytes(good + b"0:" * (5 << 20)), "longer than 8 MiB"),
                ("anybody's", lambda: (index.write_bytes(good), index.chmod(0o666)), "anybody on this machine")):
            with self.subTest(name):
                index.rmdir() if index.is_dir() else index.unlink()
                make()
                self.assert_note([str(index), words, "tmeter plugin index"])
                self.assertIn('"seven"', self.run_in_folder("--plugins=flops,seven").stdout)

    def test_an_index_is_used_while_its_manifest_is_unchanged(self):
        plugin, manifest, index = self.index_with_seven()
        index.write_bytes(index.read_bytes().replace(b"14:com.acme.seven", b"14:com.acme.eight"))
        listed = lambda: tmeter("plugin", "info", "com.acme.eight", "--plugin-path", self.folder)
        self.assertEqual(listed().returncode, 5, "it is read and compared with the plugin")
        self.assertIn("contradicts it", listed().stderr)
        os.utime(manifest, ns=(0, 0))
        self.assertEqual(listed().returncode, 2, "an older one is not read")
        self.assertIn("com.acme.seven", tmeter("plugin", "info", "seven", "--plugin-path", self.folder).stdout)

    def test_an_index_of_a_missing_folder(self):
        done = tmeter("plugin", "index", self.folder / "gone")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn(str(self.folder / "gone"), done.stderr)

    def test_a_manifest_without_a_library(self):
        plugin = self.named("com.acme.seven", metric="seven", writer="json")
        manifest = self.manifest_of(plugin)
        plugin.unlink()
        self.assert_note([str(manifest), "has no library beside it"])
        # Nor does it claim a file that another loader can read.
        manifest.write_text('id = "com.evil.all"\nname = "all"\n[[loader]]\nname = "all"\ntitle = "everything"\n'
                            '[[loader.match]]\nconditions = "name:*"\nscore = 100\n')
        self.assert_note([str(manifest), "has no library beside it"])

    def test_a_stale_manifest_is_not_used(self):
        plugin = self.named("com.acme.seven", metric="seven_a")
        self.manifest_of(plugin)
        before = plugin.stat()
        self.named("com.acme.seven", metric="seven_b")  # of the same length as before
        self.assertEqual(plugin.stat().st_size, before.st_size)
        document = json.loads(self.run_in_folder("--plugins=flops,seven").stdout)
        self.assertIn("seven_b", {m["id"] for m in document["metrics"]})

    def test_a_manifest_outlives_a_copy_of_its_library(self):
        """Identified by the build ID that readelf prints, or by the hash if the linker wrote no build ID."""
        plugin = self.named("com.acme.seven", metric="seven")
        manifest = self.manifest_of(plugin)
        written = re.search(r"Build ID: ([0-9a-f]+)", subprocess.run(["readelf", "-n", plugin], capture_output=True, text=True).stdout)
        self.assertIn(f"build_id = '{written[1]}'", manifest.read_text())
        for change in (lambda text: re.sub(r"sha256 = '[^']*'", "sha256 = ''", text), lambda text: re.sub(r"build_id = '[^']*'\n?", "", text)):
            self.manifest_of(plugin)
            manifest.write_text(change(manifest.read_text()))
            os.utime(plugin, (1, 1))
            done = tmeter("plugin", "list", "--plugin-path", self.folder, env={"LD_DEBUG": "files"})
            self.assertIn("seven", done.stdout)
            self.assertNotIn("com.acme.seven.tmeter", "".join(l for l in done.stderr.splitlines() if "calling init" in l))
        self.manifest_of(plugin)
        manifest.write_text(re.sub(r"build_id = '[^']*'", "build_id = '00'", manifest.read_text()).replace("'seven'", "'eight'"))
        os.utime(plugin, (2, 2))
        self.assertIn('"seven"', self.run_in_folder("--plugins=flops,seven").stdout)

    def test_a_manifest_of_another_schema_is_not_used(self):
        plugin = self.named("com.acme.seven", metric="seven")
        manifest = self.manifest_of(plugin)
        manifest.write_text(manifest.read_text().replace("schema = 1", "schema = 2").replace("'seven'", "'eight'"))
        self.assertIn('"seven"', self.run_in_folder("--plugins=flops,seven").stdout)

    def test_a_manifest_of_a_newer_abi_is_reported_without_opening(self):
        plugin = self.named("com.acme.seven", metric="seven")
        manifest = self.manifest_of(plugin)
        manifest.write_text(manifest.read_text().replace("abi_minor = 0", "abi_minor = 7"))
        self.assert_note(["needs plugin ABI 1.7, this tmeter has 1."])

    def test_files_that_anybody_may_change_are_refused(self):
        plugin = self.named("com.acme.seven", metric="seven")
        plugin.chmod(0o777)
        self.assert_note([str(plugin), "anybody on this machine can change it", "chmod o-w"])
        self.assert_refused(5, [str(plugin), "anybody on this machine can change it"], RESNET, "--plugin", plugin)
        plugin.chmod(0o755)
        self.folder.chmod(0o777)
        self.assert_refused(2, [str(self.folder), "anybody on this machine can change it"], RESNET, "--plugin-path", self.folder)
        done = tmeter(RESNET, "--report", "json", env={"TMETER_PLUGIN_PATH": str(self.folder)})
        self.assertEqual(done.returncode, 0)
        self.assertIn("anybody on this machine can change it", done.stderr)

    def test_an_allow_list(self):
        plugin = self.named("com.acme.seven", metric="seven")
        hash = hashlib.sha256(plugin.read_bytes()).hexdigest()
        config = self.file("config.toml", "plugin-sha256 = []\n")
        self.assert_note([str(plugin), "plugin-sha256", hash], "--config", config)
        self.assert_refused(5, [str(plugin), hash], RESNET, "--plugin", plugin, "--config", config)
        config.write_text(f'plugin-sha256 = ["{hash}"]\n')
        done = self.run_in_folder("--plugins=flops,seven", "--config", config)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        config.write_text('plugin-sha256 = ["abc"]\n')
        self.assert_refused(2, ["config.toml:1:", "'abc' is not a SHA-256"], RESNET, "--config", config)


if __name__ == "__main__":
    main()
