"""A program that torch.export recorded for some sizes only: at other sizes its values prove nothing.

tests/fixtures/make_guards.py writes the models and `expected.json`: FlopCounterMode's counts of the eager model, and
whether the exported module accepts the inputs.
"""
import json
import unittest
import zipfile

from support import FIXTURES, CliTest, main, report, tmeter

GUARDS = FIXTURES / "guards"
EXPECTED = json.loads((GUARDS / "expected.json").read_text())
ROWS, SINGLE = GUARDS / "rows.pt2", GUARDS / "single.pt2"


def inputs(name, sizes):
    if name.startswith("rows"):
        dims = {"x": sizes}
    elif name.startswith("branch"):
        dims = {"x": (sizes[0], 4), "y": (sizes[1], 4)}
    elif name.startswith("pvt"):
        dims = {"pixel_values": (sizes[0], 3, *sizes[1:])}
    elif name.startswith("nested"):
        dims = {"parts_first_part": (sizes[0], 4), "pair_0": (sizes[1], 4), "pair_1": (sizes[2], 4), "more": (sizes[4], 4)}
    else:
        dims = {"x": (sizes[0], 4)}
    arguments = [word for key, size in dims.items() for word in ("--input", f"{key}={'x'.join(map(str, size))}")]
    return arguments + (["--bind", f"count={sizes[3]}"] if name.startswith("nested") else [])


class Sizes(CliTest):
    def test_no_value_is_wrong_without_a_mark(self):
        for name, recorded in EXPECTED.items():
            for row in recorded["rows"]:
                with self.subTest(file=name, sizes=row["sizes"]):
                    if name.startswith("nested") and row["sizes"][3] > 5:
                        self.assert_refused(2, "the range 0…5", GUARDS / name, *inputs(name, row["sizes"]))
                        continue
                    document = report(GUARDS / name, *inputs(name, row["sizes"]))
                    status = document["totals_status"].get("flops")
                    if not row["accepted"]:
                        self.assertEqual(status, "assumed")
                    if status == "assumed":
                        self.assertEqual(len(document["warnings"]), 1, document["warnings"])
                        self.assertRegex(document["warnings"][0], r"refuses? ")
                    else:
                        self.assertEqual((document["totals"]["flops"], document["warnings"]), (row["flops"], []))

    def test_a_file_is_exact_where_torch_accepts_the_sizes(self):
        for name, recorded in EXPECTED.items():
            if not recorded["torch"].startswith("2.15"):
                continue
            for row in (r for r in recorded["rows"] if r["accepted"] and min(r["sizes"]) >= 2):
                with self.subTest(file=name, sizes=row["sizes"]):
                    document = report(GUARDS / name, *inputs(name, row["sizes"]))
                    self.assertEqual((document["totals"]["flops"], document["totals_status"]), (row["flops"], {}))

    def test_the_warning_names_the_condition_and_the_sizes(self):
        for name, sizes, words in (
                ("rows_strict.pt2", (4, 8), "((x.size()[1]*x.size()[0]) // 8) != x.size()[0], which does not hold for x.0=4, x.1=8"),
                ("rows_asserted.pt2", (4, 8), "((s27*s77)//8)!=s77, which does not hold for x.0=4, x.1=8"),
                ("rows.torch2.8.pt2", (5, 7), "aten::reshape (make_guards.py:"),
                ("branch.pt2", (64, 8), "x.size()[0] <= 3 + y.size()[0], which does not hold for x.0=64, y.0=8:"),
                ("nested.pt2", (8, 5, 8, 4, 9), "(parts_first_part.size()[0] % 3) == 1, which does not hold for parts_first_part.0=8:"),
                ("scaled.pt2", (12,), "(x.size()[0] / 4) <= 1.5, which does not hold for x.0=12:")):
            with self.subTest(file=name):
                self.assertIn(words, report(GUARDS / name, *inputs(name, sizes))["warnings"][0])

    def test_a_batch_of_one_is_below_the_range_of_the_file(self):
        """torch.export leaves 0 and 1 out of the range of an open size; the exported module nevertheless runs with both,
        here with a different layer than the model. By hand: 2·4·2 FLOPs for each row."""
        self.assertTrue(all(row["accepted"] for row in EXPECTED["single.pt2"]["rows"]))
        for size, status in ((0, "assumed"), (1, "assumed"), (2, None)):
            for way in (["--input", f"x={size}x4"], ["--bind", f"x.0={size}"], ["--bind", f"s77={size}"]):
                with self.subTest(way=way):
                    document = report(SINGLE, *way)
                    self.assertEqual((document["totals"]["flops"], document["totals_status"].get("flops")), (16 * size, status))
                    self.assertEqual([w for w in document["warnings"] if "x.0 in the file begins at 2" not in w], [])
                    self.assertEqual(len(document["warnings"]), status is not None)
        swept = report(SINGLE, "--sweep", "x.0=1,2")
        self.assertEqual(swept["sweep"]["totals_status"]["flops"], ["assumed", None])
        self.assertRegex(swept["warnings"][0], "^--sweep s77=1: the range of x.0 in the file begins at 2")
        self.assertEqual(tmeter("--input", "x=1x4", "--assert", "flops<=1G", SINGLE).returncode, 3)
        self.assertEqual(report(SINGLE, "--input", "x=1x4")["symbols"][0]["min"], 2)

    def test_bound_and_swept_sizes(self):
        document = report(ROWS, "--bind", "x.0=5", "--bind", "x.1=7")
        self.assertEqual(document["totals_status"]["macs"], "assumed")
        document = report(ROWS, "--bind", "x.1=4", "--sweep", "x.0=6,7,8,9")
        self.assertEqual(document["totals_status"], {})
        swept = document["sweep"]
        self.assertEqual(swept["totals"]["flops"], [384, 384, 512, 512])  # 128 for each eight elements
        self.assertEqual(swept["totals_status"]["flops"], [None, "assumed", None, "assumed"])
        self.assertRegex(document["warnings"][0], r"^--sweep s77=7: .*; likewise at 1 of the other points$")

    def test_assertions_do_not_hold_under_an_assumption(self):
        done = tmeter("--input", "x=5x7", "--assert", "flops<=1G", ROWS)
        self.assertEqual(done.returncode, 3)
        self.assertIn("under an assumption that a warning names", done.stderr)
        self.assertEqual(tmeter("--input", "x=8x4", "--assert", "flops<=1G", ROWS).returncode, 0)

    def test_a_part_keeps_the_conditions(self):
        self.assertEqual(report(ROWS, "--input", "x=4x8", "--root", "linear")["totals_status"]["macs"], "assumed")

    def test_formulas_hold_where_operators_accept_the_sizes(self):
        """By hand: x.0·x.1/8 rows, each with 2 FLOPs for 8 outputs times 8 inputs: 16·x.0·x.1 if x.0·x.1/8 is an integer."""
        formulas = report(ROWS, "--bind", "x.1=4")["formulas"]
        self.assertEqual([f["text"] for f in formulas if f["metric"] == "flops" and f["module"] == ""], ["64·s77"])

    def test_formulas_leave_out_given_sizes_when_there_are_many(self):
        document = report(GUARDS / "nested.pt2", *inputs("nested", (7, 5, 8, 4, 9)))
        self.assertEqual((document["warnings"], document["formulas"]), ([], []))
        self.assertIn("5 sizes are dynamic", report(GUARDS / "nested.pt2")["warnings"][0])


class Texts(CliTest):
    """Guards that a file may have if torch did not write it."""

    def with_guards(self, guards):
        path = self.folder / "changed.pt2"
        with zipfile.ZipFile(ROWS) as source, zipfile.ZipFile(path, "w") as target:
            for name in source.namelist():
                content = source.read(name)
                if name.endswith("model.json"):
                    document = json.loads(content)
                    document["guards_code"] = guards
                    content = json.dumps(document)
                target.writestr(name, content)
        return path

    def status(self, guards, *sizes):
        document = report(self.with_guards(guards), "--input", f"x={sizes[0]}x{sizes[1]}")
        return document["totals_status"].get("flops"), document["warnings"]

    def test_an_unreadable_guard_holds_for_the_recorded_sizes(self):
        for guard in ("math.sqrt(L['x'].size()[0]) == 3", "L['y'].size()[0] == 6", "L['x'].size()[9] == 6", "", "(",
                      "L['x'].stride()[0] == 6", "L['x'] == 6", "L['x'].size()[0] == 7", "1 % 0 == 0", "s77 == 6",
                      "L['flat_args'][7].size()[0] == 6", "L['flat_args'][99999999999999999999].size()[0] == 6",
                      "L[0].size()[0] == 6", "\x1b[31m", "L['x'].size()[0] == 6" + " or 1 == 2" * 10_000, "(" * 60_000):
            with self.subTest(guard=guard[:60]):
                self.assertEqual(self.status([guard], 6, 4), (None, []))
                status, warnings = self.status([guard], 8, 4)
                self.assertEqual((status, len(warnings)), ("assumed", 1))
                self.assertIn("not understood; assumed to hold for the recorded sizes only", warnings[0])
                self.assertLess(len(warnings[0]), 500)
                self.assertTrue(warnings[0].isprintable())

    def test_a_guard_without_symbols_is_ignored(self):
        for guard in ("True", "1 == 1", "2 < 3 and not (4 == 5)"):
            self.assertEqual(self.status([guard], 8, 4), (None, []))

    def test_many_guards_are_read_up_to_a_limit(self):
        few = [f"L['x'].size()[0] != {i + 100}" for i in range(3000)]
        self.assertEqual(self.status(few, 8, 4), (None, []))
        self.assertEqual(self.status(few, 2000, 4)[0], "assumed")
        for many in ([f"L['x'].size()[0] != {i + 100}" for i in range(50_000)],
                     [f"L['x'].size()[0] != {i + 100} + {'+'.join('1' * 30_000)}" for i in range(200)],
                     [f"L['x'].size()[0] != {i + 100} + {'+'.join(['L[' + repr('x') + '].size()[1]'] * 2_000)}" for i in range(300)],
                     ["(" * 60_000 + str(i) for i in range(300)]):
            self.assertEqual(self.status(many, 6, 4), (None, []))
            status, warnings = self.status(many, 8, 4)
            self.assertEqual(status, "assumed")
            self.assertRegex(warnings[0], r" and \d+ more \(not understood")

    def test_malformed_lists_are_refused(self):
        for guards in ({"a": 1}, [1], [None], "text", 7, [["x"]]):
            with self.subTest(guards=guards):
                self.assert_refused(4, "guards_code", self.with_guards(guards))
        self.assertEqual(self.status(None, 8, 4), (None, []))
        self.assertEqual(self.status([], 8, 4), (None, []))


if __name__ == "__main__":
    main()
