"""Further model types of transformers, in no other list of ours: small configurations, live, in every way of
exporting that works, beside FlopCounterMode.

    VENV/bin/python further.py --page ../../docs/zoo-further.md      VENV: tests/python/requirements.txt and tmeter
    VENV/bin/python further.py NAME …                                rows of these, on standard output
"""

import argparse
import copy
import json
import os
import signal
import sys
import warnings
from pathlib import Path

#: Model types whose base class takes what its configuration tells of inputs.
NAMES = """
afmoe apertus arcee aria_text bert-generation bigbird_pegasus biogpt bitnet blenderbot blenderbot-small camembert
clip_vision_model codegen cohere2 cpmant ctrl cwm data2vec-text data2vec-vision diffllama dinov2_with_registers
dinov3_convnext doge ernie ernie4_5 ernie4_5_moe eurobert exaone4 flaubert flex_olmo fsmt gemma3_text glm glm4 glm4_moe
gpt_bigcode gpt_neox_japanese granite_swa granitemoe granitemoeshared gte helium hrm_text ibert ijepa imagegpt jais2
jetmoe kimi_linear lfm2 lilt longcat_flash longt5 luke m2m_100 markuplm megatron-bert mellum minimax ministral3
mistral4 mlcd_vision_model mobilenet_v1 modernbert-decoder mra mt5 mvp nanochat nllb-moe nomic_bert olmo3 olmoe openai-gpt
persimmon phimoe pixio plbart prophetnet qwen3_5_text qwen3_next radio rembert roberta-prelayernorm roc_bert roformer
seed_oss sew siglip_vision_model splinter swin2sr t5gemma textnet umt5 unispeech vaultgemma visual_bert vit_mae vit_msn
wav2vec2-conformer xglm xlm-roberta-xl xmod yoso youtu zamba2
""".split()

#: Where a configuration has a whole number of that name.
SMALL = {
    **dict.fromkeys(["hidden_size", "d_model", "n_embd", "dim", "embed_dim"], 32),
    **dict.fromkeys(["num_hidden_layers", "n_layers", "n_layer", "num_layers"], 2),
    **dict.fromkeys(["encoder_layers", "decoder_layers", "num_decoder_layers", "num_encoder_layers"], 1),
    **dict.fromkeys(["num_attention_heads", "n_heads", "n_head", "num_heads"], 4),
    **dict.fromkeys(["encoder_attention_heads", "decoder_attention_heads"], 4),
    **dict.fromkeys(["intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim", "d_ff", "n_inner"], 64),
    **dict.fromkeys(["moe_intermediate_size", "shared_expert_intermediate_size"], 16),
    **dict.fromkeys(["num_experts", "n_routed_experts", "num_local_experts"], 4),
    **dict.fromkeys(["qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "head_dim", "d_kv", "patch_size"], 8),
    **dict.fromkeys(["q_lora_rank", "kv_lora_rank"], 16),
    **dict.fromkeys(["num_key_value_heads", "num_experts_per_tok"], 2),
    **dict.fromkeys(["n_group", "topk_group", "bos_token_id"], 1),
    "vocab_size": 200, "max_position_embeddings": 128, "image_size": 32, "pad_token_id": 0, "eos_token_id": 2,
}  # fmt: skip

SECONDS = 150


def shrunk(config):
    whole = lambda v: isinstance(v, int) and not isinstance(v, bool)  # noqa: E731
    return {k: v for k, v in SMALL.items() if whole(getattr(config, k, None))}


def build(name):
    import torch
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    kind = CONFIG_MAPPING[name]
    config = kind(**shrunk(kind()))
    model = MODEL_MAPPING_NAMES[name]
    torch.manual_seed(0)
    return getattr(transformers, model if isinstance(model, str) else model[0])(config).eval()


def inputs_of(model):
    import torch

    from tmeter.export.known_inputs import inputs_of_configuration

    return {
        key: torch.randint(3, 50, (1, 16)) if shape.dtype == "int64" else torch.randn(shape.sizes)
        for key, shape in inputs_of_configuration(model).items()
    }


def reference(model, inputs):
    """With experts one after the other: FlopCounterMode counts nothing inside the grouped product's fallback."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    model = copy.deepcopy(model)
    parts = getattr(model.config, "sub_configs", {})
    for config in (model.config, *(getattr(model.config, part, None) for part in parts)):
        if getattr(config, "_experts_implementation", None) is not None:
            config._experts_implementation = "eager"
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(**inputs)
    return counter.get_total_flops()


def row(name):
    import tmeter

    found = {"name": name}
    try:
        model = build(name)
        inputs = inputs_of(model)
        found["flops"] = reference(model, inputs)
    except Exception as error:
        return found | {"skipped": f"{type(error).__name__}: {error}"[:160]}
    try:
        result = tmeter.analyze(model, inputs=inputs, via="all")
    except tmeter.Error as error:
        return found | {"refused": f"{type(error).__name__}: {error}"[:400]}
    params = sum(p.numel() for p in model.parameters())
    return found | {
        "way": result.export.way,
        "live": result.total("flops"),
        "status": result.status("flops"),
        "params": result.total("params") == params,
        "unknown": [u["op"] for u in result.coverage["unknown_ops"]],
        "other": result.status("other_flops"),
        "compared": result.export.compared,
        "failed": [(way, why[:160]) for way, why in result.export.failed],
        "warnings": result.warnings,
    }


def apart(name):
    """In a process of its own, which may take so long."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        warnings.simplefilter("ignore")
        found = row(name)
        with os.fdopen(writer, "w") as out:
            json.dump(found, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"name": name, "skipped": f"ended after at most {SECONDS} s"}


def verdict(found):
    if "refused" in found:
        return "refused"
    right = found["live"] == found["flops"] and found["params"]
    if found["status"]:
        return f"{found['status']}, {'and exact' if right else 'and said'}"
    return "exact" if right else "differs"


def page(rows):
    tried = [r for r in rows if "skipped" not in r]
    count = lambda word: sum(verdict(r) == word for r in tried)  # noqa: E731
    told = [r for r in tried if verdict(r) not in ("exact", "differs", "refused")]
    lines = [
        "# Further model types",
        "",
        "Model types of transformers that are in no other list here, in small configurations: live, in every way of",
        "exporting that works, beside `FlopCounterMode` on the module as it runs (experts one after the other).",
        "Written by `tests/zoo/further.py`.",
        "",
        f"{len(tried)} types: {count('exact')} exact, {len(told)} with a status, {count('refused')} refused, "
        f"{count('differs')} that differ without one.",
        "",
        "| type | FLOPs | tmeter | verdict | exported by | other ways |",
        "|---|--:|--:|---|---|---|",
    ]
    for r in tried:
        others = "; ".join(f"{way}: {how}" for way, how in r.get("compared", []) if not how.startswith("the same"))
        agreeing = sum(how.startswith("the same") for _, how in r.get("compared", []))
        ways = f"{agreeing} agree" + (f"; {others}" if others else "")
        reason = r.get("refused", "").splitlines()[0] if "refused" in r else ways
        live = f"{r['live']:,}" if r.get("live") is not None else "–"
        lines.append(f"| {r['name']} | {r['flops']:,} | {live} | {verdict(r)} | {r.get('way', '–')} | {reason} |")
    skipped = [r for r in rows if "skipped" in r]
    if skipped:
        names = ", ".join(r["name"] for r in skipped)
        lines += ["", f"Not built or not run by transformers itself from such a configuration: {names}."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    import tmeter  # noqa: F401  before forking, as all need it
    import transformers

    transformers.logging.set_verbosity_error()
    rows = []
    for name in options.names:
        rows.append(apart(name))
        print(json.dumps(rows[-1]), flush=True)
    if options.page:
        options.page.write_text(page(rows))


if __name__ == "__main__":
    sys.exit(main())
