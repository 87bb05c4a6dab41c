"""Misuse of the plugin contract from outside. Each case checks the message, the status, and that all other plugins'
values equal those of a run without the offender."""
import json
import pathlib
import re
import subprocess
import tempfile

from support import MODELS, SOURCE, CliTest, build_plugin, main, tmeter

MODEL = MODELS / "resnet50.pt2"
OTHERS = "--plugins=params,flops,memory"
CALLS, LOADER = "com.rogue.calls", "com.rogue.loader"

# Misuse in an analysis → (status, words of the message). Status 5: the plugin is named and left out. Status 0: the misuse
# is harmless, and the report has a warning if there are words.
IN_AN_ANALYSIS = {
    "findings-40000": (0, ""),
    "findings-millions": (5, "it gives more than 100000 findings, tmeter's limit"),
    "findings-null-targets": (5, "it gives no targets of a finding, although it declares 3"),
    "findings-huge-targets": (5, "there are 9223372036854775807 targets of a finding; at most 20000000 are accepted"),
    "findings-reserved-target": (5, "a tmeter_target has `reserved` set"),
    "findings-null-changes": (5, "it gives no changes of a finding, although it declares 1"),
    "findings-huge-changes": (5, "there are 9223372036854775807 changes of a finding; at most 1000 are accepted"),
    "findings-infinite-change": (5, "finding 'rule' changes metric 'macs' from or to a value that is not finite"),
    "findings-negative-axis": (5, "finding 'rule' is about a row that does not exist"),
    "findings-row": (5, "finding 'rule' is about a row that does not exist"),
    "findings-small": (5, "its tmeter_finding is too small: struct_size is 8"),
    "findings-no-text": (5, "a finding needs a rule and a text"),
    "findings-nowhere": (0, ""),
    "findings-control": (0, ""),
    "findings-long": (0, ""),
    "findings-rule-of-another": (0, ""),
    "distribution-null": (5, "it gives no edges of a distribution, although it declares 2"),
    "distribution-huge": (5, "there are 9223372036854775807 bins of a distribution; at most 100000000 are accepted"),
    "distribution-bins-overflow": (5, "there are 18446744073709551615 bins of a distribution"),
    "distribution-nan": (5, "distribution 'values' has edges that do not increase or are not finite"),
    "distribution-falls": (5, "distribution 'values' has edges that do not increase or are not finite"),
    "distribution-empty": (5, "distribution 'values' is empty"),
    "distribution-reserved": (5, "a tmeter_target has `reserved` set"),
    "series-null": (5, "series 'curve' is empty"),
    "series-null-y": (5, "it gives no points of a series, although it declares 2"),
    "series-huge": (5, "there are 9223372036854775807 points of a series"),
    "series-infinite": (5, "series 'curve' has a point that is not finite"),
    "sum-integer": (5, "on metric 'own': the sum of metric 'own' exceeds 2^63"),
    "sum-real": (5, "on metric 'own': the sum of metric 'own' is not a finite number"),
    "macs-overflow": (5, "on metric 'macs"),
    "macs-absurd": (5, "on metric 'macs"),
    "row": (5, "metric 'own' was emitted for row 9223372036854775807 of a table that does not have it"),
    "metric-nowhere": (5, "metric '' is not declared by any loaded plugin"),
    "emit-in-analysis": (5, "emit is for handlers; an analysis uses emit_at"),
    "convention-empty": (5, "metric 'own' was given an empty convention"),
    "convention-control": (0, ""),
    "provenance-control": (0, ""),
    "warnings-40000": (0, "plugin com.rogue.calls sends more than 10,000 messages; the others are left out"),
    "warning-long": (0, "xxx"),
    "warning-nowhere": (0, ""),
    "warning-level": (0, "odd"),
    "scratch-huge": (0, ""),
    "option-nowhere": (0, ""),
    "read-axis": (0, ""),
    "graph-index": (0, ""),
    "class-of-nothing": (5, "it requests a node that the graph does not have"),
    "memory-of-nothing": (5, "it requests a node that the graph does not have"),
    "numbers-of-nothing": (5, "it requests the elements of a tensor that the graph does not have"),
    "numbers-range": (0, ""),
    "runs-elsewhere": (5, "the model is not being run in this kind of call"),
    "call-of-init": (0, ""),
    "call-on-a-thread": (5, "it used a call on another thread than the one it was given to"),
    "configure-emits": (5, "emit_at is for analyses, not for plugins that configure themselves"),
    "configure-finds": (5, "findings are for analyses, not for handlers or `configure`"),
    "configure-reads": (5, "metrics have no values yet while plugins configure themselves"),
    "metrics-4096": (0, ""),
}

GIVEN_BACK = "it uses a builder for shape rules that it has given back, or gives one back that is not its own"

# Misuse by a loader that has pushed a good model and returns success → (status, words). No other loader reads the file.
# 5: it continued after a refusal; 0: no fault.
IN_A_LOADER = {
    "": (0, ""),
    "no-root": (5, "it succeeds but has pushed no model, not even a root module"),
    "values-without-root": (5, "it succeeds but has pushed no model, not even a root module"),
    "node-of-no-call": (5, "it continues after the builder refused a push: node aten::relu belongs to a module call that does not exist"),
    "node-of-no-value": (5, "it continues after the builder refused a push: an argument refers to a value that does not exist"),
    "node-dangling": (5, "it continues after the builder refused a push: node 1 (aten::relu) uses 'self' before anything defines it"),
    "node-no-result": (5, "a result refers to a value that does not exist"),
    "node-null-args": (5, "it gives no arguments of a node, although it declares 2"),
    "node-huge-results": (5, "there are 9223372036854775807 results of a node"),
    "node-reserved": (5, "a tmeter_arg has `reserved` set"),
    "node-small": (5, "its tmeter_node_desc is too small: struct_size is 8"),
    "node-name": (5, "a name is for a node that does not exist"),
    "module-of-none": (5, "a module names a module that does not exist"),
    "module-second-root": (5, "the module tree must have exactly one root"),
    "module-twice": (5, "module 'a' occurs twice"),
    "module-deep": (5, "modules are nested more than 1,000 deep"),
    "module-long": (5, "the path of a module has 5000 bytes"),
    "call-of-none": (5, "a module call names a module that does not exist"),
    "call-parent": (5, "a module call names a parent call that does not exist"),
    "calls-deep": (0, ""),
    "attribute-of-none": (5, "an attribute names a module that does not exist"),
    "tensor-owner": (5, "names a module that does not exist"),
    "tensor-twice": (5, "tensor 'weight' occurs twice"),
    "tensor-negative": (5, "has the impossible shape [-1, 3]"),
    "tensor-overflow": (5, "has the impossible shape [9223372036854775807, 3]"),
    "tensor-empty-overflow": (5, "has the impossible shape [0, 9223372036854775807, 9223372036854775807]"),
    "tensor-null-dims": (5, "it gives no dims of a tensor, although it declares 2"),
    "tensor-rank": (5, "there are 9223372036854775807 dims of a tensor; at most 64 are accepted"),
    "tensor-reserved": (5, "its tmeter_tensor_desc has `reserved` set"),
    "tensor-of-another-source": (5, "a tensor names a source that is not of this model"),
    "tensor-beyond-file": (5, "extends beyond the end of the file"),
    "tensor-negative-offset": (5, "reaches beyond its storage of 1 bytes"),
    "value-rank": (5, "there are 9223372036854775807 dims of a tensor; at most 64 are accepted"),
    "value-null-dims": (5, "it gives no dims of a tensor, although it declares 3"),
    "value-negative": (5, "has the impossible shape [-7]"),
    "value-expr": (5, "a dim names an expression that does not exist"),
    "value-reserved": (5, "a tmeter_dim has `reserved` set"),
    "value-bound": (5, "a value is bound to a tensor that does not exist"),
    "list-null": (5, "it gives no items of a list, although it declares 3"),
    "list-huge": (5, "there are 9223372036854775807 items of a list"),
    "list-of-nothing": (5, "a list refers to a value that does not exist"),
    "list-deep": (5, "lists are nested more than 64 deep"),
    "list-doubles": (5, "a list has, with the lists inside it, more than 10,000,000 values, tmeter's limit"),
    "expr-null": (5, "it gives no operands of a shape expression, although it declares 2"),
    "expr-huge": (5, "there are 9223372036854775807 operands of a shape expression; at most 1000 are accepted"),
    "expr-unknown": (5, "unknown operator in a shape expression"),
    "symbol-range": (5, "symbol 's' has a range without a value"),
    "input-of-none": (5, "a model input refers to a value that does not exist"),
    "input-wanted": (5, "input 'x' is to have other sizes, but is not a tensor of that rank"),
    "input-null-dims": (5, "it gives no dims of an input, although it declares 2"),
    "output-of-none": (5, "a model output refers to a value that does not exist"),
    "property-long": (5, "property 'k' has more than 64 KiB, tmeter's limit"),
    "properties-many": (5, "the model has more than 1000 properties, tmeter's limit"),
    "builder-on-a-thread": (5, "it used a call on another thread than the one it was given to"),
    "builder-kept": (0, ""),
    "rule-end-twice": (5, GIVEN_BACK),
    "rule-end-of-the-model": (5, GIVEN_BACK),
    "rule-end-of-nothing": (5, GIVEN_BACK),
    "rule-push-after-end": (5, GIVEN_BACK),
    "rule-value-after-end": (5, GIVEN_BACK),
    "rule-infer-after-end": (5, GIVEN_BACK),
    "rule-end-between": (5, GIVEN_BACK),
    "rule-never-ended": (0, ""),
    "rule-many": (0, ""),
    "texts-broken": (0, ""),
}

# A fault in the loader's matches → words of the message; the plugin is refused.
MATCHES = {
    "score 0": ({"SCORE": "0"}, "loader 'acme' has a match with a score of 0; scores are 1 to 100"),
    "score 101": ({"SCORE": "101"}, "loader 'acme' has a match with a score of 101; scores are 1 to 100"),
    "score -1": ({"SCORE": "-1"}, "loader 'acme' has a match with a score of -1; scores are 1 to 100"),
    "reserved": ({"CONTRACT": "match-reserved"}, "loader 'acme' has a match that has `reserved` set"),
    "count": ({"CONTRACT": "match-huge"}, "loader 'acme' has more than 1,000 matches"),
}

# Matches that fit every file: whatever their score, the loader of the format reads the file.
ANYTHING = ["name:*", "zip:*", "name:*.*", "name:** zip:?*", "!zip:nothing", "at:0:", "magic:"]


def others(document, plugin):
    """The parts of the report that do not come from the plugin."""
    own = {m["id"] for m in document["metrics"] if m["plugin"] == plugin}
    without = lambda values: {k: v for k, v in values.items() if k not in own}
    return {
        "metrics": [m["id"] for m in document["metrics"] if m["id"] not in own],
        "totals": without(document["totals"]),
        "modules": [without(m["values"]) for m in document["modules"]],
        "nodes": [without(n["values"]) for n in document["nodes"]],
        "tensors": [without(t.get("values", {})) for t in document["tensors"]],
        "findings": [f for f in document["findings"] if f["plugin"] != plugin],
    }


class Contract(CliTest):
    maxDiff = 2000
    source, id = "contract_calls.cpp", CALLS

    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-contract-")
        cls.addClassCleanup(built.cleanup)
        cls.plugin = pathlib.Path(built.name) / "rogue.tmeter"
        build_plugin(cls.source, cls.plugin)

    def assert_others_are_unharmed(self, document, reference):
        self.assertEqual(others(document, self.id), others(reference, self.id))

    def assert_ended(self, done, status, words, messages):
        self.assertEqual(done.returncode, status, done.stderr[:2000])
        self.assertNotRegex(done.stderr + done.stdout, "[\x00-\x08\x0b-\x1f\x7f]")
        if status:
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(f"plugin {self.id} failed", done.stderr)
            self.assertIn(words, done.stderr)
            self.assertLess(len(done.stderr), 1000)
        else:
            self.assertEqual(done.stderr, "")
            self.assertTrue(any(words in w for w in messages), messages[-3:])


class Headers(CliTest):
    def test_the_macro_of_the_target_minor_has_no_effect(self):
        source = self.file("plugin.c", "#include <tmeter/abi/tmeter.h>\n")
        seen = set()
        for define in ("", "-DTMETER_ABI_TARGET_MINOR=0", "-DTMETER_ABI_TARGET_MINOR=1"):
            done = subprocess.run(["cc", "-E", "-P", "-I", SOURCE / "sdk" / "include", *define.split(), source], capture_output=True, text=True, check=True)
            seen.add(done.stdout)
        self.assertEqual(len(seen), 1)

    def test_a_draft_has_an_id_of_its_own(self):
        for path in (SOURCE / "sdk" / "include" / "tmeter" / "abi" / "draft").iterdir():
            for id in re.findall(r'#define TMETER_\w+ "(tmeter\.[^"]*)"', path.read_text()):
                self.assertRegex(id, r"/0\.\d+$")


class Calls(Contract):
    def run_mode(self, mode, *arguments):
        return tmeter(OTHERS + ",calls", "--plugin", self.plugin, *arguments, MODEL, env={"CONTRACT": mode})

    def report_of(self, mode, status=0, words=""):
        done = self.run_mode(mode, "--report", "json")
        document = json.loads(done.stdout)
        self.assert_ended(done, status, words, document["warnings"] + ([""] if not words else []))
        return document

    def test_the_table(self):
        reference = json.loads(tmeter(OTHERS, "--report", "json", MODEL).stdout)
        for mode, (status, words) in IN_AN_ANALYSIS.items():
            with self.subTest(mode):
                document = self.report_of(mode, status, words)
                self.assert_others_are_unharmed(document, reference)
                if status:
                    own = next(m for m in document["metrics"] if m["id"] == "own")
                    self.assertEqual(own["provenance"]["kind"], "unavailable")

    def test_values_that_overflow_in_other_plugins_are_attributed_to_their_source(self):
        """One operator of 4·10^18 MACs or 10^308: values that our own plugins derive from these overflow or are infinite."""
        arguments = ["--plugins=all", "--report", "json", MODEL]
        reference = json.loads(tmeter(*arguments).stdout)
        for mode in ("count-macs", "real-macs", "real-energy"):
            with self.subTest(mode):
                done = tmeter(*arguments, "--plugin", self.plugin, env={"CONTRACT": mode})
                document = json.loads(done.stdout)
                self.assert_ended(done, 5, "its value is too large to calculate with", [])
                self.assertIn(f"plugin {CALLS} failed on metric '{mode.split('-')[1]}'", done.stderr)
                self.assert_others_are_unharmed(document, reference)

    def test_texts_are_cut_and_spelled_out(self):
        finding = lambda mode: next(f for f in self.report_of(mode)["findings"] if f["plugin"] == CALLS)
        self.assertEqual(finding("findings-control")["rule"], r"ru\x1b[2Jle")
        self.assertEqual(finding("findings-control")["text"], r"a\nb \xff\x80 c")
        self.assertEqual(finding("findings-long")["text"], "x" * 8192 + "…")
        self.assertEqual(finding("findings-nowhere").get("evidence", ""), "")
        self.assertIn("x" * 8192 + "…", self.report_of("warning-long")["warnings"])

    def test_counts(self):
        own = lambda mode: [f for f in self.report_of(mode)["findings"] if f["plugin"] == CALLS]
        self.assertEqual(len(own("findings-40000")), 40_000)
        warnings = self.report_of("warnings-40000")["warnings"]
        self.assertEqual(len(warnings), 10_001)
        self.assertEqual(warnings[9_999], "warning 9999")
        self.assertEqual(sum(m["plugin"] == CALLS for m in self.report_of("metrics-4096")["metrics"]), 4096)

    def test_a_plugin_may_build_each_text_in_one_buffer(self):
        own = [m for m in self.report_of("metrics-4-one-buffer")["metrics"] if m["plugin"] == CALLS]
        self.assertEqual([m["id"] for m in own], ["own", "m0", "m1", "m2"])
        self.assertEqual([m["title"] for m in own], ["own", "m0", "m1", "m2"])

    def test_output_of_init_is_reported_once(self):
        done = self.run_mode("init-prints", "--report", "json")
        self.assertEqual((done.returncode, done.stderr), (0, f"tmeter: note: printed by {CALLS}: hello from init\n"))

    def test_a_library_found_twice_is_opened_once(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "linked.tmeter").symlink_to(self.plugin)
        for mode, words in (("init-fails", "could not be started: no, thank you"), ("", "")):
            with self.subTest(mode):
                done = tmeter("--plugins=params" + ("" if mode else ",calls"), "--plugin-path", self.plugin.parent, "--plugin-path", other,
                              "--report", "json", MODEL, env={"CONTRACT": mode})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1 if mode else 0, done.stderr)
                self.assertIn(words, done.stderr)

    def test_output_before_a_failure_is_reported(self):
        done = tmeter(MODEL, "--plugin", self.plugin, env={"CONTRACT": "init-prints-and-fails"})
        self.assertEqual(done.returncode, 5)
        self.assertIn("hello from init", done.stderr)
        self.assertIn("no, thank you", done.stderr)

    def test_more_metrics_than_a_report_has_columns(self):
        for count in (4097, 40_000):
            self.assert_refused(5, [f"plugin {CALLS}: its table tmeter.metrics/1 has {count} items; at most 4096 are accepted"],
                                MODEL, "--plugin", self.plugin, env={"CONTRACT": f"metrics-{count}"})

    def test_a_finding_belongs_to_its_plugin(self):
        rules = [(f["rule"], f["plugin"]) for f in self.report_of("findings-rule-of-another")["findings"]]
        self.assertIn(("memory-peak", CALLS), rules)
        self.assertIn(("memory-peak", "org.tmeter.memory"), rules)

    def test_misplaced_writes_have_no_effect(self):
        for mode in ("", "write-nowhere", "write-on-a-thread", "write-afterwards"):
            with self.subTest(mode):
                done = self.run_mode(mode, "--report", "calls")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "written\n", ""))


class Loading(Contract):
    source, id = "contract_loader.cpp", LOADER

    def read(self, path, mode, *arguments, **env):
        return tmeter(path, "--plugins=params,loader", "--plugin", self.plugin, "--report", "json", *arguments,
                      env={"CONTRACT": mode, **env})

    def test_the_table(self):
        path = self.file("model.acme", b"acme" * 100)
        good = json.loads(self.read(path, "").stdout)
        self.assertEqual(good["totals"]["params"], 12)  # 4 × 3
        for mode, (status, words) in IN_A_LOADER.items():
            for then in ("", "/goes-on"):
                with self.subTest(mode + then):
                    done = self.read(path, mode + then)
                    self.assert_ended(done, status, words, [""])
                    if status:
                        self.assertEqual(done.stdout, "")
                        self.assertIn("model.acme", done.stderr)
                    else:
                        self.assertEqual(json.loads(done.stdout)["totals"]["params"], 12)

    def test_a_refusal_that_a_loader_reports_is_an_error_of_the_file(self):
        path = self.file("model.acme", b"acme" * 100)
        done = self.read(path, "module-twice/heeds")
        self.assertEqual(done.returncode, 4)
        self.assertIn("model.acme: module 'a' occurs twice (reported by plugin com.rogue.loader)", done.stderr)

    def test_a_declining_loader_leaves_the_file_to_the_next(self):
        done = tmeter(MODEL, "--plugins=params", "--plugin", self.plugin, "--report", "json",
                      env={"CONTRACT": "module-twice/declines", "MATCH": "zip:*/models/*", "SCORE": "100"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        reference = json.loads(tmeter(MODEL, "--plugins=params", "--report", "json").stdout)
        self.assert_others_are_unharmed(json.loads(done.stdout), reference)

    def test_invalid_matches_are_refused(self):
        for case, (env, words) in MATCHES.items():
            with self.subTest(case):
                self.assert_refused(5, [f"plugin {LOADER}: {words}"], MODEL, "--plugin", self.plugin, env=env)

    def test_a_catch_all_loader_does_not_outbid_the_loader_of_the_format(self):
        reference = json.loads(tmeter(MODEL, "--plugins=params", "--report", "json").stdout)
        for match in ANYTHING:
            with self.subTest(match):
                done = tmeter(MODEL, "--plugins=params", "--plugin-path", self.plugin.parent, "--report", "json",
                              env={"MATCH": match, "SCORE": "100"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                document = json.loads(done.stdout)
                self.assertEqual(document["totals"], reference["totals"])
                self.assertEqual(document["warnings"], reference["warnings"])

    def test_reading_by_a_catch_all_loader_is_reported(self):
        path = self.file("model.odd", b"odd" * 100)
        done = tmeter(path, "--plugins=params", "--plugin-path", self.plugin.parent, "--report", "json", env={"MATCH": "name:*", "SCORE": "100"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        words = "the model was read by loader 'acme' of plugin com.rogue.loader, which takes any file"
        self.assertTrue(any(words in w for w in json.loads(done.stdout)["warnings"]), done.stdout[:500])

    def test_a_manifest_may_not_exceed_the_highest_score(self):
        manifest = self.plugin.with_name("rogue.tmeter.toml")
        self.addCleanup(manifest.unlink)
        done = tmeter("plugin", "manifest", self.plugin, "--output", manifest)
        self.assertEqual(done.returncode, 0, done.stderr)
        manifest.write_text(manifest.read_text().replace("score = 50", "score = 1000"))
        done = tmeter(MODEL, "--plugins=params", "--plugin-path", self.plugin.parent, "--report", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("loader 'acme' has a match with a score of 1000; scores are 1 to 100; the plugin itself is described instead", done.stderr)


if __name__ == "__main__":
    main()
