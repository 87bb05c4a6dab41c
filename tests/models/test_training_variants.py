"""Training steps under checkpointing and with LoRA adapters, compared with torch.utils.checkpoint and peft.

tests/fixtures/record_training_variants.py documents the recording of training_variants.json.
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, MODELS, report, tmeter  # noqa: E402

RECORDED = json.loads((FIXTURES / "training_variants.json").read_text())


def file_of(name):
    return name if isinstance(name, pathlib.Path) else (FIXTURES if name.startswith("zoo/") else MODELS) / f"{name}.pt2"


def step(name, **options):
    settings = [x for key, value in options.items() for x in ("--set", f"training.{key.replace('_', '-')}={value}")]
    return report(file_of(name), "--plugins=training", "--columns=all", *settings)


def refusal(name, **options):
    settings = [x for key, value in options.items() for x in ("--set", f"training.{key.replace('_', '-')}={value}")]
    return tmeter(file_of(name), "--plugins=training", *settings)


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

    def test_one_module_by_its_path(self):
        """A block of ViT-B/16 keeps its input, 197 × 768 float32, instead of its tensors."""
        whole, one = [step("vit_b_16", checkpoint=c) for c in ("", "encoder.layers.encoder_layer_3")]
        block = next(m for m in whole["modules"] if m["path"] == "encoder.layers.encoder_layer_3")["values"]["saved_bytes"]
        self.assertEqual(whole["totals"]["saved_bytes"] - one["totals"]["saved_bytes"], block - 197 * 768 * 4)

    def test_the_outermost_module_counts(self):
        inner, both = [step("vit_b_16", checkpoint=c)["totals"] for c in ("EncoderBlock", "EncoderBlock,MLPBlock")]
        self.assertEqual(inner, both)

    def test_checkpointing_is_advised_with_its_changes(self):
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


class Lora(unittest.TestCase):
    def test_as_peft(self):
        self.assertGreaterEqual(len(RECORDED["lora"]), 5)
        for name, expected in RECORDED["lora"].items():
            with self.subTest(name):
                lora = f"r:{expected['rank']},targets:{'|'.join(expected['targets'])}"
                totals = step(name, lora=lora, convention="torch")["totals"]
                self.assertEqual(totals["saved_bytes"], expected["saved_bytes"])
                self.assertEqual(totals["backward_flops"], expected["backward_flops"])
                self.assertEqual(totals["training_flops"], expected["forward_flops"] + expected["backward_flops"])
                self.assertEqual(totals["trained_params"], expected["trained"])

    def test_states_are_those_of_the_adapters(self):
        """Two matrices for each of 8 layers of 256 × 256 with rank 8, AdamW: 8 bytes an element and a step of 4 for each."""
        totals = step("bert_like", lora="r:8,targets:query|value")["totals"]
        elements = 8 * 2 * 8 * 256
        self.assertEqual(totals["gradient_bytes"], 4 * elements)
        self.assertEqual(totals["optimizer_bytes"], 8 * elements + 16 * 4)

    def test_checkpointed_as_well(self):
        """FLOPs of the base run again, together with those of the adapters."""
        totals = [step("bert_like", lora="r:8,targets:query|value", checkpoint=c)["totals"] for c in ("", "BertLayer")]
        self.assertLess(totals[1]["saved_bytes"], totals[0]["saved_bytes"])
        self.assertEqual(totals[1]["training_flops"] - totals[0]["training_flops"], totals[1]["recomputed_flops"])

    def test_weights_alone(self):
        path = FIXTURES / "checkpoints" / "net.safetensors"
        matrix = next(t for t in report(path)["tensors"] if len(t["shape"]) == 2)
        target = matrix["name"].rsplit(".", 1)[0]
        totals = step(path, lora=f"r:2,targets:{target}")["totals"]
        self.assertEqual(totals["trained_params"], 2 * sum(matrix["shape"]))

    def test_bad_input_is_refused(self):
        for lora, why in {
            "r:0,targets:query": "r is a whole number from 1 to 1048576, not '0'",
            "r:8": "targets are missing",
            "targets:query": "the rank r is missing",
            "r:8,targets:qwery": "'qwery' matches no linear layer",
            "r:99999999999999999999,targets:query": "r is a whole number",
            "r:8,targets:|query": "'' matches no linear layer",
            "rank:8,targets:query": "'rank' is neither r nor targets",
        }.items():
            with self.subTest(lora):
                done = refusal("bert_like", lora=lora)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main()
