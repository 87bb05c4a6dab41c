"""Exporting by torch.export."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import torch
from torch import nn

from . import Exported
from .arguments import Example
from .dispatch import compare_branches, compare_random_runs
from .fake_module import fake_module_of, symbolic_fake_mode
from .saving import save_program
from .task import Task
from .untraceable import require_traceable


def export_program(task: Task, *, strict: bool, open_batch: bool = False) -> Exported:
    fake_module = fake_module_of(task, symbolic_fake_mode())
    model, example = fake_module.model, fake_module.example
    options: dict[str, Any] = {"strict": strict}
    if open_batch:
        auto = torch.export.Dim.AUTO
        leaf = lambda x: {0: auto} if isinstance(x, torch.Tensor) else None  # noqa: E731
        tree = torch.utils._pytree.tree_map(leaf, (example.args, example.kwargs))
        options["dynamic_shapes"] = _by_argument(model, example, *tree)
    # The strict mode interprets the source, so a tensor has the same class as in a run.
    traceable = contextlib.nullcontext() if strict else require_traceable(model)
    with torch.no_grad() if _is_quantized(task.model) else contextlib.nullcontext(), traceable:
        program = torch.export.export(model, example.args, example.kwargs or None, **options)
    if strict:
        _require_all_parameters(task.model, program)
    if fake_module.export_checks or strict:
        compare_branches(task)
    compare_random_runs(task)
    path = task.path(".pt2")
    save_program(program, path, task.model if task.weights else None, task.note())
    return Exported(path)


def _require_all_parameters(model: nn.Module, program: torch.export.ExportedProgram) -> None:
    """The strict mode drops parameters that forward does not use, and totals would be too small."""
    used = set(program.graph_signature.inputs_to_parameters.values())
    names: dict[int, list[str]] = {}  # a tied parameter has several names
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    missing = [of_one[0] for of_one in names.values() if not used.intersection(of_one)]
    if missing:
        raise RuntimeError(f"{len(missing)} parameters are left out, such as {missing[0]}")


def _by_argument(
    model: nn.Module, example: Example, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    parameters = inspect.signature(model.forward).parameters.values()
    bound = inspect.signature(model.forward).bind(*args, **kwargs).arguments
    if any(p.kind == p.VAR_KEYWORD and p.name in bound for p in parameters):
        flat = dict(bound)
        for p in parameters:
            if p.kind == p.VAR_KEYWORD:
                flat |= flat.pop(p.name, {})
        return flat
    return dict(bound)


def _is_quantized(model: nn.Module) -> bool:
    return any("quantized" in type(m).__module__ for m in model.modules())
