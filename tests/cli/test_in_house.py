"""In-house layers end to end (docs/in-house-layers.md): the plugin of docs/examples/in-house-layers, plugins that
define less, and faulty shape rules.

The network is tests/fixtures/acme/nn.py. For each row of the input it multiplies and adds
    24·32 (embed) + 3·32·64 (mlp) + 2·3·32·48 (blocks) + 32·10 (head) = 16,448 times.
"""
import json
import pathlib
import subprocess
import tempfile
import unittest

from support import FIXTURES, HAVE_TORCH, SOURCE, CliTest, build_c_plugin, build_plugin, main, report, tmeter
from test_bad_input import graph_of, repack

IN_HOUSE = FIXTURES / "in_house"
NET, LARGER, DYNAMIC, SCRIPTED = (IN_HOUSE / n for n in ("net.pt2", "net_4x16.pt2", "dynamic.pt2", "scripted.pt"))
EXAMPLES = SOURCE.resolve() / "docs" / "examples" / "in-house-layers"
EXAMPLE, BLOCK = EXAMPLES / "acme_layers.cpp", EXAMPLES / "fused_block.cpp"
ROW, ROWS = 24 * 32 + 3 * 32 * 64 + 2 * 3 * 32 * 48 + 32 * 10, 16
OP = "acme::gated_mlp"
ALL = "--plugins=params,flops,memory,energy"


def in_house_nodes(document):
    return [n for n in document["nodes"] if n["op"] == OP]


def numbers(document):
    """All numbers of a report: of the model, of modules, of operators."""
    return {"totals": document["totals"], "coverage": document["coverage"],
            "modules": [(m["path"], m["values"]) for m in document["modules"]],
            "nodes": [(n["op"], n["module"], n["results"], n["values"]) for n in document["nodes"]]}


class WithBuilt(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-in-house-")
        cls.addClassCleanup(built.cleanup)
        cls.built = pathlib.Path(built.name)
        cls.build()


class TheExample(WithBuilt):
    @classmethod
    def build(cls):
        cls.plugin = cls.built / "acme_layers.tmeter"
        build_plugin(EXAMPLE, cls.plugin, "-Wall", "-Wextra", "-Wpedantic", "-Werror")

    def with_plugin(self, model, *arguments):
        return report(model, ALL, "--plugin", self.plugin, *arguments)

    def test_the_example_has_forty_lines(self):
        self.assertLessEqual(len(EXAMPLE.read_text().splitlines()), 40)

    def test_the_page_contains_the_example(self):
        page = (SOURCE / "docs" / "in-house-layers.md").read_text()
        for example in (EXAMPLE, BLOCK):
            self.assertIn("```cpp\n" + example.read_text() + "```\n", page)

    def test_check_accepts_the_example(self):
        done = tmeter("plugin", "check", self.plugin)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("acme::gated_mlp is declared as work of the class 'matmul'", done.stdout)
        self.assertIn("acme::gated_mlp gives f32[4, 4]", done.stdout)

    def test_without_the_plugin_the_operator_is_unknown_and_the_rest_counted(self):
        document = report(NET, ALL)
        self.assertEqual(document["coverage"]["unknown_ops"], [{"op": OP, "count": 3}])
        self.assertEqual(document["totals"]["macs"], ROWS * (24 * 32 + 32 * 10))  # a lower bound
        self.assertEqual(tmeter(NET, ALL, "--assert", "coverage==100%").returncode, 3)
        self.assertEqual({n["values"]["read_bytes"] is not None for n in in_house_nodes(document)}, {True})

    def test_with_the_plugin_the_report_is_complete(self):
        document = self.with_plugin(NET)
        self.assertEqual(document["coverage"]["unknown_ops"], [])
        self.assertEqual(document["coverage"]["ratio"], 1)
        self.assertEqual(document["totals"]["macs"], ROWS * ROW)
        self.assertEqual(document["totals"]["flops"], 2 * ROWS * ROW)
        self.assertEqual(document["warnings"], [])
        # the profile has no static power, and no grid is named
        self.assertEqual(document["totals_status"], dict.fromkeys(("energy_static", "energy_time", "power", "co2"), "unavailable"))
        self.assertEqual(document["totals"]["bit_ops"], 32 * 32 * ROWS * ROW)
        modules = {m["path"]: m["values"] for m in document["modules"]}
        self.assertEqual(modules["mlp"]["macs"], ROWS * 3 * 32 * 64)
        self.assertEqual(modules["blocks.1"]["macs"], ROWS * 3 * 32 * 48)

    def test_bytes_peak_and_energy_follow(self):
        document = self.with_plugin(NET)
        first = in_house_nodes(document)[0]["values"]
        x, w_in, w_out = 4 * ROWS * 32, 4 * 128 * 32, 4 * 32 * 64
        self.assertEqual(first["read_bytes"], x + w_in + w_out)
        self.assertEqual((first["written_bytes"], first["output_bytes"]), (x, x))
        self.assertEqual(first["other_flops"], ROWS * 2 * 64)
        # 4.6 pJ a MAC, 2.3 pJ another operation, 162.5 pJ a byte: profile horowitz-45nm.
        self.assertAlmostEqual(first["energy"] * 1e12, 4.6 * ROWS * 3 * 32 * 64 + 2.3 * ROWS * 2 * 64 + 162.5 * (2 * x + w_in + w_out), delta=1)
        # In a block: the input (1,536 B), the block's, the norm's and the operator's result (2,048 B each).
        self.assertEqual(document["totals"]["peak_activation_bytes"], 1536 + 3 * 2048)

    def test_open_sizes(self):
        bound = self.with_plugin(DYNAMIC, "--bind", "x.0=4", "--bind", "x.1=16")
        self.assertEqual(bound["totals"], self.with_plugin(LARGER)["totals"])
        done = tmeter(DYNAMIC, ALL, "--plugin", self.plugin, "--bind", "x.0=4", "--sweep", "x.1=8,16,512", "--report", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        for tokens in (8, 16, 512):
            self.assertIn(str(4 * tokens * ROW), done.stdout)

    @unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
    def test_another_size_equals_the_export_at_that_size(self):
        document = self.with_plugin(NET, "--input", "4x16x24")
        self.assertEqual(document["totals"]["macs"], 64 * ROW)
        self.assertEqual(document["warnings"], [])
        self.assertEqual(numbers(document), numbers(self.with_plugin(LARGER)))

    @unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
    def test_torchscript(self):
        guessed = report(SCRIPTED, ALL, "--input", "4x16x24")
        self.assertEqual(guessed["coverage"]["unknown_ops"], [{"op": OP, "count": 3}])
        self.assertIn(OP + " belongs to a library that is not loaded, and no plugin has a shape rule for it", guessed["warnings"][0])
        document = self.with_plugin(SCRIPTED, "--input", "4x16x24")
        self.assertEqual(document["coverage"]["unknown_ops"], [])
        self.assertEqual(document["warnings"], [])
        exported = self.with_plugin(LARGER)["totals"]
        for total in ("macs", "flops", "params", "param_bytes", "output_bytes", "energy", "peak_activation_bytes"):
            self.assertEqual(document["totals"][total], exported[total], total)


class TheBlock(WithBuilt):
    """A handler for the module type acme.nn.FusedBlock: half of the multiply-accumulates of its operators."""

    INSIDE = ROWS * 3 * 32 * 48  # of one block, by its operators

    @classmethod
    def build(cls):
        cls.layers, cls.block = cls.built / "acme_layers.tmeter", cls.built / "fused_block.tmeter"
        for source, plugin in ((EXAMPLE, cls.layers), (BLOCK, cls.block)):
            build_plugin(source, plugin, "-Wall", "-Wextra", "-Wpedantic", "-Werror")

    def with_both(self, model=NET, *arguments):
        return report(model, ALL, "--plugin", self.layers, "--plugin", self.block, *arguments)

    def test_the_value_of_the_block_replaces_the_values_inside(self):
        document = self.with_both()
        modules = {m["path"]: m["values"] for m in document["modules"]}
        for block in ("blocks.0", "blocks.1"):
            self.assertEqual(modules[block]["macs"], self.INSIDE // 2)
            self.assertEqual(modules[block]["flops"], self.INSIDE)
        self.assertEqual(document["totals"]["macs"], ROWS * ROW - self.INSIDE)
        self.assertEqual(document["totals"]["flops"], 2 * (ROWS * ROW - self.INSIDE))
        self.assertEqual(document["coverage"]["unknown_ops"], [])
        self.assertIn("plugin com.acme.blocks gives 'macs' of acme.nn.FusedBlock in place of org.tmeter.flops", document["warnings"])

    def test_memory_stays_and_energy_follows(self):
        alone, both = report(NET, ALL, "--plugin", self.layers)["totals"], self.with_both()["totals"]
        for total in ("read_bytes", "written_bytes", "output_bytes", "peak_activation_bytes", "energy_memory", "other_flops"):
            self.assertEqual(both[total], alone[total], total)
        self.assertAlmostEqual((alone["energy"] - both["energy"]) * 1e12, 4.6 * self.INSIDE, delta=1)

    @unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
    def test_other_sizes_and_torchscript(self):
        for model in (NET, SCRIPTED):
            self.assertEqual(self.with_both(model, "--input", "4x16x24")["totals"]["macs"], 4 * (ROWS * ROW - self.INSIDE))

    def test_the_block_declines_without_the_values_of_the_operator(self):
        document = report(NET, ALL, "--plugin", self.block)
        self.assertEqual(document["coverage"]["unknown_ops"], [{"op": OP, "count": 3}])


class LessThanThat(WithBuilt):
    """Values that are derived from others (the table in docs/in-house-layers.md)."""

    @classmethod
    def build(cls):
        cls.plugin = cls.built / "shapes.tmeter"
        build_plugin("shape_plugin.cpp", cls.plugin)

    def document_of(self, capabilities, *arguments, model=NET):
        done = tmeter(model, ALL, "--plugin", self.plugin, *arguments, "--report", "json", env={"GIVES": capabilities})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_macs_alone_count_the_operator(self):
        document = self.document_of("macs")
        self.assertEqual(document["coverage"]["unknown_ops"], [])
        node = in_house_nodes(document)[0]["values"]
        self.assertEqual((node["macs"], node["flops"], node["other_flops"]), (1000, 2000, 0))
        self.assertEqual(document["warnings"], ["the work of acme::gated_mlp besides its MACs counts as 0: its plugin does "
                                                "not give other_flops"])
        bytes_moved = node["read_bytes"] + node["written_bytes"]
        self.assertAlmostEqual(node["energy"] * 1e12, 4.6 * 1000 + 162.5 * bytes_moved, delta=1)

    def test_macs_and_other_flops(self):
        document = self.document_of("macs other")
        self.assertEqual(document["warnings"], [])
        self.assertEqual(in_house_nodes(document)[0]["values"]["other_flops"], 10)
        full = self.document_of("macs other", "--set", "flops.convention=full")
        self.assertEqual(in_house_nodes(full)[0]["values"]["flops"], 2 * 1000 + 10)

    def test_every_convention_takes_the_macs(self):
        for convention in ("torch", "fvcore", "torchvision", "full", "thop", "ptflops", "torchinfo", "torchmeter", "torchstat"):
            with self.subTest(convention):
                document = self.document_of("macs other", "--set", f"flops.convention={convention}")
                self.assertEqual(document["coverage"]["unknown_ops"], [])
                expected = {"torch": 2000, "full": 2010, "fvcore": 0}.get(convention, 1000)
                self.assertEqual(in_house_nodes(document)[0]["values"]["flops"], expected)
                is_reported = any(w.startswith("fvcore does not count acme::gated_mlp") for w in document["warnings"])
                self.assertEqual(is_reported, convention == "fvcore")

    def test_other_flops_without_macs_leave_the_operator_unknown(self):
        self.assertEqual(self.document_of("other")["coverage"]["unknown_ops"], [{"op": OP, "count": 3}])

    def profile(self):
        text = 'name = "classes"\ntitle = "a value for each class"\n'
        for key, value in (("matmul", 1), ("attention", 3), ("elementwise", 5)):
            for family in ("mac", "op"):
                text += f'[energy.{family}.{key}.float32]\nvalue = {value}.0\nunit = "J"\nsource = "this test"\n'
        text += '[energy.mac.float32]\nvalue = 100.0\nunit = "J"\nsource = "this test"\n'
        text += '[energy.op.float32]\nvalue = 100.0\nunit = "J"\nsource = "this test"\n'
        return self.file("classes.toml", text)

    def energy(self, capabilities):
        return in_house_nodes(self.document_of(capabilities, "--hardware", self.profile()))[0]["values"]["energy_compute"]

    def test_the_class_of_work_picks_the_values_of_the_profile(self):
        self.assertEqual(self.energy("macs other class=attention"), 3 * 1010)
        self.assertEqual(self.energy("macs other class=matmul"), 1010)
        self.assertEqual(self.energy("macs other"), 1010)  # an operator with MACs and no class counts as a matmul
        self.assertEqual(self.energy("macs other class=nonsense"), 1010)

    def test_an_elementwise_operator_needs_no_more(self):
        document = self.document_of("class=elementwise")
        self.assertEqual(document["coverage"]["unknown_ops"], [])
        node = in_house_nodes(document)[0]["values"]
        self.assertEqual((node["macs"], node["flops"], node["other_flops"]), (0, 0, ROWS * 32))

    def test_a_view_needs_no_more(self):
        document = self.document_of("class=view")
        self.assertEqual(document["coverage"]["unknown_ops"], [])
        node = in_house_nodes(document)[0]["values"]
        self.assertEqual([node[m] for m in ("macs", "flops", "other_flops", "read_bytes", "written_bytes", "output_bytes", "energy")], [0] * 7)

    def test_check_reports_an_unknown_class(self):
        done = tmeter("plugin", "check", self.plugin, env={"GIVES": "macs class=matmull"})
        self.assertEqual(done.returncode, 5)
        self.assertIn("class 'matmull', which is unknown to tmeter", done.stdout)

    def test_the_peak_uses_the_declared_memory_of_the_result(self):
        # The operator's result is in the memory of its first argument: at the sum in a block the input, the
        # block's argument, the norm's result (which holds the operator's) and the sum are alive.
        self.assertEqual(self.document_of("output=0")["totals"]["peak_activation_bytes"], 1536 + 3 * 2048)
        # Padded to 10,000 bytes: input, the operator's result before the block, the norm's, the operator's.
        self.assertEqual(self.document_of("output=10000")["totals"]["peak_activation_bytes"], 1536 + 10_000 + 2048 + 10_000)
        self.assertEqual(self.document_of("output=10000")["totals"]["output_bytes"], 5 * 2048 + 640 + 3 * 10_000)

    def test_a_module_with_given_values_has_the_peak_of_its_operators(self):
        totals = self.document_of("block")["totals"]
        self.assertEqual(totals["output_bytes"], 2 * 2048 + 640 + 2 * 5)
        self.assertEqual(totals["peak_activation_bytes"], 1536 + 3 * 2048)

    def test_two_plugins_that_name_other_classes(self):
        other = self.built / "other.tmeter"
        build_plugin("shape_plugin.cpp", other, '-DID="com.acme.other"')
        done = tmeter(NET, ALL, "--plugin", self.plugin, "--plugin", other, env={"GIVES": "class=matmul"})
        self.assertEqual(done.returncode, 0, done.stderr)  # they agree


SHARING, SHARING_LARGER, SHARING_SCRIPTED, STORING = (
    IN_HOUSE / n for n in ("sharing.pt2", "sharing_2x16.pt2", "sharing_scripted.pt", "storing.pt2"))
BYTES = ("read_bytes", "written_bytes", "output_bytes")


class Sharing(WithBuilt):
    """Schemas that declare the arguments operators write, the views they return, and the numbers that are sizes."""

    # The plugin has no rule for FLOPs, so the total names the operators it lacks.
    LOWER_BOUND = ("other_flops leaves out acme::pool ×1, acme::resize ×1, acme::scale_ ×1, acme::window ×1, for which it "
                   "has no value")

    @classmethod
    def build(cls):
        cls.plugin = cls.built / "sharing.tmeter"
        build_plugin("sharing_plugin.cpp", cls.plugin)

    def run_with(self, model, *arguments, **env):
        return tmeter(model, ALL, "--plugin", self.plugin, *arguments, "--report", "json", env=env)

    def report_of(self, model, *arguments, **env):
        done = self.run_with(model, *arguments, **env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def warnings(self, document):
        """Without warnings about energy, whose costs the plugin does not define."""
        return [w for w in document["warnings"] if not w.startswith("energy leaves out")]

    def bytes_of(self, document):
        return {n["op"]: tuple(n["values"][m] for m in BYTES) for n in document["nodes"] if n["op"].startswith("acme::")}

    def assert_moved(self, document, tokens):
        """x: [2, tokens, 24] → y, z: [2, tokens, 32] → view: [2, 4, 32] → [2, tokens, 12] → [2, tokens, 5]; 4 bytes each."""
        x, y = 4 * 2 * tokens * 24, 4 * 2 * tokens * 32
        view, resized, pooled = 4 * 2 * 4 * 32, 4 * 2 * tokens * 12, 4 * 2 * tokens * 5
        self.assertEqual(self.bytes_of(document),
                         {"acme::scale_": (y, y, 0), "acme::store": (2 * y, y, 0), "acme::window": (0, 0, 0),
                          "acme::resize": (view, resized, resized), "acme::pool": (resized, pooled, pooled)})
        # The input, y until it is stored, and z; scale_ returns y, and the view is of z.
        self.assertEqual(document["totals"]["peak_activation_bytes"], x + 2 * y)

    def test_bytes_and_peak(self):
        self.assert_moved(self.report_of(SHARING), 8)

    def test_without_schemas_the_names_decide_about_sharing(self):
        moved = self.bytes_of(self.report_of(SHARING, SHARING="silent"))
        self.assertEqual(moved["acme::scale_"], (2048, 2048, 0))
        self.assertEqual(moved["acme::store"], (4096, 0, 0))
        self.assertEqual(moved["acme::window"], (2048, 1024, 1024))

    def sharing_of(self, model, *arguments, **env):
        return [f["text"] for f in self.report_of(model, *arguments, TELL="1", **env)["findings"] if f["rule"].endswith("sharing")]

    def test_plugins_receive_the_sharing(self):
        self.assertEqual(self.sharing_of(SHARING), [
            "aten::linear own", "acme::scale_ x written argument of x", "aten::add own", "acme::store x written",
            "acme::window view of x", "acme::resize own", "acme::pool own"])
        silent = self.sharing_of(SHARING, SHARING="silent")
        self.assertEqual(silent[1], "acme::scale_ x written argument of x")  # by its name
        self.assertEqual(silent[3], "acme::store x unknown y unknown")
        self.assertEqual(silent[4], "acme::window x unknown rows unknown unknown")

    def test_a_functionalized_operator_still_writes_its_argument(self):
        self.assertIn("acme::store x written argument of x", [t.replace(" own", "") for t in self.sharing_of(STORING)])
        moved = self.bytes_of(self.report_of(STORING))
        self.assertEqual(moved["acme::store"], (128, 64, 0))  # x, y: [2, 8]

    @unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
    def test_sizes_follow_the_input(self):
        document = self.report_of(SHARING, "--input", "2x16x24")
        self.assert_moved(document, 16)
        self.assertEqual(numbers(document), numbers(self.report_of(SHARING_LARGER)))
        self.assertEqual(self.warnings(document), ["the file fixes sizes inside the model for its recorded input; they were replaced to "
                                                   "follow --input in 1 × acme::pool, 1 × acme::resize", self.LOWER_BOUND])

    @unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
    def test_functionalized_with_another_input(self):
        self.assertEqual(self.bytes_of(self.report_of(STORING, "--input", "4x8"))["acme::store"], (256, 128, 0))

    @unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
    def test_torchscript(self):
        for tokens in (8, 16):
            document = self.report_of(SHARING_SCRIPTED, "--input", f"2x{tokens}x24")
            self.assert_moved(document, tokens)
            self.assertEqual(self.warnings(document), [self.LOWER_BOUND])

    @unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
    def test_every_call_of_a_rule_is_checked(self):
        rule = "the shape rule of plugin com.acme.sharing for acme::"
        for wrong, model, words in (
                ("rank", SHARING, "pool gives f32 of rank 4 for these inputs where the file records f32 of rank 3"),
                ("dtype", SHARING, "pool gives f16 of rank 3 for these inputs where the file records f32 of rank 3"),
                ("other-shape", SHARING, "scale_ gives f32[7] as a result that its schema declares as x, which is f32[2, 8, 32]"),
                ("other-shape", SHARING_SCRIPTED, "scale_ gives f32[7] as a result that its schema declares as x, which is f32[2, 16, 32]"),
                ("kind", SHARING_SCRIPTED, "scale_ gives 7 as a result that its schema declares as x")):
            with self.subTest(wrong=wrong, model=model.name):
                done = self.run_with(model, "--input", "2x16x24", SHARING=wrong)
                self.assertEqual((done.returncode, done.stdout), (6, ""), done.stderr)
                self.assertIn(rule + words, done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)


@unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
class WrongRules(WithBuilt):
    @classmethod
    def build(cls):
        cls.plugin = cls.built / "shapes.tmeter"
        build_plugin("shape_plugin.cpp", cls.plugin)

    def run_with(self, rule, *arguments, model=NET):
        return tmeter(model, "--plugins=flops", "--plugin", self.plugin, "--input", "4x16x24", *arguments,
                      env={"RULE": rule, "GIVES": "macs"})

    def refused(self, rule, status, *words, arguments=(), **kwargs):
        done = self.run_with(rule, *arguments, **kwargs)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout[:300])
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_right_rule_is_accepted(self):
        self.assertEqual(self.run_with("like").returncode, 0)

    def test_a_missing_rule_is_refused_with_advice(self):
        self.refused("", 6, "mlp (acme::gated_mlp): LibTorch does not have this operator and no plugin has a shape rule for it", "docs/in-house-layers.md", "tmeter plugin new")

    def test_a_rule_for_another_overload_does_not_apply(self):
        self.refused("overload", 6, "no plugin has a shape rule for it")

    def test_impossible_values_are_the_plugins_failure(self):
        failure = "plugin com.acme.shapes failed while giving the shape of acme::gated_mlp"
        for rule, word in {"negative": "impossible shape", "absurd": "impossible shape", "rank": "100 dims of a tensor; at most 64", "nothing": "0 of 1 results",
                           "twice": "more results than", "argument": "the schema has no argument 'nosuch'",
                           "throw": "no such table", "itself": "calls itself"}.items():
            for model in (NET, SCRIPTED):
                with self.subTest(rule=rule, model=model.name):
                    self.refused(rule, 5, failure, word, model=model)

    def test_a_rule_that_overruns_its_array_is_named(self):
        """In plain C, where nothing checks the rule's writes to its buffer."""
        plugin = self.built / "overrun.tmeter"
        build_c_plugin("overrun.c", plugin)
        for model in (NET, SCRIPTED):
            for by, words in (("0", None), ("1", "failed while giving the shape of acme::gated_mlp: its shape rule writes beyond the array "
                                            "for its 1 results"), ("64", "writes beyond the array"), ("-1", "writes beyond the array"),
                              ("1000", "crashed (segmentation fault) while giving the shape of acme::gated_mlp")):
                with self.subTest(by=by, model=model.name):
                    done = tmeter(model, "--plugins=params", "--plugin", plugin, "--input", "4x16x24", env={"OVERRUN": by})
                    self.assertEqual(done.returncode, 5 if words else 0, done.stderr)
                    if words:
                        self.assertEqual(done.stdout, "")
                        self.assertIn("plugin com.acme.overrun " if "crash" in words else "", done.stderr)
                        self.assertIn(words, done.stderr)

    def test_the_caller_of_a_rule_is_named_for_a_wrong_call(self):
        for rule, words in (("asks-results", "it wants 3 results of the shape rule 'acme::pair(Tensor x, int rows) -> (Tensor, Tensor)', "
                                             "whose schema has 2"),
                            ("asks-arguments", "it gives 3 arguments to the shape rule 'acme::pair(Tensor x, int rows) -> (Tensor, Tensor)', "
                                               "whose schema has 2")):
            with self.subTest(rule):
                self.refused(rule, 5, "plugin com.acme.shapes failed while giving the shape of acme::gated_mlp", words)

    def test_a_rule_that_ends_the_process_is_named(self):
        for model in (NET, SCRIPTED):
            for rule, word in (("crash", "crashed (segmentation fault)"), ("exit", "ended the process (exit 3)")):
                with self.subTest(rule=rule, model=model.name):
                    self.refused(rule, 5, "plugin com.acme.shapes " + word + " while giving the shape of acme::gated_mlp", model=model)

    def test_a_rule_that_does_not_return_is_named(self):
        for model in (NET, SCRIPTED):  # starting LibTorch alone takes seconds on a busy machine
            self.refused("hang", 4, "plugin com.acme.shapes did not finish within 8 s (--timeout) while giving the shape of acme::gated_mlp",
                         arguments=("--timeout", "8"), model=model)

    def test_a_rule_of_another_operator_is_detected(self):
        words = ["shape rule of plugin com.acme.shapes for acme::gated_mlp does not fit this model"]
        for rule, word in {"wide": "gives f32[2, 8, 33] where the file records f32[2, 8, 32], in mlp", "half": "gives f16[2, 8, 32]",
                           "number": "gives 7 where", "none": "gives nothing where", "refuse": "this is never done",
                           "two": "has 2 results, the file 1"}.items():
            with self.subTest(rule):
                self.refused(rule, 6, *words, word)
        self.refused("type", 6, "a type that LibTorch lacks")

    def test_a_rule_may_refuse_a_size(self):
        self.refused("batch", 6, "mlp (acme::gated_mlp): it takes two samples, no more", "--input x=4x16x24")

    def test_rules_do_not_replace_operators_of_libtorch(self):
        done = self.run_with("linear", "--assert", f"macs=={64 * (24 * 32 + 32 * 10) + 3000}")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_unreadable_schema_is_refused(self):
        self.refused("schema", 6, "the schema 'acme::gated_mlp(Widget x) -> [' of a shape rule of plugin com.acme.shapes cannot be read")

    def test_two_rules_for_one_operator(self):
        other = self.built / "other.tmeter"
        build_plugin("shape_plugin.cpp", other, '-DID="com.acme.other"')
        for model in (NET, SCRIPTED):
            done = tmeter(model, "--plugins=flops", "--plugin", self.plugin, "--plugin", other, "--input", "4x16x24", env={"RULE": "like"})
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("plugins com.acme.other and com.acme.shapes both have a shape rule for 'acme::gated_mlp'; leave one out with "
                          "--plugins=-com.acme.shapes", done.stderr)
            done = tmeter(model, "--plugins=flops,-com.acme.shapes", "--plugin", self.plugin, "--plugin", other, "--input", "4x16x24",
                          env={"RULE": "like"})
            self.assertEqual(done.returncode, 0, done.stderr)

    def with_two_results(self, op, outputs):
        """net.pt2 with acme::OP(x, 8) in the place of the first gated_mlp; its second result has 8 elements."""
        def change(document):
            graph = graph_of(document)
            node = next(n for n in graph["nodes"] if "gated_mlp" in n["target"])
            node["target"] = f"torch.ops.acme.{op}.default"
            node["inputs"] = [node["inputs"][0], {"name": "rows", "arg": {"as_int": 8}, "kind": 1}]
            node["outputs"] = outputs
            spare = json.loads(json.dumps(graph["tensor_values"]["gated_mlp"]))
            spare["sizes"], spare["strides"] = [{"as_int": 8}], [{"as_int": 1}]
            graph["tensor_values"]["spare"] = spare
        return self.file(op + ".pt2", repack(NET, change))

    def test_several_results_and_numbers_that_may_be_sizes(self):
        names = [{"name": "gated_mlp"}, {"name": "spare"}]
        for op, outputs in (("pair", [{"as_tensor": n} for n in names]), ("parts", [{"as_tensors": names}])):
            with self.subTest(op):
                done = self.run_with("like", "--report", "json", model=self.with_two_results(op, outputs))
                self.assertEqual(done.returncode, 0, done.stderr)
                document = json.loads(done.stdout)
                shapes = [r["shape"] for n in document["nodes"] if n["op"] == "acme::" + op for r in self.tensors(n["results"])]
                self.assertEqual(shapes, [[4, 16, 32], [8]])
                # 8 was the number of tokens, so a literal 8 may mean that number.
                self.assertIn("numbers that may follow from changed sizes were left as they are in the file: 1 × acme::" + op,
                              document["warnings"])

    def tensors(self, results):
        for r in results:
            yield from self.tensors(r) if isinstance(r, list) else [r]

    def test_a_rule_is_found_without_an_option(self):
        folder = self.built / "found"
        folder.mkdir(mode=0o755, exist_ok=True)
        subprocess.run(["cp", self.plugin, folder], check=True)
        done = tmeter(NET, "--plugins=flops", "--plugin-path", folder, "--input", "4x16x24", env={"RULE": "like"})
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
