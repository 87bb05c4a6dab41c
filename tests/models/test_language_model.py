"""The plugin language-model, compared with hand calculations on the decoder fixtures; no output for other models."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import MODELS, report, tmeter  # noqa: E402

METRICS = ("tokens", "macs_per_token", "decode_macs", "decode_read_bytes", "kv_bytes_per_token",
           "kv_cache_bytes", "active_params")

# Per layer and token: projections, feed-forward, attention of one query over all keys; then the head.
GPT2 = {
    "tokens": 2 * 32,
    "decode_macs": 4 * (12 * 256 * 256 + 32 * 2 * 256) + 256 * 1000,
    "kv_bytes_per_token": 2 * 4 * 256 * 4,
    "kv_cache_bytes": 2 * 32 * 2 * 4 * 256 * 4,
    # All parameters except the table of positions; the table of tokens is also the head.
    "decode_read_bytes": 4 * (3_448_320 - 128 * 256) + 32 * 2 * 4 * 256 * 4,
}
LLAMA = {  # 8 query heads share 2 key/value heads of 32
    "tokens": 2 * 32,
    "decode_macs": 4 * (2 * 256 * 256 + 2 * 256 * 64 + 3 * 256 * 688 + 8 * 32 * (32 + 32)) + 256 * 1000,
    "kv_bytes_per_token": 2 * 4 * 2 * 32 * 4,
    "kv_cache_bytes": 2 * 32 * 2 * 4 * 2 * 32 * 4,
    "decode_read_bytes": 4 * (3_283_200 - 1000 * 256) + 32 * 2 * 4 * 2 * 32 * 4,
}
MIXTRAL = {  # 2 of 8 experts of 64 × 96, three matrices each; keys repeated from 2 heads to 4 by expand
    "tokens": 2 * 16,
    "decode_macs": 2 * (3 * 64 * 64 + 8 * 64 + 2 * 3 * 64 * 96 + 4 * 16 * (16 + 16)) + 64 * 512,
    "kv_bytes_per_token": 2 * 2 * 2 * 16 * 4,
    "kv_cache_bytes": 2 * 16 * 2 * 2 * 2 * 16 * 4,
    "active_params": 386_368 - 2 * 6 * 3 * 64 * 96,
}
QWEN2 = {  # 2 of 8 experts of 64 × 48, and a shared one of 64 × 96 with a gate
    "tokens": 2 * 16,
    "decode_macs": 2 * (3 * 64 * 64 + 8 * 64 + 2 * 3 * 64 * 48 + 3 * 64 * 96 + 64 + 4 * 16 * (16 + 16)) + 64 * 512,
    "kv_bytes_per_token": 2 * 2 * 2 * 16 * 4,
    "kv_cache_bytes": 2 * 16 * 2 * 2 * 2 * 16 * 4,
    "active_params": 276_160 - 2 * 6 * 3 * 64 * 48,
}


def analysed(name):
    return report(MODELS / f"{name}.pt2", "--plugins=params,flops,language-model")


class Decoders(unittest.TestCase):
    def test_values(self):
        for name, expected in (("gpt2_like", GPT2), ("llama_like", LLAMA), ("mixtral", MIXTRAL), ("qwen2_moe", QWEN2)):
            totals = analysed(name)["totals"]
            for metric, value in expected.items():
                with self.subTest(model=name, metric=metric):
                    self.assertEqual(totals[metric], value)
            # Attention in full: a token of the prefill attends to as many keys as one decoded at the end.
            self.assertEqual(totals["macs_per_token"], totals["decode_macs"])
            self.assertEqual(totals["macs"], totals["tokens"] * totals["macs_per_token"])

    def test_without_experts_there_are_no_values_of_experts(self):
        for name in ("gpt2_like", "llama_like"):
            document = analysed(name)
            self.assertIsNone(document["totals"].get("active_params"))
            self.assertNotIn("mixture-of-experts", [f["rule"] for f in document["findings"]])

    def test_findings_name_their_evidence(self):
        findings = {f["rule"]: f for f in analysed("mixtral")["findings"]}
        self.assertEqual(set(findings), {"language-model", "kv-cache", "decode", "mixture-of-experts"})
        self.assertIn("2 of 8 experts", findings["mixture-of-experts"]["text"])
        self.assertIn("aten::topk", findings["mixture-of-experts"]["evidence"])
        self.assertIn("experts.gate_up_proj", findings["mixture-of-experts"]["evidence"])
        self.assertIn("2 layers × 2 × 2 heads × 16 × float32 (4 query heads)", findings["kv-cache"]["evidence"])
        self.assertEqual(len(findings["kv-cache"]["targets"]), 2)


class Others(unittest.TestCase):
    """Encoders, encoder-decoders, vision models, recurrent nets: not decoder language models."""

    def test_other_models_have_no_values_and_findings(self):
        for name in ("bert_like", "transformer", "resnet50", "vit_b_16", "lstm", "swin_t", "detr_like", "tied"):
            with self.subTest(model=name):
                document = analysed(name)
                self.assertEqual({f: document["totals"].get(f) for f in METRICS}, dict.fromkeys(METRICS))
                self.assertEqual([f for f in document["findings"] if f["plugin"] == "language-model"], [])

    def test_no_lines_in_the_text(self):
        done = tmeter(MODELS / "resnet50.pt2", "--plugins=flops,language-model")
        self.assertNotIn("KV cache", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=1)
