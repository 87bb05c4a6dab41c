"""Records the structure and costs of transformers' models: `truth.py OUT.json [TYPE…]`, or `truth.py --further OUT.json`.

Each model type is built on meta tensors, from its default configuration or those of CHANGES. Recorded are config.json, the names and shapes of its
weights (as in the module, and as written by `save_pretrained` where that differs), its parameters, the products that
FlopCounterMode counts at three sizes, and the bytes of the cache after each. tests/blueprint/folders.py makes weightless folders
from them. `--further`: the same for the classes in FURTHER.
"""

import json
import os
import re
import signal
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "zoo"))

SECONDS = 60  # for one type
TEXT_SIZES = [(1, 8), (2, 33), (1, 300)]  # batch, sequence
PAIR_SIZES = [(1, 8, 16), (2, 33, 20), (1, 100, 120)]  # batch, sequence, encoder_sequence
SPEECH_SIZES = [(1, 8), (2, 33), (1, 300)]  # batch, sequence; the encoder has the length that the configuration states
AUDIO_SIZES = [(1, 16000), (2, 40123), (3, 5000)]  # batch, samples
BATCHES = [1, 2, 3]

# Tried in this order; the first mapping that has the type gives the class.
KINDS = [
    ("decoder", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"),
    ("pair", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES"),
    ("encoder", "MODEL_FOR_MASKED_LM_MAPPING_NAMES"),
    ("image", "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES"),
    ("speech", "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES"),
    ("audio", "MODEL_FOR_CTC_MAPPING_NAMES"),
    ("towers", "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES"),
    ("base", "MODEL_MAPPING_NAMES"),
]
# Types that are in the mapping of causal models although they are mainly encoders.
ENCODERS = {"bert", "roberta", "electra", "xlm-roberta", "xlm-roberta-xl", "camembert", "ernie", "megatron-bert", "rembert", "roformer",
            "data2vec-text", "roberta-prelayernorm", "big_bird", "convbert", "xmod", "xlm", "bert-generation"}  # fmt: skip
PAIRS = {"bart", "mbart", "marian", "pegasus", "blenderbot", "blenderbot-small", "mvp", "plbart", "bigbird_pegasus", "prophetnet", "whisper",
         "t5", "speech_to_text", "m2m_100"}  # fmt: skip

# Configurations for types whose default cannot run (layers of one kind alone, no chosen experts) or leaves parts out.
CHANGES = {
    "ctrl": [{"n_positions": 512}],
    "bamba": [{"attn_layer_indices": [9, 18, 27]}],  # Bamba-9B
    "deepseek_v2": [{"vocab_size": 102400, "hidden_size": 2048, "intermediate_size": 10944, "moe_intermediate_size": 1408, "num_hidden_layers": 27,
                     "num_attention_heads": 16, "num_key_value_heads": 16, "n_shared_experts": 2, "n_routed_experts": 64, "num_experts_per_tok": 6,
                     "kv_lora_rank": 512, "q_lora_rank": None, "first_k_dense_replace": 1}],  # V2-Lite
    "falcon_h1": [{}, {"mamba_rms_norm": True, "mamba_n_groups": 2, "mamba_d_head": 64, "mamba_n_heads": 32, "mamba_d_ssm": 2048}],
    "granitemoehybrid": [
        {"hidden_size": 1536, "intermediate_size": 512, "shared_intermediate_size": 1024, "num_hidden_layers": 40, "num_attention_heads": 12,
         "num_key_value_heads": 4, "num_local_experts": 64, "num_experts_per_tok": 6, "mamba_n_heads": 48, "mamba_d_head": 64, "mamba_d_state": 128,
         "vocab_size": 100352, "tie_word_embeddings": True,
         "layer_types": ["full_attention" if i % 10 == 5 else "linear_attention" for i in range(40)]},  # Granite 4.0 H-Tiny
        {"hidden_size": 2048, "shared_intermediate_size": 8192, "num_hidden_layers": 10, "num_attention_heads": 32, "num_key_value_heads": 8,
         "num_local_experts": 0, "num_experts_per_tok": 0, "mamba_n_heads": 64, "mamba_d_head": 64, "mamba_d_state": 128, "vocab_size": 100352,
         "layer_types": ["full_attention" if i == 5 else "linear_attention" for i in range(10)]},  # without experts, as H-Micro
    ],
    "granitemoeshared": [{}, {"shared_intermediate_size": 1024}],
    "led": [{"attention_window": 32}],  # so that the sizes fill several windows
    "longformer": [{"attention_window": 64, "max_position_embeddings": 4098}],
    "lfm2": [{}, {"hidden_size": 2048, "intermediate_size": 12288, "num_hidden_layers": 16, "layer_types": ["full_attention" if i in (2, 5, 8, 10, 12, 14) else "conv" for i in range(16)]}],  # LFM2-1.2B
    "lfm2_moe": [{"num_hidden_layers": 24, "layer_types": ["full_attention" if i in (2, 6, 10, 14, 18, 21) else "conv" for i in range(24)]}],  # LFM2-8B-A1B
    "nemotron_h": [{"layers_block_type": ["linear_attention", "mlp", "full_attention", "mlp"]},  # without experts, as Nemotron-H-8B
                   {}, {"hidden_size": 1024, "moe_latent_size": 512, "n_routed_experts": 16, "num_experts_per_tok": 4, "n_shared_experts": 1}],
    "zamba2": [
        {},
        {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 38, "hybrid_layer_ids": [5, 11, 17, 23, 29, 35], "n_mamba_heads": 64,
         "use_shared_attention_adapter": True, "use_mem_rope": True,
         "layers_block_type": ["hybrid" if i % 6 == 5 else "linear_attention" for i in range(38)]},  # Zamba2-1.2B
        {"hidden_size": 1024, "num_hidden_layers": 12, "num_mem_blocks": 2, "hybrid_layer_ids": [2, 5, 8, 11], "n_mamba_heads": 32, "mamba_ngroups": 2,
         "layers_block_type": ["hybrid" if i % 3 == 2 else "linear_attention" for i in range(12)]},  # two shared blocks, as Zamba2-7B
    ],
}  # fmt: skip

# Further classes of a type, with few and narrow layers: other heads, and other forms of layers.
SMALL = {"num_hidden_layers": 2, "hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 8, "vocab_size": 1000}
DISTIL = {"n_layers": 2, "dim": 256, "hidden_dim": 512, "n_heads": 8, "vocab_size": 1000}
FALCON = {k: v for k, v in SMALL.items() if k != "intermediate_size"}
FURTHER = [
    *(("bert", f"Bert{c}", SMALL) for c in ("Model", "ForPreTraining", "ForSequenceClassification", "ForTokenClassification", "ForNextSentencePrediction")),
    ("roberta", "RobertaModel", SMALL), ("roberta", "RobertaForSequenceClassification", SMALL), ("roberta", "RobertaForQuestionAnswering", SMALL),
    *(("distilbert", f"DistilBert{c}", DISTIL) for c in ("Model", "ForSequenceClassification", "ForQuestionAnswering")),
    *(("electra", f"Electra{c}", SMALL | {"embedding_size": 64}) for c in ("ForMaskedLM", "ForPreTraining", "ForSequenceClassification")),
    ("mpnet", "MPNetModel", SMALL), ("mpnet", "MPNetForSequenceClassification", SMALL), ("vit", "ViTModel", SMALL), ("deit", "DeiTModel", SMALL),
    ("llama", "LlamaForSequenceClassification", SMALL | {"pad_token_id": 0}), ("llama", "LlamaForTokenClassification", SMALL),
    ("opt", "OPTForCausalLM", {"hidden_size": 256, "word_embed_proj_dim": 128, "ffn_dim": 512, "num_hidden_layers": 2, "num_attention_heads": 8,
                               "do_layer_norm_before": False}),  # as OPT-350M
    ("falcon", "FalconForCausalLM", FALCON | {"new_decoder_architecture": True, "num_kv_heads": 4}),  # as Falcon-40B
    ("marian", "MarianMTModel", {"d_model": 256, "encoder_layers": 2, "decoder_layers": 3, "vocab_size": 1000, "decoder_vocab_size": 800,
                                 "share_encoder_decoder_embeddings": False, "pad_token_id": 5}),
    ("camembert", "CamembertForMaskedLM", SMALL | {"tie_word_embeddings": False}),  # two biases, one of which is not added
    ("mpnet", "MPNetForMaskedLM", SMALL | {"tie_word_embeddings": False}),
    ("mbart", "MBartForConditionalGeneration", {"d_model": 256, "encoder_layers": 2, "decoder_layers": 3, "vocab_size": 1000,
                                                "tie_word_embeddings": False}),  # a third table, which is never read
    ("mamba", "MambaForCausalLM", {"num_hidden_layers": 2, "hidden_size": 256, "intermediate_size": 384, "vocab_size": 1000}),  # not `expand` times
    ("nemotron_h", "NemotronHForCausalLM", {"vocab_size": 1000, "sliding_window": 4}),  # which transformers ignores
    ("dinov2", "Dinov2Model", {"num_hidden_layers": 2, "hidden_size": 128, "num_attention_heads": 4, "image_size": 98, "use_swiglu_ffn": True}),  # as giant
    ("phimoe", "PhimoeForCausalLM", {"num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 8, "num_key_value_heads": 2,
                                     "num_local_experts": 4, "num_experts_per_tok": 1, "vocab_size": 1000}),  # runs two experts nevertheless
]  # fmt: skip


def kinds_of(model_type):
    from transformers.models.auto import modeling_auto

    found = {kind: getattr(modeling_auto, name)[model_type] for kind, name in reversed(KINDS) if model_type in getattr(modeling_auto, name, {})}
    if model_type in ENCODERS and "encoder" in found:
        return [("encoder", found["encoder"])]
    if model_type in PAIRS:
        found.pop("decoder", None)
    for kind, _ in KINDS:
        if kind in found:
            cls = found[kind]
            return [(kind, cls[0] if isinstance(cls, (tuple, list)) else cls)]
    return []


def tensors_of(state):
    """Each name once: equal layers fold into one line with their numbers."""
    folded = {}
    for name, t in state:
        numbers = tuple(int(n) for n in re.findall(r"(?<=\.)\d+(?=\.)|^\d+(?=\.)", name))
        pattern = re.sub(r"(?<=\.)\d+(?=\.)|^\d+(?=\.)", "#", name)
        folded.setdefault((pattern, str(t.dtype).removeprefix("torch."), tuple(t.shape)), []).append(numbers)
    rows = []
    for (pattern, dtype, shape), numbers in folded.items():
        rows.append([pattern, dtype, list(shape), "" if numbers == [()] else ranges(numbers)])
    return rows


def ranges(numbers):
    """[(0, 0), (0, 1), (1, 0), (1, 1)] → "0-1.0-1", if they form such a range; else all of them."""
    parts = []
    for column in zip(*numbers):
        values = sorted(set(column))
        runs, start = [], values[0]
        for a, b in zip(values, values[1:] + [None]):
            if b != a + 1 if b is not None else True:
                runs.append(f"{start}-{a}" if start != a else str(a))
                start = b
        parts.append((",".join(runs), len(values)))
    product = 1
    for _, n in parts:
        product *= n
    if product == len(set(numbers)):
        return ".".join(p for p, _ in parts)
    return ";".join(".".join(map(str, n)) for n in numbers)


def cache_bytes(cache):
    """(keys and values, states), in bytes."""
    import torch

    if cache is None:
        return None
    kv = states = 0
    seen = set()

    def size(x):
        if isinstance(x, (list, tuple)):
            return sum(size(v) for v in x)
        if isinstance(x, dict):
            return sum(size(v) for v in x.values())
        if not isinstance(x, torch.Tensor) or id(x) in seen:
            return 0
        seen.add(id(x))
        return x.numel() * x.element_size()

    parts = [getattr(cache, n) for n in ("self_attention_cache", "cross_attention_cache") if hasattr(cache, n)] or [cache]
    for part in parts:
        for layer in getattr(part, "layers", []):
            for name, value in vars(layer).items():
                n = size(value)
                if name in ("keys", "values"):
                    kv += n
                elif "state" in name:
                    states += n
        for name in ("conv_states", "ssm_states", "recurrent_states"):
            if hasattr(part, name) and not hasattr(part, "layers"):
                states += size(getattr(part, name))
    return [kv, states]


def inputs_of(kind, config, main, size):
    import torch

    def ids(b, n):
        return torch.zeros((b, n), dtype=torch.long, device="meta")

    def pixels(b):
        vision = getattr(config, "vision_config", config)
        side = getattr(vision, "image_size", None) or 224
        side = list(side) if isinstance(side, (list, tuple)) else [side, side]
        return torch.zeros((b, getattr(vision, "num_channels", 3), *side), device="meta")

    if kind in ("decoder", "encoder", "towers"):  # of models of several towers, text alone
        return {"input_ids": ids(*size)}
    if kind == "pair":
        return {"input_ids": ids(size[0], size[2]), "decoder_input_ids": ids(size[0], size[1])}
    if kind == "image" or (kind == "base" and main == "pixel_values" and "input_ids" not in config.__class__.__name__):
        inputs = {"pixel_values": pixels(size)}
        if getattr(config, "text_config", None) is not None:
            inputs["input_ids"] = ids(size, 16)
        return inputs
    if kind == "speech":
        frames = 2 * config.max_source_positions
        return {"input_features": torch.zeros((size[0], config.num_mel_bins, frames), device="meta"), "decoder_input_ids": ids(*size)}
    if kind == "audio":
        return {main: torch.zeros(size, device="meta")}
    return {"input_ids": ids(*size)}


def measure(model_type, change, further=None, made=None):
    import torch
    import transformers
    from survey_reference import formulas
    from torch.utils.flop_counter import FlopCounterMode

    (kind, class_name), = kinds_of(model_type)
    class_name = further or class_name
    if class_name.endswith("EncoderModel"):  # half of a pair
        kind = "encoder"
    if model_type in ("led", "longformer"):  # they test whether any token has global attention
        torch.Tensor.item = lambda t: False
    config = transformers.CONFIG_MAPPING[model_type](**change)
    cls = getattr(transformers, class_name)
    with torch.device("meta"):
        model = cls(config, **(made or {})).eval()
    model.config.architectures = [class_name]
    main = getattr(model, "main_input_name", "input_ids")
    if kind == "base" and main == "pixel_values":
        kind = "image"
    elif kind == "base" and main == "input_values":
        kind = "audio"
    out = {"class": class_name, "kind": kind, "config": json.loads(model.config.to_json_string(use_diff=True)),
           "params": sum(p.numel() for p in model.parameters())}  # fmt: skip
    tied = getattr(model, "all_tied_weights_keys", None) or {}
    seen, state = set(), []
    for name, t in model.state_dict(keep_vars=True).items():
        if name in tied or id(t) in seen:
            continue
        seen.add(id(t))
        state.append((name, t.detach()))
    out["tensors"] = tensors_of(state)
    try:
        from transformers.core_model_loading import revert_weight_conversion

        saved = list(revert_weight_conversion(model, dict(state)).items())
        rows = tensors_of(saved)
        if sorted(map(str, rows)) != sorted(map(str, out["tensors"])):
            out["saved_tensors"] = rows
    except Exception as e:
        out["saved_failed"] = f"{type(e).__name__}: {str(e)[:200]}"
    sizes = {"pair": PAIR_SIZES, "image": BATCHES, "audio": AUDIO_SIZES, "speech": SPEECH_SIZES}.get(kind, TEXT_SIZES)
    out["runs"] = []
    for size in sizes:
        inputs = inputs_of(kind, model.config, main, size)
        for implementation in ("batched_mm", "eager"):
            counter = FlopCounterMode(display=False, custom_mapping=formulas())
            try:
                if hasattr(model, "set_experts_implementation"):
                    model.set_experts_implementation(implementation)
                with torch.no_grad(), counter:
                    result = model(**inputs)
                break
            except Exception:
                if implementation == "eager":
                    raise
        run = {"size": size, "flops": counter.get_total_flops()}
        modules = {}
        for module, ops in counter.get_flop_counts().items():
            modules[module] = sum(ops.values())
        if size == sizes[0]:
            out["modules"] = {m.partition(".")[2]: n for m, n in modules.items() if re.sub(r"\d+", "#", m) == m or re.search(r"\.0\.", m + ".")}
        cache = cache_bytes(getattr(result, "past_key_values", None) or getattr(result, "cache_params", None))
        if cache:
            run["cache"] = cache
        out["runs"].append(run)
    return out


def guarded(model_type, change, further=None):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        signal.alarm(SECONDS)
        try:
            out = measure(model_type, change, further)
        except BaseException as e:
            out = {"failed": f"{type(e).__name__}: {str(e)[:300]}"}
        with os.fdopen(write, "w") as f:
            json.dump(out, f, default=str)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        text = f.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"failed": "ended or took too long"}


def main():
    import torch
    import transformers
    import transformers.models.auto.modeling_auto

    further = "--further" in sys.argv
    target, *selected = (a for a in sys.argv[1:] if a != "--further")
    for name in ("modeling_utils", "cache_utils", "masking_utils"):
        __import__(f"transformers.{name}")
    # Some models build a mask of ones, whose values they cannot read on meta tensors.
    transformers.masking_utils.fast_all = lambda mask: True
    types = selected or sorted(transformers.CONFIG_MAPPING.keys())
    with open(target, "a") as f:
        if not f.tell():
            print(json.dumps({"torch": torch.__version__, "transformers": transformers.__version__}), file=f)
        for t, name, change in FURTHER if further else []:
            print(json.dumps({"type": t, **guarded(t, change, name)}), file=f, flush=True)
        for t in [] if further else types:
            if not kinds_of(t):
                continue
            for change in CHANGES.get(t, [{}]):
                out = guarded(t, change)
                print(json.dumps({"type": t, **out}), file=f, flush=True)
                print(t, out.get("failed", [r["flops"] for r in out.get("runs", [])]), flush=True)


if __name__ == "__main__":
    main()
