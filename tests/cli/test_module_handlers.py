"""The meaning of a module handler's value: it does not depend on the order of reads, and the sums of every view agree.

ResNet-50 at 224 × 224 by hand (torchvision/models/resnet.py): 16 Bottlenecks. The first Bottleneck of each of the 4
layers has 12 operators (3 convolutions, 3 norms, 3 activations, an addition, a convolution and a norm of
the shortcut), the others have 10. Around them conv1, bn1, relu, maxpool, avgpool, flatten, fc: 175.
"""
import csv
import io
import itertools
import json
import pathlib
import re
import tempfile

from support import FIXTURES, MODELS, CliTest, build_plugin, main, tmeter

RESNET = MODELS / "resnet50.pt2"
TYPE = "torchvision.models.resnet.Bottleneck"
BLOCKS = 16
OPERATORS, INSIDE = 175, 4 * 12 + 12 * 10
MACS = 4089184256  # FlopCounterMode / 2: tests/fixtures/expected
CONV1 = 112 * 112 * 64 * 3 * 7 * 7
FC = 2048 * 1000
BN1 = 2 * 64 * 112 * 112  # by fvcore: 2 for each element of its input
AVGPOOL = 2048 * 7 * 7  # by fvcore: 1 for each element of its input
GIVEN = 1_000_000
TOTAL = CONV1 + FC + BLOCKS * GIVEN
PER_MAC = 4.6e-12  # J, horowitz-45nm, float32


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def whole(row, metric):
    return float(row[metric] or 0)


class ModuleHandlers(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-module-")
        cls.addClassCleanup(built.cleanup)
        cls.plugins = {}
        for name, metrics in {"a": "alpha", "z": "omega", "one": ""}.items():
            cls.plugins[name] = pathlib.Path(built.name) / f"{name}.tmeter"
            build_plugin("module_plugin.cpp", cls.plugins[name], f'-DID="com.stranger.{name}"', f'-DENV="RULES_{name}"',
                         f'-DMETRICS="{metrics}"')

    def run_with(self, rules, *arguments, model=RESNET, plugins="flops,memory,energy", format="json"):
        """`rules` by plugin; the command line names the plugins in this order."""
        files = [x for name in rules for x in ("--plugin", self.plugins[name])]
        return tmeter(model, f"--plugins={plugins}", *files, "--report", format, *arguments,
                      env={f"RULES_{name}": rule for name, rule in rules.items()})

    def report_with(self, rules, *arguments, **kwargs):
        done = self.run_with(rules, *arguments, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def csv_with(self, rules, *arguments, **kwargs):
        done = self.run_with(rules, *arguments, format="csv", **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        return rows_of(done.stdout)


MACS_GIVEN = {"one": f"Bottleneck macs {GIVEN}"}


class Values(ModuleHandlers):
    def test_coverage_is_that_of_the_calls(self):
        coverage = self.report_with(MACS_GIVEN)["coverage"]
        self.assertEqual((coverage["unknown"], coverage["ratio"]), (0, 1))
        self.assertEqual(coverage["counted"], INSIDE + 2)  # conv1 and fc
        self.assertEqual(coverage["zero_by_rule"], OPERATORS - INSIDE - 2)
        self.assertEqual(self.run_with(MACS_GIVEN, "--assert", "coverage==100%", "--assert", f"macs=={TOTAL}").returncode, 0)

    def test_derived_metrics_follow_the_macs_of_the_call(self):
        document = self.report_with(MACS_GIVEN)
        totals = document["totals"]
        self.assertEqual(totals["macs"], TOTAL)
        self.assertEqual(totals["flops"], 2 * TOTAL)
        self.assertEqual(totals["bit_ops"], TOTAL * 32 * 32)
        for metric in ("macs", "flops", "bit_ops", "energy"):
            self.assertNotIn(metric, document["totals_status"])
        # Other arithmetic and traffic remain those of the operators, so energy changes only by the MACs.
        before = self.report_with({})["totals"]
        self.assertEqual(before["macs"], MACS)
        for metric in ("other_flops", "read_bytes", "written_bytes", "energy_memory", "peak_activation_bytes"):
            self.assertEqual(totals[metric], before[metric], metric)
        for metric in ("energy", "energy_compute"):
            self.assertAlmostEqual(totals[metric], before[metric] + (TOTAL - MACS) * PER_MAC, 12)

    def test_in_every_convention(self):
        other = self.report_with({})["totals"]["other_flops"]
        for convention, flops, status in (("torchvision", TOTAL, None), ("full", 2 * TOTAL + other, None),
                                          ("fvcore", TOTAL + BN1 + AVGPOOL, "lower_bound")):
            with self.subTest(convention=convention):
                document = self.report_with(MACS_GIVEN, "--set", f"flops.convention={convention}")
                self.assertEqual(document["totals"]["flops"], flops)
                self.assertEqual(document["totals_status"].get("flops"), status)
        for tool in ("thop", "ptflops", "torchinfo", "torchmeter", "torchstat"):
            with self.subTest(convention=tool):
                document = self.report_with(MACS_GIVEN, "--set", f"flops.convention={tool}")
                self.assertGreaterEqual(document["totals"]["flops"], TOTAL)
                self.assertEqual(document["totals_status"]["flops"], "lower_bound")

    def test_static_energy_is_that_of_the_call_as_one_operator(self):
        # The traffic of a call takes longer than 1,000,000 MACs on an A100, so its bytes determine the static energy.
        document = self.report_with(MACS_GIVEN, "--hardware", "nvidia-a100")
        module = next(m for m in document["modules"] if m["path"] == "layer1.0")["values"]
        relu = next(m for m in document["modules"] if m["path"] == "relu")["values"]  # relu consists of traffic alone
        per_byte = relu["energy_static"] / (relu["read_bytes"] + relu["written_bytes"])
        self.assertAlmostEqual(module["energy_static"] / (per_byte * (module["read_bytes"] + module["written_bytes"])), 1, 6)

    def test_other_given_metrics_count_as_given(self):
        document = self.report_with({"one": f"Bottleneck macs {GIVEN}; Bottleneck other_flops 500; Bottleneck read_bytes 3000; "
                                            "Bottleneck written_bytes 1000"}, "--set", "flops.convention=full")
        module = next(m for m in document["modules"] if m["path"] == "layer3.4")["values"]
        self.assertEqual(module["flops"], 2 * GIVEN + 500)
        # 4.6 pJ a MAC, 2.3 pJ another operation, 162.5 pJ a byte.
        self.assertAlmostEqual(module["energy"], GIVEN * 4.6e-12 + 500 * 2.3e-12 + 4000 * 162.5e-12, 18)

    def test_other_arithmetic_alone(self):
        rules = {"one": "Bottleneck other_flops 500"}
        document = self.report_with(rules)
        self.assertEqual((document["totals"]["macs"], document["totals"]["flops"]), (MACS, 2 * MACS))
        self.assertFalse(any("flops" in n.get("in_module", []) for n in document["nodes"]))
        document = self.report_with(rules, "--set", "flops.convention=full")
        self.assertEqual(document["totals"]["flops"], 2 * MACS + document["totals"]["other_flops"])
        self.assertTrue(any("flops" in n.get("in_module", []) for n in document["nodes"]))

    def test_a_partial_value_makes_derived_values_partial(self):
        document = self.report_with({"one": f"Bottleneck macs partial:{GIVEN}"})
        for metric in ("macs", "flops", "energy", "bit_ops"):
            self.assertEqual(document["totals_status"][metric], "lower_bound", metric)
        self.assertEqual(document["coverage"]["unknown"], 0)

    def test_unavailable_and_zero_values(self):
        document = self.report_with({"one": "Bottleneck macs unavailable"})
        self.assertEqual(document["totals"]["macs"], CONV1 + FC)
        self.assertEqual(document["totals_status"]["macs"], "lower_bound")
        self.assertEqual(document["totals"]["flops"], 2 * (CONV1 + FC))
        self.assertEqual(document["totals_status"]["flops"], "lower_bound")
        self.assertEqual(document["coverage"]["unknown"], INSIDE)  # of FLOPs

        document = self.report_with({"one": "Bottleneck macs zero"})
        self.assertEqual(document["totals"]["flops"], 2 * (CONV1 + FC))
        self.assertNotIn("flops", document["totals_status"])
        self.assertEqual(document["coverage"]["zero_by_rule"], OPERATORS - 2)

    def test_a_handler_that_declines_changes_nothing(self):
        before, after = self.report_with({}), self.report_with({"one": "Bottleneck macs decline"})
        self.assertEqual(after["totals"], before["totals"])
        self.assertEqual(after["nodes"], before["nodes"])

    def test_a_handler_may_read_the_sum_of_the_operators_inside(self):
        document = self.report_with({"one": "Bottleneck macs half"})
        self.assertEqual(document["totals"]["macs"], CONV1 + FC + (MACS - CONV1 - FC) // 2)
        self.assertEqual(document["totals"]["flops"], 2 * document["totals"]["macs"])

    def test_a_module_of_unknown_operators(self):
        # acme::gated_mlp in two calls of GatedMlp: all of them counted.
        model = FIXTURES / "in_house" / "net.pt2"
        before = self.report_with({}, model=model)
        types = {m["path"]: m["type"] for m in before["modules"]}
        self.assertGreater(before["coverage"]["unknown"], 0)
        rules = f"{types['mlp']} macs 7; {types['mlp']} other_flops 5; {types['mlp']} read_bytes 3; {types['mlp']} written_bytes 2"
        after = self.report_with({"one": rules}, model=model)
        self.assertEqual(after["coverage"]["ratio"], 1)
        for metric in ("macs", "flops", "energy"):
            self.assertNotIn(metric, after["totals_status"])
        calls = sum(m["calls"] for m in after["modules"] if m["type"] == types["mlp"])
        self.assertEqual(after["totals"]["macs"], before["totals"]["macs"] + 7 * calls)


class Contents(ModuleHandlers):
    def macs_of(self, rule, *paths):
        modules = {m["path"]: m["values"]["macs"] for m in self.report_with({"one": f"Bottleneck macs {rule}"})["modules"]}
        return [modules[path] for path in paths]

    def test_a_call_gives_its_operators_inputs_and_outputs(self):
        blocks = "layer1.0", "layer1.1", "layer4.2"
        self.assertEqual(self.macs_of("nodes", *blocks), [12, 10, 10])
        self.assertEqual(self.macs_of("inputs", *blocks), [1, 1, 1])
        self.assertEqual(self.macs_of("outputs", *blocks), [1, 1, 1])
        self.assertEqual(self.macs_of("elements", *blocks), [64 * 56 * 56, 256 * 56 * 56, 2048 * 7 * 7])

    def test_other_sizes_and_formulas(self):
        # Two linear layers on batches of any size, 64 → 256 → 10: their inputs have 64 and 256 elements each.
        rules = {"one": "Linear macs elements"}
        document = self.report_with(rules, model=MODELS / "dynamic_mlp.pt2")
        texts = {(f["metric"], f["module"]): f["text"] for f in document["formulas"]}
        self.assertEqual(texts["macs", ""], "320·s77")
        self.assertEqual(texts["flops", ""], "640·s77")
        self.assertEqual(texts["flops", "down"], "512·s77")
        self.assertEqual(document["totals"]["macs"], 320 * 4)
        rows = self.csv_with(rules, "--sweep", "s77=3,5", model=MODELS / "dynamic_mlp.pt2")
        self.assertEqual([(row["macs"], row["flops"]) for row in rows], [("960", "1920"), ("1600", "3200")])


class Views(ModuleHandlers):
    def test_json_marks_included_and_given_values(self):
        document = self.report_with(MACS_GIVEN)
        modules = {m["path"]: m for m in document["modules"]}
        for path in ("layer1.0", "layer4.2"):
            self.assertEqual(modules[path]["values"]["macs"], GIVEN)
            self.assertLessEqual({"macs", "flops", "energy"}, set(modules[path]["by_module"]))
            self.assertNotIn("other_flops", modules[path]["by_module"])
        for path in ("layer1.0.conv1", "layer2.0.downsample", "layer2.0.downsample.0"):
            self.assertIsNone(modules[path]["values"]["macs"])
            self.assertLessEqual({"macs", "flops", "energy"}, set(modules[path]["in_module"]))
            self.assertNotIn("by_module", modules[path])
        self.assertEqual(modules["layer1"]["values"]["macs"], 3 * GIVEN)
        self.assertNotIn("by_module", modules["layer1"])
        inside = [n for n in document["nodes"] if "macs" in n.get("in_module", [])]
        self.assertEqual(len(inside), INSIDE)
        self.assertTrue(all(n["values"]["macs"] is None for n in inside))
        self.assertEqual(document["warnings"], [f"plugin com.stranger.one gives 'macs' of {TYPE} in place of org.tmeter.flops"])

    def test_rows_add_up(self):
        totals = self.report_with(MACS_GIVEN)["totals"]
        for by, depth in itertools.product(("operator", "type"), ("1", "2")):
            rows = self.csv_with(MACS_GIVEN, "--by", by, "--depth", depth)
            for metric in ("macs", "flops", "bit_ops", "other_flops", "energy"):
                with self.subTest(by=by, depth=depth, metric=metric):
                    self.assertAlmostEqual(sum(whole(row, metric) for row in rows) / totals[metric], 1, 12)
        rows = self.csv_with(MACS_GIVEN)
        top = [row for row in rows if row["path"] and "." not in row["path"]]
        self.assertEqual(sum(whole(row, "macs") for row in top), totals["macs"])

    def test_a_row_for_each_type_that_is_given(self):
        row = next(r for r in self.csv_with(MACS_GIVEN, "--by", "operator") if r["operator"] == TYPE)
        self.assertEqual((row["calls"], row["macs"], row["flops"]), ("16", str(BLOCKS * GIVEN), str(2 * BLOCKS * GIVEN)))
        convolutions = next(r for r in self.csv_with(MACS_GIVEN, "--by", "operator") if r["operator"] == "aten::conv2d")
        self.assertEqual(convolutions["macs"], str(CONV1))
        row = next(r for r in self.csv_with(MACS_GIVEN, "--by", "type") if r["type"] == TYPE)
        self.assertEqual(row["macs"], str(BLOCKS * GIVEN))

    def test_every_human_readable_format_marks_included_values(self):
        for name, words in {"text": ["↑", "included in the value of an enclosing module", "16.00 M"], "markdown": ["↑", "`" + TYPE + "`"],
                            "full-text": ["↑"]}.items():
            with self.subTest(format=name):
                done = self.run_with(MACS_GIVEN, "--depth", "all", "--by", "operator" if name == "text" else "module", format=name)
                self.assertEqual(done.returncode, 0, done.stderr)
                for word in words:
                    self.assertIn(word, done.stdout)

    def test_fvcores_dictionaries_have_the_type(self):
        done = self.run_with(MACS_GIVEN, format="fvcore-json")
        macs = json.loads(done.stdout)["macs"]
        self.assertEqual(macs["by_operator"], {"Bottleneck": BLOCKS * GIVEN, "conv": CONV1, "linear": FC})
        self.assertEqual(macs["by_module_and_operator"]["layer1"], {"Bottleneck": 3 * GIVEN})

    def test_a_saved_report_is_shown_like_the_model(self):
        rules = {"a": f"Sequential macs 5; Bottleneck other_flops unavailable; Conv2d alpha none", "one": "Bottleneck macs 7"}
        saved = self.file("saved.json", self.run_with(rules).stdout)
        for view in ([], ["--by", "operator", "--depth", "2"], ["--by", "type"], ["--depth", "all"]):
            for name in ("text", "csv", "xml", "markdown", "fvcore-json", "json"):
                with self.subTest(view=view, format=name):
                    shown = tmeter("show", saved, *view, "--report", name)
                    self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                    if name != "json":  # json contains the command
                        self.assertEqual(self.without_seconds(self.run_with(rules, *view, format=name).stdout), self.without_seconds(shown.stdout))
                    elif not view:
                        self.assertEqual(shown.stdout, saved.read_text())

    def without_seconds(self, text):
        return re.sub(r" *analysed in [^\n]*|seconds=\"[^\"]*\"|command=\"[^\"]*\"", "", text)

    def test_a_bound_on_an_included_value_does_not_hold(self):
        done = self.run_with(MACS_GIVEN, "--assert", 'module("layer1.0.conv1").macs<1G')
        self.assertEqual(done.returncode, 3)
        self.assertIn("included in the value of an enclosing module", done.stderr)


class Order(ModuleHandlers):
    """The order of plugins on the command line, of their ids and of reads does not matter."""

    def same_whatever_the_order(self, rules, *arguments):
        names = list(rules)
        documents = []
        for order in itertools.permutations(names):
            document = self.report_with({n: rules[n] for n in order}, *arguments)
            for key in ("timing", "command"):
                document.pop(key)
            documents.append(document)
        for other in documents[1:]:
            self.assertEqual(other, documents[0])
        return documents[0]

    def test_the_order_of_plugins(self):
        # alpha's handlers read the model's MACs and FLOPs, omega's read alpha; the ids sort before and after ours.
        document = self.same_whatever_the_order({"a": "op alpha total:flops; Bottleneck macs 7", "z": "op omega other:alpha"})
        flops = 2 * (CONV1 + FC + BLOCKS * 7)
        self.assertEqual(document["totals"]["alpha"], OPERATORS * flops)
        self.assertEqual(document["totals"]["omega"], OPERATORS * flops)

    def test_the_order_of_plugin_ids_does_not_matter(self):
        totals = []
        for name, metric in (("a", "alpha"), ("z", "omega")):
            for rules in (f"op {metric} total:energy; Bottleneck macs 7", f"Bottleneck macs 7; op {metric} total:energy"):
                t = self.report_with({name: rules})["totals"]
                totals.append([t["macs"], t["flops"], t["energy"], t[metric]])
        self.assertEqual(totals, [totals[0]] * 4)
        self.assertAlmostEqual(totals[0][3], OPERATORS * totals[0][2], 9)

    def test_the_outermost_of_nested_calls_counts(self):
        # Sequential: layer1 … layer4 and, inside them, the four shortcuts.
        for rules in ({"a": "Bottleneck macs 7", "z": "Sequential macs 5"}, {"a": "Sequential macs 5", "z": "Bottleneck macs 7"}):
            document = self.same_whatever_the_order(rules)
            self.assertEqual(document["totals"]["macs"], CONV1 + FC + 4 * 5)
            modules = {m["path"]: m for m in document["modules"]}
            self.assertIn("macs", modules["layer1.0"]["in_module"])
            self.assertIn("macs", modules["layer1"]["by_module"])
            self.assertEqual(document["coverage"]["unknown"], 0)
        # The outer handler declines: the inner one is called, and the shortcuts inside it are not counted.
        document = self.report_with({"a": "Bottleneck macs 7", "z": "Sequential macs decline"})
        self.assertEqual(document["totals"]["macs"], CONV1 + FC + BLOCKS * 7)

    def test_different_metrics_of_nested_calls(self):
        # MACs of the layers, other arithmetic of the blocks inside: both count, once.
        document = self.same_whatever_the_order({"a": "Sequential macs 5", "z": "Bottleneck other_flops 100"},
                                                "--set", "flops.convention=full")
        modules = {m["path"]: m for m in document["modules"]}
        self.assertEqual(modules["layer1"]["values"]["flops"], 2 * 5 + 3 * 100)
        self.assertEqual(document["totals"]["flops"], 2 * document["totals"]["macs"] + document["totals"]["other_flops"])
        self.assertEqual(document["coverage"]["ratio"], 1)
        # And with the roles exchanged.
        document = self.same_whatever_the_order({"a": "Bottleneck macs 5", "z": "Sequential other_flops 100"},
                                                "--set", "flops.convention=full")
        modules = {m["path"]: m for m in document["modules"]}
        self.assertEqual(modules["layer1"]["values"]["flops"], 2 * 3 * 5 + 100)
        self.assertEqual(document["coverage"]["ratio"], 1)

    def test_a_full_type_precedes_its_last_part_and_both_precede_the_wildcard(self):
        for rules in ({"a": f"{TYPE} macs 7", "z": "Bottleneck macs 5"}, {"z": f"{TYPE} macs 7", "a": "Bottleneck macs 5 +9"}):
            self.assertEqual(self.same_whatever_the_order(rules)["totals"]["macs"], CONV1 + FC + BLOCKS * 7)
        document = self.same_whatever_the_order({"a": "* macs 3", "z": "ResNet macs 4"})
        self.assertEqual(document["totals"]["macs"], 4)  # the model itself
        self.assertEqual(document["coverage"]["counted"], OPERATORS)

    def test_the_higher_priority_goes_first(self):
        document = self.same_whatever_the_order({"a": "Bottleneck macs 7", "z": "Bottleneck macs 5 +1"})
        self.assertEqual(document["totals"]["macs"], CONV1 + FC + BLOCKS * 5)

    def test_a_metric_that_follows_no_other_is_unknown_inside(self):
        # alpha copies MACs operator by operator; inside the call it finds none and is unknown.
        document = self.same_whatever_the_order({"a": "op alpha other:macs", "one": "Bottleneck macs 7"})
        self.assertEqual(document["totals_status"]["alpha"], "lower_bound")
        self.assertEqual(document["totals"]["alpha"], CONV1 + FC)
        # A handler that follows MACs gives alpha a value there.
        document = self.same_whatever_the_order({"a": "op alpha other:macs; * alpha other:macs macs", "one": "Bottleneck macs 7"})
        self.assertNotIn("alpha", document["totals_status"])
        self.assertEqual(document["totals"]["alpha"], CONV1 + FC + BLOCKS * 7)


    def test_equal_operators_inside_and_outside_of_an_answered_call(self):
        # layer1.1 and layer1.2 have equal operators; alpha reads MACs by the operator's signature.
        block = 56 * 56 * (256 * 64 + 64 * 64 * 9 + 64 * 256)
        rules = {"one": "Bottleneck macs at:layer1.1", "a": "op alpha other:macs"}
        document = self.same_whatever_the_order(rules)
        self.assertEqual(document["totals"]["macs"], MACS - block + 7)
        self.assertEqual(document["totals"]["alpha"], MACS - block)
        has_value = {}
        for node in document["nodes"]:
            block_of = node["module"][:8]
            has_value.setdefault(block_of, []).append(node["values"].get("alpha") is not None)
        self.assertEqual(set(has_value["layer1.1"]), {False})
        self.assertEqual(set(has_value["layer1.2"]), {True})


class Mistakes(ModuleHandlers):
    def failed(self, rules, words, status=5):
        done = self.run_with(rules)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done

    def test_two_plugins_for_one_type_are_named(self):
        words = ["com.stranger.a", "com.stranger.z", f"both handle 'Bottleneck' for metric 'macs'", "--plugins=-com.stranger.z"]
        for order in ("az", "za"):
            self.failed({n: "Bottleneck macs 7" for n in order}, words)

    def test_cycles_name_all_members(self):
        both = ["circle", "'alpha' (plugin com.stranger.a)", "'omega' (plugin com.stranger.z)"]
        for a, z in (("Bottleneck alpha other:omega", "Bottleneck omega other:alpha"),  # roll-ups
                     ("Bottleneck alpha node:omega", "Bottleneck omega node:alpha"),  # operators
                     ("Bottleneck alpha 7 omega", "Bottleneck omega 7 alpha"),  # each declares that it follows the other
                     ("op alpha total:omega", "op omega total:alpha"),
                     ("op alpha other:omega", "op omega other:alpha")):
            for order in ("az", "za"):
                with self.subTest(a=a, order=order):
                    self.failed({n: {"a": a, "z": z}[n] for n in order}, both)

    def test_a_metric_that_needs_itself(self):
        for rule in ("op alpha total:alpha", "op alpha other:alpha", "Bottleneck alpha other:alpha"):
            with self.subTest(rule=rule):
                self.failed({"a": rule}, ["circle", "'alpha' (plugin com.stranger.a)"])

    def test_handlers_that_can_never_be_called_are_reported(self):
        for rule, words in {"Bottleneck macs 7 macs": "follows its own metric, 'macs'",
                            "Bottleneck macs 7 flopz": "it follows metric 'flopz', which no plugin has (did you mean 'flops'?)",
                            "Bottleneck mac 7": "it handles metric 'mac', which no plugin has (did you mean 'macs'?)",
                            "Bottleneck peak_activation_bytes 7": "its handlers are not called, because an analysis gives its values",
                            "Bottleneck param_bytes 7": "its handlers are not called, because it has no values of operators"}.items():
            with self.subTest(rule=rule):
                self.failed({"one": rule}, ["com.stranger.one", words])

    def test_kinds_reserved_for_the_host_are_refused(self):
        self.failed({"one": "Bottleneck macs raw:6"}, ["com.stranger.one", f"on module 'layer1.0' ({TYPE})", "'in a module'"])
        self.failed({"one": "Bottleneck macs raw:7"}, ["com.stranger.one", "unknown kind 7"])

    def test_a_failing_handler_is_reported_with_its_module_and_costs_only_its_plugin(self):
        done = self.failed({"a": "Bottleneck alpha raw:99"}, ["com.stranger.a", "'alpha'", f"on module 'layer1.0' ({TYPE})"])
        self.assertNotIn("on node", done.stderr)
        self.assertEqual(json.loads(done.stdout)["totals"]["macs"], MACS)


if __name__ == "__main__":
    main()
