"""Records the output of llama.cpp's converter for models: `gguf_truth.py LLAMA_CPP OUT.jsonl [ARCHITECTURE|TYPE…]`.

LLAMA_CPP is a source tree of llama.cpp with `conversion/`. Each model of gguf_models.py, and each row of transformers.jsonl whose class the
converter supports, becomes a weightless folder. Recorded are the architecture, the metadata, and the names and shapes of tensors that the converter
writes for it, without a vocabulary. Rows of gguf_models.py also have transformers' own values for the model, by truth.py.
"""

import json
import logging
import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).parent
warnings.filterwarnings("ignore")
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"

import gguf_models  # noqa: E402
import truth  # noqa: E402
from folders import rows_of, tensors_of, write_folder  # noqa: E402


class Shaped:
    def __init__(self, shape):
        self.dtype, self.shape = "float32", shape


def whole_config(model_type, config, stated):
    """The configuration with its defaults, because published checkpoints state them."""
    from transformers import CONFIG_MAPPING

    config = {k: v for k, v in config.items() if k != "time_step_limit"}  # has an infinity
    whole = {**CONFIG_MAPPING[model_type].from_dict(config).to_dict(), **config, **stated}
    for key in ("layer_types", "layers_block_type") if model_type in gguf_models.EARLIER_NAMES else ():
        if key in whole:
            whole[key] = [gguf_models.EARLIER_NAMES[model_type].get(kind, kind) for kind in whole[key]]
    return {k: v for k, v in whole.items() if v is not gguf_models.NOT_STATED}


def converted(folder, config):
    import conversion
    import gguf

    vocabulary = dict.fromkeys(map(str, range({**config, **config.get("text_config", {})}["vocab_size"])))
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "WordPiece", "vocab": vocabulary}, "added_tokens": []}))
    cls = conversion.get_model_class(conversion.get_model_architecture(config, conversion.ModelType.TEXT))
    cls.set_vocab = lambda self: None
    cls.no_mtp = True  # transformers' models have no layers for further tokens
    model = cls(folder, gguf.LlamaFileType.ALL_F32, folder / "out.gguf", hparams=config, dry_run=True)
    model = getattr(model, "impl", model)
    model.prepare_tensors()
    model.set_gguf_parameters()
    arch = gguf.MODEL_ARCH_NAMES[model.model_arch]
    pairs = []
    for key, v in ((key, v) for part in model.gguf_writer.kv_data for key, v in part.items() if key.startswith(arch + ".")):
        value = v.value
        if v.type == gguf.GGUFValueType.ARRAY:
            value = [int(v.sub_type or gguf.GGUFValueType.get_type(value[0])), list(value)]
        pairs.append([key, int(v.type), value])
    tensors = [(name, Shaped(tuple(map(int, info.shape)))) for part in model.gguf_writer.tensors for name, info in part.items()]
    return {"arch": arch, "metadata": pairs, "tensors": truth.tensors_of(tensors)}


def of_folder(config, tensors, arch=None):
    with tempfile.TemporaryDirectory() as folder:
        write_folder(folder, config, tensors)
        out = converted(Path(folder), config)
    if arch:
        out["metadata"] = [[key.replace(out["arch"] + ".", arch + "."), *rest] for key, *rest in out["metadata"]]
    return {**out, "arch": arch or out["arch"]}


def of_row(row):
    config = whole_config(row["type"], row["config"], gguf_models.STATED.get(row["type"], {}))
    tensors = tensors_of(row.get("saved_tensors", row["tensors"]))
    if row["type"] in gguf_models.EXPERTS_BY_COLUMN:
        tensors = {name: (dtype, [shape[0], shape[2], shape[1]] if ".experts." in name else shape) for name, (dtype, shape) in tensors.items()}
    return of_folder(config, tensors)


def of_model(model):
    whole = truth.measure(model.type, model.config, model.cls, model.made)
    tensors = {name: shape for name, (_, shape) in tensors_of(whole.get("saved_tensors", whole["tensors"])).items()}
    for change in model.changes:
        tensors = change(tensors)
    config = whole_config(model.type, whole["config"], model.stated) if model.is_of_transformers else {**whole["config"], **model.stated}
    config["architectures"] = [model.converter or whole["class"]]
    runs = [{k: v for k, v in run.items() if k != "cache" or model.has_cache} for run in whole["runs"]]
    return {"params": whole["params"] + sum(model.extra_params), "runs": runs, **of_folder(config, {name: ("float32", list(shape)) for name, shape in tensors.items()}, model.arch)}


def guarded(make, of):
    """Runs in a process of its own, because changes to the classes of converter and library would remain."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            out = make(of)
        except BaseException as e:
            out = {"failed": f"{type(e).__name__}: {str(e)[:300]}", "trace": traceback.format_exc()[-900:]}
        with os.fdopen(write, "w") as f:
            json.dump(out, f, default=str)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        text = f.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"failed": "ended"}


def main():
    source, target, *selected = sys.argv[1:]
    sys.path[:0] = [source, os.path.join(source, "gguf-py")]
    logging.disable(logging.CRITICAL)
    import conversion
    import gguf
    import torch
    import transformers

    transformers.masking_utils.fast_all = lambda mask: True
    jobs, counts = [], {}
    for model in gguf_models.MODELS:
        jobs.append(({"type": model.type, "model": model.name}, of_model, model))
    for row in rows_of(HERE / "transformers.jsonl")[1:]:
        n = counts[row["type"]] = counts.get(row["type"], -1) + 1
        if row["config"]["architectures"][0] in conversion.TEXT_MODEL_MAP and row["type"] not in gguf_models.NOT_AS_IT_IS:
            jobs.append(({"type": row["type"], "row": n}, of_row, row))
    with open(target, "w") as f:
        versions = {"torch": torch.__version__, "transformers": transformers.__version__, "llama-cpp-python": gguf_models.SOURCE}
        print(json.dumps({**versions, "architectures": sorted(gguf.MODEL_ARCH_NAMES.values())}), file=f)
        for label, make, of in jobs:
            if selected and not {label["type"], label.get("model")} & set(selected):
                continue
            out = guarded(make, of)
            if "failed" not in out:
                print(json.dumps({**label, **out}), file=f, flush=True)
            print(*label.values(), out.get("arch") or out["failed"], *(out.get("trace", "").strip().splitlines()[-6:]), flush=True)


if __name__ == "__main__":
    main()
