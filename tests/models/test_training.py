"""The plugin training against torch: FlopCounterMode forward and backward, and hand calculations.

tests/fixtures/record_training.py says how the figures of training.json were recorded.
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, MODELS, report, tmeter  # noqa: E402

RECORDED = json.loads((FIXTURES / "training.json").read_text())["models"]

# Models whose FLOPs differ from FlopCounterMode's, and why.
FLOPS_DIFFER = {
    ("ops_zoo", "train"): "lstm with projections runs as products; an einsum of three with one operand that is trained",
    ("ops_zoo", "eval"): "as in training mode",
}
# Attention with dropout runs as products on the CPU; a file recorded in eval mode has no rate.
ATTENTION_DROPOUT = {"transformer", "detr_like"}


def file_of(name):
    return FIXTURES / f"{name}.pt2" if name.startswith("zoo/") else MODELS / f"{name}.pt2"


def trained(name, form, *options):
    mode = "train" if form == "train" else "recorded"
    math = ["--set", "training.attention=math"] if form == "train" and name in ATTENTION_DROPOUT else []
    return report(file_of(name), "--plugins=training", "--columns=all", "--set", f"training.mode={mode}", *math, *options)


def step(*names, **options):
    settings = [x for key, value in options.items() for x in ("--set", f"training.{key.replace('_', '-')}={value}")]
    return report(*names, "--plugins=training", "--columns=all", *settings)


class FlopCounterMode(unittest.TestCase):
    def test_forward_and_backward_are_equal(self):
        differ = []
        compared = 0
        for name, forms in RECORDED.items():
            for form, expected in forms.items():
                compared += 1
                totals = trained(name, form, "--set", "training.convention=torch")["totals"]
                both = expected["forward_flops"] + expected["backward_flops"]
                if (totals["training_flops"], totals["backward_flops"]) != (both, expected["backward_flops"]):
                    differ.append((name, form))
        self.assertEqual(sorted(differ), sorted(FLOPS_DIFFER))
        self.assertGreaterEqual(1 - len(differ) / compared, 0.95)

    def test_exact_is_equal_without_groups_and_recurrent_layers(self):
        for name in ("resnet50", "vit_b_16", "swin_t", "densenet121", "bert_like", "llama_like"):
            with self.subTest(name):
                expected = RECORDED[name]["train"]
                totals = trained(name, "train")["totals"]
                self.assertEqual(totals["training_flops"], expected["forward_flops"] + expected["backward_flops"])


class Exact(unittest.TestCase):
    def test_grouped_convolution(self):
        """MobileNetV2: twice the forward but for the first layer's input, not 19.4 times."""
        totals = step(MODELS / "mobilenet_v2.pt2")["totals"]
        first = 112 * 112 * 32 * 27
        self.assertEqual(totals["backward_macs"], 2 * 300_774_272 - first)
        self.assertEqual(totals["training_flops"], 2 * (totals["macs"] + totals["backward_macs"]))

    def test_recurrent_layers(self):
        """GRU: each matrix has two gradients, but the first state none (steps × batch − batch products)."""
        expected = RECORDED["gru"]["train"]
        self.assertEqual(step(MODELS / "gru.pt2")["totals"]["backward_flops"], expected["backward_flops"])

    def test_frozen_parts(self):
        """Nothing behind a frozen trunk: of the last layer its weight alone, 2048 × 1000."""
        totals = step(MODELS / "resnet50.pt2", frozen="conv1,bn1,layer*")["totals"]
        self.assertEqual(totals["backward_macs"], 2048 * 1000)

    def test_frozen_without_a_match_is_refused(self):
        done = tmeter(MODELS / "resnet50.pt2", "--plugins=training", "--set", "training.frozen=layr1")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("'layr1' matches no parameter", done.stderr)

    def test_nothing_trainable_is_said(self):
        report_ = step(MODELS / "resnet50.pt2", frozen="*")
        self.assertEqual(report_["totals"]["backward_macs"], 0)
        self.assertTrue(any("no parameter is trainable" in w for w in report_["warnings"]), report_["warnings"])


class LanguageModels(unittest.TestCase):
    def test_conventions(self):
        """gpt2_like: 3,448,320 parameters, of them 128 × 256 places; the token table is the head as well."""
        tokens, parameters = 2 * 32, 3_448_320 - 128 * 256
        attention = 4 * tokens * 32 * 2 * 256  # layers × tokens × length × (scores, values) × width
        products = tokens * (4 * 12 * 256 * 256 + 256 * 1000)
        path = MODELS / "gpt2_like.pt2"
        for convention, flops in {"6n": 6 * parameters * tokens, "palm": 6 * (parameters * tokens + attention),
                                  "megatron": 6 * products + 3 * attention}.items():
            with self.subTest(convention):
                totals = step(path, convention=convention)["totals"]
                self.assertEqual(totals["training_flops"], flops)
                self.assertEqual(totals["backward_flops"] * 3, flops * 2)

    def test_without_tokens(self):
        totals = step(MODELS / "resnet50.pt2", convention="6n")
        self.assertNotIn("training_flops", {k for k, v in totals["totals"].items() if v is not None})
        self.assertTrue(any("no token ids" in w for w in totals["warnings"]), totals["warnings"])


if __name__ == "__main__":
    unittest.main()
