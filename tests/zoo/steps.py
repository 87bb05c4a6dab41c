"""The three steps for a model, each in a separate process: count, export, script."""

import contextlib
import dataclasses
import re
import time
import warnings
from pathlib import Path

import torch
from torch._subclasses import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

import build
from table import Entry

warnings.simplefilter("ignore")

FOLDERS = re.compile(r"/\S*/site-packages/")

#: The largest number of parameters for a real run, because of the machine's memory.
MAX_PARAMS_ON_CPU = 1_000_000_000


def reference(entry: Entry, folder: Path) -> dict:
    """Parameters, and MACs by FlopCounterMode (FLOPs / 2) in gradient mode."""
    errors = {}
    for how in ("cpu",) if entry.on_cpu else ("meta", "fake", "cpu", "no_grad"):
        try:
            return counted(entry, how) | {"device": how, "refused": errors}
        except Exception as error:
            errors[how] = one_line(error)
    return {"error": "; ".join(f"{d}: {e}" for d, e in errors.items())}


def counted(entry: Entry, how: str) -> dict:
    """``meta``: shapes only. ``fake``: the same under FakeTensorMode, for code that checks for tracing
    before it reads values. ``cpu``: a real run. ``no_grad``: a run without gradients, for models
    with which FlopCounterMode's own hooks fail; it misses fused attention.
    """
    mode = {"fake": lambda: FakeTensorMode(allow_non_fake_inputs=True), "no_grad": torch.no_grad}
    with mode.get(how, contextlib.nullcontext)():
        device = "cpu" if how in ("cpu", "no_grad") else "meta"
        model = build.build_on_meta(entry) if how == "meta" else build.build(entry, device)
        facts = {"params": sum(p.numel() for p in model.parameters()), "tied": build.has_ties(model)}
        if device == "cpu" and facts["params"] > MAX_PARAMS_ON_CPU:
            raise RuntimeError("too large for a real run")
        inputs = build.inputs_of(entry, model)
        rows = rows_seen_by_heads(model)
        with FlopCounterMode(display=False) as counter:
            model(*build.arguments(inputs, device))
    by_op = counter.get_flop_counts()["Global"]
    return facts | {
        "macs": counter.get_total_flops() // 2,
        "macs_by_operator": {str(op): flops // 2 for op, flops in by_op.items()},
        "rows": rows,
        "inputs": [dataclasses.asdict(i) for i in inputs],
        "published": published(entry, inputs),
    }


def rows_seen_by_heads(model: torch.nn.Module) -> dict[str, int]:
    """The numbers of boxes of a detector's heads, which depend on values; filled during the run."""
    rows = {}
    for name, module in model.named_modules():
        head = name.rpartition(".")[2]
        if head in ("box_head", "mask_head", "keypoint_head"):
            module.register_forward_pre_hook(
                lambda _, args, head=head: rows.__setitem__(head, args[0].shape[0])
            )
    return rows


def published(entry: Entry, inputs) -> list[dict]:
    """torchvision's own values of the weights for this input."""
    if entry.library != "torchvision":
        return []
    import torchvision

    size = inputs[0].shape[-1]
    found = []
    for weights in torchvision.models.get_model_weights(entry.builder):
        crop = getattr(weights.transforms, "keywords", {}).get("crop_size")
        if entry.group == "classification" and crop != size:
            continue
        meta = weights.meta
        found.append({"weights": str(weights), "ops_G": meta["_ops"], "num_params": meta["num_params"]})
    return found


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
    """Type and message without this machine's folders and TorchScript's listing of code."""
    text = str(error).split('  File "')[0]
    lines = [line.strip() for line in text.splitlines()]
    message = " ".join(line for line in lines if line)
    return f"{type(error).__name__}: {FOLDERS.sub('', message)}"[:limit]
