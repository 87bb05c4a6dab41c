"""Packs the small models with one library, as its users do: `quantize.py LIBRARY OUT [SCHEME…]`, with a Python that has the library.

Writes the library's output and truth.json to OUT/SCHEME-MODEL/. truth.json has the model's parameters, and for each packed weight its
shape and the moments of its elements as the library unpacks them. If a scheme fails, truth.json has its error.
`check.py` compares tmeter with them.
"""

import importlib.metadata
import json
import pathlib
import shutil
import sys
import traceback
import warnings

warnings.filterwarnings("ignore")

import numpy  # noqa: E402
import small_models  # noqa: E402
import torch  # noqa: E402


def moments(values):
    v = values.detach().to(torch.float64).flatten()
    return {"shape": list(values.shape), "mean": v.mean().item(), "std": v.std(correction=0).item(), "min": v.min().item(), "max": v.max().item()}


def unpacked_parameters(model):
    """Moments of the parameters that are subclasses of Tensor, unpacked to float32 if the class supports it."""

    def unpacked(p):
        if type(p).__name__ == "IntxUnpackedToInt8Tensor":  # its own `dequantize` rounds to the model's type
            from torchao.quantization.quant_primitives import dequantize_affine

            return dequantize_affine(p.qdata, p.block_size, p.scale.float(), p.zero_point.float(), torch.int8, -128, 127, output_dtype=torch.float32)
        return p.dequantize(torch.float32)

    return {name: moments(unpacked(p.data)) for name, p in model.named_parameters() if type(p.data) is not torch.Tensor and hasattr(p.data, "tensor_data_names")}


def loaded(plain, config, **more):
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(plain, quantization_config=config, device_map="cpu", **more)


# torchao -----------------------------------------------------------------------------------------------------------------
def torchao(config, **more):
    def pack(plain, out, name):
        import transformers

        model = loaded(plain, transformers.TorchAoConfig(config(), **more))
        model.save_pretrained(out)
        return unpacked_parameters(model)

    return pack


def torchao_schemes():
    import torchao.quantization as q

    return {
        "int8": torchao(q.Int8WeightOnlyConfig),
        "int8-group": torchao(lambda: q.Int8WeightOnlyConfig(granularity=q.PerGroup(32))),
        "int8-dynamic": torchao(q.Int8DynamicActivationInt8WeightConfig),
        "float8": torchao(q.Float8WeightOnlyConfig),
        "int4-plain": torchao(lambda: q.Int4WeightOnlyConfig(group_size=32)),
        "int4-opaque": torchao(lambda: q.Int4WeightOnlyConfig(group_size=32, int4_packing_format="opaque")),
        "int4-words": torchao(lambda: q.Int4WeightOnlyConfig(group_size=32, int4_packing_format="plain_int32")),
        **{f"intx-{bits}": torchao(lambda bits=bits: q.IntxWeightOnlyConfig(weight_dtype=getattr(torch, f"int{bits}"), granularity=q.PerGroup(32)))
           for bits in (2, 3, 4, 8)},
        "int8-embedding": torchao(q.Int8WeightOnlyConfig, include_input_output_embeddings=True),
        "int8-dynamic-intx": torchao(lambda: q.Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=q.PerGroup(32))),
    }  # fmt: skip


# bitsandbytes ------------------------------------------------------------------------------------------------------------
def bitsandbytes(**how):
    def pack(plain, out, name):
        import bitsandbytes
        import transformers

        model = loaded(plain, transformers.BitsAndBytesConfig(**how))
        model.save_pretrained(out)
        weights = {}
        for path, module in model.named_modules():
            if isinstance(module, bitsandbytes.nn.Linear4bit):
                # In float32 by the reference, because the CPU kernel is wrong if rows are not a multiple of the blocks.
                from bitsandbytes.backends.default.ops import _dequantize_4bit_compute

                s, functional = module.weight.quant_state, bitsandbytes.functional
                scales = functional.dequantize_blockwise(s.absmax, s.state2) + s.offset if s.nested else s.absmax
                weights[path + ".weight"] = moments(_dequantize_4bit_compute(module.weight.data.view(torch.uint8).reshape(-1), scales.float(), s.code, s.blocksize, s.shape, torch.float32))
            elif isinstance(module, bitsandbytes.nn.Linear8bitLt):
                weights[path + ".weight"] = moments(module.weight.data.float() * (module.weight.SCB.reshape(-1, 1) / 127))
        return weights

    return pack


def bitsandbytes_schemes():
    return {
        "nf4": bitsandbytes(load_in_4bit=True, bnb_4bit_quant_type="nf4"),
        "fp4": bitsandbytes(load_in_4bit=True, bnb_4bit_quant_type="fp4"),
        "nf4-nested": bitsandbytes(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True),
        "nf4-bfloat16": bitsandbytes(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_quant_storage="bfloat16"),
        "nf4-float32": bitsandbytes(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_quant_storage="float32"),
        "int8": bitsandbytes(load_in_8bit=True),
    }


# optimum-quanto ----------------------------------------------------------------------------------------------------------
def quanto(kind):
    def pack(plain, out, name):
        import optimum.quanto as q
        import safetensors.torch

        model = small_models.build(name, torch.float32)
        q.quantize(model, weights=getattr(q, kind), exclude="lm_head")
        q.freeze(model)
        model.config.save_pretrained(out)
        weights = {n + ".weight": moments(m.weight.dequantize()) for n, m in model.named_modules() if isinstance(m, q.QModuleMixin)}
        state = {k: v.contiguous().clone() for k, v in model.state_dict().items()}
        if model.config.tie_word_embeddings:
            state.pop("lm_head.weight", None)
        safetensors.torch.save_file(state, out / "model.safetensors", {"format": "pt"})
        (out / "quanto_qmap.json").write_text(json.dumps(q.quantization_map(model)))
        return weights

    return pack


def quanto_schemes():
    return {kind: quanto(kind) for kind in ("qint8", "qint4", "qint2", "qfloat8_e4m3fn", "qfloat8_e5m2")}


# hqq ---------------------------------------------------------------------------------------------------------------------
def hqq(bits, axis=1, group=64):
    def pack(plain, out, name):
        import hqq.core.quantize
        import safetensors.torch

        model = small_models.build(name, torch.float32)
        config = hqq.core.quantize.BaseQuantizeConfig(nbits=bits, group_size=group, axis=axis)
        weights, state = {}, {}
        for path, module in list(model.named_modules()):
            if isinstance(module, torch.nn.Linear) and "lm_head" not in path:
                packed = hqq.core.quantize.HQQLinear(module, config, compute_dtype=torch.float32, device="cpu")
                weights[path + ".weight"] = moments(packed.dequantize())
                state |= {f"{path}.{k}": v for k, v in packed.state_dict().items() if torch.is_tensor(v)}
                owner, _, last = path.rpartition(".")
                setattr(model.get_submodule(owner), last, torch.nn.Identity())
        state |= {k: v for k, v in model.state_dict().items() if not (model.config.tie_word_embeddings and k == "lm_head.weight")}
        model.config.save_pretrained(out)
        safetensors.torch.save_file({k: v.contiguous().clone() for k, v in state.items()}, out / "model.safetensors", {"format": "pt"})
        return weights

    return pack


def hqq_schemes():
    return {**{f"{bits}-bit": hqq(bits) for bits in (1, 2, 3, 4, 8)}, "4-bit-axis0": hqq(4, axis=0)}


# compressed-tensors, by llm-compressor ----------------------------------------------------------------------------------------
def compressor(scheme, **more):
    def pack(plain, out, name):
        import transformers
        from compressed_tensors.quantization.lifecycle.forward import fake_quantize
        from llmcompressor import oneshot
        from llmcompressor.modifiers.quantization import QuantizationModifier

        model = transformers.AutoModelForCausalLM.from_pretrained(plain, dtype=torch.float32)
        ignore = ["lm_head", "re:.*mlp.gate$"]
        recipe = QuantizationModifier(targets="Linear", scheme=scheme, ignore=ignore) if isinstance(scheme, str) else QuantizationModifier(config_groups=scheme, ignore=ignore)
        oneshot(model=model, recipe=recipe, **more)
        weights = {}
        for path, module in model.named_modules():
            how = getattr(module, "quantization_scheme", None)
            if how is None or how.weights is None or not hasattr(module, "weight_scale"):
                continue
            values = fake_quantize(module.weight.float(), module.weight_scale.float(), getattr(module, "weight_zero_point", None), how.weights,
                                   global_scale=getattr(module, "weight_global_scale", None))
            weights[path + ".weight"] = moments(values)
        model.save_pretrained(out, save_compressed=True)
        return weights

    return pack


def group_of(**weights):
    return {"group_0": {"targets": ["Linear"], "weights": weights}}


def compressor_schemes():
    presets = ("W2A16", "W3A16", "W4A16", "W4A16_ASYM", "W5A16", "W6A16", "W7A16", "W8A16", "W8A8", "FP8_DYNAMIC", "FP8_BLOCK", "NVFP4A16", "MXFP4A16", "MXFP8A16")
    return {**{name.lower(): compressor(name) for name in presets},
            "w4-group32": compressor(group_of(num_bits=4, type="int", strategy="group", group_size=32, symmetric=True)),
            "w4-group40": compressor(group_of(num_bits=4, type="int", strategy="group", group_size=40, symmetric=True)),
            "w4-channel": compressor(group_of(num_bits=4, type="int", strategy="channel", symmetric=False)),
            "w4-group32-order": compressor(group_of(num_bits=4, type="int", strategy="group", group_size=32, symmetric=True, actorder="weight")),
            "fp8-tensor": compressor(group_of(num_bits=8, type="float", strategy="tensor", symmetric=True)),
            "fp8-group": compressor(group_of(num_bits=8, type="float", strategy="group", group_size=32, symmetric=True)),
            "int8-tensor": compressor(group_of(num_bits=8, type="int", strategy="tensor", symmetric=False))}  # fmt: skip


# mlx -------------------------------------------------------------------------------------------------------------------------
def mlx(bits, group, mode="affine", mixed=None):
    def pack(plain, out, name):
        import mlx.core as mx
        import mlx_lm.utils
        import mlx.nn

        out.rmdir()
        rope = {"rope_theta": 10000.0, "num_experts": 4}  # required by this version besides `rope_parameters` and `num_local_experts`
        model, config = mlx_lm.utils.load_model(plain, model_config=rope if name == "qwen3_moe" else {})
        kwargs = {"quant_predicate": mixed} if mixed else {}
        model, config = mlx_lm.utils.quantize_model(model, config, group, bits, mode=mode, **kwargs)
        mlx_lm.utils.save_model(out, model, donate_model=False)
        mlx_lm.utils.save_config(config, config_path=out / "config.json")
        weights = {}
        for path, m in model.named_modules():
            if "scales" in m:
                affine = m.mode == "affine"
                parts = (m.scales.astype(mx.float32), m.biases.astype(mx.float32)) if affine else (m.scales, None)
                values = mx.dequantize(m.weight, *parts, group_size=m.group_size, bits=m.bits, mode=m.mode, dtype=mx.float32)
                weights[path + ".weight"] = moments(torch.tensor(numpy.array(values)))
        return weights

    return pack


def mlx_schemes():
    def some(path, module):
        return {"bits": 8, "group_size": 32} if "down_proj" in path else hasattr(module, "to_quantized")

    return {**{f"{bits}-bit": mlx(bits, 32) for bits in (2, 3, 4, 5, 6, 8)}, "4-bit-group64": mlx(4, 64), "4-bit-group128": mlx(4, 128),
            "mxfp4": mlx(4, 32, "mxfp4"), "mxfp8": mlx(8, 32, "mxfp8"), "nvfp4": mlx(4, 16, "nvfp4"), "mixed": mlx(4, 64, mixed=some)}  # fmt: skip


# modelopt --------------------------------------------------------------------------------------------------------------------
def modelopt(config):
    def pack(plain, out, name):
        import modelopt.torch.export as export
        import modelopt.torch.quantization as mtq
        import transformers

        model = transformers.AutoModelForCausalLM.from_pretrained(plain, dtype=torch.bfloat16)
        tokens = torch.randint(0, 320, (2, 16), generator=torch.Generator().manual_seed(1))
        mtq.quantize(model, getattr(mtq, config), lambda m: m(tokens))
        weights = {}
        for path, module in model.named_modules():
            quantizer = getattr(module, "weight_quantizer", None)
            if quantizer is not None and getattr(quantizer, "is_enabled", False) and getattr(module, "weight", None) is not None:
                weights[path + ".weight"] = moments(quantizer(module.weight.float()))
        export.export_hf_checkpoint(model, export_dir=out)
        return weights

    return pack


def modelopt_schemes():
    names = ("FP8_DEFAULT_CFG", "FP8_PER_CHANNEL_PER_TOKEN_CFG", "FP8_2D_BLOCKWISE_WEIGHT_ONLY_CFG", "INT8_WEIGHT_ONLY_CFG", "INT8_SMOOTHQUANT_CFG",
             "INT4_AWQ_CFG", "INT4_BLOCKWISE_WEIGHT_ONLY_CFG", "W4A8_AWQ_BETA_CFG", "NVFP4_DEFAULT_CFG", "W4A16_NVFP4_CFG", "MXFP4_DEFAULT_CFG", "MXFP8_DEFAULT_CFG")  # fmt: skip
    return {name.removesuffix("_CFG").lower(): modelopt(name) for name in names}


# auto-round ------------------------------------------------------------------------------------------------------------------
def tokenizer():
    import tokenizers
    import transformers

    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(320)}, unk_token="w0"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="w0", pad_token="w1", eos_token="w2")


def auto_round(form, **how):
    def pack(plain, out, name):
        import auto_round
        import transformers

        model = transformers.AutoModelForCausalLM.from_pretrained(plain, dtype=torch.float32)
        made = auto_round.AutoRound(model, tokenizer(), iters=0, disable_opt_rtn=True, device_map="cpu", **how)
        made.quantize()
        weights = {n + ".weight": moments(m.weight) for n, m in made.model.named_modules() if hasattr(m, "scale") and getattr(m, "weight", None) is not None and getattr(m, "bits", 16) < 16}
        made.save_quantized(str(out), format=form)
        return weights

    return pack


def auto_round_schemes():
    return {**{f"auto_round-{bits}": auto_round("auto_round", bits=bits, group_size=32, sym=True) for bits in (2, 3, 4, 8)},
            "auto_round-asym": auto_round("auto_round", bits=4, group_size=32, sym=False), "auto_gptq-4": auto_round("auto_round:auto_gptq", bits=4, group_size=32, sym=True),
            "auto_awq-4": auto_round("auto_awq", bits=4, group_size=32, sym=False), "channel": auto_round("auto_round", bits=4, group_size=-1, sym=True),
            "llm_compressor-nvfp4": auto_round("llm_compressor", scheme="NVFP4"), "mxfp4": auto_round("auto_round", scheme="MXFP4"), "mxfp8": auto_round("auto_round", scheme="MXFP8"),
            "fp8": auto_round("auto_round", scheme="FP8_STATIC"), "fp8-block": auto_round("auto_round", scheme="FP8_BLOCK")}  # fmt: skip


# gptqmodel -------------------------------------------------------------------------------------------------------------------
def gptqmodel(**how):
    def pack(plain, out, name):
        import gptqmodel

        tokenizer().save_pretrained(plain)
        model = gptqmodel.GPTQModel.load(str(plain), gptqmodel.QuantizeConfig(**how), device="cpu")
        model.quantize([{"input_ids": torch.randint(0, 320, (64,)).tolist(), "attention_mask": [1] * 64} for _ in range(4)], batch_size=1, backend=gptqmodel.BACKEND.TORCH)
        weights = {n.removeprefix("model.") if n.startswith("model.model") else n: m for n, m in model.named_modules() if hasattr(m, "dequantize_weight")}
        weights = {n + ".weight": moments(m.dequantize_weight().T) for n, m in weights.items()}
        model.save(str(out))
        return weights

    return pack


def gptqmodel_schemes():
    return {**{f"{bits}-bit": gptqmodel(bits=bits, group_size=32) for bits in (2, 3, 4, 8)}, "order": gptqmodel(bits=4, group_size=32, desc_act=True),
            "asymmetric": gptqmodel(bits=4, group_size=32, sym=False), "channel": gptqmodel(bits=4, group_size=-1), "v2": gptqmodel(bits=4, group_size=32, format="gptq_v2")}  # fmt: skip


LIBRARIES = {  # name → (its name for pip, schemes)
    "torchao": ("torchao", torchao_schemes),
    "bitsandbytes": ("bitsandbytes", bitsandbytes_schemes),
    "optimum-quanto": ("optimum-quanto", quanto_schemes),
    "hqq": ("hqq", hqq_schemes),
    "llmcompressor": ("llmcompressor", compressor_schemes),
    "mlx": ("mlx-lm", mlx_schemes),
    "modelopt": ("nvidia-modelopt", modelopt_schemes),
    "auto-round": ("auto-round", auto_round_schemes),
    "gptqmodel": ("gptqmodel", gptqmodel_schemes),
}


def main(library, out, only=()):
    package, schemes = LIBRARIES[library]
    out = pathlib.Path(out)
    plain = out / "plain"
    for name in small_models.MODELS:
        small_models.build(name).save_pretrained(plain / name)
    for scheme, pack in schemes().items():
        for name in small_models.MODELS:
            if only and scheme not in only and f"{scheme}-{name}" not in only:
                continue
            folder = out / f"{scheme}-{name}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            truth = {"library": package, "version": importlib.metadata.version(package), "scheme": scheme, "model": name,
                     "params": small_models.parameters(name)}  # fmt: skip
            try:
                truth["weights"] = pack(plain / name, folder, name)
            except Exception as e:
                truth["error"] = f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:200]
                truth["trace"] = traceback.format_exc()[-2000:]
            folder.mkdir(exist_ok=True)
            (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
            print(scheme, name, truth.get("error", f"{len(truth.get('weights', []))} packed"), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
