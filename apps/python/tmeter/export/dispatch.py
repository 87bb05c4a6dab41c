"""Records the operators of one call on fake tensors: the quick way, and two ways that supply values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch._subclasses import FakeTensorMode

from . import Exported
from .export_checks import difference
from .fake_module import fake_module_of
from .process_state import no_garbage_collection
from .random_generators import EXTREME_WORDS
from .task import Task, decided_by_data, state_of

if TYPE_CHECKING:
    from .program_text import Program


@no_garbage_collection()
def capture_model(task: Task) -> Exported:
    """The model as it behaves outside of an export or, if it reads data there, as it behaves inside one."""
    lines: list[str] = []
    try:
        program = _capture_program(task, exporting=False, lines=lines)
    except Exception:
        program = _capture_program(task, exporting=True, lines=lines)
        compare_branches(task)
    return _save_program(task, program, lines)


def _save_program(task: Task, program: Program, lines: list[str]) -> Exported:
    if lines:
        task.assumed.append(decided_by_data(lines, "followed once, on the inputs given"))
    compare_random_runs(task)
    path = task.path(".pt2")
    program.save(path, task.note())
    return Exported(path)


def capture_on_inputs(task: Task) -> Exported:
    """The model as it runs. Reads of input values are answered and reported."""
    if any(t.is_meta for t in task.example.tensors()):
        raise ValueError("the inputs are sizes without values")
    return _capture_with_values(task, with_weight_values=False)


#: The most elements of weights with which a model is run on real values.
_MAX_RUN_ELEMENTS = 1 << 28


def capture_on_weights(task: Task) -> Exported:
    """The last resort: every value that a read depends on is computed on real weights."""
    weights = state_of(task.model)
    if not all(t.device.type == "cpu" and t.layout == torch.strided for t in weights):
        raise ValueError("weights are not in the memory of the CPU")
    if sum(t.numel() for t in weights) > _MAX_RUN_ELEMENTS:
        raise ValueError(f"the model has more than {_MAX_RUN_ELEMENTS:,} weights, with which it is not run")
    if any(t.is_meta for t in task.example.tensors()):
        raise ValueError("the inputs are sizes without values")
    return _capture_with_values(task, with_weight_values=True)


def _capture_with_values(task: Task, *, with_weight_values: bool) -> Exported:
    lines: list[str] = []
    program = _capture_program(
        task, exporting=False, with_input_values=True, with_weight_values=with_weight_values, lines=lines
    )
    return _save_program(task, program, lines)


def _capture_program(
    task: Task,
    *,
    exporting: bool,
    with_input_values: bool = False,
    with_weight_values: bool = False,
    lines: list[str] | None = None,
    extreme: int | None = None,
) -> Program:
    """
    Args:
        lines: receives the lines that read inputs with known values.
        extreme: the word that random generators return.
    """
    from .capture import capture  # fails here if torch's internals differ

    task_copy = replace(task, notes=[])
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    mode._allow_unsafe_data_ptr_access = False  # the address would be zero
    fake_module = fake_module_of(
        task_copy, mode, quick=True, with_input_values=with_input_values, with_weight_values=with_weight_values
    )
    if extreme is not None and task.generators is not None:
        task.generators.set_extreme(fake_module.model, extreme)
    program = capture(fake_module.model, fake_module.example, mode, fake_module.values, exporting=exporting)
    task.notes += task_copy.notes
    if lines is not None:
        lines += fake_module.values.lines
    return program


def compare_branches(task: Task) -> None:
    """Reports a model that multiplies differently when it is exported, as far as can be determined."""
    task_copy = replace(task, notes=[])
    try:
        exported = _capture_program(task_copy, exporting=True).products()
        eager = _capture_program(task_copy, exporting=False, with_input_values=True).products()
    except Exception:
        return  # the other branch depends on missing data
    differing = difference(eager, exported)
    if differing is not None:
        task.assumed.append(
            f"{type(task.model).__name__} behaves differently when it is exported: "
            f"{differing}; the values describe the exported behaviour"
        )


def compare_random_runs(task: Task) -> None:
    """Reports a model whose operators depend on random numbers of Python or numpy."""
    if task.generators is None or not task.generators.were_used():
        return
    task_copy = replace(task, notes=[])
    try:
        low, high = (
            _capture_program(task_copy, exporting=False, with_input_values=True, extreme=word).steps()
            for word in EXTREME_WORDS
        )
    except Exception:
        verb = "may decide"
    else:
        if low == high:
            return
        verb = "decide"
    finally:
        task.generators.restore()
    task.assumed.append(
        f"{type(task.model).__name__} draws random numbers by random or numpy, which {verb} its "
        "operators; the values are those of one draw"
    )
