"""Every fixture in every form, compared with other tools' recorded values (tests/fixtures/expected).

MACs are half of FlopCounterMode's FLOPs; `hand` values are hand calculations of operators that it misses. If tmeter differs
on purpose, differences.toml has the value and the reason; an unneeded entry also fails the test.
"""
import fnmatch
import functools
import json
import pathlib
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, HAVE_TORCH, MODELS, report, tmeter  # noqa: E402

DIFFERENCES = tomllib.loads((pathlib.Path(__file__).parent / "differences.toml").read_text())
EXPECTED = {p.stem: json.loads(p.read_text()) for p in sorted((FIXTURES / "expected").glob("*.json"))}

DATA_DEPENDENT = {"branch"}  # cannot be recorded without a real run


def forms_of(name):
    for form in EXPECTED[name]["forms"]:
        path = MODELS / f"{name}.{form}"
        if form == "pt2" or HAVE_TORCH:
            yield form, path


def input_options(name, form):
    """Scripted files do not record their inputs, so the options give those of the recording."""
    if form != "scripted.pt":
        return []
    return [o for i in EXPECTED[name]["inputs"]
            for o in ("--input", "x".join(map(str, i["shape"])) + ":" + i["dtype"])]


@functools.cache
def analysed(name, form, convention="torch"):
    path = MODELS / f"{name}.{form}"
    return report(path, *input_options(name, form), "--set", f"flops.convention={convention}")


def by_module(document, metric):
    return {m["path"]: m["values"].get(metric) or 0 for m in document["modules"]}


def fused(name, form):
    """The `fused` entry of this form: modules that run as one operator of an outer module."""
    return DIFFERENCES.get(name, {}).get(form.split(".")[0], {}).get("fused", {})


def is_fused(name, form, path):
    return any(fnmatch.fnmatchcase(path, glob) for glob in fused(name, form).get("modules", []))


def explained(name, form, tool):
    """{module path: entry} of differences.toml for this fixture, form and tool."""
    table = DIFFERENCES.get(name, {})
    entries = {**table.get(tool, {}), **table.get(form.split(".")[0], {}).get(tool, {})}
    return {path: e for path, e in entries.items() if isinstance(e, dict) and "why" in e}


class Fixture(unittest.TestCase):
    name = ""

    def test_parameters(self):
        e = EXPECTED[self.name]
        for form, _ in forms_of(self.name):
            with self.subTest(form=form):
                totals = analysed(self.name, form)["totals"]
                self.assertEqual(totals["params"], e["params"])
                self.assertEqual(totals["param_bytes"], e["param_bytes"])
                if form == "pt2":
                    self.assertEqual(totals["params_trainable"], e["params_trainable"])
                    self.assertEqual(totals["buffers"], e["buffer_elements"])

    def test_every_operator_has_a_rule(self):
        for form, _ in forms_of(self.name):
            with self.subTest(form=form):
                coverage = analysed(self.name, form)["coverage"]
                self.assertEqual(coverage["unknown_ops"], [])

    def compare(self, form, tool, actual, expected):
        """Module by module, to the digit, except for the entries of differences.toml."""
        explanations = explained(self.name, form, tool)
        wrong, needed = {}, set()
        for path, value in expected.items():
            if path not in actual:
                continue
            if is_fused(self.name, form, path):
                self.assertEqual(actual[path], 0, f"{path} is not fused in {self.name}.{form}")
                continue
            correct = explanations[path]["value"] if path in explanations else value
            if path in explanations and value != correct:
                needed.add(path)
            if actual[path] != correct:
                wrong[path] = f"tmeter {actual[path]}, {tool} {value}"
        self.assertEqual(wrong, {}, f"{self.name} {form} differs from {tool}")
        self.assertEqual(set(explanations) - needed, set(), "differences.toml has unneeded entries")

    def test_macs_equal_flop_counter(self):
        if "flop_counter" not in EXPECTED[self.name]:
            self.skipTest("FlopCounterMode cannot run this model; hand calculations replace it")
        expected = {p: f // 2 for p, f in EXPECTED[self.name]["flop_counter"]["by_module"].items()}
        for form, _ in forms_of(self.name):
            with self.subTest(form=form):
                document = analysed(self.name, form)
                self.compare(form, "flop_counter", by_module(document, "macs"), expected)
                self.assertEqual(document["totals"]["flops"], 2 * document["totals"]["macs"])

    def test_macs_equal_hand_calculations(self):
        expected = {p: h["macs"] for p, h in EXPECTED[self.name].get("hand", {}).items() if p != "how"}
        for form, _ in forms_of(self.name):
            with self.subTest(form=form):
                self.compare(form, "hand", by_module(analysed(self.name, form), "macs"), expected)

    def test_fvcore_convention_equals_fvcore(self):
        expected = EXPECTED[self.name].get("fvcore")
        if not expected or "by_module" not in expected:
            self.skipTest("fvcore cannot count this model")
        for form, _ in forms_of(self.name):
            with self.subTest(form=form):
                if fused(self.name, form):
                    continue  # fvcore counts no fused operators; its recording has the unfused model
                document = analysed(self.name, form, "fvcore")
                self.compare(form, "fvcore", by_module(document, "flops"), expected["by_module"])

    def test_torchvision_convention_matches_its_published_value(self):
        ops = EXPECTED[self.name].get("torchvision_ops_G")
        if ops is None:
            self.skipTest("not a torchvision entry")
        flops = analysed(self.name, "pt2", "torchvision")["totals"]["flops"]
        self.assertAlmostEqual(flops / 1e9, ops, delta=max(0.0006, 0.002 * ops))

    def test_forms_agree(self):
        """The same modules have the same parameters and MACs in every form of file."""
        forms = [form for form, _ in forms_of(self.name)]
        for form in forms[1:]:
            first, other = analysed(self.name, forms[0]), analysed(self.name, form)
            exempt = set(explained(self.name, form, "forms"))
            for metric in ("params", "macs"):
                a, b = by_module(first, metric), by_module(other, metric)
                differing = {p: (a[p], b[p]) for p in a.keys() & b.keys() if a[p] != b[p]
                             and p not in exempt and not (metric == "macs" and is_fused(self.name, form, p))}
                with self.subTest(form=form, metric=metric):
                    self.assertEqual(differing, {})


class Totals(unittest.TestCase):
    """The published values of well-known models, written out."""

    def test_resnet50(self):
        for form, _ in forms_of("resnet50"):
            for convention, flops in (("torch", 8_178_368_512), ("fvcore", 4_111_512_576), ("torchvision", 4_089_184_256)):
                with self.subTest(form=form, convention=convention):
                    totals = analysed("resnet50", form, convention)["totals"]
                    self.assertEqual((totals["params"], totals["macs"], totals["flops"]),
                                     (25_557_032, 4_089_184_256, flops))

    def test_vit_b_16(self):
        for form, _ in forms_of("vit_b_16"):
            with self.subTest(form=form):
                self.assertEqual(f"{analysed('vit_b_16', form)['totals']['macs'] / 1e9:.3f}", "17.564")


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class DataDependent(unittest.TestCase):
    """Unknown values decide the branch: the report states this instead of guessing."""

    def test_refused_with_operator_and_place(self):
        for name in DATA_DEPENDENT:
            done = tmeter(MODELS / f"{name}.scripted.pt", *input_options(name, "scripted.pt"))
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn("aten::item", done.stderr)


class Versions(unittest.TestCase):
    """Archives written by torch 2.6 … 2.15 give the same values."""

    def test_all_versions_agree(self):
        seen = {}
        for path in sorted((MODELS / "versions").glob("*.pt*")):
            if path.suffix == ".pt" and not HAVE_TORCH:
                continue
            name = path.name.split(".")[0]
            options = ["--input", "1x3x224x224"] if path.suffix == ".pt" else []
            document = report(path, *options)
            seen.setdefault(name, {})[path.name] = (document["totals"]["params"], document["totals"]["macs"])
        self.assertTrue(seen)
        for name, values in seen.items():
            self.assertEqual(len(set(values.values())), 1, values)
        # resnet18: 11,689,512 parameters and 1.814 G multiply-adds in torchvision's own metadata.
        params, macs = next(iter(seen["resnet18"].values()))
        self.assertEqual((params, f"{macs / 1e9:.3f}"), (11_689_512, "1.814"))


def load_tests(loader, standard, pattern):
    suite = unittest.TestSuite()
    for name in sorted(EXPECTED.keys() - DATA_DEPENDENT):
        case = type(f"Fixture_{name}", (Fixture,), {"name": name})
        suite.addTests(loader.loadTestsFromTestCase(case))
    for case in (Totals, Versions, DataDependent):
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=1)
