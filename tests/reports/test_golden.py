"""The golden reports in third-party parsers, which must read the values that the writer wrote."""
import csv
import io
import json
import pathlib
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import SOURCE, tmeter  # noqa: E402

GOLDEN = SOURCE / "tests/unit/reports/golden"
XSD = SOURCE / "docs/schema/tmeter-report-1.xsd"
XML = "{urn:tmeter:report:1}"
BEYOND_DOUBLE = "9007199254740993"  # 2^53 + 1
SCRIPT = "<script>alert(1)</script>"


def read(name):
    return (GOLDEN / name).read_bytes().decode("utf-8")


class Csv(unittest.TestCase):
    def rows(self, name):
        return list(csv.DictReader(io.StringIO(read(name), newline="")))

    def test_every_row_has_every_column(self):
        for path in GOLDEN.glob("*.csv"):
            table = list(csv.reader(io.StringIO(read(path.name), newline=""), strict=True))
            self.assertGreater(len(table), 1, path)
            self.assertEqual({len(row) for row in table}, {len(table[0])}, path)

    def test_values_are_exact_and_missing_ones_are_distinguished(self):
        root, conv, bad, unused = self.rows("modules.csv")
        self.assertEqual(root["macs"], BEYOND_DOUBLE)
        self.assertIn("macs: lower_bound", root["notes"])
        self.assertEqual((bad["macs"], bad["energy"]), ("n/a", "n/a"))
        self.assertEqual(bad["notes"], "macs: unknown; energy: unavailable")
        self.assertEqual((unused["macs"], unused["notes"]), ("0", "macs: zero_by_rule"))
        self.assertEqual(unused["energy"], "")
        self.assertIn("\n\r\tnew\ufffd\ufffdline", bad["path"])

    def test_operators_types_tensors_and_points(self):
        self.assertEqual([r["operator"] for r in self.rows("operators.csv")], ["aten::conv2d", "acme::fused", "aten::flatten"])
        self.assertEqual([r["index"] for r in self.rows("calls.csv")], ["0", "1", "2"])
        self.assertEqual(self.rows("tensors.csv")[1]["tied_to"], "conv.weight")
        self.assertTrue(self.rows("tensors.csv")[1]["name"].startswith("'=cmd"))
        self.assertTrue(all(r["path"].startswith(".") for r in self.rows("modules_by_type.csv")))
        self.assertEqual([r["s1"] for r in self.rows("sweep.csv")], ["1", "64"])

    def test_tsv_equals_csv(self):
        text = read("modules.tsv")
        self.assertNotIn("\r", text)
        lines = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
        plain = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}

        def unescaped(field):
            out, i = "", 0
            while i < len(field):
                out, i = (out + plain[field[i:i + 2]], i + 2) if field[i] == "\\" else (out + field[i], i + 1)
            return out

        rows = [dict(zip(lines[0], map(unescaped, line))) for line in lines[1:]]
        self.assertEqual(rows, self.rows("modules.csv"))


class Xml(unittest.TestCase):
    def test_valid_against_the_published_schema(self):
        for name in ("report.xml", "sweep.xml"):
            done = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", XSD, GOLDEN / name], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_schema_notices_a_wrong_report(self):
        wrong = read("report.xml").replace('status="unknown"', 'status="lost"')
        done = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", XSD, "-"], input=wrong, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)

    def test_values_and_names(self):
        root = ElementTree.fromstring(read("report.xml"))
        totals = {f.get("metric"): f.attrib for f in root.find(f"{XML}totals")}
        self.assertEqual(totals["macs"], {"metric": "macs", "value": BEYOND_DOUBLE, "status": "lower-bound"})
        modules = root.find(f"{XML}modules")
        status = [{f.get("metric"): f.get("status") for f in m.findall(f"{XML}figure")} for m in modules]
        self.assertEqual(status[2], {"macs": "unknown", "energy": "unavailable"})
        self.assertEqual(status[3], {"macs": "zero-by-rule"})
        self.assertIn(SCRIPT, modules[2].get("path"))
        self.assertIn("\n\r\tnew", modules[2].get("path"))
        self.assertEqual([a.get("holds") for a in root.find(f"{XML}assertions")], ["false", "true", "false", "false", "false"])

    def test_xml_equals_the_json_report(self):
        root, report = ElementTree.fromstring(read("report.xml")), json.loads(read("report.json"))
        for section in ("modules", "nodes", "tensors"):
            rows = root.find(f"{XML}{section}")
            self.assertEqual(len(rows), len(report[section]))
            for element, row in zip(rows, report[section]):
                values = {f.get("metric"): f.get("value") for f in element.findall(f"{XML}figure")}
                exact = {m: None if v is None else json.loads(v) for m, v in values.items()}
                self.assertEqual(exact, row["values"])


class Markdown(unittest.TestCase):
    def setUp(self):
        from markdown_it import MarkdownIt
        self.parser = MarkdownIt("commonmark", {"html": True}).enable("table")

    def test_only_tmeters_own_html_is_written(self):
        for name in ("report.md", "sweep.md"):
            blocks, inline = [], []
            for token in self.parser.parse(read(name)):
                if token.type == "html_block":
                    blocks += token.content.split("\n")
                inline += [c.content for c in token.children or [] if c.type in ("html_inline", "image", "link_open")]
            self.assertEqual(inline, [])
            for line in blocks:
                self.assertRegex(line, r"^(|</?details>|<summary>[\w ()]+</summary>)$")
            text = read(name)
            self.assertEqual(text.count("\n<details>\n"), text.count("\n</details>\n"))

    def test_tables_have_their_columns(self):
        tables = 0
        for name in ("report.md", "sweep.md"):
            columns = None
            cells = 0
            for token in self.parser.parse(read(name)):
                if token.type == "table_open":
                    columns, tables = None, tables + 1
                if token.type == "tr_open":
                    cells = 0
                if token.type in ("th_open", "td_open"):
                    cells += 1
                if token.type == "tr_close":
                    columns = columns or cells
                    self.assertEqual(cells, columns)
        self.assertGreaterEqual(tables, 5)

    def test_kinds_of_values_are_distinguished(self):
        text = read("report.md")
        for sign in ("≥9,007,199,254,740,993", "0ʳ", "| ? |", "| – |", "zero by rule", "❌", "✅"):
            self.assertIn(sign, text)


@unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
class Dot(unittest.TestCase):
    def drawing(self, name):
        done = subprocess.run(["dot", "-Tjson0"], input=read(name), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_modules(self):
        drawing = self.drawing("modules.dot")
        nodes = {n["name"]: n for n in drawing["objects"]}
        self.assertEqual(sorted(nodes), ["m0", "m1", "m2", "m3"])
        self.assertEqual(len(drawing["edges"]), 3)
        self.assertIn("MACs 9.01 P", nodes["m1"]["label"])
        self.assertEqual(nodes["m2"]["style"], "filled,dashed")
        self.assertIn(SCRIPT, nodes["m2"]["label"])

    def test_operators(self):
        drawing = self.drawing("operators.dot")
        names = {n["name"] for n in drawing["objects"]}
        self.assertLessEqual({"n0", "n1", "n2", "in0", "out0"}, names)
        ends = {(drawing["objects"][e["tail"]]["name"], drawing["objects"][e["head"]]["name"]) for e in drawing["edges"]}
        self.assertEqual(ends, {("n0", "n1"), ("n2", "out0")})


class Builds(unittest.TestCase):
    def test_junit(self):
        root = ElementTree.fromstring(read("junit.xml"))
        suite = root.find("testsuite")
        cases = suite.findall("testcase")
        failed = [c for c in cases if c.find("failure") is not None]
        self.assertEqual((suite.get("tests"), suite.get("failures")), (str(len(cases)), str(len(failed))))
        self.assertEqual(len(cases), 5)
        self.assertEqual(failed[0].get("name"), "macs<=5G")
        self.assertEqual(failed[0].find("failure").get("message"), "macs is ≥9,007,199,254,740,993")
        properties = {p.get("name"): p.get("value") for p in suite.find("properties")}
        self.assertEqual(properties["macs"], f"{BEYOND_DOUBLE} (lower_bound)")

    def test_github_reads_a_command_a_line(self):
        lines = read("github.txt").splitlines()
        for line in lines:
            self.assertRegex(line, r"^::(error|warning|notice) title=[^:,]*::.+$")
        self.assertEqual(sum(line.startswith("::error") for line in lines), 5)


class Netron(unittest.TestCase):
    def test_entries_have_the_form_that_netron_reads(self):
        report = json.loads(read("netron.json"))
        self.assertEqual(report["signature"], "netron:attachment")
        for entry in report["metadata"] + report["metrics"]:
            self.assertEqual(sorted(entry), ["kind", "name", "target", "value"])
            self.assertIn(entry["kind"], ("model", "node", "value", "tensor"))
        found = {(e["kind"], e["target"], e["name"]): e["value"] for e in report["metrics"]}
        self.assertEqual(found["node", "conv2d", "MACs"], "9,007,199,254,740,993 (100.0 % of the model)")
        self.assertEqual(found["value", "getitem", "MACs"], "?")


class FullText(unittest.TestCase):
    def test_all_sections_are_written_without_control_characters(self):
        text = read("report.txt")
        for word in ("1  Summary", "Architecture", "Parameters and buffers", "Operators in the order", "Costs by size",
                     "Time, power and energy", "Histograms and curves", "Findings and recommendations", "How it was counted",
                     "≥9,007,199,254,740,993", "DOES NOT HOLD: macs<=5G (it is ≥9,007,199,254,740,993)", "#1  acme::fused.Tensor", "tied to conv.weight"):
            self.assertIn(word, text)
        self.assertEqual([c for c in text if ord(c) < 32 and c != "\n"], [])
        self.assertNotIn("\u202e", text)


class FvcoreJson(unittest.TestCase):
    """Made from the saved document, because the plugin consists only of a writer."""

    def test_values_are_those_of_the_document(self):
        document = json.loads(read("report.json"))
        done = tmeter("show", GOLDEN / "report.json", "--report", "fvcore-json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        counts = json.loads(done.stdout)
        for metric in ("macs", "bytes", "energy", "params"):
            expected = {m["path"]: m["values"].get(metric) for m in document["modules"]}
            expected[""] = document["totals"][metric]  # as in fvcore, the whole model
            self.assertEqual(counts[metric]["total"], document["totals"][metric])
            self.assertEqual(counts[metric]["by_module"], expected, metric)
        self.assertEqual(counts["macs"]["by_operator"], {"conv": int(BEYOND_DOUBLE)})
        self.assertEqual(counts["unsupported_ops"], {"acme::fused": 1})


if __name__ == "__main__":
    unittest.main(verbosity=2)
