"""Training FLOPs per token of weightless folders, as torchtitan counts them.

DeepSeek-V4: torchtitan's own test (tests/unit_tests of pytorch/torchtitan: deepseek_v4_flash, n_mtp_layers=1, seq_len=4096) expects
290,942,278,866 parameters and 92,762,352,876 FLOPs per token. Shapes are those of torchtitan/models/deepseek_v4/flavors.py, names those of
its state_dict_adapter.py. The other values are calculated by hand from quadratic_attention_flops_per_token and
get_nparams_and_active_nparams of torchtitan/models/utils.py.
"""
import pathlib
import sys
import tempfile
import unittest

for folder in ("cli", "blueprint"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / folder))
from folders import write_folder  # noqa: E402
from support import report, tmeter  # noqa: E402

METRIC = "training_flops_per_token"
DIM, HEADS, HEAD_DIM, RANK, EXPERTS, WIDTH, STREAMS, VOCABULARY = 4096, 64, 512, 1024, 256, 2048, 4, 129280
INDEX_HEADS, INDEX_DIM = 64, 128
RATIOS = [0, 0, *(4, 128) * 20, 4]
FLASH = {"model_type": "deepseek_v4", "architectures": ["DeepseekV4ForCausalLM"], "vocab_size": VOCABULARY, "hidden_size": DIM,
         "moe_intermediate_size": WIDTH, "num_hidden_layers": 43, "num_attention_heads": HEADS, "num_key_value_heads": 1, "head_dim": HEAD_DIM,
         "q_lora_rank": RANK, "o_lora_rank": RANK, "o_groups": 8, "n_routed_experts": EXPERTS, "n_shared_experts": 1, "num_experts_per_tok": 6,
         "compress_ratios": RATIOS, "sliding_window": 128, "index_n_heads": INDEX_HEADS, "index_head_dim": INDEX_DIM, "index_topk": 512,
         "hc_mult": STREAMS, "qk_rope_head_dim": 64, "num_nextn_predict_layers": 1}  # fmt: skip


def compressor(name, ratio, series, width):
    return {f"{name}.ape": [ratio, series * width], f"{name}.norm.weight": [width], f"{name}.wkv.weight": [series * width, DIM],
            f"{name}.wgate.weight": [series * width, DIM]}  # fmt: skip


def block(name, ratio):
    attention = f"{name}.attn"
    out = {f"{attention}.attn_sink": [HEADS], f"{attention}.q_norm.weight": [RANK], f"{attention}.kv_norm.weight": [HEAD_DIM],
           f"{attention}.wq_a.weight": [RANK, DIM], f"{attention}.wq_b.weight": [HEADS * HEAD_DIM, RANK], f"{attention}.wkv.weight": [HEAD_DIM, DIM],
           f"{attention}.wo_a.weight": [8 * RANK, HEADS * HEAD_DIM // 8], f"{attention}.wo_b.weight": [DIM, 8 * RANK],
           f"{name}.attn_norm.weight": [DIM], f"{name}.ffn_norm.weight": [DIM], f"{name}.ffn.gate.weight": [EXPERTS, DIM],
           f"{name}.ffn.gate.bias": [EXPERTS]}  # fmt: skip
    if ratio > 1:
        out |= compressor(f"{attention}.compressor", ratio, 2 if ratio == 4 else 1, HEAD_DIM)
    if ratio == 4:
        out |= compressor(f"{attention}.indexer.compressor", ratio, 2, INDEX_DIM)
        out |= {f"{attention}.indexer.wq_b.weight": [INDEX_HEADS * INDEX_DIM, RANK], f"{attention}.indexer.weights_proj.weight": [INDEX_HEADS, DIM]}
    for owner in (*(f"experts.{i}" for i in range(EXPERTS)), "shared_experts"):
        out |= {f"{name}.ffn.{owner}.{w}.weight": [DIM, WIDTH] if w == "w2" else [WIDTH, DIM] for w in ("w1", "w2", "w3")}
    mixes = (2 + STREAMS) * STREAMS
    for part in ("attn", "ffn"):
        out |= {f"{name}.hc_{part}_fn": [mixes, STREAMS * DIM], f"{name}.hc_{part}_base": [mixes], f"{name}.hc_{part}_scale": [3]}
    return out


def streams_head(name):
    return {f"{name}hc_head_fn": [STREAMS, STREAMS * DIM], f"{name}hc_head_base": [STREAMS], f"{name}hc_head_scale": [1]}


def flash(predictors):
    out = {"embed.weight": [VOCABULARY, DIM], "head.weight": [VOCABULARY, DIM], "norm.weight": [DIM], **streams_head("")}
    for i, ratio in enumerate(RATIOS):
        out |= block(f"layers.{i}", ratio)
    for i in range(predictors):
        out |= block(f"mtp.{i}", 1) | streams_head(f"mtp.{i}.")
        out |= {f"mtp.{i}.{norm}.weight": [DIM] for norm in ("enorm", "hnorm", "norm")}
        out |= {f"mtp.{i}.{product}.weight": [DIM, DIM] for product in ("e_proj", "h_proj")}
    return {name: ("bfloat16", shape) for name, shape in out.items()}


def llama(tied=False, **config):
    """64 wide, 4 heads of 16, 2 layers of 4·64² + 3·64·96 + 2·64 = 34,944 parameters; a table of 100 × 64, a last norm of 64."""
    tensors = {"model.embed_tokens.weight": [100, 64], "model.norm.weight": [64], **({} if tied else {"lm_head.weight": [100, 64]})}
    for i in range(2):
        name = f"model.layers.{i}"
        tensors |= {f"{name}.self_attn.{p}_proj.weight": [64, 64] for p in "qkvo"}
        tensors |= {f"{name}.mlp.{p}_proj.weight": [64, 96] if p == "down" else [96, 64] for p in ("gate", "up", "down")}
        tensors |= {f"{name}.{p}_layernorm.weight": [64] for p in ("input", "post_attention")}
    return ({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4,
             "num_key_value_heads": 4, "num_hidden_layers": 2, "vocab_size": 100, "tie_word_embeddings": tied, **config},
            {n: ("float32", s) for n, s in tensors.items()})  # fmt: skip


class PerToken(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "model"

    def totals(self, config, tensors, sequence=4096, **arguments):
        write_folder(self.folder, config, tensors, **arguments)
        found = report(self.folder, "--plugins=params,training", *(["--set", f"training.sequence={sequence}"] if sequence else []))
        self.convention = next(m["convention"] for m in found["metrics"] if m["id"] == METRIC)
        return found["totals"], found

    def test_deepseek_v4_of_torchtitan(self):
        totals, _ = self.totals(FLASH, flash(1), shards=4)
        self.assertEqual((totals["params"], totals[METRIC]), (290_942_278_866, 92_762_352_876))
        self.assertIn("torchtitan", self.convention)

    def test_layer_types_give_the_value_of_ratios(self):
        types = {0: "sliding_attention", 4: "compressed_sparse_attention", 128: "heavily_compressed_attention"}
        config = {k: v for k, v in FLASH.items() if k != "compress_ratios"}
        config |= {"layer_types": [types[r] for r in RATIOS], "compress_rates": {types[4]: 4, types[128]: 128}}
        self.assertEqual(self.totals(config, flash(1))[0][METRIC], 92_762_352_876)

    def test_a_small_llama_by_hand(self):
        """6 × (2 · 34,944 + 64 + head 6,400) + 2 layers × 6 · 4 heads · (16 + 16) · 128 tokens."""
        parameters = 2 * 34_944 + 64 + 6_400
        by_hand = 6 * parameters + 2 * 6 * 4 * 32 * 128
        for tied in (False, True):  # a table that is the head counts
            with self.subTest(tied=tied):
                totals, _ = self.totals(*llama(tied), sequence=128)
                self.assertEqual((totals["params"], totals[METRIC]), (parameters + (0 if tied else 6_400), by_hand))

    def test_the_sequence_of_the_input(self):
        totals, found = self.totals(*llama(), sequence=0)
        length = found["inputs"][0]["shape"][1]
        self.assertEqual(totals[METRIC], 6 * (2 * 34_944 + 64 + 6_400) + 2 * 6 * 4 * 32 * length)

    def test_missing_facts_are_reported(self):
        experts = dict(FLASH, n_routed_experts=255)
        without_window = {k: v for k, v in FLASH.items() if k != "sliding_window"}
        predictor = llama(num_nextn_predict_layers=1)
        predictor[1]["model.layers.2.enorm.weight"] = ("float32", [64])
        for (config, tensors), sequence, words in (((FLASH, flash(0)), 0, "training.sequence=TOKENS"), ((experts, flash(0)), 64, "experts of the weights"),
                                                   ((without_window, flash(0)), 64, "sliding_window"), (predictor, 64, "predict further tokens"),
                                                   ((dict(FLASH, compress_ratios=[4]), flash(0)), 64, "layer 1")):  # fmt: skip
            with self.subTest(words):
                totals, found = self.totals(config, tensors, sequence)
                self.assertIsNone(totals[METRIC])
                self.assertIn(words, str([m for m in found["metrics"] if m["id"] == METRIC]))

    def test_other_types_have_no_value(self):
        config, tensors = llama(model_type="mistral")
        self.assertNotIn(METRIC, {k: v for k, v in self.totals(config, tensors, 64)[0].items() if v is not None})

    def test_an_invalid_sequence(self):
        write_folder(self.folder, *llama())
        for value in ("-1", "many"):
            done = tmeter(self.folder, "--plugins=training", "--set", f"training.sequence={value}")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
