"""--report xlsx=FILE: a workbook with a sheet for each table, its content, and its safety.

The file is read with zipfile and an XML parser. openpyxl (in the venv of the Python tests) and LibreOffice also open it.
"""
import csv
import io
import json
import re
import struct
import unittest
import warnings
import xml.etree.ElementTree as ElementTree
import zipfile

from office import sheets_as_csv
from support import FIXTURES, MODELS, CliTest, main, report, tmeter

try:
    import openpyxl
except ImportError:
    openpyxl = None
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
SHEETS = ["Model", "Modules", "Types", "Families", "Operators", "Calls", "Tensors", "Findings", "About"]


def column(reference):
    number = 0
    for letter in re.match(r"[A-Z]+", reference)[0]:
        number = 26 * number + ord(letter) - 64
    return number - 1


def read(path):
    """{sheet: rows of (kind, text)}, kind "n" or "s"."""
    book = {}
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        workbook = ElementTree.fromstring(z.read("xl/workbook.xml"))
        targets = {r.get("Id"): r.get("Target") for r in ElementTree.fromstring(z.read("xl/_rels/workbook.xml.rels"))}
        for sheet in workbook.iter(MAIN + "sheet"):
            rows = []
            for row in ElementTree.fromstring(z.read("xl/" + targets[sheet.get(RELATION)])).iter(MAIN + "row"):
                cells = {}
                for c in row:
                    text = c.find(f"{MAIN}is/{MAIN}t")
                    value = ("s", text.text or "") if text is not None else ("n", c.find(MAIN + "v").text)
                    assert c.find(MAIN + "f") is None, "a formula"
                    cells[column(c.get("r"))] = value
                rows.append([cells.get(i, ("", "")) for i in range(max(cells, default=-1) + 1)])
            book[sheet.get("name")] = rows
    return book


def weights(tensors):
    """A safetensors file of float32 tensors of one element."""
    header = {name: {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i, name in enumerate(tensors)}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"\0" * 4 * len(tensors)


class Xlsx(CliTest):
    def workbook(self, *arguments):
        path = self.folder / "out.xlsx"
        done = tmeter(*arguments, "-r", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        return path

    def test_tables_are_those_of_csv(self):
        path = self.workbook(MODELS / "resnet50.pt2", "--plugins=params,flops,memory,energy")
        book = read(path)
        self.assertEqual(list(book), SHEETS)
        for sheet, by in (("Modules", ["--by", "module"]), ("Types", ["--by", "type"]), ("Families", ["--by", "family"]),
                          ("Operators", ["--by", "operator"]), ("Calls", ["--by", "operator", "--depth", "2"]), ("Tensors", ["--by", "tensor"])):
            text = tmeter(MODELS / "resnet50.pt2", "--plugins=params,flops,memory,energy", "--report", "csv",
                          "--set", "csv.guard-formulas=false", *by).stdout
            expected = [row for row in csv.reader(io.StringIO(text))]
            found = [[text for _, text in row] + [""] * (len(expected[0]) - len(row)) for row in book[sheet]]
            same = [[("n/a" if x in ("unknown", "unavailable") else x) for x in row] for row in found]
            self.assertEqual(same, expected, sheet)
        self.assertEqual(book["Model"][1][:2], [("s", "params"), ("n", "25557032")])

    def test_a_formula_is_text(self):
        names = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "_x0041_", "a<b>&\"c'", "\u202eevil", "x" * 40000]
        book = read(self.workbook(self.file("hostile.safetensors", weights(names))))
        found = {row[0][1]: row[0][0] for row in book["Tensors"][1:]}
        self.assertEqual(set(found.values()), {"s"})
        for name in names[:4] + names[6:8]:
            self.assertIn(name, found)
        self.assertIn("_x005F_x0041_", found)  # Excel shows this as _x0041_
        self.assertEqual(max(map(len, found)), 32767)

    def test_control_characters_and_invalid_text_leave_the_file_readable(self):
        book = read(self.workbook(self.file("bad.safetensors", weights(["a\x00b", "c\x1bd", "e\ufffff", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")]))))
        found = [row[0][1] for row in book["Tensors"][1:]]
        self.assertIn("a\ufffdb", found)
        self.assertIn("c\ufffdd", found)
        self.assertIn("😀", found)

    def test_numbers_keep_their_digits(self):
        """Whole numbers beyond 2^53 are text: a spreadsheet would round them."""
        book = read(self.workbook(FIXTURES / "models" / "tied.pt2"))
        for kind, text in (cell for row in book["Model"][1:] for cell in row[1:2]):
            if kind == "n":
                self.assertEqual(float(text), float(text))
        saved = self.folder / "saved.json"
        tmeter(MODELS / "tied.pt2", "-q", "-r", saved)
        document = json.loads(saved.read_text())
        document["totals"]["macs"] = 2**53 + 1
        saved.write_text(json.dumps(document))
        out = self.folder / "big.xlsx"
        self.assertEqual(tmeter("show", saved, "-r", out).returncode, 0)
        self.assertIn([("s", "macs"), ("s", str(2**53 + 1))], [row[:2] for row in read(out)["Model"]])

    def test_equal_reports_are_equal_files(self):
        a, b = self.folder / "a.xlsx", self.folder / "b.xlsx"
        saved = self.folder / "saved.json"
        tmeter(MODELS / "tied.pt2", "-q", "-r", saved)
        for out in (a, b):
            self.assertEqual(tmeter("show", saved, "-r", f"xlsx={out}").returncode, 0)
        one, two = read(a), read(b)
        one.pop("About"), two.pop("About")
        self.assertEqual(one, two)

    def test_a_full_disk_is_reported(self):
        self.assert_refused(4, ["/dev/full"], MODELS / "tied.pt2", "-r", "xlsx=/dev/full")

    def test_a_sweep_has_a_sheet(self):
        model = MODELS / "dynamic_mlp.pt2"
        symbol = report(model)["symbols"][0]["name"]
        book = read(self.workbook(model, "--sweep", f"{symbol}=2,4,8"))
        self.assertEqual([row[0][1] for row in book["Sizes"]], [symbol, "2", "4", "8"])

    @unittest.skipUnless(openpyxl, "no openpyxl")
    def test_openpyxl_reads_it(self):
        path = self.workbook(MODELS / "resnet50.pt2")
        with warnings.catch_warnings(action="error"):
            book = openpyxl.load_workbook(path)
        self.assertEqual(book.sheetnames, SHEETS)
        rows = list(book["Modules"].iter_rows(values_only=True))
        table = {row[1] or "": dict(zip(rows[0], row)) for row in rows[1:]}
        self.assertEqual((table[""]["params"], table["fc"]["macs"]), (25_557_032, 2_048_000))
        self.assertEqual(book["Modules"].freeze_panes, "A2")

    def test_libreoffice_reads_it(self):
        path = self.workbook(MODELS / "resnet50.pt2", "--full", "-q")
        missing = sheets_as_csv(path, self.folder)
        if missing:
            self.skipTest(f"no LibreOffice: {missing}")
        book = read(path)
        for sheet, rows in book.items():
            made = list(csv.reader(io.StringIO((self.folder / f"out-{sheet}.csv").read_text())))
            self.assertEqual(len(made), len(rows), sheet)
            for expected, found in zip(made, rows):
                for (kind, text), other in zip(found, expected):
                    if kind == "n":
                        self.assertAlmostEqual(float(other.replace(",", "")), float(text), delta=abs(float(text)) * 1e-9 + 1e-12)
                    else:
                        self.assertEqual(other, text)


if __name__ == "__main__":
    main()
