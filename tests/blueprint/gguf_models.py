"""Models that gguf_truth.py converts with llama.cpp's converter, in addition to those of transformers.jsonl.

A model without code in transformers is made from one with the same operators. Its configuration and tensor names are those of its
published checkpoint, which the converter expects; its products are those of the transformers model.
"""

import re
from dataclasses import dataclass, field

SOURCE = "0.3.36"  # llama-cpp-python's source package, with llama.cpp of commit 0c1e570
NOT_STATED = object()

# Keys of published config.json files that the classes of transformers lack, or have in another form.
STATED = {
    "cohere2": {"rotary_pct": 1.0},
    "falcon_h1": {"head_dim": 128},
    "falcon": {"num_kv_heads": NOT_STATED},
    "eurobert": {"classifier_pooling": "mean"},
    "glm4_moe_lite": {"first_k_dense_replace": 1},
    "gpt2": {"n_ctx": 1024},
    "gpt-sw3": {"n_ctx": 1024},
    "gpt_neox": {"rotary_pct": 0.25},
    "minimax_m2": {"rotary_dim": 64},
    "t5": {"decoder_start_token_id": 0},
}  # fmt: skip
# The converter leaves out a head or a tower of these models: MODELS has the part that it keeps.
NOT_AS_IT_IS = {"bert", "bitnet", "distilbert", "nemotron_h"}
# Names of layers in published config.json files.
EARLIER_NAMES = dict.fromkeys(("bamba", "granitemoehybrid"), {"full_attention": "attention", "linear_attention": "mamba"})
# Checkpoints store experts as [experts, in, out], the class of transformers as [experts, out, in].
EXPERTS_BY_COLUMN = {"qwen3_vl_moe"}


@dataclass
class Model:
    name: str
    type: str
    config: dict
    cls: str = None  # of transformers, for the products
    converter: str = None  # the class in the checkpoint's config.json
    stated: dict = field(default_factory=dict)  # keys of the checkpoint's config.json
    changes: tuple = ()  # functions that turn the tensors into those of the checkpoint
    made: dict = field(default_factory=dict)  # arguments besides the configuration
    has_cache: bool = True
    is_of_transformers: bool = True
    extra_params: tuple = ()
    arch: str = None  # where a converter of another architecture writes the same


def renamed(*pairs):
    """Renames tensors by regular expressions, one after the other."""

    def change(tensors):
        out = {}
        for name, shape in tensors.items():
            for pattern, to in pairs:
                name = re.sub(pattern, to, name)
            out[name] = shape
        return out

    return change


def fused(parts, into):
    """Joins the rows of several matrices of a module into one."""

    def change(tensors):
        out = {}
        for name, shape in tensors.items():
            part = next((p for p in parts if f".{p}." in name), None)
            if part is None:
                out[name] = shape
            elif part == parts[0]:
                rows = sum(tensors[name.replace(f".{part}.", f".{p}.")][0] for p in parts)
                out[name.replace(f".{part}.", f".{into}.")] = [rows, *shape[1:]]
        return out

    return change


def without(pattern):
    return lambda tensors: {name: shape for name, shape in tensors.items() if not re.search(pattern, name)}


def added(layers, tensors):
    """Adds tensors to each layer; `#` is its number."""
    return lambda given: {**given, **{name.replace("#", str(i)): shape for name, shape in tensors.items() for i in range(layers)}}


QKV = ("q_proj", "k_proj", "v_proj")
H = (r"^model\.layers\.", "transformer.h.")
LLAMA = {"vocab_size": 1000, "hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 8, "num_key_value_heads": 2,
         "max_position_embeddings": 512}  # fmt: skip
MIXTURE = LLAMA | {"head_dim": 32, "n_routed_experts": 8, "n_shared_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 96, "first_k_dense_replace": 1,
                   "use_qk_norm": False, "n_group": 1, "topk_group": 1}  # fmt: skip
MISTRAL4 = {k: v for k, v in MIXTURE.items() if k not in ("head_dim", "use_qk_norm")} | {"num_key_value_heads": 8, "q_lora_rank": 96, "kv_lora_rank": 64,
            "qk_rope_head_dim": 16, "qk_nope_head_dim": 32, "v_head_dim": 32}  # fmt: skip
NEMOTRON_H = {"vocab_size": 1000, "hidden_size": 256, "intermediate_size": 768, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 32,
              "max_position_embeddings": 512, "mamba_num_heads": 16, "mamba_head_dim": 32, "n_groups": 2, "ssm_state_size": 64, "n_routed_experts": 4,
              "num_experts_per_tok": 2, "moe_intermediate_size": 96, "moe_shared_expert_intermediate_size": 160, "n_shared_experts": 1}  # fmt: skip
WINDOW = LLAMA | {"head_dim": 32, "sliding_window": 64}
ALL_HEADS = {"num_key_value_heads": 8}
BERT = {"vocab_size": 1000, "hidden_size": 256, "intermediate_size": 640, "num_hidden_layers": 3, "num_attention_heads": 8, "max_position_embeddings": 512}
NO_POOLER = {"add_pooling_layer": False}


def of_code(name, model_type, config, converter, *changes, **more):
    """A model whose code is on the Hub."""
    return Model(name, model_type, config, converter=converter, changes=changes, is_of_transformers=False, **more)


# Sources of the operators: src/models/ of llama.cpp, a file for each architecture.
MODELS = [
    # Operators of Llama, by other names.
    of_code("baichuan", "llama", LLAMA | ALL_HEADS, "XverseForCausalLM", arch="baichuan"),  # its own converter recurses without end
    of_code("internlm2", "llama", LLAMA, "InternLM2ForCausalLM", fused(QKV, "wqkv"), renamed(
        ("self_attn.wqkv", "attention.wqkv"), ("self_attn.o_proj", "attention.wo"), ("input_layernorm", "attention_norm"), ("post_attention_layernorm", "ffn_norm"),
        ("mlp.gate_proj", "feed_forward.w1"), ("mlp.up_proj", "feed_forward.w3"), ("mlp.down_proj", "feed_forward.w2"), ("embed_tokens", "tok_embeddings"), ("^lm_head", "output"))),
    of_code("exaone", "llama", LLAMA, "ExaoneForCausalLM", renamed(
        H, ("self_attn.o_proj", "attn.attention.out_proj"), ("self_attn", "attn.attention"), ("input_layernorm", "ln_1"), ("post_attention_layernorm", "ln_2"),
        ("gate_proj", "c_fc_0"), ("up_proj", "c_fc_1"), ("down_proj", "c_proj"), ("model.embed_tokens", "transformer.wte"), ("model.norm", "transformer.ln_f")),
        stated={"activation_function": "silu"}),
    of_code("minicpm", "llama", LLAMA, "MiniCPMForCausalLM", stated={"scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 256}),
    of_code("xverse", "llama", LLAMA, "XverseForCausalLM"),
    of_code("pangu-embedded", "llama", LLAMA | {"attention_bias": True}, "PanguEmbeddedForCausalLM"),
    of_code("refact", "llama", LLAMA | {"num_key_value_heads": 1, "intermediate_size": 768, "tie_word_embeddings": False}, "GPTRefactForCausalLM", fused(("k_proj", "v_proj"), "kv"),
            fused(("gate_proj", "up_proj"), "gate_up_proj"), renamed(
        H, ("self_attn.o_proj", "attn.c_proj"), ("self_attn.q_proj", "attn.q"), ("self_attn", "attn"), ("input_layernorm", "ln_1"), ("post_attention_layernorm", "ln_2"),
        ("down_proj", "c_proj"), ("model.embed_tokens", "transformer.wte"), ("model.norm", "transformer.ln_f")),
        stated={"n_embd": 256, "n_positions": 512, "n_head": 8, "layer_norm_epsilon": 1e-5}),
    of_code("orion", "stablelm", LLAMA, "OrionForCausalLM", stated={"rms_norm_eps": 1e-5}),
    of_code("maincoder", "qwen3", LLAMA | {"head_dim": 32}, "MaincoderForCausalLM"),
    of_code("qwen", "qwen2", LLAMA | ALL_HEADS, "QWenLMHeadModel", fused(QKV, "c_attn"), renamed(
        H, ("self_attn.o_proj", "attn.c_proj"), ("self_attn", "attn"), ("input_layernorm", "ln_1"), ("post_attention_layernorm", "ln_2"),
        ("gate_proj", "w2"), ("up_proj", "w1"), ("down_proj", "c_proj"), ("model.embed_tokens", "transformer.wte"), ("model.norm", "transformer.ln_f"))),
    of_code("codeshell", "starcoder2", LLAMA | {"sliding_window": None, "tie_word_embeddings": False, "intermediate_size": 1024}, "CodeShellForCausalLM", fused(QKV, "c_attn"), renamed(
        H, ("self_attn.o_proj", "attn.c_proj"), ("self_attn", "attn"), ("input_layernorm", "ln_1"), ("post_attention_layernorm", "ln_2"),
        ("model.embed_tokens", "transformer.wte"), ("model.norm", "transformer.ln_f")),
        stated={"n_embd": 256, "n_positions": 512, "n_head": 8, "num_query_groups": 2, "layer_norm_epsilon": 1e-5}),
    Model("bitnet", "bitnet", LLAMA | {"tie_word_embeddings": True}, changes=(renamed(("attn_sub_norm", "inner_attn_ln"), ("ffn_sub_norm", "ffn_layernorm")),)),
    # Mixtures with experts for all tokens.
    of_code("deepseek", "glm4_moe", MIXTURE, "DeepseekForCausalLM", without("correction_bias")),
    of_code("bailingmoe", "glm4_moe", MIXTURE | {"first_k_dense_replace": 0}, "BailingMoeForCausalLM", without("correction_bias"), fused(QKV, "query_key_value"), renamed(
        ("self_attn.query", "attention.query"), ("self_attn.o_proj", "attention.dense"), ("embed_tokens", "word_embeddings")), stated={"num_shared_experts": 2, "num_experts": 8}),
    of_code("bailingmoe2", "glm4_moe", MIXTURE | {"use_qk_norm": True}, "BailingMoeV2ForCausalLM", fused(QKV, "query_key_value"), renamed(
        ("self_attn.query", "attention.query"), ("self_attn.o_proj", "attention.dense"), ("self_attn.q_norm", "attention.query_layernorm"),
        ("self_attn.k_norm", "attention.key_layernorm"), ("e_score_correction_bias", "expert_bias"), ("embed_tokens", "word_embeddings")), stated={"num_shared_experts": 2, "num_experts": 8}),
    Model("dots1", "dots1", MIXTURE, stated={"scoring_func": "noaux_tc", "score_function": "sigmoid"}),
    Model("hunyuan-moe", "hunyuan_v1_moe", LLAMA | {"head_dim": 32, "num_experts": 8, "moe_topk": 2, "moe_intermediate_size": 768, "num_shared_expert": 1, "use_mixed_mlp_moe": True},
          stated={"moe_topk": [2] * 3, "moe_intermediate_size": [768] * 3, "num_shared_expert": [1] * 3}),
    Model("phimoe", "phimoe", LLAMA | {"num_local_experts": 4, "num_experts_per_tok": 2}, converter="PhiMoEForCausalLM",
          stated={"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "original_max_position_embeddings": 512}}),
    Model("hunyuan-dense", "hunyuan_v1_dense", LLAMA | {"head_dim": 32}),
    of_code("grok", "mixtral", LLAMA | {"num_local_experts": 4, "num_experts_per_tok": 2}, "GrokForCausalLM", renamed(
        (r"^model\.layers\.", "transformer.decoder_layer."), ("self_attn.q_proj", "multi_head_attention.query"), ("self_attn.k_proj", "multi_head_attention.key"),
        ("self_attn.v_proj", "multi_head_attention.value"), ("self_attn.o_proj", "multi_head_attention.linear"), ("input_layernorm", "rms_norm"), ("post_attention_layernorm", "rms_norm_2"),
        (r"block_sparse_moe\.gate|mlp\.gate\.", "router."), ("router..", "router."), (r"(mlp|block_sparse_moe)\.experts", "moe"), ("w1", "linear"), ("w2", "linear_1"), ("w3", "linear_v"),
        ("model.embed_tokens", "transformer.in_out_embed"), ("model.norm", "transformer.rms_norm")),
        added(3, {"transformer.decoder_layer.#.rms_norm_1.weight": [256], "transformer.decoder_layer.#.rms_norm_3.weight": [256]}),
        stated={"embedding_multiplier_scale": 1.0, "output_multiplier_scale": 1.0}, extra_params=(3 * 2 * 256,)),
    Model("mistral4", "mistral4", MISTRAL4, converter="Mistral3ForConditionalGeneration"),
    Model("nemotron", "nemotron", LLAMA | {"head_dim": 32}),
    Model("mpt", "mpt", {"d_model": 256, "n_heads": 8, "n_layers": 3, "expansion_ratio": 4, "max_seq_len": 512, "vocab_size": 1000, "use_cache": True}, converter="MPTForCausalLM"),
    of_code("plamo", "cohere", {"vocab_size": 1000, "hidden_size": 5120, "intermediate_size": 768, "num_hidden_layers": 2, "num_attention_heads": 40, "num_key_value_heads": 5,
                                "tie_word_embeddings": False}, "PlamoForCausalLM", renamed((r"^model\.layers", "model.layers.layers"), ("input_layernorm", "norm")), stated={"rms_norm_eps": 1e-6}),
    # Windows that the sequences fill.
    Model("gemma2-window", "gemma2", WINDOW | {"num_hidden_layers": 5}),
    Model("gemma3-window", "gemma3_text", WINDOW | {"num_hidden_layers": 8}),
    Model("cohere2-window", "cohere2", WINDOW | {"num_hidden_layers": 6}, stated={"rotary_pct": 1.0}),
    Model("cohere2moe-window", "cohere2_moe", WINDOW | {"num_hidden_layers": 6, "num_experts": 4, "num_experts_per_tok": 2}),
    Model("gpt-oss-window", "gpt_oss", WINDOW | {"num_local_experts": 4, "num_experts_per_tok": 2}),
    Model("exaone4-window", "exaone4", WINDOW | {"num_hidden_layers": 6}),
    Model("exaone-moe-window", "exaone_moe", WINDOW | {"num_hidden_layers": 6, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 96, "n_group": 1, "topk_group": 1}),
    Model("olmo3-window", "olmo3", WINDOW | {"num_hidden_layers": 6}),
    Model("afmoe-window", "afmoe", WINDOW | {"num_hidden_layers": 6, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 96, "num_dense_layers": 1}),
    Model("mellum-window", "mellum", WINDOW | {"num_hidden_layers": 6, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 96}),
    Model("granite-window", "granite_swa", WINDOW | {"num_hidden_layers": 6}),
    Model("phi3-window", "phi3", WINDOW | {"num_hidden_layers": 4, "pad_token_id": 0}),
    # Layers of one part each; published config.json files have a letter for each layer.
    Model("nemotron_h", "nemotron_h", NEMOTRON_H | {"layers_block_type": ["linear_attention", "mlp", "full_attention", "mlp"]},
          stated={"hybrid_override_pattern": "M-*-", "n_routed_experts": NOT_STATED, "num_experts_per_tok": NOT_STATED}),
    Model("nemotron_h_moe", "nemotron_h", NEMOTRON_H | {"layers_block_type": ["linear_attention", "moe", "full_attention", "moe"]}, stated={"hybrid_override_pattern": "ME*E"}),
    Model("nemotron_h_moe-latent", "nemotron_h", NEMOTRON_H | {"layers_block_type": ["linear_attention", "moe", "full_attention", "moe"], "moe_latent_size": 128},
          stated={"hybrid_override_pattern": "ME*E"}),
    # Every token attends to every other.
    of_code("llada-moe", "qwen3_moe", LLAMA | {"head_dim": 32, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 96}, "LLaDAMoEModelLM",
            stated={"expert_intermediate_size": 96}, has_cache=False),
    Model("gemma-embedding", "gemma3_text", LLAMA | {"head_dim": 32, "use_bidirectional_attention": True, "sliding_window": 64, "num_hidden_layers": 7}, "Gemma3TextModel", has_cache=False),
    of_code("llama-embed", "llama", LLAMA, "LlamaBidirectionalModel", cls="LlamaModel", has_cache=False),
    of_code("dream", "qwen2", LLAMA, "DreamModel", has_cache=False),
    of_code("llada", "llama", LLAMA, "LLaDAModelLM", renamed(
        (r"^model\.layers", "model.transformer.blocks"), ("self_attn.o_proj", "attn_out"), (r"self_attn\.", ""), ("input_layernorm", "attn_norm"), ("post_attention_layernorm", "ff_norm"),
        (r"mlp\.gate_proj", "ff_proj"), (r"mlp\.up_proj", "up_proj"), (r"mlp\.down_proj", "ff_out"), ("model.embed_tokens", "model.transformer.wte"),
        ("model.norm", "model.transformer.ln_f"), ("^lm_head", "model.transformer.ff_out")),
        stated={"d_model": 256, "mlp_hidden_size": 768, "max_sequence_length": 512, "n_layers": 3}, has_cache=False),
    of_code("rnd1", "qwen3_moe", LLAMA | {"head_dim": 32, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 96}, "RND1", has_cache=False),
    # Encoders, without the head.
    Model("bert", "bert", BERT, "BertModel", made=NO_POOLER),
    Model("roberta", "roberta", BERT, "RobertaModel", made=NO_POOLER),
    Model("xlm-roberta", "xlm-roberta", BERT, "XLMRobertaModel", made=NO_POOLER),
    Model("camembert", "camembert", BERT, "CamembertModel", made=NO_POOLER),
    Model("distilbert", "distilbert", {"vocab_size": 1000, "dim": 256, "hidden_dim": 640, "n_layers": 3, "n_heads": 8}, "DistilBertModel"),
    Model("nomic-bert", "nomic_bert", BERT, "NomicBertModel", made=NO_POOLER, stated={
        "n_positions": 8192, "activation_function": "swiglu", "causal": False, "qkv_proj_bias": False, "mlp_fc1_bias": False, "mlp_fc2_bias": False, "prenorm": False,
        "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False, "rotary_emb_scale_base": None}),
    Model("eurobert", "eurobert", LLAMA | {"pad_token_id": 0}, "EuroBertModel", stated={"classifier_pooling": "mean"}),
    Model("modern-bert", "modernbert", BERT | {"pad_token_id": 0}, "ModernBertModel"),
    Model("t5encoder", "t5", {"vocab_size": 1000, "d_model": 256, "d_kv": 32, "d_ff": 640, "num_layers": 3, "num_heads": 8}, "T5EncoderModel"),
    Model("jina-bert-v3", "jina_embeddings_v3", BERT, "JinaEmbeddingsV3Model", "XLMRobertaModel", stated={"lora_adaptations": ["retrieval.query"]}, made=NO_POOLER),
]  # fmt: skip
