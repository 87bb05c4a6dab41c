"""The conventions thop, ptflops, torchinfo, torchmeter and torchstat, compared with the output of those tools.

tests/fixtures/formulas.json has their totals, formulas.toml the totals without a tool's known error. Causal halving and bit
operations are compared with hand calculations.
"""
import json
import pathlib
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, MODELS, report  # noqa: E402

RECORDED = json.loads((FIXTURES / "formulas.json").read_text())["models"]
CORRECTED = tomllib.loads((pathlib.Path(__file__).parent / "formulas.toml").read_text())
TOOLS = ("thop", "ptflops", "torchinfo", "torchmeter", "torchstat")


def totals(name, *options):
    return report(MODELS / f"{name}.pt2", "--plugins=flops", *options)["totals"]


class Formulas(unittest.TestCase):
    def recorded(self, name, tool):
        return RECORDED[name]["ptflops_modules" if tool == "ptflops" else tool]

    def expected(self, name, tool):
        entry = CORRECTED.get(name, {}).get(tool)
        if entry is None:
            return self.recorded(name, tool)
        facts = json.loads((FIXTURES / "expected" / f"{name}.json").read_text())
        names = {"T": self.recorded(name, tool), "M": facts["flop_counter"]["total_flops"] // 2}
        value = eval(entry[0], {"__builtins__": {}}, names | RECORDED[name])  # our own file
        self.assertNotEqual(value, names["T"], "formulas.toml corrects a correct total")
        return value

    def test_totals(self):
        for name in RECORDED:
            for tool in TOOLS:
                with self.subTest(model=name, tool=tool):
                    mine = totals(name, "--set", f"flops.convention={tool}")["flops"]
                    self.assertEqual(mine, self.expected(name, tool))

    def test_madd_of_torchstat(self):
        counted = [n for n in RECORDED if isinstance(RECORDED[n]["torchstat_madd"], int)]
        self.assertEqual(len(counted), 10)
        for name in counted:
            with self.subTest(model=name):
                self.assertEqual(totals(name, "--columns", "madd")["madd"], self.expected(name, "torchstat_madd"))
        self.assertNotIn("madd", totals("resnet50"))  # on request only

    def test_totals_equal_the_output_of_the_tools(self):
        """ResNet-50 as the tools print it (docs/benchmarks.md). ptflops counts the input elements of its ReLU and pooling modules
        twice: 9,608,704 + 802,816 + 100,352."""
        for tool, printed in (("torchinfo", 4_089_238_376), ("thop", 4_133_742_592),
                              ("torchmeter", 4_122_626_560), ("ptflops", 4_132_436_968 - 10_511_872)):
            self.assertEqual(totals("resnet50", "--set", f"flops.convention={tool}")["flops"], printed)

    def test_macs_stay(self):
        macs = {totals("swin_t", "--set", f"flops.convention={c}")["macs"] for c in (*TOOLS, "full", "torch")}
        self.assertEqual(len(macs), 1)

    def test_the_report_names_the_convention(self):
        for tool in TOOLS:
            document = report(MODELS / "resnet50.pt2", "--set", f"flops.convention={tool}")
            metric = next(m for m in document["metrics"] if m["id"] == "flops")
            self.assertTrue(metric["convention"].startswith(tool + ": "), metric)


class Causal(unittest.TestCase):
    # gpt2_like: 4 layers, batch 2, 4 heads, 32 × 32 scores of width 64 + 64, of which 32·33/2 remain.
    LEFT_OUT = 4 * 2 * 4 * (32 * 32 - 32 * 33 // 2)

    def test_half(self):
        whole, half = totals("gpt2_like"), totals("gpt2_like", "--set", "flops.causal=half")
        self.assertEqual(whole["flops"] - half["flops"], 2 * self.LEFT_OUT * 128)
        self.assertEqual(whole["macs"], half["macs"])

    def test_other_conventions(self):
        # full: 2 per MAC and 6 per score; ptflops: 1 per MAC and one per score.
        for convention, per_score in (("full", 2 * 128 + 6), ("ptflops", 128 + 1), ("torchinfo", 128)):
            with self.subTest(convention=convention):
                chosen = ("--set", f"flops.convention={convention}")
                whole, half = totals("gpt2_like", *chosen), totals("gpt2_like", *chosen, "--set", "flops.causal=half")
                self.assertEqual(whole["flops"] - half["flops"], self.LEFT_OUT * per_score)

    def test_the_convention_is_stated(self):
        document = report(MODELS / "gpt2_like.pt2", "--set", "flops.causal=half")
        metric = next(m for m in document["metrics"] if m["id"] == "flops")
        self.assertIn("is_causal", metric["convention"])

    def test_attention_without_a_mask_stays(self):
        self.assertEqual(totals("vit_b_16"), totals("vit_b_16", "--set", "flops.causal=half"))


class BitOperations(unittest.TestCase):
    def test_float32(self):
        for name in ("resnet50", "gpt2_like", "vit_b_16", "lstm", "swin_t"):
            with self.subTest(model=name):
                t = totals(name)
                self.assertEqual(t["bit_ops"], 32 * 32 * t["macs"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
