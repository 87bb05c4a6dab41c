"""Exporting to TorchScript, by tracing a run or by compiling the source."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from ..specs import command_line_inputs
from . import Exported
from .arguments import Example
from .data_reads import Reads, watched
from .dispatch import compare_draws
from .export_checks import difference
from .forward import prepare
from .module_copy import one_element, shadow_of, small_or_one_element
from .saving import save_script, traced
from .task import Task, decided_by_data, state_of
from .tensor_values import worth_keeping


def trace(task: Task) -> Exported:
    """Traces a run on weights and inputs of one stored element each; small weights keep their values."""
    model, example = _runnable(task)
    with torch.no_grad():
        script = traced(model, example, task.model if task.weights else None)
    _compare_with_a_run(task)
    compare_draws(task)
    path = task.path(".pt")
    save_script(script, path, task.note())
    return Exported(path)


def _runnable(task: Task) -> tuple[nn.Module, Example]:
    model, notes = shadow_of(task.model, small_or_one_element, task.mode)
    example, more = prepare(model, task.example, [])
    task.notes += notes + more
    return model, example.made_by(lambda t: one_element(t) if t.is_meta else t.detach().cpu())


def _compare_with_a_run(task: Task) -> None:
    """Compares the trace with other runs, because the tracer loses track of observed tensors."""
    run = _observed(task)
    if run.places:
        how = "traced once, on the inputs given and weights of zeros"
        task.assumed.append(decided_by_data(run.places, how))
    for place in run.handed_over:
        task.assumed.append(f"{place}; a trace may miss these operators")
    if run.tracing:
        found = difference(run.products, _observed(task, tracing=True).products)
        if found is not None:
            task.assumed.append(
                f"{run.tracing[0]}: the model behaves differently when it is traced: "
                f"{found}; the values describe the traced behaviour"
            )


def _observed(task: Task, *, tracing: bool = False) -> Reads:
    model, example = _runnable(replace(task, notes=[]))
    data = [*example.tensors(), *_without_values(task.model, model)]
    with torch.no_grad(), watched(data, tracing=tracing) as reads:
        model(*example.args, **example.kwargs)
    return reads


def _without_values(model: nn.Module, shadow: nn.Module) -> list[torch.Tensor]:
    """The shadow's tensors that do not have the model's values."""
    pairs = zip(state_of(model), state_of(shadow))
    return [made for tensor, made in pairs if not worth_keeping(tensor)]


def script(task: Task) -> Exported:
    """Writes the program with its branches; the native program computes the sizes."""
    model, notes = shadow_of(task.model, one_element, task.mode)
    task.notes += notes
    path = task.path(".pt")
    scripted: Any = torch.jit.script(model)
    save_script(scripted, path, task.note())
    named = [f"--input={name}={said}" for name, said in _said_by_name(task).items()]
    return Exported(path, tuple(named))


def _said_by_name(task: Task) -> dict[str, str]:
    bound = inspect.signature(task.model.forward).bind(*task.example.args, **task.example.kwargs)
    said = command_line_inputs(bound.arguments)
    return dict(s.removeprefix("--input=").split("=", 1) for s in said)
