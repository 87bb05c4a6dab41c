"""Small language models for the libraries to pack: shapes that are multiples of their groups and shapes that are not, tied and untied, and experts."""

import os

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import torch  # noqa: E402
import transformers  # noqa: E402

transformers.utils.logging.disable_progress_bar()
SIZES = {"vocab_size": 320, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64}
MODELS = {
    "llama": ("LlamaConfig", {"hidden_size": 128, "intermediate_size": 256}),
    "tied": ("LlamaConfig", {"hidden_size": 128, "intermediate_size": 384, "tie_word_embeddings": True}),
    "odd": ("LlamaConfig", {"hidden_size": 96, "intermediate_size": 200, "head_dim": 24}),  # rows that groups of 32, 64 and 128 do not divide
    "mixtral": ("MixtralConfig", {"hidden_size": 128, "intermediate_size": 256, "num_local_experts": 4}),
    "qwen3_moe": ("Qwen3MoeConfig", {"hidden_size": 128, "intermediate_size": 256, "moe_intermediate_size": 128, "num_experts": 4,
                                     "num_experts_per_tok": 2, "head_dim": 32}),
}  # fmt: skip


def build(name, dtype=torch.bfloat16):
    torch.manual_seed(0)
    kind, sizes = MODELS[name]
    config = getattr(transformers, kind)(**SIZES, **sizes)
    return transformers.AutoModelForCausalLM.from_config(config, dtype=dtype).eval()


def parameters(name):
    """Elements of the model before it is packed; shared tensors count once."""
    return sum(p.numel() for p in build(name).parameters())
