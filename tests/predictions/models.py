"""Weightless folders of BERT, GPT-2 and OPT of any size, with the names and shapes that transformers saves."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blueprint"))
from folders import write_folder as write  # noqa: E402


def linear(name, rows, columns):
    return {f"{name}.weight": [rows, columns], f"{name}.bias": [rows]}


def norm(name, width):
    return {f"{name}.weight": [width], f"{name}.bias": [width]}


def bert(m):
    h, f = m["hidden"], m["feed-forward"]
    config = {"model_type": "bert", "architectures": ["BertModel"], "hidden_size": h, "num_hidden_layers": m["layers"],
              "num_attention_heads": m["heads"], "intermediate_size": f, "vocab_size": m["vocabulary"],
              "max_position_embeddings": m["length"], "type_vocab_size": 2, "hidden_act": "gelu"}
    tensors = {"embeddings.word_embeddings.weight": [m["vocabulary"], h], "embeddings.position_embeddings.weight": [m["length"], h],
               "embeddings.token_type_embeddings.weight": [2, h], **norm("embeddings.LayerNorm", h)}
    for i in range(m["layers"]):
        at = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            tensors |= linear(f"{at}.attention.self.{part}", h, h)
        tensors |= linear(f"{at}.attention.output.dense", h, h) | norm(f"{at}.attention.output.LayerNorm", h)
        tensors |= linear(f"{at}.intermediate.dense", f, h) | linear(f"{at}.output.dense", h, f) | norm(f"{at}.output.LayerNorm", h)
    return config, tensors


def gpt2(m):
    h, f = m["hidden"], m["feed-forward"]
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": h, "n_layer": m["layers"], "n_head": m["heads"],
              "n_inner": f, "vocab_size": m["vocabulary"], "n_positions": m["length"], "activation_function": "gelu_new",
              "tie_word_embeddings": True}
    tensors = {"transformer.wte.weight": [m["vocabulary"], h], "transformer.wpe.weight": [m["length"], h], **norm("transformer.ln_f", h)}
    for i in range(m["layers"]):
        at = f"transformer.h.{i}"
        tensors |= norm(f"{at}.ln_1", h) | norm(f"{at}.ln_2", h)
        for name, rows, columns in (("attn.c_attn", h, 3 * h), ("attn.c_proj", h, h), ("mlp.c_fc", h, f), ("mlp.c_proj", f, h)):
            tensors |= {f"{at}.{name}.weight": [rows, columns], f"{at}.{name}.bias": [columns]}
    return config, tensors


def opt(m):
    h, f = m["hidden"], m["feed-forward"]
    config = {"model_type": "opt", "architectures": ["OPTForCausalLM"], "hidden_size": h, "num_hidden_layers": m["layers"],
              "num_attention_heads": m["heads"], "ffn_dim": f, "vocab_size": m["vocabulary"], "max_position_embeddings": m["length"],
              "word_embed_proj_dim": h, "do_layer_norm_before": True, "enable_bias": True, "activation_function": "relu",
              "tie_word_embeddings": True}
    at = "model.decoder"
    tensors = {f"{at}.embed_tokens.weight": [m["vocabulary"], h], f"{at}.embed_positions.weight": [m["length"] + 2, h],
               **norm(f"{at}.final_layer_norm", h)}
    for i in range(m["layers"]):
        layer = f"{at}.layers.{i}"
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            tensors |= linear(f"{layer}.self_attn.{part}", h, h)
        tensors |= norm(f"{layer}.self_attn_layer_norm", h) | norm(f"{layer}.final_layer_norm", h)
        tensors |= linear(f"{layer}.fc1", f, h) | linear(f"{layer}.fc2", h, f)
    return config, tensors


def write_model(folder, model):
    config, shapes = {"bert": bert, "gpt2": gpt2, "opt": opt}[model["type"]](model)
    write(folder, {**config, "torch_dtype": "float32"}, {name: ("float32", shape) for name, shape in shapes.items()})
