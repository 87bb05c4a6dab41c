"""`tmeter FOLDER` of well-known models, weightless: what papers and model cards say of them.

A folder is that of transformers' default configuration of the type with other sizes.
"""
import re
import sys

from support import SOURCE, CliTest, main, report

sys.path.insert(0, str(SOURCE / "tests" / "blueprint"))
from folders import rows_of, tensors_of, write_folder  # noqa: E402

ROWS = {r["type"]: r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl") if "type" in r}


class Published(CliTest):
    def totals(self, model_type, layers, sizes, config, *bindings, dtype="bfloat16", without=()):
        """`sizes`: the value of each size of the default. `layers`: of default and model."""
        row, (few, many) = ROWS[model_type], layers
        rows = [[name, dtype, [sizes.get(n, n) for n in shape], re.sub(rf"^0-{few - 1}\b", f"0-{many - 1}", numbers)]
                for name, _, shape, numbers in row["tensors"] if name not in without]  # fmt: skip
        write_folder(self.folder / model_type, {**row["config"], **config, "dtype": dtype}, tensors_of(rows))
        binds = [x for b in bindings for x in ("--bind", b)]
        done = report(self.folder / model_type, "--plugins=params,flops,language-model", *binds)
        self.assertEqual((done["coverage"]["unknown"], done["warnings"]), (0, []))
        return done["totals"]

    def test_t5_base(self):
        """arXiv:1910.10683, 3.1: about 220 million parameters, 12 layers each, width 768. Cache of a token: 2 · 12 · 768 · 2 bytes."""
        totals = self.totals("t5", (6, 12), {512: 768, 2048: 3072, 8: 12}, {"d_model": 768, "d_ff": 3072, "num_heads": 12, "num_layers": 12,
                             "num_decoder_layers": 12}, "sequence=10", "encoder_sequence=100")  # fmt: skip
        self.assertEqual(totals["params"], 222_903_552)
        self.assertEqual(totals["kv_bytes_per_token"], 2 * 12 * 768 * 2)
        self.assertEqual(totals["kv_cache_bytes"], (10 + 100) * 2 * 12 * 768 * 2)

    def test_whisper_large_v3(self):
        """arXiv:2212.04356, table 1: 1550 M parameters, 32 layers, width 1280, 20 heads; 128 bins and 51866 tokens since large-v3."""
        totals = self.totals("whisper", (4, 32), {384: 1280, 1536: 5120, 80: 128, 51865: 51866},
                             {"d_model": 1280, "encoder_layers": 32, "decoder_layers": 32, "encoder_attention_heads": 20, "decoder_attention_heads": 20,
                              "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "num_mel_bins": 128, "vocab_size": 51866}, "sequence=10")  # fmt: skip
        self.assertEqual(round(totals["params"] / 1e7), 154)
        self.assertEqual(totals["kv_bytes_per_token"], 2 * 32 * 1280 * 2)
        self.assertEqual(totals["kv_cache_bytes"], (10 + 1500) * 2 * 32 * 1280 * 2)

    def test_mamba2(self):
        """state-spaces/mamba2-2.7b (arXiv:2405.21060): 64 layers, width 2560, 80 heads of 64, one group, a state of 128."""
        inner, mixed = 2 * 2560, 2 * 2560 + 2 * 128
        totals = self.totals("mamba2", (64, 64), {4096: 2560, 8192: inner, 10240: mixed, 18560: inner + mixed + 80, 128: 80, 32768: 50288},
                             {"hidden_size": 2560, "num_heads": 80, "n_groups": 1, "vocab_size": 50288, "tie_word_embeddings": True}, "sequence=300",
                             without=["lm_head.weight"])  # fmt: skip
        self.assertEqual(round(totals["params"] / 1e8), 27)
        self.assertEqual(totals["kv_cache_bytes"], 0)
        self.assertEqual(totals["state_bytes"], 64 * (mixed * 4 * 2 + inner * 128 * 4))

    def test_vit_large(self):
        """torchvision's vit_l_16: 304,326,632 parameters, 61.555 G products (its weights' metadata)."""
        totals = self.totals("vit", (12, 24), {768: 1024, 3072: 4096, 2: 1000}, {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
                             "num_attention_heads": 16})  # fmt: skip
        self.assertEqual(totals["params"], 304_326_632)
        self.assertAlmostEqual(totals["macs"] / 1e9, 61.555, delta=0.13)

    def test_gemma_3_27b(self):
        """arXiv:2503.19786, table 1: 25,600 M parameters besides the embedding; windows of 1024 in five of six layers."""
        totals = self.totals("gemma3_text", (26, 62), {2304: 5376, 2048: 4096, 1024: 2048, 9216: 21504, 256: 128},
                             {"hidden_size": 5376, "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
                              "intermediate_size": 21504, "sliding_window": 1024, "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 10
                              + ["sliding_attention"] * 2}, "sequence=8192")  # fmt: skip
        self.assertEqual(round((totals["params"] - 262_208 * 5376) / 1e6), 25_600)
        self.assertEqual(totals["kv_cache_bytes"], (10 * 8192 + 52 * 1023) * 2 * 16 * 128 * 2)


if __name__ == "__main__":
    main()
