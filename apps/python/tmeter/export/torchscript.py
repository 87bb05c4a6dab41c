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
from .data_reads import DataReads, data_reads_recorded
from .dispatch import compare_random_runs
from .export_checks import difference
from .forward import prepare
from .module_copy import copy_without_weights, one_element, small_or_one_element
from .saving import save_script, traced
from .task import Task, decided_by_data, state_of
from .tensor_values import is_value_kept


def trace(task: Task) -> Exported:
    """Traces a run on weights and inputs of one stored element each; small weights keep their values."""
    model, example = _runnable(task)
    with torch.no_grad():
        script = traced(model, example, task.model if task.weights else None)
    _compare_with_runs(task)
    compare_random_runs(task)
    path = task.path(".pt")
    save_script(script, path, task.note())
    return Exported(path)


def _runnable(task: Task) -> tuple[nn.Module, Example]:
    model, notes = copy_without_weights(task.model, small_or_one_element, task.mode)
    example, input_notes = prepare(model, task.example, [])
    task.notes += notes + input_notes
    return model, example.mapped(lambda t: one_element(t) if t.is_meta else t.detach().cpu())


def _compare_with_runs(task: Task) -> None:
    """Compares the trace with other runs, because the tracer loses track of observed tensors."""
    run = _observed_run(task)
    if run.lines:
        how = "traced once, on the inputs given and weights of zeros"
        task.assumed.append(decided_by_data(run.lines, how))
    for handoff in run.handoffs:
        task.assumed.append(f"{handoff}; a trace may miss these operators")
    if run.tracing_checks:
        found = difference(run.products, _observed_run(task, tracing=True).products)
        if found is not None:
            task.assumed.append(
                f"{run.tracing_checks[0]}: the model behaves differently when it is traced: "
                f"{found}; the values describe the traced behaviour"
            )


def _observed_run(task: Task, *, tracing: bool = False) -> DataReads:
    model, example = _runnable(replace(task, notes=[]))
    data = [*example.tensors(), *_without_values(task.model, model)]
    with torch.no_grad(), data_reads_recorded(data, tracing=tracing) as reads:
        model(*example.args, **example.kwargs)
    return reads


def _without_values(model: nn.Module, copied: nn.Module) -> list[torch.Tensor]:
    """The copy's tensors that do not have the model's values."""
    pairs = zip(state_of(model), state_of(copied))
    return [copied_tensor for tensor, copied_tensor in pairs if not is_value_kept(tensor)]


def script(task: Task) -> Exported:
    """Writes the program with its branches; the native program computes the sizes."""
    model, notes = copy_without_weights(task.model, one_element, task.mode)
    task.notes += notes
    path = task.path(".pt")
    scripted: Any = torch.jit.script(model)
    save_script(scripted, path, task.note())
    options = [f"--input={name}={text}" for name, text in _inputs_by_name(task).items()]
    return Exported(path, tuple(options))


def _inputs_by_name(task: Task) -> dict[str, str]:
    bound = inspect.signature(task.model.forward).bind(*task.example.args, **task.example.kwargs)
    options = command_line_inputs(bound.arguments)
    return dict(s.removeprefix("--input=").split("=", 1) for s in options)
