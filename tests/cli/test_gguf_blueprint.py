"""`tmeter MODEL.gguf`: the costs of the derived program equal those of transformers' model.

Damaged metadata, forms of earlier converters, values by hand. test_gguf_converted.py has files of the present converter. Expected values are
those of tests/blueprint/transformers.jsonl or calculated by hand. Tensor names come from gguf-py's tables (fixtures/gguf/names.json).
"""
import json
import re
import sys
from functools import cache

from gguf_writer import ARRAY, BOOL, F32, TEXT, U32, U64, Writer, padded, split_pairs
from support import FIXTURES, SOURCE, CliTest, main, report, tmeter

sys.path.insert(0, str(SOURCE / "tests" / "blueprint"))
from folders import rows_of, tensors_of, write_folder  # noqa: E402

NAMES = json.loads((FIXTURES / "gguf" / "names.json").read_text())
# Forms that llama.cpp's present converter does not write: architecture, model_type, latent attention in two halves.
FORMS = [("gptj", "gptj", True), ("deepseek2", "deepseek_v3", False)]
FLOAT32, FLOAT16 = (0, 4), (1, 2)  # type of ggml, bytes
PLUGINS = "--plugins=params,flops,language-model"


@cache
def truth():
    return {row["type"]: row for row in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")[1:]}


def names_of(arch):
    """transformers' module of layer 0 → GGUF's tensor, without endings."""
    found = {}
    for tensor in NAMES["architectures"].get(arch, sorted(NAMES["modules"])):
        for name in NAMES["modules"].get(tensor, ()):
            found.setdefault(name, tensor)
    return {**found, "model.layers.0.post_attention_layernorm": "blk.0.ffn_norm"}


def expert_tensors(block, name, shape, hidden):
    """The converter writes stacked experts with separate gate and up, each [experts, out, in]."""
    wide = next((d for d in shape[1:] if d != hidden), hidden)
    if name.endswith("gate_up_proj"):
        return {f"{block}.ffn_{half}_exps.weight": [shape[0], wide // 2, hidden] for half in ("gate", "up")}
    return {f"{block}.ffn_down_exps.weight": [shape[0], hidden, wide]}


def halves_of_latent(block, shape, config):
    """Since 2025 the converter splits kv_b: for each head one matrix of keys, transposed, and one of values."""
    heads, keys, values = (config[k] for k in ("num_attention_heads", "qk_nope_head_dim", "v_head_dim"))
    assert shape[0] == heads * (keys + values)
    return {f"{block}.attn_k_b.weight": [heads, shape[1], keys], f"{block}.attn_v_b.weight": [heads, values, shape[1]]}


def converted(arch, row, parted=True):
    """Names and shapes of the GGUF file; `parted`: as newer converters write latent attention."""
    names, tensors, hidden = names_of(arch), {}, row["config"].get("hidden_size")
    for name, (_, shape) in tensors_of(row["tensors"]).items():
        layer = re.search(r"(?<=\.)\d+(?=\.)", name)
        block = f"blk.{layer[0]}" if layer else ""
        if ".experts." in name:
            tensors |= expert_tensors(block, name, shape, hidden)
        elif name.endswith(".e_score_correction_bias"):
            tensors[f"{block}.exp_probs_b.bias"] = shape
        elif name.endswith(".kv_b_proj.weight") and parted:
            tensors |= halves_of_latent(block, shape, row["config"])
        else:
            module, _, ending = re.sub(r"(?<=\.)\d+(?=\.)", "0", name, count=1).rpartition(".")
            short = module.partition(".")[2]  # gguf-py has some names without the model's prefix
            tensor = "output" if module == "lm_head" else names[module if module in names else short]
            tensors[f"{tensor.replace('blk.0', block)}.{ending}"] = shape
    return tensors


def latent_numbers(config, parted):
    """conversion/deepseek.py of llama.cpp; files written before it split kv_b state the widths of a head."""
    rank, rope, nope, value = (config[k] for k in ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"))
    numbers = {"attention.kv_lora_rank": rank, "attention.q_lora_rank": config["q_lora_rank"], "rope.dimension_count": rope}
    if not parted:
        return {**numbers, "attention.key_length": nope + rope, "attention.value_length": value}
    return {**numbers, "attention.head_count_kv": 1, "attention.key_length": rank + rope, "attention.value_length": rank,
            "attention.key_length_mla": nope + rope, "attention.value_length_mla": value}  # fmt: skip


def metadata(arch, config, parted=True):
    theta = (config.get("rope_parameters") or {}).get("rope_theta") or config.get("rope_theta")
    heads = config.get("num_attention_heads") or config.get("n_head")
    numbers = {"block_count": config.get("num_hidden_layers") or config.get("n_layer"), "embedding_length": config.get("hidden_size") or config.get("n_embd"),
               "feed_forward_length": config.get("intermediate_size"), "context_length": config.get("max_position_embeddings") or config.get("n_positions"),
               "attention.head_count": heads, "attention.head_count_kv": config.get("num_key_value_heads") or heads, "attention.key_length": config.get("head_dim"),
               "attention.value_length": config.get("head_dim"), "expert_count": config.get("num_experts") or config.get("num_local_experts") or config.get("n_routed_experts"),
               "leading_dense_block_count": config.get("first_k_dense_replace"), "expert_shared_count": config.get("n_shared_experts"),
               "expert_used_count": config.get("num_experts_per_tok"), "expert_feed_forward_length": config.get("moe_intermediate_size"),
               "expert_shared_feed_forward_length": config.get("shared_expert_intermediate_size")}  # fmt: skip
    if config.get("kv_lora_rank"):
        numbers |= latent_numbers(config, parted)
    pairs = [("general.architecture", TEXT, arch)] + [(f"{arch}.{k}", U32, v) for k, v in numbers.items() if v]
    return pairs + ([(f"{arch}.rope.freq_base", F32, theta)] if theta else [])


def macs_of(document, prefix=""):
    return {m["path"].removeprefix(prefix): m["values"]["macs"] for m in document["modules"] if m["values"].get("macs")}


class Costs(CliTest):
    def write(self, tensors, pairs, kind=FLOAT16, name="model.gguf", order="<"):
        """A file whose elements are holes."""
        table, at = [], 0
        for tensor, shape in tensors.items():
            code, size = FLOAT32 if len(shape) == 1 else kind
            for d in shape:
                size *= d
            table.append((tensor, shape, code, at))
            at += padded(size)
        header = Writer(order=order).header(pairs, table)
        return self.file_with_hole(name, header, padded(len(header)) + at)

    def small(self, change=(), drop=(), tensors=(), arch="llama"):
        """2 layers of 64, 4 heads, 2 of keys, MLP of 128, vocabulary of 100."""
        shapes = {"token_embd.weight": [100, 64], "output_norm.weight": [64], "output.weight": [100, 64]}
        for i in range(2):
            shapes |= {f"blk.{i}.{n}.weight": s for n, s in {
                "attn_norm": [64], "attn_q": [64, 64], "attn_k": [32, 64], "attn_v": [32, 64], "attn_output": [64, 64], "ffn_norm": [64],
                "ffn_gate": [128, 64], "ffn_up": [128, 64], "ffn_down": [64, 128]}.items()}  # fmt: skip
        pairs = {"block_count": 2, "embedding_length": 64, "feed_forward_length": 128, "context_length": 512, "attention.head_count": 4,
                 "attention.head_count_kv": 2, "rope.dimension_count": 16, **dict(change)}  # fmt: skip
        written = [("general.architecture", TEXT, arch)] + [(f"{arch}.{k}", *(v if isinstance(v, tuple) else (U32, v))) for k, v in pairs.items() if k not in drop]
        return self.write({**shapes, **dict(tensors)}, written)

    def test_as_transformers_counts(self):
        for arch, model_type, parted in FORMS:
            row = truth()[model_type]
            with self.subTest(arch, parted=parted):
                path = self.write(converted(arch, row, parted), metadata(arch, row["config"], parted), FLOAT32)
                for run in row["runs"]:
                    self.assert_counts(path, row, run)

    def assert_counts(self, path, row, run):
        batch, sequence = run["size"]
        with self.subTest(size=run["size"]):
            done = report(path, PLUGINS, "--bind", f"batch={batch}", "--bind", f"sequence={sequence}")
            totals = done["totals"]
            self.assertEqual((totals["params"], totals["macs"], done["coverage"]["unknown"]), (row["params"], run["flops"] / 2, 0), done["warnings"])
            self.assertEqual((totals["kv_cache_bytes"], done["warnings"]), (run["cache"][0], []))

    def test_a_program_a_folder_and_a_gguf_file_of_one_model(self):
        """Parameters, products of each module and the cache are equal. torch.export makes the programs from transformers' modules in a wrapper `model`."""
        sizes = {"vocab_size": 512, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
                 "num_experts_per_tok": 2, "rope_theta": 1e4, "max_position_embeddings": 64, "tie_word_embeddings": False}  # fmt: skip
        for model_type, arch, name, own in (("mixtral", "llama", "MixtralForCausalLM", {"num_local_experts": 8, "intermediate_size": 96}),
                                            ("qwen2_moe", "qwen2moe", "Qwen2MoeForCausalLM", {"num_experts": 8, "moe_intermediate_size": 48, "shared_expert_intermediate_size": 96})):
            program = report(FIXTURES / "models" / f"{model_type}.pt2", PLUGINS)
            parameters = [t for t in program["tensors"] if t["kind"] == "parameter"]
            config = {**sizes, **own, "model_type": model_type, "architectures": [name]}
            row = {"config": config, "tensors": [[t["name"].removeprefix("model."), "float32", t["shape"], ""] for t in parameters]}
            write_folder(self.folder / model_type, config, tensors_of(row["tensors"]))
            files = self.folder / model_type, self.write(converted(arch, row), metadata(arch, config), FLOAT32)
            expected = macs_of(program, "model.")
            for path in files:
                with self.subTest(path=path):
                    done = report(path, PLUGINS, "--bind", "batch=2", "--bind", "sequence=16")
                    for metric in ("params", "macs", "kv_cache_bytes", "kv_bytes_per_token", "decode_macs", "active_params"):
                        self.assertEqual(done["totals"][metric], program["totals"][metric], metric)
                    found = macs_of(done)
                    both = {m for m in expected if m in found}
                    self.assertGreaterEqual(both, {f"model.layers.1.{m}" for m in ("self_attn", "self_attn.q_proj", "self_attn.k_proj", "mlp", "mlp.gate", "mlp.experts")} | {"lm_head"})
                    self.assertEqual({m: found[m] for m in both}, {m: expected[m] for m in both})

    def test_by_hand(self):
        """Per layer and token 2·64² + 2·32·64 + 3·64·128 = 36,864; attention 2·4·16·n² for n tokens; head 100·64."""
        done = report(self.small(), PLUGINS, "--bind", "batch=3", "--bind", "sequence=10")
        self.assertEqual(done["totals"]["macs"], 3 * (2 * (10 * 36_864 + 2 * 64 * 10 * 10) + 10 * 6_400))
        self.assertEqual(done["totals"]["kv_cache_bytes"], 3 * 10 * 2 * 2 * 32 * 2)
        self.assertEqual(done["coverage"]["unknown"], 0)

    def test_latent_attention(self):
        """fixtures/gguf/latent*.gguf, written by gguf-py 0.19. Parameters, FLOPs of FlopCounterMode and bytes of the float32 cache are those of the DeepSeek-V3
        that transformers 5.23 builds from latent.json (tests/blueprint/truth.py)."""
        for file in ("latent.gguf", "latent-parted.gguf"):
            for size, flops, cache in (((1, 8), 356_352, 1_792), ((2, 33), 3_415_104, 14_784), ((1, 300), 38_592_000, 67_200)):
                with self.subTest(file):
                    self.assert_counts(FIXTURES / "gguf" / file, {"params": 25_464}, {"size": size, "flops": flops, "cache": [cache / 2]})

    def test_published_cache_of_deepseek(self):
        """61 layers of 512 + 64 elements of 2 bytes (arXiv:2412.19437)."""
        row = truth()["deepseek_v3"]
        for parted in (True, False):
            path = self.write(converted("deepseek2", row, parted), metadata("deepseek2", row["config"], parted))
            self.assertEqual(report(path, PLUGINS)["totals"]["kv_bytes_per_token"], 70_272)

    def test_contradictions_of_latent_attention(self):
        for parted, key, value, words in (
            (True, "attention.key_length_mla", 191, ["deepseek2.attention.head_count, deepseek2.attention.key_length_mla and deepseek2.rope.dimension_count make 24448 rows", "blk.0.attn_q_b.weight"]),
            (True, "attention.key_length_mla", 63, ["deepseek2.attention.key_length_mla is 63, less than deepseek2.rope.dimension_count is 64"]),
            (True, "attention.value_length_mla", 127, ["deepseek2.attention.value_length_mla make matrices of 127 by 512 for 128 heads", "blk.0.attn_v_b.weight", "[128, 128, 512]"]),
            (False, "attention.value_length", 127, ["deepseek2.attention.value_length make 32640 rows", "blk.0.attn_kv_b.weight"]),
            (True, "attention.kv_lora_rank", 511, ["deepseek2.attention.kv_lora_rank and deepseek2.rope.dimension_count make 575 rows", "blk.0.attn_kv_a_mqa.weight"]),
            (True, "attention.q_lora_rank", 1, ["deepseek2.attention.q_lora_rank is 1", "blk.0.attn_q_a.weight"]),
            (True, "leading_dense_block_count", 4, ["deepseek2.leading_dense_block_count is 4", "blk.3.ffn_down_exps.weight"]),
            (True, "expert_shared_count", 2, ["deepseek2.expert_shared_count is 2", "blk.3.ffn_gate_shexp.weight"]),
            (True, "attention.head_count", 1 << 39, ["deepseek2.attention.head_count"]),
        ):  # fmt: skip
            row = truth()["deepseek_v3"]
            pairs = {k: (kind, v) for k, kind, v in metadata("deepseek2", row["config"], parted)}
            pairs[f"deepseek2.{key}"] = (U64 if value >> 32 else U32, value)
            with self.subTest(key, value=value):
                path = self.write(converted("deepseek2", row, parted), [(k, *v) for k, v in pairs.items()])
                self.assert_refused(4, words, path)

    def test_layers_that_predict_further_tokens_are_not_run(self):
        """GGUF's block_count includes them."""
        row = truth()["glm4_moe"]
        tensors, layers, size = converted("glm4moe", row), row["config"]["num_hidden_layers"], row["config"]["hidden_size"]
        last = {n.replace(f"blk.{layers - 1}.", f"blk.{layers}."): s for n, s in tensors.items() if n.startswith(f"blk.{layers - 1}.")}
        last |= {f"blk.{layers}.nextn.eh_proj.weight": [size, 2 * size], f"blk.{layers}.nextn.enorm.weight": [size]}
        pairs = {k: (kind, v) for k, kind, v in metadata("glm4moe", row["config"])}
        pairs |= {"glm4moe.block_count": (U32, layers + 1), "glm4moe.nextn_predict_layers": (U32, 1)}
        done = report(self.write({**tensors, **last}, [(k, *v) for k, v in pairs.items()]), PLUGINS, "--bind", "sequence=8")
        self.assertEqual((done["totals"]["macs"], done["coverage"]["unknown"]), (row["runs"][0]["flops"] / 2, 0))

    def test_tensors_in_any_order(self):
        """Alphabetical, as some converters write them: blk.10 before blk.2."""
        row = truth()["llama"]
        tensors = converted("llama", row)
        done = report(self.write(dict(sorted(tensors.items())), metadata("llama", row["config"])), PLUGINS, "--bind", "sequence=8")
        self.assertEqual((done["totals"]["macs"], done["coverage"]["unknown"]), (row["runs"][0]["flops"] / 2, 0))
        self.assertEqual([m["path"] for m in done["modules"] if m["path"].count(".") == 2 and "layers" in m["path"]],
                         [f"model.layers.{i}" for i in range(row["config"]["num_hidden_layers"])])

    def test_windows_by_layer(self):
        """A window of 6 keeps 5 tokens of the past; the full layer all 10."""
        path = self.small({"attention.sliding_window": 6, "attention.sliding_window_pattern": (ARRAY, (BOOL, [True, False]))})
        done = report(path, PLUGINS, "--bind", "sequence=10")
        self.assertEqual(done["totals"]["kv_cache_bytes"], (5 + 10) * 2 * 32 * 2)

    def test_an_architecture_that_was_not_checked_is_a_lower_bound(self):
        done = report(self.small(arch="newmodel"), PLUGINS, "--bind", "sequence=10")
        self.assertEqual(done["coverage"]["unknown"], 1)
        self.assertEqual(done["totals_status"]["macs"], "lower_bound")
        self.assertIn("newmodel", " ".join(map(str, done["warnings"])))

    def test_an_encoder_has_no_cache(self):
        done = report(self.small({"attention.causal": (BOOL, False)}, arch="newmodel"), PLUGINS, "--bind", "sequence=10")
        self.assertIsNone(done["totals"].get("kv_cache_bytes"))

    def test_a_tensor_that_no_part_uses_is_an_unknown_operator(self):
        done = report(self.small(tensors={"blk.1.mystery.weight": [64, 64]}), PLUGINS)
        self.assertEqual([n["op"] for n in done["nodes"] if "not_understood" in n["op"]], ["blueprint::not_understood"])

    def test_unsupported_keys_reduce_the_report_to_weights(self):
        for change, words in (({"attention.key_length": 16, "attention.value_length": 8}, "attention.value_length"),):
            done = report(self.small(change), PLUGINS)
            self.assertEqual((done["nodes"], done["totals"]["params"]), ([], 2 * 36_864 + 2 * 6_400 + 5 * 64))
            self.assertIn(words, " ".join(map(str, done["warnings"])))

    def pair(self, change=(), without="none", arch="t5"):
        """A T5 of 2 and 2 layers of 64, 4 heads, MLP of 128, vocabulary of 100."""
        shapes = {"token_embd.weight": [100, 64]}
        for stack in ("enc", "dec"):
            shapes[f"{stack}.output_norm.weight"] = [64]
            parts = {"attn_norm": [64], **dict.fromkeys(("attn_q", "attn_k", "attn_v", "attn_o"), [64, 64]), "ffn_norm": [64], "ffn_up": [128, 64], "ffn_down": [64, 128]}
            if stack == "dec":
                parts |= {"cross_attn_norm": [64], **dict.fromkeys(("cross_attn_q", "cross_attn_k", "cross_attn_v", "cross_attn_o"), [64, 64])}
            shapes |= {f"{stack}.blk.{i}.{name}.weight": shape for name, shape in parts.items() for i in range(2)}
        numbers = {"block_count": 2, "decoder_block_count": 2, "embedding_length": 64, "feed_forward_length": 128, "attention.head_count": 4, "attention.key_length": 16, **dict(change)}
        return self.write({n: s for n, s in shapes.items() if without not in n}, [("general.architecture", TEXT, arch)] + [(f"{arch}.{k}", U32, v) for k, v in numbers.items()])

    def test_an_encoder_and_a_decoder(self):
        """7 tokens are read, 10 written. Encoder, 2 layers: 7·(4·64² + 2·64·128) + 2·64·7². Decoder, 2 layers: 10·(6·64² + 2·64·128) + 7·2·64² +
        2·64·10² + 2·64·10·7. Head: 10·100·64. Cache: 2·2·(10 + 7)·64 elements of 2 bytes."""
        done = report(self.pair(), PLUGINS, "--bind", "sequence=10", "--bind", "encoder_sequence=7")
        encoder = 2 * (7 * (4 * 64**2 + 2 * 64 * 128) + 2 * 64 * 7**2)
        decoder = 2 * (10 * (6 * 64**2 + 2 * 64 * 128) + 7 * 2 * 64**2 + 2 * 64 * 10**2 + 2 * 64 * 10 * 7)
        self.assertEqual((done["totals"]["macs"], done["coverage"]["unknown"]), (encoder + decoder + 10 * 100 * 64, 0))
        self.assertEqual(done["totals"]["kv_cache_bytes"], 2 * 2 * (10 + 7) * 64 * 2)
        alone = report(self.pair(without="dec.", arch="t5encoder"), PLUGINS, "--bind", "sequence=7")
        self.assertEqual((alone["totals"]["macs"], alone["totals"].get("kv_cache_bytes")), (encoder, None))

    def test_damaged_pairs(self):
        for change, without, words in (({"decoder_block_count": 1}, "none", "t5.decoder_block_count is 1"), ({"block_count": 3}, "none", "t5.block_count is 3"),
                                       ({"attention.head_count": 8}, "none", "t5.attention.head_count is 8"), ({}, "cross_attn", "has no attention to the encoder"),
                                       ({}, "dec.", "of encoder and decoder there is only encoder.block"), ({}, "enc.", "of encoder and decoder there is only decoder.block")):  # fmt: skip
            with self.subTest(change, without=without):
                done = tmeter(self.pair(change, without), PLUGINS)
                self.assertIn(words, done.stderr + done.stdout)
                self.assertNotIn("GMAC", done.stdout)

    def test_files_that_are_not_models_are_reported(self):
        for kind in ("mmproj", "adapter"):
            done = report(self.write({"v.blk.0.attn_q.weight": [64, 64]}, [("general.architecture", TEXT, "clip"), ("general.type", TEXT, kind)]), PLUGINS)
            self.assertEqual((done["nodes"], done["totals"]["params"]), ([], 64 * 64))
            self.assertIn(f"general.type is '{kind}'", " ".join(map(str, done["warnings"])))

    def test_split_and_big_endian_files(self):
        """The first part has the metadata, each part has a layer. The values are those of test_by_hand, for one sequence."""
        def tensors(i):
            return {f"blk.{i}.{n}.weight": s for n, s in {"attn_norm": [64], "attn_q": [64, 64], "attn_k": [32, 64], "attn_v": [32, 64], "attn_output": [64, 64],
                                                          "ffn_norm": [64], "ffn_gate": [128, 64], "ffn_up": [128, 64], "ffn_down": [64, 128]}.items()}  # fmt: skip

        ends = {"token_embd.weight": [100, 64], "output_norm.weight": [64], "output.weight": [100, 64]}
        numbers = {"block_count": 2, "embedding_length": 64, "feed_forward_length": 128, "attention.head_count": 4, "attention.head_count_kv": 2}
        pairs = [("general.architecture", TEXT, "llama")] + [(f"llama.{k}", U32, v) for k, v in numbers.items()]
        parts = [ends | tensors(0), tensors(1)]
        for order in "<>":
            first, _ = (self.write(part, (pairs if i == 0 else []) + split_pairs(i, 2, 21), name=f"m-{i + 1:05}-of-00002.gguf", order=order) for i, part in enumerate(parts))
            for path in (first, self.write(parts[0] | parts[1], pairs, order=order)):
                with self.subTest(path.name, order=order):
                    done = report(path, PLUGINS, "--bind", "sequence=10")
                    self.assertEqual((done["totals"]["macs"], done["coverage"]["unknown"]), (2 * (10 * 36_864 + 2 * 64 * 10 * 10) + 10 * 6_400, 0))

    def test_keys_without_a_blueprint_part_reduce_the_report_to_weights(self):
        """Layers that share keys and values, an indexer, heads of two widths: for every architecture, only the weights are reported."""
        for key, value in (("attention.shared_kv_layers", 1), ("attention.indexer.head_count", 4), ("embedding_length_per_layer_input", 32),
                           ("attention.shared_kv_layers", (ARRAY, (U32, [0, 1]))), ("wkv.head_size", 64), ("attention.compress_ratios", (ARRAY, (U32, [1, 4])))):  # fmt: skip
            for arch in ("llama", "newmodel"):
                with self.subTest(key, arch=arch):
                    done = report(self.small({key: value}, arch=arch), PLUGINS)
                    self.assertEqual((done["nodes"], done["totals"].get("kv_cache_bytes")), ([], None))
                    self.assertIn(f"{arch}.{key}", " ".join(map(str, done["warnings"])))
        done = report(self.small({"attention.key_length": 16, "attention.key_length_swa": 8}), PLUGINS)
        self.assertIn("llama.attention.key_length_swa", " ".join(map(str, done["warnings"])))
        self.assertEqual(report(self.small({"attention.shared_kv_layers": 0}), PLUGINS)["coverage"]["unknown"], 0)

    def test_a_period_of_windows_holds_for_any_architecture(self):
        """Of two layers the second is full: 5 tokens of a window of 6, and all 10."""
        done = report(self.small({"attention.sliding_window": 6, "attention.sliding_window_pattern": 2}), PLUGINS, "--bind", "sequence=10")
        self.assertEqual(done["totals"]["kv_cache_bytes"], (5 + 10) * 2 * 32 * 2)

    def test_the_number_of_key_heads_defaults_to_the_heads(self):
        """llama.cpp's default; the message names the existing key."""
        done = tmeter(self.small(drop=["attention.head_count_kv"]), PLUGINS)
        self.assertIn("llama.attention.head_count is 4 and keys and values have no number of their own, which makes 64 rows, but tensor 'blk.0.attn_k.weight'", done.stderr)

    def test_layers_for_further_tokens_may_be_missing(self):
        """block_count includes them nevertheless, because files without them are published."""
        done = report(self.small({"block_count": 3, "nextn_predict_layers": 1}), PLUGINS, "--bind", "sequence=10")
        self.assertEqual((done["totals"]["macs"], done["coverage"]["unknown"]), (10 * 2 * 36_864 + 2 * 2 * 64 * 10 * 10 + 10 * 6_400, 0))

    def test_contradictions_name_key_and_tensor(self):
        for change, words in (
            ({"block_count": 3}, ["llama.block_count is 3", "model.layers"]),
            ({"attention.head_count": 8, "attention.key_length": 16}, ["llama.attention.head_count is 8", "blk.0.attn_q.weight", "[64, 64]"]),
            ({"attention.head_count_kv": 4}, ["llama.attention.head_count_kv is 4", "blk.0.attn_k.weight", "[32, 64]"]),
            ({"vocab_size": 99}, ["llama.vocab_size is 99", "token_embd.weight", "[100, 64]"]),
            ({"embedding_length": 63}, ["llama.embedding_length is 63", "token_embd.weight"]),
            ({"feed_forward_length": 5}, ["llama.feed_forward_length is 5", "blk.0.ffn_gate.weight", "[128, 64]"]),
            ({"feed_forward_length": (ARRAY, (U32, [128, 5]))}, ["llama.feed_forward_length is 5", "blk.1.ffn_gate.weight"]),
            ({"attention.sliding_window_pattern": (ARRAY, (BOOL, [True]))}, ["llama.attention.sliding_window_pattern", "1 of 2 layers"]),
            ({"attention.sliding_window_pattern": (ARRAY, (TEXT, ["a", "b"]))}, ["llama.attention.sliding_window_pattern", "0 of 2 layers"]),
            ({"attention.head_count": (ARRAY, (U32, [4]))}, ["llama.attention.head_count is for 1 of 2 layers"]),
            ({"attention.head_count_kv": (ARRAY, (U32, []))}, ["llama.attention.head_count_kv is for 0 of 2 layers"]),
            ({"attention.head_count_kv": (ARRAY, (U32, [2, 0]))}, ["llama.attention.head_count is 4", "llama.attention.head_count_kv, 0"]),
            ({"feed_forward_length": (ARRAY, (U32, [128]))}, ["llama.feed_forward_length is for 1 of 2 layers"]),
            ({"feed_forward_length": (ARRAY, (U32, [128, 0]))}, ["llama.feed_forward_length is 0 for layer 1", "blk.1.ffn_gate.weight"]),
            ({"expert_count": 4}, ["llama.expert_count is 4, but no layer has experts"]),
            ({"attention.kv_lora_rank": 16}, ["llama.attention.kv_lora_rank is 16", "blk.0.attn_q.weight"]),
            ({"attention.value_length": 8}, ["llama.attention.value_length is not the width of the keys, 16"]),
            ({"attention.head_count": 0}, ["llama.attention.head_count is 0", "is attention"]),
            ({"attention.head_count": (TEXT, "four")}, ["llama.attention.head_count is not an integer"]),
            ({"attention.key_length": (TEXT, "wide"), "attention.value_length": 16}, ["llama.attention.key_length is not an integer"]),
        ):
            with self.subTest(change):
                done = tmeter(self.small(change), PLUGINS)
                output = done.stderr + done.stdout
                for word in words:
                    self.assertIn(word, output)
                self.assertNotIn("config.json", output)


if __name__ == "__main__":
    main()
