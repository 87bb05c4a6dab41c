"""Models with dynamic shapes: formulas, --bind and --sweep, compared with FlopCounterMode's recorded counts."""
import csv
import io
import json
import unittest

from support import FIXTURES, MODELS, CliTest, main, report, tmeter

BERT = MODELS / "dynamic_bert.pt2"
MLP = MODELS / "dynamic_mlp.pt2"
STATIC = MODELS / "resnet50.pt2"
BATCH, SEQUENCE = "input_ids.0", "input_ids.1"


def recorded(name):
    """[(shape of the first input, FlopCounterMode's FLOPs by module)]"""
    facts = json.loads((FIXTURES / "expected" / f"{name}.json").read_text())
    return [(run["inputs"][0]["shape"], run["flop_counter"]["by_module"])
            for run in [facts, *facts["at_other_inputs"]]]


def names(document):
    """place → name of the symbol"""
    return {s["place"]: s["name"] for s in document["symbols"]}


def formulas(document, metric):
    return {f["module"]: f for f in document["formulas"] if f["metric"] == metric}


def value(formula, sizes):
    total = 0
    for term in formula["terms"]:
        product = term["coefficient"]
        for symbol, power in term["powers"].items():
            product *= sizes[symbol] ** power
        total += product  # the formulas of these models have no denominators
    return total


class Formulas(CliTest):
    def test_macs_of_a_bert_are_a_polynomial_in_batch_and_sequence(self):
        document = report(BERT)
        batch, sequence = (names(document)[place] for place in (BATCH, SEQUENCE))
        # by hand: four layers, 256 wide: 12·256² per token and 2·256 per pair of tokens, the
        # pooler's 256² and the classifier's 2·256 once per sequence
        expected = {((batch, 1), (sequence, 2)): 4 * 2 * 256,
                    ((batch, 1), (sequence, 1)): 4 * 12 * 256**2,
                    ((batch, 1),): 256**2 + 2 * 256}
        terms = formulas(document, "macs")[""]["terms"]
        self.assertEqual({tuple(sorted(t["powers"].items(), key=lambda p: p[0] != batch)): t["coefficient"]
                          for t in terms}, expected)

    def test_values_equal_flop_counter_mode_at_every_recorded_size(self):
        found = formulas(report(BERT), "flops")
        symbols = names(report(BERT))
        for (batch, sequence), by_module in recorded("dynamic_bert"):
            sizes = {symbols[BATCH]: batch, symbols[SEQUENCE]: sequence}
            for path, flops in by_module.items():
                with self.subTest(batch=batch, sequence=sequence, module=path):
                    self.assertEqual(value(found[path], sizes), flops)

    def test_recorded_sizes_include_the_documented_ones(self):
        self.assertIn([1, 128], [shape for shape, _ in recorded("dynamic_bert")])
        self.assertIn([8, 512], [shape for shape, _ in recorded("dynamic_bert")])

    def test_every_formula_holds_under_binding(self):
        free = report(BERT, "--columns=all")
        for batch, sequence in ((1, 2), (7, 33), (64, 512)):
            bound = report(BERT, "--columns=all", "--bind", f"{BATCH}={batch}", "--bind", f"{SEQUENCE}={sequence}")
            values = {m["path"]: m["values"] for m in bound["modules"]}
            sizes = {names(free)[BATCH]: batch, names(free)[SEQUENCE]: sequence}
            for f in free["formulas"]:
                with self.subTest(metric=f["metric"], module=f["module"], sizes=sizes):
                    self.assertEqual(value(f, sizes), values[f["module"]][f["metric"]])

    def test_other_functions_than_polynomials_have_no_formula(self):
        # an embedding reads each row of its table at most once: min(ids, rows)
        document = report(BERT, "--columns=all")
        self.assertIn("read_bytes", document["totals"])
        self.assertNotIn("", formulas(document, "read_bytes"))
        for metric in ("macs", "flops", "other_flops", "output_bytes", "written_bytes"):
            self.assertIn("", formulas(document, metric))

    def test_bound_symbols_are_numbers_in_formulas(self):
        document = report(BERT, "--bind", f"{BATCH}=2")
        sequence = names(document)[SEQUENCE]
        powers = [t["powers"] for t in formulas(document, "macs")[""]["terms"]]
        self.assertEqual(powers, [{sequence: 2}, {sequence: 1}, {}])
        both = report(BERT, "--bind", f"{BATCH}=2", "--bind", f"{SEQUENCE}=32")
        self.assertEqual(both["formulas"], [])

    def test_fixed_sizes_have_no_formulas(self):
        document = report(STATIC)
        self.assertEqual((document["formulas"], document["sweep"]), ([], None))
        self.assertNotIn("by size", tmeter(STATIC).stdout)

    def test_text_report_shows_them_with_the_range_of_each_symbol(self):
        document, text = report(BERT), tmeter(BERT).stdout
        self.assertIn("MACs = " + formulas(document, "macs")[""]["text"], text)
        self.assertIn(f"{names(document)[BATCH]} = {BATCH} (1 … 64)", text)
        self.assertIn(f"{names(document)[SEQUENCE]} = {SEQUENCE} (2 … 512)", text)

    def test_binding_the_recorded_sizes_leaves_the_report_unchanged(self):
        plain, all_bound = report(BERT), report(BERT, "--bind", f"{BATCH}=4", "--bind", f"{SEQUENCE}=32")
        for section in ("totals", "coverage", "modules", "nodes", "warnings"):
            self.assertEqual(plain[section], all_bound[section])


class Binding(CliTest):
    def test_by_name_or_place(self):
        [(place, name)] = names(report(MLP)).items()
        for shape, by_module in recorded("dynamic_mlp"):
            for symbol in (name, place):
                totals = report(MLP, "--bind", f"{symbol}={shape[0]}")["totals"]
                self.assertEqual(totals["flops"], by_module[""])

    def test_out_of_range_names_symbol_and_range(self):
        self.assert_refused(2, [names(report(BERT))[BATCH], "1…64"], BERT, "--bind", f"{BATCH}=65")

    def test_sizes_that_contradict_each_other_name_both_places(self):
        square = FIXTURES / "fit" / "square.pt2"
        self.assert_refused(2, "size 3 of input 'x' needs s0=224, but size 2 of input 'x' needs 192", square, "--input", "x=1x3x192x224")
        self.assert_refused(2, "size 1 of input 'token_type_ids' needs s41=192, but size 1 of input 'input_ids' needs 64", BERT,
                            "--input", "input_ids=2x64", "--input", "token_type_ids=2x192")


class Sweep(CliTest):
    def test_totals_equal_flop_counter_mode(self):
        document = report(BERT, "--sweep", f"{BATCH}=1,8", "--sweep", f"{SEQUENCE}=128,512")
        sweep = document["sweep"]
        self.assertEqual(sweep["symbols"], [names(document)[BATCH], names(document)[SEQUENCE]])
        self.assertEqual(sweep["points"], [[1, 128], [1, 512], [8, 128], [8, 512]])
        flops = {tuple(shape): by_module[""] for shape, by_module in recorded("dynamic_bert")}
        totals = dict(zip(map(tuple, sweep["points"]), sweep["totals"]["flops"]))
        self.assertEqual((totals[1, 128], totals[8, 512]), (flops[1, 128], flops[8, 512]))

    def test_ranges_and_lists_mix(self):
        points = report(MLP, "--sweep", f"{report(MLP)['symbols'][0]['name']}=1..3,10..30:10,7")["sweep"]["points"]
        self.assertEqual(points, [[1], [2], [3], [10], [20], [30], [7]])

    def test_with_another_symbol_bound(self):
        document = report(BERT, "--bind", f"{BATCH}=8", "--sweep", f"{SEQUENCE}=512")
        flops = {tuple(shape): by_module[""] for shape, by_module in recorded("dynamic_bert")}
        self.assertEqual(document["sweep"]["totals"]["flops"], [flops[8, 512]])

    def test_text_has_a_row_per_point(self):
        text = tmeter(BERT, "--sweep", f"{SEQUENCE}=128,512", "--bind", f"{BATCH}=1", "--raw", "--columns=flops").stdout
        rows = [line.split() for line in text.splitlines()]
        flops = {tuple(shape): by_module[""] for shape, by_module in recorded("dynamic_bert")}
        self.assertIn(["128", str(flops[1, 128])], rows)

    def test_csv_has_a_row_per_point_with_every_total(self):
        document = report(BERT, "--sweep", f"{BATCH}=1,2")
        text = tmeter(BERT, "--sweep", f"{BATCH}=1,2", "--report=csv").stdout
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual([r[document["sweep"]["symbols"][0]] for r in rows], ["1", "2"])
        for metric, totals in document["sweep"]["totals"].items():
            self.assertEqual([r[metric] for r in rows], ["" if t is None else str(t) for t in totals])

    def test_values_out_of_range(self):
        name = names(report(BERT))[SEQUENCE]
        self.assert_refused(2, ["--sweep", name + "=513", "2…512"], BERT, "--sweep", f"{SEQUENCE}=128,513")

    def test_a_model_without_symbols_is_refused_with_advice(self):
        self.assert_refused(2, ["fixed", "dynamic_shapes"], STATIC, "--sweep", "batch=1,8")

    def test_unknown_symbols_are_listed(self):
        self.assert_refused(2, ["no symbol 'batch'", BATCH, SEQUENCE], BERT, "--sweep", "batch=1,8")

    def test_duplicates_and_contradictions(self):
        self.assert_refused(2, ["8 is given twice"], BERT, "--sweep", f"{BATCH}=8,1..8")
        self.assert_refused(2, ["swept twice"], BERT, "--sweep", f"{BATCH}=8", "--sweep", f"{names(report(BERT))[BATCH]}=1")
        self.assert_refused(2, ["--bind"], BERT, "--sweep", f"{BATCH}=8", "--bind", f"{names(report(BERT))[BATCH]}=1")
        self.assert_refused(2, ["at most 2"], BERT, "--sweep", "a=1", "--sweep", "b=1", "--sweep", "c=1")

    def test_too_many_points(self):
        self.assert_refused(2, ["10000"], BERT, "--sweep", f"{BATCH}=1..64", "--sweep", f"{SEQUENCE}=2..512")
        self.assert_refused(2, ["10000"], BERT, "--sweep", f"{BATCH}=0..9223372036854775807")

    def test_malformed(self):
        for text in ("", "=1", "s1", "s1=", "s1=a", "s1=1..", "s1=3..1", "s1=1..5:0", "s1=-1", "s1=1..5:x",
                     "s1=99999999999999999999"):
            with self.subTest(text=text):
                self.assert_refused(2, ["--sweep"], BERT, f"--sweep={text}" if text else "--sweep=")


class Csv(CliTest):
    def test_a_row_per_module_with_every_metric(self):
        document = report(BERT)
        rows = list(csv.DictReader(io.StringIO(tmeter(BERT, "--report=csv").stdout, newline="")))
        self.assertEqual([r["path"] for r in rows], [m["path"] for m in document["modules"]])
        self.assertEqual([r["id"] for r in rows], [m["id"] for m in document["modules"]])
        for metric, total in document["totals"].items():
            self.assertEqual(rows[0][metric], "" if total is None else str(total))
        self.assertEqual([r["macs"] for r in rows[1:]],
                         [str(m["values"]["macs"]) if "macs" in m["values"] else "" for m in document["modules"][1:]])

    def test_lines_end_as_rfc_4180_has_it(self):
        path = self.folder / "r.csv"
        self.assertEqual(tmeter(BERT, "--report", f"csv={path}").returncode, 0)
        content = path.read_bytes()
        self.assertEqual(content.count(b"\n"), content.count(b"\r\n"))
        self.assertTrue(content.endswith(b"\r\n"))

    def test_columns_chooses(self):
        self.assertTrue(tmeter(BERT, "--report=csv", "--columns=macs").stdout.startswith("id,path,type,calls,macs,notes\n"))
        self.assert_refused(2, ["no metric 'mac'"], BERT, "--report=csv", "--columns=mac")


if __name__ == "__main__":
    main()
