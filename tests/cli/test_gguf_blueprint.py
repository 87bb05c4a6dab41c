"""`tmeter MODEL.gguf`: the derived program costs what transformers' model costs.

Expected figures are those of tests/blueprint/transformers.jsonl (FlopCounterMode and the cache of transformers). Tensor names come from
gguf-py's tables (fixtures/gguf/names.json); metadata are written as llama.cpp's converter writes them.
"""
import json
import re
import sys
from functools import cache
from math import prod

from gguf_writer import ARRAY, BOOL, F32, TEXT, U32, U64, Writer, padded
from support import FIXTURES, SOURCE, CliTest, main, report, tmeter

sys.path.insert(0, str(SOURCE / "tests" / "blueprint"))
from folders import rows_of, tensors_of, write_folder  # noqa: E402

NAMES = json.loads((FIXTURES / "gguf" / "names.json").read_text())
# general.architecture → model_type of transformers
TYPES = {"afmoe": "afmoe", "arcee": "arcee", "bitnet": "bitnet", "bloom": "bloom", "cohere2": "cohere2", "command-r": "cohere",
         "deepseek2": "deepseek_v3", "ernie4_5": "ernie4_5", "ernie4_5-moe": "ernie4_5_moe", "exaone-moe": "exaone_moe", "exaone4": "exaone4",
         "falcon": "falcon", "falcon-h1": "falcon_h1", "gemma": "gemma", "gemma2": "gemma2", "gemma3": "gemma3_text", "glm4": "glm4", "glm4moe": "glm4_moe",
         "gpt-oss": "gpt_oss", "gpt2": "gpt2", "gptj": "gptj", "gptneox": "gpt_neox", "granite": "granite", "granitehybrid": "granitemoehybrid",
         "jais2": "jais2", "jamba": "jamba", "lfm2": "lfm2", "lfm2moe": "lfm2_moe", "llama": "llama", "llama4": "llama4_text", "mamba": "mamba", "mamba2": "mamba2",
         "minicpm3": "minicpm3", "minimax-m2": "minimax_m2", "mistral3": "ministral3", "nemotron_h": "nemotron_h",
         "nemotron_h_moe": "nemotron_h", "olmo": "olmo", "olmo2": "olmo2", "olmoe": "olmoe",
         "phi2": "phi", "phi3": "phi3", "phimoe": "phimoe", "qwen2": "qwen2", "qwen2moe": "qwen2_moe", "qwen2vl": "qwen2_vl", "qwen3": "qwen3",
         "qwen35": "qwen3_5_text", "qwen35moe": "qwen3_5_moe_text", "qwen3moe": "qwen3_moe", "qwen3next": "qwen3_next", "qwen3vl": "qwen3_vl", "qwen3vlmoe": "qwen3_vl_moe", "seed_oss": "seed_oss", "smollm3": "smollm3",
         "stablelm": "stablelm", "starcoder": "gpt_bigcode", "starcoder2": "starcoder2"}  # fmt: skip
# Forms of one architecture: (architecture, model_type, latent attention in two halves).
FORMS = [(arch, model_type, True) for arch, model_type in TYPES.items()] + [("deepseek2", "deepseek_v3", False), ("llama", "mixtral", True), ("granitehybrid", "bamba", True)]
# Where one name of transformers means two tensors of GGUF: the norm behind the attention.
NORM_BEHIND = ("afmoe", "gemma2", "gemma3", "olmo2", "gpt-oss", "qwen3next", "qwen35", "qwen35moe")
# Layers that keep a state: GGUF does not say how many tokens they take at a time.
STATES = ("falcon-h1", "granitehybrid", "jamba", "mamba", "mamba2", "nemotron_h", "nemotron_h_moe", "qwen3next", "qwen35", "qwen35moe")
CHUNKED = ("falcon-h1", "granitehybrid", "mamba2", "nemotron_h", "nemotron_h_moe")
FLOAT32, FLOAT16 = (0, 4), (1, 2)  # type of ggml, bytes
PLUGINS = "--plugins=params,flops,language-model"


@cache
def truth():
    rows = rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")
    return {r["type"]: text_of(r) for r in rows if r.get("type") in {t for _, t, _ in FORMS}}


@cache
def all_rows(model_type):
    rows = rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl")
    return [text_of(r) for r in rows if r.get("type") == model_type]


def rows_of_form(arch, model_type):
    rows = all_rows(model_type) if arch in STATES else [truth()[model_type]]
    if model_type != "nemotron_h":
        return rows
    return [r for r in rows if any(".experts." in t[0] for t in r["tensors"]) == (arch == "nemotron_h_moe")]


def text_of(row):
    """Of a model of several towers that of text, which GGUF has alone."""
    text = row["config"].get("text_config")
    if not text:
        return row
    rows = [[name.replace("language_model.", ""), *rest] for name, *rest in row["tensors"] if "visual." not in name]
    params = sum(prod(shape) for _, shape in tensors_of(rows).values())
    return {**row, "config": {**row["config"], **text}, "tensors": rows, "params": params}


def names_of(arch):
    """transformers' module of layer 0 → GGUF's tensor, without endings."""
    found = {}
    for tensor in NAMES["architectures"].get(arch, sorted(NAMES["modules"])):
        for name in NAMES["modules"].get(tensor, ()):
            found.setdefault(name, tensor)
    if arch == "bitnet":  # gguf-py has the names of its first checkpoints
        found |= {f"layers.0.{part}": f"blk.0.{part.partition('.')[2]}" for part in ("self_attn.attn_sub_norm", "mlp.ffn_sub_norm")}
    behind = "blk.0.post_attention_norm" if arch in NORM_BEHIND else "blk.0.ffn_norm"
    return {**found, "model.layers.0.post_attention_layernorm": behind}


def expert_tensors(block, name, shape, hidden):
    """The converter writes a stack of experts with gate and up apart, each [experts, out, in]."""
    if hidden not in shape[1:]:  # Nemotron 3 has a narrow vector before its experts
        hidden = min(shape[1:])
    if name.endswith(".up_proj"):
        return {f"{block}.ffn_up_exps.weight": shape}
    wide = next((d for d in shape[1:] if d != hidden), hidden)
    if name.endswith("gate_up_proj_bias"):
        return {f"{block}.ffn_{half}_exps.bias": [shape[0], shape[1] // 2] for half in ("gate", "up")}
    if name.endswith("gate_up_proj"):
        return {f"{block}.ffn_{half}_exps.weight": [shape[0], wide // 2, hidden] for half in ("gate", "up")}
    if name.endswith("down_proj_bias"):
        return {f"{block}.ffn_down_exps.bias": shape}
    return {f"{block}.ffn_down_exps.weight": [shape[0], hidden, wide]}


def halves_of_latent(block, shape, config):
    """The converter parts kv_b since 2025: for each head one matrix of keys, transposed, and one of values."""
    heads, keys, values = (config[k] for k in ("num_attention_heads", "qk_nope_head_dim", "v_head_dim"))
    assert shape[0] == heads * (keys + values)
    return {f"{block}.attn_k_b.weight": [heads, shape[1], keys], f"{block}.attn_v_b.weight": [heads, values, shape[1]]}


def state_tensors(arch, block, name, shape, config):
    """conversion/{mamba,granite,nemotron,qwen}.py of llama.cpp, for tensors that it changes."""
    owner, _, ending = name.rpartition(".")
    flat = arch in ("mamba", "jamba") or "linear_attn" in name
    if ending in ("A_log", "D"):
        return {f"{block}.ssm_{ending[0].lower()}": shape if flat else [*shape, 1]}
    if ending == "dt_bias":
        return {f"{block}.ssm_dt.bias": shape}
    if owner.endswith((".mixer.norm", ".mamba.norm")):
        groups = config.get("n_groups") or config.get("mamba_n_groups")
        return {f"{block}.ssm_norm.weight": [groups, shape[0] // groups]}
    if owner.endswith(".in_proj_qkvz"):
        value = config["linear_num_value_heads"] * config["linear_value_head_dim"]
        return {f"{block}.attn_qkv.weight": [shape[0] - value, shape[1]], f"{block}.attn_gate.weight": [value, shape[1]]}
    half, kind = [shape[0] // 2, *shape[1:]], "_shexp" if config.get("num_local_experts") else ""
    if owner.endswith(".shared_mlp.input_linear"):
        return {f"{block}.ffn_{part}{kind}.weight": half for part in ("gate", "up")}
    if owner.endswith(".shared_mlp.output_linear"):
        return {f"{block}.ffn_down{kind}.weight": shape}
    if owner.endswith(".block_sparse_moe.router"):
        return {f"{block}.ffn_gate_inp.weight": shape}
    return {}


def converted(arch, row, parted=True):
    """Names and shapes of the GGUF file; `parted`: as newer converters write latent attention."""
    names, tensors, hidden = names_of(arch), {}, row["config"].get("hidden_size")
    for name, (_, shape) in tensors_of(row["tensors"]).items():
        layer = re.search(r"(?<=\.)\d+(?=\.)", name)
        block = f"blk.{layer[0]}" if layer else ""
        if arch in STATES and (changed := state_tensors(arch, block, name, shape, row["config"])):
            tensors |= changed
        elif ".experts." in name:
            tensors |= expert_tensors(block, name, shape, hidden)
        elif name.endswith(".sinks"):
            tensors[f"{block}.attn_sinks.weight"] = shape
        elif name.endswith((".e_score_correction_bias", ".expert_bias")):
            tensors[f"{block}.exp_probs_b.bias"] = shape
        elif name.endswith(".kv_b_proj.weight") and parted:
            tensors |= halves_of_latent(block, shape, row["config"])
        else:
            if arch.startswith("nemotron_h"):
                name = name.replace("model.", "backbone.")
            module, _, ending = re.sub(r"(?<=\.)\d+(?=\.)", "0", name, count=1).rpartition(".")
            short = module.partition(".")[2]  # gguf-py knows some names without the model's
            tensor = "output" if module == "lm_head" else names[module if module in names else short]
            if name.endswith((".conv.weight", ".conv1d.weight")):
                shape = [shape[0], shape[2]]
            transposed = arch == "gpt2" and len(shape) == 2 and block
            tensors[f"{tensor.replace('blk.0', block)}.{ending}"] = shape[::-1] if transposed else shape
    return tensors


def latent_numbers(config, parted):
    """conversion/deepseek.py of llama.cpp; files before it parted kv_b state the widths of a head."""
    rank, rope, nope, value = (config[k] for k in ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"))
    numbers = {"attention.kv_lora_rank": rank, "attention.q_lora_rank": config["q_lora_rank"], "rope.dimension_count": rope}
    if not parted:
        return {**numbers, "attention.key_length": nope + rope, "attention.value_length": value}
    return {**numbers, "attention.head_count_kv": 1, "attention.key_length": rank + rope, "attention.value_length": rank,
            "attention.key_length_mla": nope + rope, "attention.value_length_mla": value}  # fmt: skip


def state_numbers(arch, config):
    """conversion/{mamba,jamba,granite,falcon_h1,nemotron,qwen}.py of llama.cpp."""
    def first(*keys):
        return next((config[k] for k in keys if config.get(k)), None)

    conv = first("conv_kernel", "mamba_d_conv", "linear_conv_kernel_dim")
    if "linear_key_head_dim" in config:
        return {"ssm.conv_kernel": conv, "ssm.state_size": config["linear_key_head_dim"], "ssm.group_count": config["linear_num_key_heads"],
                "ssm.time_step_rank": config["linear_num_value_heads"], "ssm.inner_size": config["linear_num_value_heads"] * config["linear_value_head_dim"]}  # fmt: skip
    heads, width = first("mamba_n_heads", "mamba_num_heads", "num_heads"), first("mamba_d_head", "mamba_head_dim", "head_dim")
    inner = config.get("mamba_d_ssm") or (heads * width if heads else first("expand", "mamba_expand") * config["hidden_size"])
    rank = heads or first("time_step_rank", "mamba_dt_rank")
    return {"ssm.conv_kernel": conv, "ssm.state_size": first("state_size", "ssm_state_size", "mamba_d_state"), "ssm.inner_size": inner,
            "ssm.time_step_rank": rank, "ssm.group_count": first("n_groups", "mamba_n_groups")}  # fmt: skip


def metadata(arch, config, parted=True):
    theta = (config.get("rope_parameters") or {}).get("rope_theta") or config.get("rope_theta")
    if not theta and arch == "gemma3":
        theta = 1e6
    heads = config.get("num_attention_heads") or config.get("n_head")
    key_heads = config.get("num_key_value_heads") or heads
    if arch == "falcon":
        key_heads = 1
    numbers = {"block_count": config.get("num_hidden_layers") or config.get("n_layer"), "embedding_length": config.get("hidden_size") or config.get("n_embd"),
               "feed_forward_length": config.get("intermediate_size"), "context_length": config.get("max_position_embeddings") or config.get("n_positions"),
               "attention.head_count": heads, "attention.head_count_kv": key_heads, "attention.key_length": config.get("head_dim"),
               "attention.value_length": config.get("head_dim"), "expert_count": config.get("num_experts") or config.get("num_local_experts") or config.get("n_routed_experts") or config.get("moe_num_experts"),
               "leading_dense_block_count": config.get("first_k_dense_replace") or config.get("num_dense_layers"),
               "expert_shared_count": config.get("n_shared_experts") or config.get("num_shared_experts") or config.get("moe_num_shared_experts"),
               "expert_used_count": config.get("num_experts_per_tok") or config.get("moe_k"), "expert_feed_forward_length": config.get("moe_intermediate_size"),
               "expert_shared_feed_forward_length": config.get("shared_expert_intermediate_size"),
               "attention.sliding_window": config.get("sliding_window")}  # fmt: skip
    if config.get("kv_lora_rank"):
        numbers |= latent_numbers(config, parted)
    if config.get("use_sliding_window") is False:
        del numbers["attention.sliding_window"]
    if config.get("block_auto_adjust_ff_dim"):  # conversion/lfm2.py
        numbers["feed_forward_length"] = -(-(2 * config["intermediate_size"] // 3) // config["block_multiple_of"]) * config["block_multiple_of"]
    if arch in STATES:
        numbers |= state_numbers(arch, config)
    if arch in ("granitehybrid", "llama4"):
        wide = "shared_intermediate_size" if arch == "granitehybrid" else None
        numbers["expert_shared_feed_forward_length"] = config.get(wide)
    if arch == "llama4":
        numbers |= {"feed_forward_length": config["intermediate_size_mlp"], "expert_feed_forward_length": config["intermediate_size"]}
    if arch == "nemotron_h_moe":
        numbers["expert_shared_feed_forward_length"] = config["moe_shared_expert_intermediate_size"]
        numbers["moe_latent_size"] = config.get("moe_latent_size")
        numbers["feed_forward_length"] = [config["moe_intermediate_size"] if kind == "moe" else 0 for kind in config["layers_block_type"]]
    if arch == "nemotron_h":
        numbers = {k: v for k, v in numbers.items() if "expert" not in k}
        numbers["feed_forward_length"] = [config["intermediate_size"] if kind == "mlp" else 0 for kind in config["layers_block_type"]]
    if arch in ("mamba", "mamba2"):
        numbers |= {k: None for k in ("attention.head_count_kv", "attention.key_length", "attention.value_length", "feed_forward_length")}
    kinds = config.get("layer_types") or config.get("layers_block_type") or []
    if "attn_layer_indices" in config:
        kinds = ["full_attention" if i in config["attn_layer_indices"] else "linear_attention" for i in range(config["num_hidden_layers"])]
    if arch == "falcon-h1":
        kinds = []
    if arch.startswith("qwen3"):
        numbers["full_attention_interval"] = 4
        kinds = []
    if "conv" in kinds or "linear_attention" in kinds:
        numbers["attention.head_count_kv"] = [key_heads if kind == "full_attention" else 0 for kind in kinds]
        numbers["shortconv.l_cache"] = config.get("conv_L_cache")
    pairs = [("general.architecture", TEXT, arch)]
    if "block_count" in numbers and not numbers["block_count"]:
        numbers["block_count"] = len(config["layers_block_type"])
    pairs += [(f"{arch}.{k}", ARRAY, (U32, v)) if isinstance(v, list) else (f"{arch}.{k}", U32, v) for k, v in numbers.items() if v]
    return pairs + ([(f"{arch}.rope.freq_base", F32, theta)] if theta else [])


def macs_of(document, prefix=""):
    return {m["path"].removeprefix(prefix): m["values"]["macs"] for m in document["modules"] if m["values"].get("macs")}


class Costs(CliTest):
    def write(self, tensors, pairs, kind=FLOAT16, name="model.gguf"):
        """A file whose elements are a hole."""
        table, at = [], 0
        for tensor, shape in tensors.items():
            code, size = FLOAT32 if len(shape) == 1 else kind
            for d in shape:
                size *= d
            table.append((tensor, shape, code, at))
            at += padded(size)
        path = self.file(name, Writer().header(pairs, table))
        with open(path, "r+b") as f:
            f.truncate(padded(path.stat().st_size) + at)
        return path

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
            for row in rows_of_form(arch, model_type):
                # The recorded cache has 32 bits an element. A file of half as many has half the keys and values, but states of 32 bits.
                path = self.write(converted(arch, row, parted), metadata(arch, row["config"], parted), FLOAT32 if arch in STATES else FLOAT16, name=f"{arch}.gguf")
                for run in row["runs"]:
                    batch, sequence = run["size"]
                    with self.subTest(arch, type=model_type, size=run["size"], parted=parted):
                        done = report(path, PLUGINS, "--bind", f"batch={batch}", "--bind", f"sequence={sequence}")
                        totals = done["totals"]
                        self.assertEqual((totals["params"], totals["macs"], done["coverage"]["unknown"]), (row["params"], run["flops"] / 2, 0), done["warnings"])
                        kept = (totals.get("kv_cache_bytes") or 0, totals.get("state_bytes") or 0)
                        self.assertEqual(kept, tuple(run["cache"]) if arch in STATES else (run["cache"][0] / 2, run["cache"][1] / 2))
                        self.assertEqual([w for w in done["warnings"] if "tokens a state-space layer takes" in str(w)] != [], arch in CHUNKED)
                path.unlink()

    def test_a_program_a_folder_and_a_gguf_file_of_one_model(self):
        """Parameters, products of each module and the cache are equal. The programs are transformers' modules in a wrapper `model`, by torch.export."""
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
            wanted = macs_of(program, "model.")
            for path in files:
                with self.subTest(path=path):
                    done = report(path, PLUGINS, "--bind", "batch=2", "--bind", "sequence=16")
                    for metric in ("params", "macs", "kv_cache_bytes", "kv_bytes_per_token", "decode_macs", "active_params"):
                        self.assertEqual(done["totals"][metric], program["totals"][metric], metric)
                    found = macs_of(done)
                    both = {m for m in wanted if m in found}
                    self.assertGreaterEqual(both, {f"model.layers.1.{m}" for m in ("self_attn", "self_attn.q_proj", "self_attn.k_proj", "mlp", "mlp.gate", "mlp.experts")} | {"lm_head"})
                    self.assertEqual({m: found[m] for m in both}, {m: wanted[m] for m in both})

    def test_by_hand(self):
        """Per layer and token 2·64² + 2·32·64 + 3·64·128 = 36,864; attention 2·4·16·n² for n tokens; head 100·64."""
        done = report(self.small(), PLUGINS, "--bind", "batch=3", "--bind", "sequence=10")
        self.assertEqual(done["totals"]["macs"], 3 * (2 * (10 * 36_864 + 2 * 64 * 10 * 10) + 10 * 6_400))
        self.assertEqual(done["totals"]["kv_cache_bytes"], 3 * 10 * 2 * 2 * 32 * 2)
        self.assertEqual(done["coverage"]["unknown"], 0)

    def test_latent_attention(self):
        """fixtures/gguf/latent*.gguf, written by gguf-py 0.19. Parameters, FLOPs of FlopCounterMode and bytes of the float32 cache are those of the DeepSeek-V3
        that transformers 5.23 makes of latent.json (tests/blueprint/truth.py)."""
        for file in ("latent.gguf", "latent-parted.gguf"):
            for (batch, sequence), flops, cache in (((1, 8), 356_352, 1_792), ((2, 33), 3_415_104, 14_784), ((1, 300), 38_592_000, 67_200)):
                with self.subTest(file, batch=batch, sequence=sequence):
                    done = report(FIXTURES / "gguf" / file, PLUGINS, "--bind", f"batch={batch}", "--bind", f"sequence={sequence}")
                    totals = done["totals"]
                    self.assertEqual((totals["params"], totals["macs"], done["coverage"]["unknown"]), (25_464, flops / 2, 0), done["warnings"])
                    self.assertEqual((totals["kv_cache_bytes"], done["warnings"]), (cache / 2, []))

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
            path = self.write(converted("deepseek2", row, parted), [(k, *v) for k, v in pairs.items()])
            with self.subTest(key, value=value):
                self.assert_refused(4, words, path)

    def test_layers_that_predict_further_tokens_are_not_run(self):
        """GGUF's block_count has them."""
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

    def test_what_is_not_understood_leaves_the_weights_alone(self):
        for change, words in (({"attention.key_length": 16, "attention.value_length": 8}, "attention.value_length"),):
            done = report(self.small(change), PLUGINS)
            self.assertEqual((done["nodes"], done["totals"]["params"]), ([], 2 * 36_864 + 2 * 6_400 + 5 * 64))
            self.assertIn(words, " ".join(map(str, done["warnings"])))

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
            ({"attention.head_count": 0}, ["llama.attention.head_count is 0", "is attention"]),
            ({"attention.head_count": (TEXT, "four")}, ["llama.attention.head_count is not an integer"]),
            ({"attention.key_length": (TEXT, "wide"), "attention.value_length": 16}, ["llama.attention.key_length is not an integer"]),
        ):
            with self.subTest(change):
                done = tmeter(self.small(change), PLUGINS)
                said = done.stderr + done.stdout
                for word in words:
                    self.assertIn(word, said)
                self.assertNotIn("config.json", said)


if __name__ == "__main__":
    main()
