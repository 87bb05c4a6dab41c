"""Training steps under checkpointing, against torch.utils.checkpoint.

tests/fixtures/record_training_variants.py documents the recording of training_variants.json.
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, MODELS, report, tmeter  # noqa: E402

RECORDED = json.loads((FIXTURES / "training_variants.json").read_text())


def step(name, **options):
    settings = [x for key, value in options.items() for x in ("--set", f"training.{key.replace('_', '-')}={value}")]
    return report(MODELS / f"{name}.pt2", "--plugins=training", "--columns=all", *settings)


def refusal(name, **options):
    settings = [x for key, value in options.items() for x in ("--set", f"training.{key.replace('_', '-')}={value}")]
    return tmeter(MODELS / f"{name}.pt2", "--plugins=training", *settings)


class Checkpointing(unittest.TestCase):
    def test_saved_bytes_and_work(self):
        """FlopCounterMode counts the recomputation in the backward, which ends after the last needed tensor."""
        self.assertGreaterEqual(len(RECORDED["checkpoint"]), 5)
        for name, expected in RECORDED["checkpoint"].items():
            with self.subTest(name):
                totals = step(name, checkpoint=expected["type"], convention="torch")["totals"]
                self.assertEqual(totals["saved_bytes"], expected["saved_bytes"])
                self.assertEqual(totals["recomputed_flops"] + totals["backward_flops"], expected["backward_flops"])
                self.assertEqual(totals["training_flops"], expected["forward_flops"] + expected["backward_flops"])

    def test_one_path(self):
        """A block of ViT-B/16 keeps its input, 197 × 768 float32, instead of its tensors."""
        whole, one = [step("vit_b_16", checkpoint=c) for c in ("", "encoder.layers.encoder_layer_3")]
        block = next(m for m in whole["modules"] if m["path"] == "encoder.layers.encoder_layer_3")["values"]["saved_bytes"]
        self.assertEqual(whole["totals"]["saved_bytes"] - one["totals"]["saved_bytes"], block - 197 * 768 * 4)

    def test_the_outermost_module_counts(self):
        inner, both = [step("vit_b_16", checkpoint=c)["totals"] for c in ("EncoderBlock", "EncoderBlock,MLPBlock")]
        self.assertEqual(inner, both)

    def test_what_is_advised(self):
        report_ = step("vit_b_16")
        advised = [f for f in report_["findings"] if f["rule"] == "training-checkpoint"]
        blocks = next(f for f in advised if "EncoderBlock" in f["text"])
        self.assertIn("checkpoint these 12 EncoderBlock modules: −92 % of the memory kept for the backward, +22 % FLOPs",
                      blocks["text"])
        with_them = step("vit_b_16", checkpoint="EncoderBlock")["totals"]
        changes = {c["metric"]: c["to"] for c in blocks["changes"]}
        self.assertEqual(changes, {k: with_them[k] for k in ("saved_bytes", "step_peak_bytes")})

    def test_a_pattern_without_a_match_is_refused(self):
        done = refusal("resnet50", checkpoint="EncoderBlock")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("'EncoderBlock' matches the type or path of no module that is called", done.stderr)


if __name__ == "__main__":
    unittest.main()
