"""Records the operators of one call on fake tensors: the quick way, and two ways that supply values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch._subclasses import FakeTensorMode

from . import Exported
from .export_checks import difference
from .fake_module import fake
from .process_state import no_garbage_collection
from .random_generators import EXTREMES
from .task import Task, decided_by_data, state_of

if TYPE_CHECKING:
    from .program_text import Program


@no_garbage_collection()
def capture_model(task: Task) -> Exported:
    """The model as it behaves outside of an export or, if it reads data there, as it behaves inside one."""
    places: list[str] = []
    try:
        program = _captured(task, exporting=False, places=places)
    except Exception:
        program = _captured(task, exporting=True, places=places)
        compare_branches(task)
    return _saved(task, program, places)


def _saved(task: Task, program: Program, places: list[str]) -> Exported:
    if places:
        task.assumed.append(decided_by_data(places, "followed once, on the inputs given"))
    compare_draws(task)
    path = task.path(".pt2")
    program.save(path, task.note())
    return Exported(path)


def capture_on_inputs(task: Task) -> Exported:
    """The model as it runs. Reads of input values are answered and reported."""
    if any(t.is_meta for t in task.example.tensors()):
        raise ValueError("the inputs are sizes without values")
    return _told(task, known_weights=False)


#: The most elements of weights with which a model is run on real values.
_RUN = 1 << 28


def capture_on_weights(task: Task) -> Exported:
    """The last resort: every value that a read depends on is computed on real weights."""
    weights = state_of(task.model)
    if not all(t.device.type == "cpu" and t.layout == torch.strided for t in weights):
        raise ValueError("weights are not in the memory of the CPU")
    if sum(t.numel() for t in weights) > _RUN:
        raise ValueError(f"the model has more than {_RUN:,} weights, with which it is not run")
    if any(t.is_meta for t in task.example.tensors()):
        raise ValueError("the inputs are sizes without values")
    return _told(task, known_weights=True)


def _told(task: Task, *, known_weights: bool) -> Exported:
    places: list[str] = []
    program = _captured(
        task, exporting=False, known_inputs=True, known_weights=known_weights, places=places
    )
    return _saved(task, program, places)


def _captured(
    task: Task,
    *,
    exporting: bool,
    known_inputs: bool = False,
    known_weights: bool = False,
    places: list[str] | None = None,
    extreme: int | None = None,
) -> Program:
    """
    Args:
        places: receives the lines that read inputs with known values.
        extreme: the word that random generators return.
    """
    from .capture import capture  # fails here if torch's internals differ

    own = replace(task, notes=[])
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    mode._allow_unsafe_data_ptr_access = False  # the address would be zero
    shadow = fake(
        own, mode, quick=True, known_inputs=known_inputs, known_weights=known_weights
    )
    if extreme is not None and task.draws is not None:
        task.draws.make_extreme(shadow.model, extreme)
    program = capture(shadow.model, shadow.example, mode, shadow.values, exporting=exporting)
    task.notes += own.notes
    if places is not None:
        places += shadow.values.places
    return program


def compare_branches(task: Task) -> None:
    """Reports a model that multiplies differently when it is exported, as far as can be determined."""
    own = replace(task, notes=[])
    try:
        exported = _captured(own, exporting=True).products()
        eager = _captured(own, exporting=False, known_inputs=True).products()
    except Exception:
        return  # the other branch depends on missing data
    found = difference(eager, exported)
    if found is not None:
        task.assumed.append(
            f"{type(task.model).__name__} behaves differently when it is exported: "
            f"{found}; the values describe the exported behaviour"
        )


def compare_draws(task: Task) -> None:
    """Reports a model whose operators depend on random numbers of Python or numpy."""
    if task.draws is None or not task.draws.any():
        return
    own = replace(task, notes=[])
    try:
        low, high = (
            _captured(own, exporting=False, known_inputs=True, extreme=word).steps()
            for word in EXTREMES
        )
    except Exception:
        decide = "may decide"
    else:
        if low == high:
            return
        decide = "decide"
    finally:
        task.draws.set_back()
    task.assumed.append(
        f"{type(task.model).__name__} draws random numbers by random or numpy, which {decide} its "
        "operators; the values are those of one draw"
    )
