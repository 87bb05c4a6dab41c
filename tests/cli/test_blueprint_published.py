"""`tmeter FOLDER` of well-known models without weights, compared with papers and model cards.

A folder is made from transformers' default configuration of the type, with other sizes.
"""
import re
import sys

from support import SOURCE, CliTest, main, report

sys.path.insert(0, str(SOURCE / "tests" / "blueprint"))
from folders import rows_of, tensors_of, write_folder  # noqa: E402

ROWS = {r["type"]: r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl") if "type" in r}


def published(model_type, layers, hidden, heads, key_heads, wide, vocabulary, width=None, experts=None, head_norms=False, biases=False):
    """config.json, and the names and shapes of transformers."""
    width = width or hidden // heads
    config = {"model_type": model_type, "architectures": ["PublishedForCausalLM"], "num_hidden_layers": layers, "hidden_size": hidden, "vocab_size": vocabulary,
              "num_attention_heads": heads, "num_key_value_heads": key_heads, "head_dim": width, "intermediate_size": wide, "rope_theta": 10000.0,
              "dtype": "bfloat16"}  # fmt: skip
    tensors = {"model.embed_tokens.weight": [vocabulary, hidden], "model.norm.weight": [hidden], "lm_head.weight": [vocabulary, hidden]}
    for i in range(layers):
        at = f"model.layers.{i}."
        tensors |= {at + "input_layernorm.weight": [hidden], at + "post_attention_layernorm.weight": [hidden]}
        for name, rows in (("q", heads), ("k", key_heads), ("v", key_heads)):
            tensors[f"{at}self_attn.{name}_proj.weight"] = [rows * width, hidden]
        tensors[at + "self_attn.o_proj.weight"] = [hidden, heads * width]
        if head_norms:
            tensors |= {at + "self_attn.q_norm.weight": [width], at + "self_attn.k_norm.weight": [width]}
        if biases:
            tensors |= {f"{at}self_attn.{n}_proj.bias": [r] for n, r in (("q", heads * width), ("k", key_heads * width), ("v", key_heads * width), ("o", hidden))}
            tensors[at + "self_attn.sinks"] = [heads]
        if not experts:
            tensors |= {f"{at}mlp.{n}_proj.weight": s for n, s in (("gate", [wide, hidden]), ("up", [wide, hidden]), ("down", [hidden, wide]))}
        elif biases:  # gpt-oss: [experts, in, out]
            tensors |= {at + "mlp.experts.gate_up_proj": [experts[0], hidden, 2 * wide], at + "mlp.experts.gate_up_proj_bias": [experts[0], 2 * wide],
                        at + "mlp.experts.down_proj": [experts[0], wide, hidden], at + "mlp.experts.down_proj_bias": [experts[0], hidden],
                        at + "mlp.router.weight": [experts[0], hidden], at + "mlp.router.bias": [experts[0]]}  # fmt: skip
        else:  # as in the checkpoints: a module for each expert
            inside = "block_sparse_moe" if model_type == "mixtral" else "mlp"
            names = ("w1", "w3", "w2") if model_type == "mixtral" else ("gate_proj", "up_proj", "down_proj")
            tensors[f"{at}{inside}.gate.weight"] = [experts[0], hidden]
            for e in range(experts[0]):
                for name, shape in zip(names, ([wide, hidden], [wide, hidden], [hidden, wide])):
                    tensors[f"{at}{inside}.experts.{e}.{name}.weight"] = shape
    if experts:
        config |= {"num_local_experts": experts[0], "num_experts_per_tok": experts[1]}
    return config, {n: ("bfloat16", s) for n, s in tensors.items()}


class Published(CliTest):
    def totals(self, model_type, layers, sizes, config, *bindings, dtype="bfloat16", without=()):
        """`sizes`: the model's value for each size of the default. `layers`: their numbers in the default and in the model."""
        row, (few, many) = ROWS[model_type], layers
        rows = [[name, dtype, [sizes.get(n, n) for n in shape], re.sub(rf"^0-{few - 1}\b", f"0-{many - 1}", numbers)]
                for name, _, shape, numbers in row["tensors"] if name not in without]  # fmt: skip
        write_folder(self.folder / model_type, {**row["config"], **config, "dtype": dtype}, tensors_of(rows))
        binds = [x for b in bindings for x in ("--bind", b)]
        done = report(self.folder / model_type, "--plugins=params,flops,language-model", *binds)
        self.assertEqual((done["coverage"]["unknown"], done["warnings"]), (0, []))
        return done["totals"]

    def test_decoders(self):
        """Parameters as stated on the pages of the Hub, which sum over the headers of the files. Active parameters of mixtures are rounded as in papers; gpt-oss
        leaves out the table of embeddings. Bytes of a token's bf16 cache: 2 · layers · key heads · width · 2.

        Llama 3.1 405B: arXiv:2407.21783, table 3. Mixtral 8x7B: arXiv:2401.04088, 12.9 B active. Qwen3-30B-A3B: arXiv:2505.09388, table 2, 3.3 B (of 3.35).
        gpt-oss: arXiv:2508.10925, table 1, 20.91 B and 116.83 B, active 3.61 B and 5.13 B."""
        for model, model_type, config, params, active, cache in [
            ("Llama 3.1 405B", "llama", dict(layers=126, hidden=16384, heads=128, key_heads=8, wide=53248, vocabulary=128256), 405_853_388_800, None, 516_096),
            ("Mixtral 8x7B", "mixtral", dict(layers=32, hidden=4096, heads=32, key_heads=8, wide=14336, vocabulary=32000, experts=(8, 2)), 46_702_792_704,
             12.88, 131_072),
            ("Qwen3-30B-A3B", "qwen3_moe", dict(layers=48, hidden=2048, heads=32, key_heads=4, width=128, wide=768, vocabulary=151936, experts=(128, 8),
             head_norms=True), 30_532_122_624, 3.35, 98_304),
            ("gpt-oss-20b", "gpt_oss", dict(layers=24, hidden=2880, heads=64, key_heads=8, width=64, wide=2880, vocabulary=201088, experts=(32, 4),
             biases=True), 20_914_757_184, 3.61, 49_152),
            ("gpt-oss-120b", "gpt_oss", dict(layers=36, hidden=2880, heads=64, key_heads=8, width=64, wide=2880, vocabulary=201088, experts=(128, 4),
             biases=True), 116_829_156_672, 5.13, 73_728),
        ]:  # fmt: skip
            with self.subTest(model):
                write_folder(self.folder / model, *published(model_type, **config))
                totals = report(self.folder / model, "--plugins=params,flops,language-model", "--bind", "sequence=100")["totals"]
                self.assertEqual((totals["params"], totals["kv_bytes_per_token"]), (params, cache))
                table = config["vocabulary"] * config["hidden"] if model_type == "gpt_oss" else 0
                self.assertEqual(totals["active_params"] and round((totals["active_params"] - table) / 1e9, 2), active)

    def test_deepseek_v3(self):
        """arXiv:2412.19437: 671 B parameters, 37 B of them for a token. Cache of a token: 61 layers · (512 + 64) · 2 bytes = 70,272."""
        row = ROWS["deepseek_v3"]
        write_folder(self.folder, row["config"], {n: ("bfloat16", s) for n, (_, s) in tensors_of(row["tensors"]).items()})
        totals = report(self.folder, "--plugins=params,flops,language-model", "--bind", "sequence=1000")["totals"]
        self.assertEqual(round(totals["params"] / 1e9), 671)
        self.assertEqual(int(totals["active_params"] / 1e9), 37)
        self.assertEqual(totals["kv_bytes_per_token"], 70_272)

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
