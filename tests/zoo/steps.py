"""The three things done with a model, each in a process of its own: count, export, script."""

import contextlib
import dataclasses
import time
import warnings
from pathlib import Path

import torch
from torch._subclasses import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

import build
from table import Entry

warnings.simplefilter("ignore")

#: A real run of more parameters than this would not fit beside the rest of the machine's work.
MAX_PARAMS_ON_CPU = 1_000_000_000


def reference(entry: Entry, folder: Path) -> dict:
    """Parameters, and MACs by FlopCounterMode (FLOPs / 2) in gradient mode."""
    errors = {}
    for how in ("cpu",) if entry.on_cpu else ("meta", "fake", "cpu"):
        try:
            return counted(entry, how) | {"device": how, "refused": errors}
        except Exception as error:
            errors[how] = one_line(error)
    return {"error": "; ".join(f"{d}: {e}" for d, e in errors.items())}


def counted(entry: Entry, how: str) -> dict:
    """``meta``: shapes only. ``fake``: the same under FakeTensorMode, for code that asks whether it is
    being traced before it looks at values. ``cpu``: a real run."""
    with FakeTensorMode(allow_non_fake_inputs=True) if how == "fake" else contextlib.nullcontext():
        device = "cpu" if how == "cpu" else "meta"
        model = build.build(entry, device)
        facts = {"params": sum(p.numel() for p in model.parameters()), "tied": build.has_ties(model)}
        if how == "cpu" and facts["params"] > MAX_PARAMS_ON_CPU:
            raise RuntimeError("too large for a real run")
        inputs = build.inputs_of(entry, model)
        with FlopCounterMode(display=False) as counter:
            model(*build.arguments(inputs, device))
    by_op = counter.get_flop_counts()["Global"]
    return facts | {
        "macs": counter.get_total_flops() // 2,
        "macs_by_operator": {str(op): flops // 2 for op, flops in by_op.items()},
        "inputs": [dataclasses.asdict(i) for i in inputs],
        "published": published(entry, inputs),
    }


def published(entry: Entry, inputs) -> list[dict]:
    """torchvision's own figures of the weights that take this input."""
    if entry.library != "torchvision":
        return []
    import torchvision

    size = inputs[0].shape[-1]
    figures = []
    for weights in torchvision.models.get_model_weights(entry.builder):
        crop = getattr(weights.transforms, "keywords", {}).get("crop_size")
        if entry.group == "classification" and crop != size:
            continue
        meta = weights.meta
        figures.append({"weights": str(weights), "ops_G": meta["_ops"], "num_params": meta["num_params"]})
    return figures


def pt2(entry: Entry, folder: Path) -> dict:
    model, args, storage = build.weightless(entry)
    program = torch.export.export(model, args, strict=False)
    torch.export.save(program, folder / "model.pt2")
    return {"file": "model.pt2", "storage": storage, "nodes": len(program.graph.nodes)}


def scripted(entry: Entry, folder: Path) -> dict:
    model, _, storage = build.weightless(entry, scriptable=True)
    torch.jit.script(model).save(folder / "model.scripted.pt")
    return {"file": "model.scripted.pt", "storage": storage}


STEPS = {"reference": reference, "pt2": pt2, "scripted": scripted}


def run(step: str, entry: Entry, folder: Path) -> dict:
    start = time.monotonic()
    try:
        facts = STEPS[step](entry, folder)
    except Exception as error:
        import traceback

        traceback.print_exc()
        facts = {"error": one_line(error)}
    if "file" in facts:
        facts["bytes"] = (folder / facts["file"]).stat().st_size
    return facts | {"seconds": round(time.monotonic() - start, 1)}


def one_line(error: BaseException, limit: int = 300) -> str:
    """Type and the first line that says something."""
    lines = [line.strip() for line in str(error).splitlines()] or [""]
    said = next((line for line in lines if line and not line.endswith(":")), lines[0])
    return f"{type(error).__name__}: {said}"[:limit]
