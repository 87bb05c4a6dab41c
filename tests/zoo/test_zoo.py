"""Compares real models of torchvision, timm and transformers with recorded reference values.

tests/fixtures/zoo has the files, and expected.json the results of `sum(p.numel())` and FlopCounterMode.
explained.toml has formulas for intended differences.
"""
import functools
import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]
import verdict  # noqa: E402
from measure import input_options  # noqa: E402
from support import FIXTURES, HAVE_TORCH, report  # noqa: E402

ZOO = FIXTURES / "zoo"
EXPECTED = json.loads((ZOO / "expected.json").read_text())["fixtures"]
EXPLANATIONS = verdict.explanations()


@functools.cache
def analysed(name):
    """The report; a scripted file, which does not record its inputs, gets them as options."""
    inputs = input_options({"reference": EXPECTED[name]}) if EXPECTED[name]["form"] == "scripted" else []
    return report(ZOO / name, "--plugins=params,flops", *inputs)


class Model(unittest.TestCase):
    """One file; a class is made for each (load_tests)."""

    name = ""

    def setUp(self):
        self.expected = EXPECTED[self.name]
        if self.expected["form"] != "pt2" and not HAVE_TORCH:
            self.skipTest("this build has no LibTorch")

    def test_parameters_are_exact(self):
        self.assertEqual(analysed(self.name)["totals"]["params"], self.expected["params"])

    def test_macs_equal_flop_counter(self):
        id, form = self.expected["id"], self.expected["form"]
        entries = verdict.reasons_for(id, form, EXPLANATIONS)
        by_how_much = [verdict.calculated(id, e, self.expected) for e in entries]
        self.assertNotIn(None, by_how_much, "explained.toml must say by how much a fixture differs")
        self.assertEqual(analysed(self.name)["totals"]["macs"], self.expected["macs"] + sum(by_how_much))

    def test_every_operator_has_a_rule(self):
        coverage = analysed(self.name)["coverage"]
        self.assertEqual((coverage["unknown_ops"], coverage["ratio"]), ([], 1.0))

    def test_published_value(self):
        if not self.expected.get("published"):
            self.skipTest("torchvision publishes no value for this input")
        macs = analysed(self.name)["totals"]["macs"]
        for p in verdict.published(self.expected["id"], macs, self.expected, EXPLANATIONS):
            self.assertTrue(p.equal or p.reasons, f"{p.weights} is published with {p.ops} G, tmeter says {macs:,}")


class Collection(unittest.TestCase):
    """Every file has expected values, and all expected values have a file."""

    def test_the_files_are_the_expected_ones(self):
        self.assertEqual({p.name for p in ZOO.glob("*.pt*")}, set(EXPECTED))

    def test_enough_models_of_every_library(self):
        ids = {e["id"] for e in EXPECTED.values()}
        self.assertGreaterEqual(len(ids), 40)
        self.assertEqual({id.partition("/")[0] for id in ids}, {"torchvision", "timm", "transformers"})

    def test_forms_of_one_model_agree(self):
        if not HAVE_TORCH:
            self.skipTest("this build has no LibTorch")
        by_id = {}
        for name, expected in EXPECTED.items():
            totals = analysed(name)["totals"]
            by_id.setdefault(expected["id"], set()).add((totals["params"], totals["macs"]))
        self.assertEqual({id: counts for id, counts in by_id.items() if len(counts) > 1}, {})


def load_tests(loader, standard, pattern):
    suite = unittest.TestSuite([loader.loadTestsFromTestCase(Collection)])
    for name in sorted(EXPECTED):
        case = type("Zoo_" + name.replace("-", "_").replace(".", "_"), (Model,), {"name": name})
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=1)
