"""tmeter diff: matching the modules of two models, and the differences between their values.

The small networks are saved reports written here, layer by layer, with values calculated by hand: a Linear(i, o) with bias has
i·o + o parameters and, for one row of input, i·o MACs."""
import base64
import hashlib
import html.parser
import json
import sys
import unittest

from jsonschema import Draft202012Validator
from support import MODELS, SOURCE, CliTest, tmeter

SCHEMA = SOURCE / "docs/schema/tmeter-comparison-1.schema.json"
sys.setrecursionlimit(10_000)  # of the deep networks made here
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e|`"


def metric(name, axis):
    return {"id": name, "title": name, "unit": "", "unit_kind": "count", "axis": axis, "aggregation": "sum", "better": "lower", "detail": False,
            "of_tensors": False, "convention": "by hand", "provenance": {"kind": "computed", "text": ""}, "plugin": "org.test"}


def linear(i, o):
    return {"type": "Linear", "text": f"Linear(in_features={i}, out_features={o}, bias=True)", "params": i * o + o, "macs": i * o,
            "tensors": {"weight": [o, i], "bias": [o]}}


def relu():
    return {"type": "ReLU", "text": "ReLU()", "params": 0, "macs": 0, "tensors": {}}


def network(tree, name="Net", kind="Sequential"):
    """A saved report of nested dicts of layers; a layer is a dict with "type"."""
    modules, tensors = [], []

    def total(node, metric):
        return node[metric] if "type" in node else sum(total(c, metric) for c in node.values())

    def add(node, ids, path, parent):
        index = len(modules)
        leaf = "type" in node
        modules.append({"id": ids, "path": path, "name": path.rsplit(".", 1)[-1], "type": node["type"] if leaf else (name if index == 0 else kind),
                        "qualified_type": node["type"] if leaf else (name if index == 0 else kind), "text": node["text"] if leaf else kind,
                        "calls": 1 if index == 0 else 0, "parent": parent, "children": [],
                        "values": {"params": total(node, "params"), "macs": total(node, "macs")}})
        if leaf:
            for n, shape in node["tensors"].items():
                size = 1
                for d in shape:
                    size *= d
                tensors.append({"index": len(tensors), "name": f"{path}.{n}", "kind": "parameter", "dtype": "float32", "shape": shape, "numel": size,
                                "trainable": True, "owner": path, "values": {"params": size}})
            return
        for number, (child, inner) in enumerate(node.items(), 1):
            add(inner, str(number) if ids == "0" else f"{ids}.{number}", f"{path}.{child}" if path else child, ids)

    add(tree, "0", "", None)
    return {"schema": "tmeter-report/1", "tool": {"name": "tmeter", "version": "1.0.0"},
            "model": {"name": name, "file": "net.pt2", "format": None, "producer": None, "part": None, "size": 1000},
            "inputs": [], "outputs": [], "symbols": [], "metrics": [metric("params", "tensor"), metric("macs", "node")],
            "totals": dict(modules[0]["values"]), "totals_status": {}, "formulas": [], "sweep": None, "coverage": None,
            "modules": modules, "nodes": [], "tensors": tensors, "findings": [], "series": [], "distributions": [], "config": {},
            "warnings": [], "plugins": [], "hardware": None, "timing": {"analysis_seconds": None}}


class Diff(CliTest):
    def saved(self, name, report):
        return self.file(f"{name}.json", json.dumps(report))

    def diff(self, before, after, *arguments):
        done = tmeter("diff", self.saved("before", before), self.saved("after", after), "--report=json", *arguments)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return json.loads(done.stdout)

    def rows(self, before, after):
        """[(kind of difference, path before, path after)]"""
        path = lambda side: None if side is None else side["path"]
        return [(row["differs"], path(row["before"]), path(row["after"])) for row in self.diff(before, after)["modules"]]


class Matching(Diff):
    def test_equal_models_have_no_differences(self):
        net = network({"a": linear(4, 8), "b": relu(), "c": linear(8, 2)})
        out = self.diff(net, net)
        self.assertEqual((out["modules"], out["counts"]["same"], out["counts"]["all"]), ([], 4, 4))
        self.assertEqual(out["totals"]["macs"], {"before": 48, "after": 48, "difference": 0, "relative": 0.0})

    def test_a_changed_last_layer(self):
        """8·2 + 2 = 18 parameters become 8·3 + 3 = 27; 4·8 + 8 = 40 stay: 58 → 67, + 9, 9/58; MACs 32 + 16 → 32 + 24."""
        out = self.diff(network({"a": linear(4, 8), "head": linear(8, 2)}), network({"a": linear(4, 8), "head": linear(8, 3)}))
        self.assertEqual(out["totals"]["params"], {"before": 58, "after": 67, "difference": 9, "relative": 9 / 58})
        self.assertEqual(out["totals"]["macs"], {"before": 48, "after": 56, "difference": 8, "relative": 8 / 48})
        self.assertEqual([(r["differs"], r["after"]["path"]) for r in out["modules"]], [(["figures"], ""), (["redefined", "figures"], "head")])
        self.assertEqual(out["modules"][1]["values"]["params"], {"before": 18, "after": 27, "difference": 9, "relative": 0.5})

    def test_added_and_removed_modules_keep_their_position(self):
        before = network({"a": linear(4, 8), "old": linear(8, 8), "c": linear(8, 2)})
        after = network({"a": linear(4, 8), "c": linear(8, 2), "new": {"x": relu(), "y": linear(2, 2)}})
        self.assertEqual(self.rows(before, after), [
            (["figures"], "", ""), (["removed"], "old", None), (["added"], None, "new"), (["added"], None, "new.x"), (["added"], None, "new.y")])

    def test_a_renamed_module_is_matched_by_structure(self):
        block = {"fc1": linear(4, 16), "act": relu(), "fc2": linear(16, 4)}
        before = network({"stem": linear(3, 4), "layer1": block, "layer2": block, "fc": linear(4, 10)})
        after = network({"stem": linear(3, 4), "stage1": block, "stage2": block, "fc": linear(4, 10)})
        renamed = lambda a, b: [(["renamed"], a + x, b + x) for x in ("", ".fc1", ".act", ".fc2")]
        self.assertEqual(self.rows(before, after), renamed("layer1", "stage1") + renamed("layer2", "stage2"))

    def test_a_renamed_and_changed_module_is_matched_if_unambiguous(self):
        one = self.rows(network({"a": linear(4, 8), "fc": linear(8, 2)}), network({"a": linear(4, 8), "head": linear(8, 3)}))
        self.assertEqual(one, [(["figures"], "", ""), (["renamed", "redefined", "figures"], "fc", "head")])
        two = self.rows(network({"x": linear(4, 8), "y": linear(8, 2)}), network({"v": linear(4, 9), "w": linear(9, 2)}))
        self.assertEqual(sorted(d for d, _, _ in two[1:]), [["added"], ["added"], ["removed"], ["removed"]])

    def test_wrapped(self):
        """torch.nn.DataParallel puts the model into "module"."""
        inner = {"a": linear(4, 8), "act": relu(), "b": linear(8, 2)}
        rows = self.rows(network(inner), network({"module": inner}))
        self.assertEqual(rows, [(["added"], None, "module"), (["renamed"], "a", "module.a"), (["renamed"], "act", "module.act"),
                                (["renamed"], "b", "module.b")])

    def test_a_path_wins_over_structure(self):
        before = network({"a": linear(4, 8), "b": linear(8, 4)})
        after = network({"a": linear(8, 4), "b": linear(4, 8)})
        self.assertEqual([r[1:] for r in self.rows(before, after)], [("a", "a"), ("b", "b")])

    def test_wide_and_deep_trees_take_no_time(self):
        wide = lambda prefix: network({f"{prefix}{i}": linear(2, i % 7 + 1) if i % 2 else relu() for i in range(20_000)})
        out = self.diff(wide("a"), wide("b"))
        self.assertEqual((out["counts"]["renamed"], out["counts"]["added"]), (20_000, 0))
        deep = {"x": linear(2, 2)}
        for i in range(900):
            deep = {"m": deep}
        changed = {"x": linear(2, 3)}
        for i in range(900):
            changed = {"m": changed}
        self.assertEqual(self.diff(network(deep), network(changed))["counts"]["changed"], 902)


class Bounds(Diff):
    def check(self, *bounds, status):
        before, after = network({"a": linear(10, 10), "b": linear(10, 10)}), network({"a": linear(10, 10), "b": linear(10, 12)})
        done = tmeter("diff", self.saved("before", before), self.saved("after", after), *[f"--assert={b}" for b in bounds])
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_relative_and_absolute(self):
        """MACs: 200 → 220, + 20, + 10 % exactly; module b: 100 → 120, + 20 %."""
        self.check("diff.macs <= +10%", "diff.macs<=10 %", "diff.macs == 10%", "diff.macs<=20", "diff.macs==+20", "macs==220",
                   'module("b").diff.macs<=20%', 'module("a").diff.macs==0', "diff.macs>=-1%", status=0)
        done = self.check("diff.macs <= +9.9%", "diff.macs<20", 'module("b").diff.macs<20%', "diff.params<1K", status=3)
        for words in ("3 of 4 assertions do not hold", "diff.macs is +10 %", "diff.macs is +20", 'module("b").diff.macs is +20 %'):
            self.assertIn(words, done.stderr)
        self.assertIn("does not hold: diff.macs <= +9.9% (+10.00 %)", done.stdout)
        self.assertIn("holds: diff.params<1K (+22)", done.stdout)  # 10·12 + 12 − 110

    def test_every_percent_is_exact_at_its_edge(self):
        """From 100 to 100 + p is p % for every p."""
        for p in range(1, 100):
            before, after = network({"b": linear(10, 10)}), network({"b": dict(linear(10, 10), macs=100 + p)})
            before, after = self.saved("before", before), self.saved("after", after)
            if p % 7 in (0, 1):
                done = tmeter("diff", before, after, f"--assert=diff.macs<={p}%", f"--assert=diff.macs>={p}%", "-q")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_relative_bounds_from_zero(self):
        before, after = network({"a": relu()}), network({"a": linear(1, 1)})
        before, after = self.saved("before", before), self.saved("after", after)
        self.assertEqual(tmeter("diff", before, after, "--assert=diff.macs<=1000%").returncode, 3)
        self.assertEqual(tmeter("diff", before, before, "--assert=diff.macs<=0%").returncode, 0)

    def test_bounds_on_incomplete_values_do_not_hold(self):
        before, after = network({"a": linear(4, 4)}), network({"a": linear(4, 4)})
        after["totals_status"] = {"macs": "lower_bound"}
        before, after = self.saved("before", before), self.saved("after", after)
        done = tmeter("diff", before, after, "--assert=diff.macs<=5%", "--assert=diff.macs>=-5%")
        self.assertEqual(done.returncode, 3)
        self.assertIn("2 of 2 assertions", done.stderr)
        self.assertIn("without unknown values", done.stderr)

    def test_mistakes_in_bounds_are_refused(self):
        net = self.saved("net", network({"a": linear(4, 4)}))
        self.assert_refused(2, ["no metric 'mac'", "'macs'"], "diff", net, net, "--assert=diff.mac<1")
        self.assert_refused(2, ["no module 'q'"], "diff", net, net, '--assert=module("q").diff.macs<1')
        self.assert_refused(2, ["tmeter diff BEFORE AFTER"], "show", net, "--assert=diff.macs<1")
        self.assert_refused(2, ["tmeter diff BEFORE AFTER"], MODELS / "tied.pt2", "--assert=diff.macs<1")
        added = self.saved("added", network({"a": linear(4, 4), "b": relu()}))
        self.assertEqual(tmeter("diff", net, added, '--assert=module("b").diff.macs<=0').returncode, 3)


class Formats(Diff):
    def pair(self):
        before = network({"a": linear(4, 8), "fc": linear(8, 2), HOSTILE: relu()})
        after = network({"a": linear(4, 8), "head": linear(8, 3), HOSTILE + "2": {"x": linear(1, 1)}}, name=HOSTILE)
        after["metrics"][1]["convention"] = "otherwise " + HOSTILE
        after["model"]["file"] = HOSTILE
        return self.saved("before", before), self.saved("after", after)

    def test_files_by_extension_and_name(self):
        before, after = self.pair()
        files = {f: self.folder / f"out.{f}" for f in ("json", "md", "html", "txt")}
        done = tmeter("diff", before, after, *[f"--report={p}" for p in files.values()])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        for name, f in (("json", "json"), ("markdown", "md"), ("html", "html"), ("text", "txt")):
            done = tmeter("diff", before, after, f"--report={name}")
            self.assertEqual(done.stdout.encode(), files[f].read_bytes())
        self.assert_refused(2, ["no format 'xml' for comparisons", "text, json, markdown, html"], "diff", before, after, "--report=xml")
        self.assert_refused(2, ["compares two models"], "show", before, "--report=diff-text")

    def test_json_is_valid(self):
        pairs = [self.pair(), (MODELS / "resnet50.pt2", MODELS / "mobilenet_v2.pt2"), (MODELS / "tied.pt2", MODELS / "tied.pt2")]
        for before, after in pairs:
            path = self.folder / "out.json"
            done = tmeter("diff", before, after, f"--report={path}", "--plugins=all" if after.suffix == ".pt2" else "-q", "--assert=diff.params<1")
            self.assertIn(done.returncode, (0, 3), done.stderr)
            errors = list(Draft202012Validator(json.loads(SCHEMA.read_text())).iter_errors(json.loads(path.read_text())))
            self.assertEqual(errors, [])

    def test_html_runs_its_own_script_alone_and_names_are_text(self):
        before, after = self.pair()
        text = tmeter("diff", before, after, "--report=html", "--assert=diff.macs<1").stdout
        tags, policies, attributes, texts = [], [], set(), {}

        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                tags.append(tag)
                attributes.update(k for k, _ in attrs)
                if dict(attrs).get("http-equiv") == "Content-Security-Policy":
                    policies.append(dict(attrs)["content"])

            def handle_data(self, data):
                if self.lasttag in ("script", "style"):
                    texts.setdefault(self.lasttag, data)

        Reader().feed(text)
        self.assertFalse(set(tags) & {"img", "link", "iframe", "object", "form", "a", "base"}, tags)
        self.assertEqual((tags.count("script"), tags.count("style")), (1, 1))
        self.assertFalse({a for a in attributes if a.startswith("on") or a in ("src", "href", "style")}, attributes)
        self.assertEqual(len(policies), 1)
        hashes = {tag: base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() for tag, content in texts.items()}
        self.assertEqual(policies[0], f"default-src 'none'; script-src 'sha256-{hashes['script']}'; style-src 'sha256-{hashes['style']}'; "
                                      "base-uri 'none'; form-action 'none'")
        self.assertIn("&lt;script&gt;", text)
        self.assertIn("prefers-color-scheme: dark", text)
        for words in ("Linear(in_features=8, out_features=2, bias=True)", "Linear(in_features=8, out_features=3, bias=True)", "+50.0 %"):
            self.assertIn(words, text)

    def test_text_and_markdown(self):
        before, after = self.pair()
        text = tmeter("diff", before, after).stdout
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\u202e", text)
        for words in ("fc → head", "+50.0 %", "two conventions", "1 renamed", "new", "gone"):
            self.assertIn(words, text)
        from markdown_it import MarkdownIt
        page = tmeter("diff", before, after, "--report=markdown").stdout
        tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
        raw = [t.content for t in tokens if t.type == "html_block"] + [c.content for t in tokens for c in t.children or [] if c.type == "html_inline"]
        for piece in raw:
            self.assertRegex(piece, r"^(</?details>|<details>\n<summary>[\w ()]+</summary>)\n$")
        cells = [t for t in tokens if t.type in ("td_open", "th_open", "tr_open")]
        rows, columns = 0, []
        for t in cells:
            if t.type == "tr_open":
                columns.append(0)
            else:
                columns[-1] += 1
        self.assertEqual(sorted(set(columns)), [5])  # both tables have five columns here

    def test_the_number_of_calls_of_a_module_is_shown(self):
        """ResNet-50's blocks each call one ReLU three times."""
        before = self.folder / "small.json"
        tmeter(MODELS / "resnet50.pt2", "-q", "--input", "1x3x192x192", "-r", before)
        options = (before, MODELS / "resnet50.pt2", "--depth", "all", "--columns", "output_bytes")
        self.assertIn("  layer1.0.relu (×3)  ", tmeter("diff", *options).stdout)
        self.assertIn("`layer1.0.relu` (×3) |", tmeter("diff", *options, "--report", "markdown").stdout)
        self.assertIn("layer1.0.relu</code> (×3) <span>", tmeter("diff", *options, "--report", "html").stdout)
        self.assertNotIn("conv1 (×", tmeter("diff", *options).stdout)
        self.assertIn("relu (×3)\\n", tmeter(MODELS / "resnet50.pt2", "--report", "dot").stdout)

    def test_models_and_reports_mix(self):
        saved = self.folder / "resnet.json"
        tmeter(MODELS / "resnet50.pt2", f"--report=json={saved}")
        for before, after in ((saved, MODELS / "resnet50.pt2"), (MODELS / "resnet50.pt2", saved), (saved, saved)):
            done = tmeter("diff", before, after, "--assert=diff.macs==0", "--assert=macs==4089184256")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no difference in 151 modules", done.stdout)
        done = tmeter("diff", saved, MODELS / "resnet50.pt2", "--set=flops.convention=full")
        self.assertIn("counted by two conventions", done.stdout)

    def test_different_inputs_are_reported(self):
        done = tmeter("diff", MODELS / "dynamic_mlp.pt2", MODELS / "resnet50.pt2")
        self.assertIn("the inputs differ: before x[", done.stdout)

    def test_usage(self):
        net = self.saved("net", network({"a": relu()}))
        self.assert_refused(2, ["two model files or saved reports are expected, got 1"], "diff", net)
        self.assert_refused(2, ["got 3"], "diff", net, net, net)
        self.assert_refused(2, ["--input needs the model"], "diff", net, net, "--input=1x2")
        self.assert_refused(4, ["none.pt2: no such file"], "diff", net, self.folder / "none.pt2")
        self.assert_refused(4, ["bad.json"], "diff", self.file("bad.json", '{"schema":"tmeter-report/1"'), net)
        self.assert_refused(2, ["itself"], "diff", net, net, f"--report=json={net}")

    def test_long_comparisons_are_cut_at_a_level(self):
        layers = lambda o: network({f"b{i}": {"x": linear(2, o), "y": linear(2, o)} for i in range(40)})
        before, after = self.saved("before", layers(2)), self.saved("after", layers(3))
        text = tmeter("diff", before, after).stdout
        self.assertIn("… 80 more below: --depth all", text)
        self.assertIn("b39.y", tmeter("diff", before, after, "--depth=all").stdout)


del Diff

if __name__ == "__main__":
    unittest.main(verbosity=2)
