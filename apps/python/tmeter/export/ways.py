"""The ways of exporting, tried in order until one works."""

from __future__ import annotations

import contextlib
import inspect
import logging
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO, TypeVar, cast

import torch
from torch import nn
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from ..errors import CannotRunError, Error, ExportError, InputError, ModelError
from ..result import ExportInfo
from ..specs import command_line_inputs
from . import Exported, Use, require_module, torch_version
from .arguments import Example, example_of
from .forward import prepare
from .saving import save_program, save_traced
from .shadow import one_element, require_whole, shadow_of, unwrapped

T = TypeVar("T")

#: torch.export and torch.jit keep their state in globals: one at a time.
_ONE_AT_A_TIME = threading.RLock()


@dataclass
class Task:
    """A module to export."""

    model: nn.Module
    example: Example
    folder: Path
    weights: bool
    notes: list[str]

    def path(self, suffix: str) -> Path:
        return self.folder / f"{type(self.model).__name__}{suffix}"


def first_that_works(
    model: Any,
    inputs: Any,
    folder: Path,
    use: Use[T],
    *,
    weights: bool,
    dynamic_batch: bool | Literal["auto"],
    via: Via,
) -> tuple[T, ExportInfo]:
    """Raises ExportError with all attempts, or InputError when the module itself refuses."""
    start = time.monotonic()
    notes: list[str] = []
    with _ONE_AT_A_TIME, quiet():
        ready = _ready_made(model, folder, inputs)
        if ready is not None:
            exported, way = ready
            return use(exported), ExportInfo(way, (), (), time.monotonic() - start)
        require_module(model)
        model, notes = unwrapped(model)
        require_whole(model)
        task = Task(model, example_of(model, inputs), folder, weights, notes)
        ways = _ways(task.example, dynamic_batch, via == "auto" and not weights)
        used, way, failed = _try_all(task, ways, use)
    notes = list(dict.fromkeys(task.notes))
    return used, ExportInfo(way, tuple(failed), tuple(notes), time.monotonic() - start)


def _ready_made(model: Any, folder: Path, inputs: Any) -> tuple[Exported, str] | None:
    """What torch has exported or compiled to TorchScript before."""
    if isinstance(model, torch.export.ExportedProgram):
        path, way = folder / "program.pt2", "torch.export.save"
        torch.export.save(model, path)
    elif isinstance(model, torch.jit.ScriptModule):
        path, way = folder / f"{model.original_name}.pt", "torch.jit.save"
        torch.jit.save(model, str(path))
    else:
        return None
    return Exported(path, tuple(command_line_inputs(inputs))), way


Way = Callable[[Task], Exported]


#: Whole reports were compared with torch.export's from this version on; the insides of older ones differ.
_QUICK_SINCE = (2, 15)

#: torch.export with all its checks, and what it writes can be loaded by torch.
Via = Literal["auto", "torch.export"]


def _ways(
    example: Example, dynamic_batch: bool | Literal["auto"], quick: bool
) -> list[tuple[str, Way]]:
    ways: list[tuple[str, Way]] = [
        ("torch.export, non-strict", lambda t: _export(t, strict=False)),
        ("torch.export, strict", lambda t: _export(t, strict=True)),
        ("torch.jit.trace", _trace),
        ("torch.jit.script", _script),  # looks at the inputs last, and not at their sizes
    ]
    if quick and torch_version() >= _QUICK_SINCE:
        ways.insert(0, ("dispatch on fake tensors", _capture))
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
                lambda t: _export(t, strict=False, open_batch=True),
            ),
        )
    return ways


def _batch_of(example: Example) -> int | None:
    """The first size all tensors share, if an export can leave it open."""
    values = [*example.args, *example.kwargs.values()]
    tensors = [v for v in values if isinstance(v, torch.Tensor)]
    if len(tensors) != len(example.tensors()):
        return None  # images in a list have no batch
    sizes = {t.shape[0] if t.dim() else 0 for t in tensors}
    return sizes.pop() if len(sizes) == 1 and min(sizes) >= 2 else None


def _try_all(
    task: Task, ways: list[tuple[str, Way]], use: Use[T]
) -> tuple[T, str, list[tuple[str, str]]]:
    failed: list[tuple[str, str]] = []
    depends_on_data = False
    for name, way in ways:
        if depends_on_data and name.startswith("torch.export"):
            continue  # it will not find another answer
        if way is _script:
            _require_it_runs(task)
        try:
            with _random_state_kept(task.model):
                exported = way(task)
            return use(exported), name, failed
        except (ModelError, CannotRunError) as error:
            failed.append((name, f"tmeter cannot use it: {one_line(error)}"))
        except Error:
            raise
        except Exception as error:
            failed.append((name, one_line(error)))
            # The quick way has no sizes that are open, with which torch.export gets further.
            depends_on_data = way is not _capture and _depends_on_data(error)
    tried = "\n".join(f"  {way}: {why}" for way, why in failed)
    raise ExportError(
        f"{type(task.model).__name__} cannot be exported:\n{tried}\n"
        "What helps: torch.export's documentation on data-dependent control flow (torch.cond, "
        "torch._check), analysing the part of the model that matters, or writing a TorchScript or "
        ".pt2 file yourself and giving its path",
        failed,
    )


def _open_sizes() -> FakeTensorMode:
    """As torch.export has it: sizes that data decides get names."""
    return FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())


def _fake(task: Task, mode: FakeTensorMode, *, quick: bool = False) -> tuple[nn.Module, Example]:
    """The shadow and its arguments as fake tensors of one mode, where the module's weights are.

    Args:
        quick: weights are made at once, not by the mode, which also remembers whose views they are.
    """
    home = _device_of(task.model)

    def like(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        with mode:
            return torch.empty_strided(
                tuple(tensor.shape), _strides(tensor), dtype=tensor.dtype, device=device
            )

    def fake(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_meta or _is_special(tensor):
            return like(tensor, home if tensor.is_meta else tensor.device)
        return mode.from_tensor(tensor.detach(), static_shapes=True)

    def fake_input(tensor: torch.Tensor) -> torch.Tensor:
        """Of an input only size and dtype matter, not where it is."""
        elsewhere = tensor.device != home and tensor.layout == torch.strided
        return like(tensor, home) if elsewhere else fake(tensor)

    def weight(tensor: torch.Tensor) -> torch.Tensor:
        if not quick or _is_special(tensor) or tensor.layout != torch.strided:
            return fake(tensor)
        return _fake_weight(tensor, mode, home if tensor.is_meta else tensor.device)

    model, notes = shadow_of(task.model, weight)
    task.notes += notes + prepare(model)
    return model, task.example.made_by(fake_input)


def _fake_weight(tensor: torch.Tensor, mode: FakeTensorMode, device: torch.device) -> torch.Tensor:
    """nn.Parameter(…) would go through the mode, too: that alone takes as long as a small network's forward."""
    empty = torch.empty_strided(
        tuple(tensor.shape), tuple(tensor.stride()), dtype=tensor.dtype, device="meta"
    )
    made = FakeTensor(mode, empty, device)
    if isinstance(tensor, nn.Parameter):
        made.requires_grad_(tensor.requires_grad)
        made._is_param = True  # what nn.Parameter does, and isinstance asks for
    return made


def _is_special(tensor: torch.Tensor) -> bool:
    """A DTensor (FSDP2, tensor parallel) stands for the whole tensor."""
    return type(tensor).__name__ == "DTensor" or type(tensor.data).__name__ == "DTensor"


def _strides(tensor: torch.Tensor) -> tuple[int, ...]:
    return tuple(tensor.stride()) if tensor.layout == torch.strided else ()


def _device_of(model: nn.Module) -> torch.device:
    devices = [p.device for p in model.parameters() if not p.is_meta]
    return devices[0] if devices else torch.device("cpu")


def _capture(task: Task) -> Exported:
    from .capture import capture  # where torch has other insides it fails alone

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    model, example = _fake(task, mode, quick=True)
    path = task.path(".pt2")
    capture(model, example, mode).save(path)
    return Exported(path)


def _export(task: Task, *, strict: bool, open_batch: bool = False) -> Exported:
    model, example = _fake(task, _open_sizes())
    options: dict[str, Any] = {"strict": strict}
    if open_batch:
        auto = torch.export.Dim.AUTO
        leaf = lambda x: {0: auto} if isinstance(x, torch.Tensor) else None  # noqa: E731
        tree = torch.utils._pytree.tree_map(leaf, (example.args, example.kwargs))
        options["dynamic_shapes"] = _by_argument(model, example, *tree)
    with torch.no_grad() if _is_quantized(task.model) else contextlib.nullcontext():
        program = torch.export.export(model, example.args, example.kwargs or None, **options)
    path = task.path(".pt2")
    save_program(program, path, task.model if task.weights else None)
    return Exported(path)


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


def _trace(task: Task) -> Exported:
    """Runs for real, on weights and inputs of one stored element."""
    model, notes = shadow_of(task.model, one_element)
    task.notes += notes + prepare(model)
    example = task.example.made_by(lambda t: one_element(t) if t.is_meta else t.detach().cpu())
    path = task.path(".pt")
    with torch.no_grad():
        save_traced(model, example, path, task.model if task.weights else None)
    return Exported(path)


def _script(task: Task) -> Exported:
    """The program with its branches, not a run of it; the native program follows the sizes."""
    model, notes = shadow_of(task.model, one_element)
    task.notes += notes
    path = task.path(".pt")
    scripted: Any = torch.jit.script(model)
    scripted.save(str(path))
    named = [f"--input={name}={said}" for name, said in _said_by_name(task).items()]
    return Exported(path, tuple(named))


def _said_by_name(task: Task) -> dict[str, str]:
    bound = inspect.signature(task.model.forward).bind(*task.example.args, **task.example.kwargs)
    said = command_line_inputs(bound.arguments)
    return dict(s.removeprefix("--input=").split("=", 1) for s in said)


def _require_it_runs(task: Task) -> None:
    refusal = _refusal(task)
    if refusal is not None:
        raise InputError(
            f"{type(task.model).__name__} does not run on these inputs: {one_line(refusal)}"
        ) from refusal


def _refusal(task: Task) -> Exception | None:
    """Why the module itself does not run on the inputs, export or not; None: it does."""
    try:
        model, example = _fake(task, _open_sizes())
        with torch.no_grad(), _random_state_kept(task.model):
            model(*example.args, **example.kwargs)
    except Exception as error:
        # What has no meta kernel (packed quantized weights) says nothing about the inputs.
        if _depends_on_data(error) or isinstance(error, NotImplementedError):
            return None
        return error
    return None


def _depends_on_data(error: Exception) -> bool:
    name = type(error).__name__
    return "DataDependent" in name or "DynamicOutputShape" in name or "Unbacked" in name


def one_line(error: BaseException, limit: int = 300) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    said = " ".join(line for line in lines if line)
    return f"{type(error).__name__}: {said}"[:limit]


@contextlib.contextmanager
def _random_state_kept(model: nn.Module) -> Iterator[None]:
    import random

    cuda = torch.cuda.is_available()
    devices = {p.device.index for p in model.parameters() if cuda and p.device.type == "cuda"}
    state = random.getstate()
    with torch.random.fork_rng(devices=[d for d in devices if d is not None]):
        try:
            yield
        finally:
            random.setstate(state)


class _OfOtherThreads:
    """A text stream that swallows what this thread writes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._thread = stream, threading.get_ident()

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() == self._thread else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Why attempts fail is in the result; what torch prints of it (whole graphs) is not shown."""
    loggers = [logging.getLogger(name) for name in ("torch.fx", "torch.export", "torch._export")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stderr(cast(TextIO, _OfOtherThreads(sys.stderr))),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before):
            logger.setLevel(level)
