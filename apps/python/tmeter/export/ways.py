"""The ways of exporting, tried in order until one works."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import torch

from ..errors import CannotRunError, Error, ExportError, InputError, ModelError
from ..result import ExportInfo
from ..specs import command_line_inputs
from . import Attempt, Exported, Use, require_module, torch_version
from .arguments import Example, example_of
from .dispatch import capture_model, capture_on_inputs, capture_on_weights
from .fake_module import fake_module_of, symbolic_fake_mode
from .module_copy import Mode, require_whole_parameters, unwrapped
from .modules import modules_of
from .process_state import EXPORT_LOCK, logging_silenced, output_hidden, random_state_restored
from .random_generators import RandomGenerators
from .saving import save_state
from .task import Task, depends_on_data, one_line
from .torch_export import export_program
from .torchscript import script, trace
from .untraceable import handoffs_recorded

T = TypeVar("T")
Way = Callable[[Task], Exported]
#: "torch.export" runs all its checks and writes a file that torch can load.
Via = Literal["auto", "torch.export"]
#: The first version for which whole reports were compared with torch.export's; internals of older ones differ.
_QUICK_SINCE = (2, 15)
_QUICK = "dispatch on fake tensors"


def first_that_works(
    model: Any,
    inputs: Any,
    folder: Path,
    use: Use[T],
    *,
    weights: bool,
    dynamic_batch: bool | Literal["auto"],
    via: Via,
    mode: Mode,
) -> tuple[T, ExportInfo]:
    """Raises ExportError with all attempts, or InputError if the module does not accept the inputs."""
    start = time.monotonic()
    with EXPORT_LOCK, output_hidden():
        saved = _saved_as_it_is(model, folder, inputs, weights)
        if saved is not None:
            exported, way = saved
            return use(exported), ExportInfo(way, (), (), time.monotonic() - start)
        task, ways = _prepared(model, inputs, folder, weights, dynamic_batch, via, mode)
        failed: list[tuple[str, str]] = []
        for attempt in _attempts(task, ways, use):
            if isinstance(attempt.outcome, Exception):
                failed.append((attempt.way, why(attempt.outcome)))
            else:
                return attempt.outcome, attempt.info(tuple(failed), time.monotonic() - start)
    raise _export_error(task, failed)


def every_way(
    model: Any,
    inputs: Any,
    folder: Path,
    use: Use[T],
    *,
    weights: bool,
    dynamic_batch: bool | Literal["auto"],
    mode: Mode,
) -> tuple[list[tuple[str, T]], ExportInfo]:
    """The result of `use` for each way that works, in the order of the attempts."""
    start = time.monotonic()
    with EXPORT_LOCK, output_hidden():
        if isinstance(model, (torch.export.ExportedProgram, torch.jit.ScriptModule, Mapping)):
            raise InputError("via='all': a module is expected, because only modules are exported in several ways")
        task, ways = _prepared(model, inputs, folder, weights, dynamic_batch, "auto", mode)
        attempts = list(_attempts(task, ways, use))
    failed = [(a.way, why(a.outcome)) for a in attempts if isinstance(a.outcome, Exception)]
    worked = [a for a in attempts if not isinstance(a.outcome, Exception)]
    if not worked:
        raise _export_error(task, failed)
    used = [(a.way, cast(T, a.outcome)) for a in worked]
    return used, worked[0].info(tuple(failed), time.monotonic() - start)


def _prepared(
    model: Any,
    inputs: Any,
    folder: Path,
    weights: bool,
    dynamic_batch: bool | Literal["auto"],
    via: Via,
    mode: Mode = "eval",
) -> tuple[Task, list[tuple[str, Way]]]:
    require_module(model)
    model, notes = unwrapped(model)
    require_whole_parameters(model)
    if mode == "train" or (mode == "same" and any(m.training for m in modules_of(model))):
        notes.append("the module was analysed in training mode")
    task = Task(model, example_of(model, inputs), folder, weights, mode, notes=notes)
    return task, _ways(task.example, dynamic_batch, via == "auto" and not weights)


def _saved_as_it_is(
    model: Any, folder: Path, inputs: Any, weights: bool
) -> tuple[Exported, str] | None:
    """Saves a model that is already exported or compiled to TorchScript, or only weights."""
    if isinstance(model, torch.export.ExportedProgram):
        path, way = folder / "program.pt2", "torch.export.save"
        torch.export.save(model, path)
    elif isinstance(model, torch.jit.ScriptModule):
        path, way = folder / f"{model.original_name}.pt", "torch.jit.save"
        torch.jit.save(model, str(path))
    elif isinstance(model, Mapping):
        path, way = folder / "state_dict.pt", "torch.save"
        save_state(model, path, weights)
    else:
        return None
    return Exported(path, tuple(command_line_inputs(inputs))), way


def _ways(
    example: Example, dynamic_batch: bool | Literal["auto"], quick: bool
) -> list[tuple[str, Way]]:
    ways: list[tuple[str, Way]] = [
        ("torch.export, non-strict", lambda t: export_program(t, strict=False)),
        ("torch.export, strict", lambda t: export_program(t, strict=True)),
        ("torch.jit.trace", trace),
        ("torch.jit.script", script),  # needs no sizes of the inputs
    ]
    if quick and torch_version() >= _QUICK_SINCE:
        ways.insert(0, (_QUICK, capture_model))
        ways.insert(3, (f"{_QUICK}, on these inputs", capture_on_inputs))
        ways.append((f"{_QUICK}, on these inputs and weights", capture_on_weights))
    batch = _batch_of(example)
    if dynamic_batch is True and batch is None:
        raise InputError(
            "dynamic_batch=True: the input tensors do not share a first size of two or more "
            "(torch.export fixes a size of one)"
        )
    if dynamic_batch and batch is not None:
        ways.insert(
            0,
            (
                "torch.export, non-strict, with an open batch size",
                lambda t: export_program(t, strict=False, open_batch=True),
            ),
        )
    return ways


def _batch_of(example: Example) -> int | None:
    """The first size that all tensors share, if an export can leave it open."""
    values = [*example.args, *example.kwargs.values()]
    tensors = [v for v in values if isinstance(v, torch.Tensor)]
    if len(tensors) != len(example.tensors()):
        return None  # images in a list have no batch
    sizes = {t.shape[0] if t.dim() else 0 for t in tensors}
    return sizes.pop() if len(sizes) == 1 and min(sizes) >= 2 else None


def _attempts(task: Task, ways: list[tuple[str, Way]], use: Use[T]) -> Iterator[Attempt[T]]:
    """Each way with the result of `use`, or with the error."""
    data_decides = any_worked = needs_values = False
    for name, way in ways:
        if way in (capture_on_inputs, capture_on_weights) and not needs_values:
            continue  # no earlier way needed the values they supply
        if data_decides and name.startswith("torch.export"):
            continue  # it would fail for the same reason
        if way is script and not any_worked:
            _require_it_runs(task)
        tried = replace(task, way=name, notes=list(task.notes), assumed=[], generators=RandomGenerators(task.model))
        outcome: T | Exception
        try:
            logs = contextlib.nullcontext() if name.startswith(_QUICK) else logging_silenced()
            with random_state_restored(task.model, tried.generators), logs:
                exported = way(tried)
            outcome = use(exported)
            any_worked = True
        except (ModelError, CannotRunError) as error:
            outcome = error
        except Error:
            raise
        except Exception as error:
            outcome = error
            # torch.export has symbolic sizes, which the quick way lacks, so it may get further.
            if way is capture_model:
                needs_values = depends_on_data(error) or depends_on_data(error.__context__)
            else:
                data_decides = depends_on_data(error)
        yield Attempt(name, outcome, tuple(dict.fromkeys(tried.notes)), tuple(tried.assumed))


def why(error: Exception) -> str:
    is_tmeters = isinstance(error, (ModelError, CannotRunError))
    return f"tmeter cannot use it: {one_line(error)}" if is_tmeters else one_line(error)


def _export_error(task: Task, failed: list[tuple[str, str]]) -> ExportError:
    tried = "\n".join(f"  {way}: {why}" for way, why in failed)
    return ExportError(
        f"{type(task.model).__name__} cannot be exported:\n{tried}\n"
        "What helps: torch.export's documentation on data-dependent control flow (torch.cond, "
        "torch._check), analysing the part of the model that matters, or writing a TorchScript or "
        ".pt2 file yourself and giving its path",
        failed,
    )


def _require_it_runs(task: Task) -> None:
    run_error = _run_error(task)
    if run_error is not None:
        shapes = any(t.is_meta for t in task.example.tensors())
        raise InputError(
            f"{type(task.model).__name__} does not run on these inputs: {one_line(run_error)}"
            + (_SHAPES_HINT if shapes else "")
        ) from run_error


_SHAPES_HINT = (
    " (whole numbers in a tuple or list are taken for a shape, unless the annotation or default of "
    "forward's parameter says otherwise)"
)


def _run_error(task: Task) -> Exception | None:
    """The error of the module itself on these inputs; None: it runs."""
    handoffs: list[str] = []
    try:
        fake_module = fake_module_of(replace(task, notes=[]), symbolic_fake_mode())
        recorded = handoffs_recorded(handoffs)
        with torch.no_grad(), random_state_restored(task.model), recorded:
            fake_module.model(*fake_module.example.args, **fake_module.example.kwargs)
    except Exception as error:
        # A missing meta kernel (packed quantized weights) does not mean that the inputs are wrong.
        if depends_on_data(error) or isinstance(error, NotImplementedError):
            return None
        if handoffs:  # fake tensors work in one thread only
            return None
        return error
    return None
