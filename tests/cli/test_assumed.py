"""Values that rest on an assumption are marked in every format, and prove nothing.

tests/fixtures/make_assumed.py writes the models. By hand: `rows` has 6 rows of 4; data decides which of them reach the
second layer: 6·4·2 + 6·4·3 if all do. `count` makes rows of 4 for a layer of 3; `rows.scripted` has one as
well. `branch` has 3 rows of 4 for a layer of 8 or of 2, `loop` 3 rows of 4 for a layer of 4. torch.sym_ite and
similar functions compute the sizes of `helpers`; `expected.json` has FlopCounterMode's counts for it.
"""
import csv
import io
import json
import unittest
import zipfile

from support import FIXTURES, HAVE_TORCH, CliTest, main, report, tmeter

ROWS, COUNT, BRANCH, LOOP, HELPERS, SCRIPTED = (
    FIXTURES / "assumed" / name
    for name in ("rows.pt2", "count.pt2", "branch.pt2", "loop.pt2", "helpers.pt2", "rows.scripted.pt"))
EXPECTED = json.loads((FIXTURES / "assumed" / "expected.json").read_text())
KINDS = {ROWS: 120, COUNT: 24, BRANCH: 96, LOOP: 48} | ({SCRIPTED: 12} if HAVE_TORCH else {})


def written(kind, file, *arguments):
    return tmeter("--report", kind, *arguments, str(file)).stdout


class Status(CliTest):
    def test_totals_of_every_kind_of_file(self):
        for file, macs in KINDS.items():
            with self.subTest(file=file.name):
                document = report(file)
                self.assertEqual((document["totals"]["macs"], document["totals_status"]["macs"]), (macs, "assumed"))
                self.assertNotIn("params", document["totals_status"])
                self.assertTrue(any("data" in w for w in document["warnings"]), document["warnings"])
                self.assertIn("macs", document["modules"][0]["assumed"])

    def test_the_assumed_size_is_the_largest_of_the_file_or_two(self):
        self.assertIn("assumed u0=6 ", report(ROWS)["warnings"][0])
        self.assertIn("assumed u0=2 ", report(COUNT)["warnings"][0])

    def test_a_given_size_is_not_an_assumption(self):
        document = report(COUNT, "--bind", "u0=5")
        self.assertEqual((document["totals"]["macs"], document["totals_status"], document["warnings"]), (60, {}, []))
        swept = report(COUNT, "--sweep", "u0=2,3")["sweep"]
        self.assertEqual((swept["totals"]["macs"], swept["totals_status"]), ([24, 36], {}))

    def test_no_assertion_holds_under_an_assumption(self):
        for bound in ("macs<=1G", "macs>=1", "macs==120", 'module("chosen").macs<=1G'):
            with self.subTest(bound=bound):
                done = tmeter("--assert", bound, str(ROWS))
                self.assertEqual(done.returncode, 3)
                self.assertIn("under an assumption that a warning names", done.stderr)
        self.assertEqual(tmeter("--assert", "params==25", str(ROWS)).returncode, 0)

    def test_arithmetic_on_sizes_is_counted(self):
        document = report(HELPERS)
        self.assertEqual((document["coverage"]["unknown_ops"], document["totals_status"]), ([], {}))
        for rows, flops in EXPECTED["helpers"].items():
            with self.subTest(rows=rows):
                document = report(HELPERS, "--input", f"x={rows}x4")
                self.assertEqual((document["totals"]["flops"], document["totals_status"]), (flops, {}))


class Formats(CliTest):
    def test_every_format_marks_totals_under_any_assumption(self):
        """By hand: 120 MACs of `rows` (above); 16·16 + 16·64 of a branch; 4 rows of 8·8 where a guard fails."""
        causes = {"a size of data": ("120", ROWS), "a guard": ("256", FIXTURES / "guards" / "rows.pt2", "--input", "x=4x8")}
        if HAVE_TORCH:
            causes["a branch"] = ("1280", FIXTURES / "torchscript" / "branch_real.pt")
        for cause, (macs, *arguments) in causes.items():
            shown = f"{int(macs):,}"
            short = "1.28 K" if macs == "1280" else macs
            for kind, mark in {"text": f"~{short}", "full-text": f"~{shown}", "markdown": f"~{shown}", "csv": "macs: assumed",
                               "tsv": "macs: assumed", "xml": f'metric="macs" value="{macs}" status="assumed"', "junit": f"{macs} (assumed)",
                               "netron": f"~{shown}", "dot": f"~{short}", "json": '"totals_status":{"macs":"assumed"',
                               "fvcore-json": '"status": {\n      "": "assumed"', "github": "::warning"}.items():
                with self.subTest(cause=cause, format=kind):
                    done = tmeter("--report", kind, "--columns=macs", "--set", "dot.attributes=macs", *arguments)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(mark, done.stdout)
            with self.subTest(cause=cause, format="xlsx"):
                file = self.folder / "report.xlsx"
                tmeter("--report", f"xlsx={file}", *arguments)
                with zipfile.ZipFile(file) as book:
                    self.assertIn("assumed", "".join(book.read(n).decode() for n in book.namelist() if n.endswith(".xml")))
            with self.subTest(cause=cause, format="--assert"):
                self.assertEqual(tmeter("--assert", "macs<=1G", *arguments).returncode, 3)

    def test_text(self):
        text = written("text", ROWS)
        self.assertIn("MACs ~120", text)
        self.assertIn("~: rests on an assumption that a warning names", text)

    def test_markdown(self):
        self.assertIn("| ~120 |", written("markdown", ROWS))

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(written("csv", ROWS))))
        self.assertIn("macs: assumed", rows[0]["notes"])

    def test_xml(self):
        self.assertRegex(written("xml", ROWS), r'metric="macs" value="120" status="assumed"')

    def test_junit(self):
        self.assertIn("assumed", written("junit", ROWS))

    def test_html(self):
        self.assertIn("data", written("html", ROWS))  # tests/html checks the page

    def test_a_saved_report_shows_the_same_marks(self):
        file = self.folder / "rows.json"
        tmeter("--report", f"json={file}", str(ROWS))
        shown = json.loads(tmeter("show", "--report", "json", str(file)).stdout)
        self.assertEqual(shown["totals_status"], report(ROWS)["totals_status"])
        self.assertEqual(tmeter("show", "--assert", "macs<=1G", str(file)).returncode, 3)

    def test_a_difference(self):
        done = tmeter("diff", str(ROWS), str(HELPERS), "--assert", "diff.macs<=1G")
        self.assertEqual(done.returncode, 3, done.stderr)
        both = json.loads(tmeter("diff", "--report", "json", str(ROWS), str(HELPERS)).stdout)
        self.assertIn("assumed", json.dumps(both))


if __name__ == "__main__":
    main()
