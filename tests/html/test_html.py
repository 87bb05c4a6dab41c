"""The file that `--report html` writes: it is complete and small, and models contribute only data to it.

browser/ tests its look and behaviour in a browser.
"""
import base64
import hashlib
import html.parser
import json
import pathlib
import re
import struct
import subprocess
import sys
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
from support import MODELS, SOURCE, CliTest, main, report, tmeter  # noqa: E402

RESNET = MODELS / "resnet50.pt2"
ALL = "--plugins=flops,energy,memory,params,activations,architecture"


class Page(html.parser.HTMLParser):
    """Elements of the page, and the text of its scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.policy, self.style, self.script, self.blocks = [], "", "", "", {}
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        self.inside = (tag, attributes.get("id", "")) if tag in ("script", "style") else None
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside is None:
            return
        tag, name = self.inside
        if tag == "style":
            self.style += data
        elif name:
            self.blocks[name.removeprefix("tmeter-")] = json.loads(zlib.decompress(base64.b64decode(data), -15))
        else:
            self.script += data


def cell(raw):
    """The value as JSON reports write it."""
    if isinstance(raw, str):
        return int(raw[1:]) if raw.startswith("i") else {"0": 0}.get(raw)
    return raw


class Html(CliTest):
    def page(self, *arguments):
        path = self.folder / "report.html"
        done = tmeter(*arguments, "--report", f"html={path}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.size = path.stat().st_size
        return Page(path.read_text(encoding="utf-8"))

    def test_every_value_equals_the_json_report(self):
        page, document = self.page(RESNET, ALL), report(RESNET, ALL)
        metrics = page.blocks["summary"]["metrics"]
        self.assertEqual({m["id"]: cell(m["total"]) for m in metrics}, document["totals"])
        compared = 0
        for block, rows in (("module-figures", "modules"), ("operator-figures", "nodes"), ("tensor-figures", "tensors")):
            for column in page.blocks[block]:
                metric = metrics[column["metric"]]["id"]
                self.assertEqual(len(column["cells"]), len(document[rows]))
                for raw, row in zip(column["cells"], document[rows]):
                    self.assertEqual(cell(raw), row["values"].get(metric))
                    compared += 1
        self.assertGreater(compared, 5000)

    def test_rows_equal_the_json_report(self):
        page, document = self.page(RESNET, ALL), report(RESNET, ALL)
        modules, operators, tensors = (page.blocks[name] for name in ("modules", "operators", "tensors"))
        self.assertEqual(modules["name"], [m["name"] for m in document["modules"]])
        text = modules["text"]
        self.assertEqual([text["texts"][i] for i in text["at"]], [m["text"] for m in document["modules"]])
        op = operators["op"]
        self.assertEqual([op["texts"][i].split(".")[0] for i in op["at"]], [n["op"] for n in document["nodes"]])
        self.assertEqual(tensors["name"], [t["name"] for t in document["tensors"]])
        for i, node in enumerate(document["nodes"]):
            read = {a["node"] for a in node["arguments"].values() if isinstance(a, dict) and "node" in a}
            self.assertEqual({i - back for back in operators["back"][i]}, read)

    def test_the_policy_allows_the_script_and_the_style_of_the_page_and_nothing_else(self):
        page = self.page(RESNET)

        def allowed(text):
            return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        policy = dict(part.split(" ", 1) for part in page.policy.split("; "))
        self.assertEqual(policy["default-src"], "'none'")
        self.assertEqual(policy["script-src"], allowed(page.script))
        self.assertEqual(policy["style-src"], allowed(page.style))
        self.assertNotIn("unsafe", page.policy)

    def test_nothing_is_loaded_from_elsewhere(self):
        page = self.page(RESNET)
        self.assertEqual(sorted(set(page.tags)), ["body", "div", "head", "html", "meta", "noscript", "script", "style", "title"])
        self.assertNotRegex(page.style, r"url\((?!['\"]?data:)|@import")

    def test_any_name_of_a_model_is_data(self):
        names = ["</script><img src=x onerror=alert(1)>.weight", "a\x00\x1b[31m.bias", "-->.<!--", "\u202egpj.w", "x" * 60_000]
        header = {name: {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i, name in enumerate(names)}
        text = json.dumps(header).encode()
        model = self.file("evil.safetensors", struct.pack("<Q", len(text)) + text + bytes(4 * len(names)))
        page = self.page(model)
        self.assertNotIn("img", page.tags)
        self.assertEqual(sorted(page.blocks["tensors"]["name"]), sorted(names))

    def test_every_kind_of_value(self):
        """The document that all writers are tested with (tests/unit/reports), as saved; signs as in web/src/data/cell.ts."""
        saved = SOURCE / "tests/unit/reports/golden/report.json"
        page, document = self.page("show", saved), json.loads(saved.read_text())
        self.assertEqual(sorted(set(page.tags)), ["body", "div", "head", "html", "meta", "noscript", "script", "style", "title"])
        kinds = set()

        def raw(row, metric):
            for status, sign in (("unknown", "?"), ("unavailable", "-"), ("in_module", "^"), ("zero_by_rule", "0")):
                if metric in row.get(status, []):
                    return sign
            if metric in row.get("infinite", {}):
                return row["infinite"][metric]
            if metric not in row["values"]:
                return None
            value = row["values"][metric]
            if value is None:
                return "nan"
            return f"i{value}" if isinstance(value, int) and abs(value) > 2 ** 53 else value
        metrics = [m["id"] for m in page.blocks["summary"]["metrics"]]
        for block, rows in (("module-figures", "modules"), ("operator-figures", "nodes"), ("tensor-figures", "tensors")):
            columns = {metrics[c["metric"]]: c["cells"] for c in page.blocks[block]}
            for i, row in enumerate(document[rows]):
                for metric in metrics:
                    expected = raw(row, metric)
                    self.assertEqual(columns[metric][i] if metric in columns else None, expected, (block, i, metric))
                    kinds.add(expected if isinstance(expected, str) else type(expected).__name__)
        self.assertGreaterEqual(kinds, {"?", "-", "0", "inf", "nan", "i9007199254740993", "int", "float", "NoneType"})
        self.assertEqual(page.blocks["modules"]["name"], [m["name"] for m in document["modules"]])

    def test_a_file_is_small(self):
        self.page(RESNET, "--plugins=all")
        self.assertLess(self.size, 1_500_000)

    def test_additions_of_a_third_party_plugin_are_exact(self):
        plugin = self.folder / "strange.tmeter"
        subprocess.run(["c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-I", SOURCE / "sdk" / "include",
                        "-o", plugin, SOURCE / "tests" / "html" / "stranger_plugin.cpp"], check=True)
        page = self.page(RESNET, "--plugins=strange", "--plugin", plugin)
        summary = page.blocks["summary"]
        cost = next(m for m in summary["metrics"] if m["id"] == "strange_cost")
        self.assertEqual((cost["total"], cost["convention"]), ("i9007199254740993", "as strangers count"))
        index = summary["metrics"].index(cost)
        cells = next(c["cells"] for c in page.blocks["operator-figures"] if c["metric"] == index)
        self.assertEqual(cells[:5], ["i9007199254740993", "0", "?", "-", 0])
        # Operator 2 is the ReLU called `relu`: that module is unknown, the model is a lower bound, and all other modules are complete.
        relu = page.blocks["modules"]["name"].index("relu")
        of_modules = next(c["cells"] for c in page.blocks["module-figures"] if c["metric"] == index)
        self.assertEqual(of_modules[relu], "?")
        self.assertIn([index, 0], summary["lower_bounds"])
        self.assertEqual([f["rule"] for f in summary["findings"]], ["strange"])
        self.assertEqual(page.blocks["curves"]["distributions"][0]["counts"], [3, 5])
        self.assertEqual(page.blocks["curves"]["series"][0]["y"], [10, 30, 20])

    def test_operators_list_their_inputs_and_outputs_of_the_model(self):
        operators = self.page(RESNET, "--plugins=params").blocks["operators"]
        # One picture goes into the first operator, conv1, and into no other; the one output is the result of the last, fc.
        self.assertEqual(operators["inputs"], [[0]] + [[]] * 174)
        self.assertEqual(operators["outputs"], [[174]])

    def test_nothing_of_the_build_machine_is_in_the_page(self):
        page = self.page(RESNET)
        self.assertNotIn(str(SOURCE.resolve()), page.script + page.style)
        self.assertIsNone(re.search(r"node_modules|/root/|/home/", page.script + page.style))


if __name__ == "__main__":
    main()
