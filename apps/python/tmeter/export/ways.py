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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeVar, cast

import torch
from torch import nn
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from ..errors import CannotRunError, Error, ExportError, InputError, ModelError
from ..result import ExportInfo
from ..specs import command_line_inputs
from . import Attempt, Exported, Use, require_module, torch_version
from .arguments import Example, example_of
from .exporting import difference
from .forward import prepare
from .note import note_of
from .reads import watched
from .saving import save_program, save_script, traced
from .shadow import one_element, require_whole, shadow_of, small_or_one_element, unwrapped
from .values import Values, worth_keeping

if TYPE_CHECKING:
    from .program_text import Program

T = TypeVar("T")

#: torch.export and torch.jit keep their state in globals: one at a time.
_ONE_AT_A_TIME = threading.RLock()


@dataclass
class Task:
    """A module to export in one way."""

    model: nn.Module
    example: Example
    folder: Path
    weights: bool
    way: str = ""
    notes: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    def path(self, suffix: str) -> Path:
        return self.folder / f"{type(self.model).__name__}{suffix}"

    def note(self) -> str:
        return note_of(self.way, self.assumed)


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
    with _ONE_AT_A_TIME, quiet():
        ready = _ready_made(model, folder, inputs)
        if ready is not None:
            exported, way = ready
            return use(exported), ExportInfo(way, (), (), time.monotonic() - start)
        task, ways = _prepared(model, inputs, folder, weights, dynamic_batch, via)
        failed: list[tuple[str, str]] = []
        for attempt in _attempts(task, ways, use):
            if isinstance(attempt.outcome, Exception):
                failed.append((attempt.way, why(attempt.outcome)))
            else:
                return attempt.outcome, attempt.info(tuple(failed), time.monotonic() - start)
    raise _no_way(task, failed)


def every_way(
    model: Any,
    inputs: Any,
    folder: Path,
    use: Use[T],
    *,
    weights: bool,
    dynamic_batch: bool | Literal["auto"],
) -> tuple[list[tuple[str, T]], ExportInfo]:
    """What `use` made of the file of each way that works, in the order in which they are tried."""
    start = time.monotonic()
    with _ONE_AT_A_TIME, quiet():
        if isinstance(model, (torch.export.ExportedProgram, torch.jit.ScriptModule)):
            raise InputError("via='all': a module is expected, as this is exported already")
        task, ways = _prepared(model, inputs, folder, weights, dynamic_batch, "auto")
        attempts = list(_attempts(task, ways, use))
    failed = [(a.way, why(a.outcome)) for a in attempts if isinstance(a.outcome, Exception)]
    worked = [a for a in attempts if not isinstance(a.outcome, Exception)]
    if not worked:
        raise _no_way(task, failed)
    used = [(a.way, cast(T, a.outcome)) for a in worked]
    return used, worked[0].info(tuple(failed), time.monotonic() - start)


def _prepared(
    model: Any,
    inputs: Any,
    folder: Path,
    weights: bool,
    dynamic_batch: bool | Literal["auto"],
    via: Via,
) -> tuple[Task, list[tuple[str, Way]]]:
    require_module(model)
    model, notes = unwrapped(model)
    require_whole(model)
    task = Task(model, example_of(model, inputs), folder, weights, notes=notes)
    return task, _ways(task.example, dynamic_batch, via == "auto" and not weights)


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
        ways.insert(3, ("dispatch on fake tensors, on these inputs", _capture_on_inputs))
        ways.append(("dispatch on fake tensors, on these inputs and weights", _capture_on_weights))
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


def _attempts(task: Task, ways: list[tuple[str, Way]], use: Use[T]) -> Iterator[Attempt[T]]:
    """Each way with what `use` made of its file, or with why it failed."""
    depends_on_data = any_worked = asks = False
    for name, way in ways:
        if way in (_capture_on_inputs, _capture_on_weights) and not asks:
            continue  # no earlier way needed the values they supply
        if depends_on_data and name.startswith("torch.export"):
            continue  # it will not find another answer
        if way is _script and not any_worked:
            _require_it_runs(task)
        own = replace(task, way=name, notes=list(task.notes), assumed=[])
        outcome: T | Exception
        try:
            with _random_state_kept(task.model):
                exported = way(own)
            outcome = use(exported)
            any_worked = True
        except (ModelError, CannotRunError) as error:
            outcome = error
        except Error:
            raise
        except Exception as error:
            outcome = error
            # The quick way has no sizes that are open, with which torch.export gets further.
            if way is _capture:
                asks = _depends_on_data(error) or _depends_on_data(error.__context__)
            else:
                depends_on_data = _depends_on_data(error)
        yield Attempt(name, outcome, tuple(dict.fromkeys(own.notes)), tuple(own.assumed))


def why(error: Exception) -> str:
    ours = isinstance(error, (ModelError, CannotRunError))
    return f"tmeter cannot use it: {one_line(error)}" if ours else one_line(error)


def _no_way(task: Task, failed: list[tuple[str, str]]) -> ExportError:
    tried = "\n".join(f"  {way}: {why}" for way, why in failed)
    return ExportError(
        f"{type(task.model).__name__} cannot be exported:\n{tried}\n"
        "What helps: torch.export's documentation on data-dependent control flow (torch.cond, "
        "torch._check), analysing the part of the model that matters, or writing a TorchScript or "
        ".pt2 file yourself and giving its path",
        failed,
    )


def _open_sizes() -> FakeTensorMode:
    """As torch.export has it: sizes that data decides get names."""
    return FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())


@dataclass
class _Shadow:
    """A copy of fake tensors, and what it is called with."""

    model: nn.Module
    example: Example
    values: Values
    asked: list[str]  # where forward asks whether it is being exported


def _fake(
    task: Task,
    mode: FakeTensorMode,
    *,
    quick: bool = False,
    known_inputs: bool = False,
    known_weights: bool = False,
) -> _Shadow:
    """The shadow and its arguments as fake tensors of one mode, where the module's weights are.

    Args:
        quick: weights are made at once, not by the mode, which also remembers whose views they are.
        known_inputs: the inputs' values are known, too: those given, zeros, ones of masks.
        known_weights: all weights' values are known, not only those of small ones.
    """
    values = Values(sys.maxsize) if known_weights else Values()
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
        made = like(tensor, home) if elsewhere else fake(tensor)
        if known_inputs:
            values.give(made, _value_of_input(tensor), of_input=True)
        return made

    def weight(tensor: torch.Tensor) -> torch.Tensor:
        if not quick or _is_special(tensor) or tensor.layout != torch.strided:
            made = fake(tensor)
        else:
            made = _fake_weight(tensor, mode, home if tensor.is_meta else tensor.device)
        if worth_keeping(tensor):
            values.give(made, tensor)
        elif known_weights:
            values.share(made, tensor)
        return made

    model, notes = shadow_of(task.model, weight)
    asked: list[str] = []
    example, more = prepare(model, task.example, asked)
    task.notes += notes + more
    return _Shadow(model, example.made_by(fake_input), values, asked)


def _value_of_input(tensor: torch.Tensor) -> torch.Tensor:
    """A mask that lets everything pass is what most models are called with."""
    if not tensor.is_meta and not isinstance(tensor, FakeTensor):
        return tensor
    return torch.ones(tensor.shape, dtype=tensor.dtype)


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
    """The model as it behaves outside of an export; if that reads data, as it behaves inside one."""
    try:
        program = _captured(task, exporting=False)
    except Exception:
        program = _captured(task, exporting=True)
        _compare_branches(task)
    path = task.path(".pt2")
    program.save(path, task.note())
    return Exported(path)


def _capture_on_inputs(task: Task) -> Exported:
    """The model as it runs. Questions about the values of inputs are answered, and reported."""
    if any(t.is_meta for t in task.example.tensors()):
        raise ValueError("the inputs are sizes without values")
    return _told(task, known_weights=False)


#: Elements of all weights with which a model is run for real, for what it asks of them.
_RUN = 1 << 28


def _capture_on_weights(task: Task) -> Exported:
    """The last resort: what the answer follows from is worked out for real, as far back as it goes."""
    weights = _state(task.model)
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
    if places:
        task.assumed.append(_decided_by_data(places, "followed once, on the inputs given"))
    path = task.path(".pt2")
    program.save(path, task.note())
    return Exported(path)


def _captured(
    task: Task,
    *,
    exporting: bool,
    known_inputs: bool = False,
    known_weights: bool = False,
    places: list[str] | None = None,
) -> Program:
    """`places` gets the lines that ask the inputs, where these are known."""
    from .capture import capture  # where torch has other insides it fails alone

    own = replace(task, notes=[])
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    shadow = _fake(
        own, mode, quick=True, known_inputs=known_inputs, known_weights=known_weights
    )
    program = capture(shadow.model, shadow.example, mode, shadow.values, exporting=exporting)
    task.notes += own.notes
    if places is not None:
        places += shadow.values.places
    return program


def _compare_branches(task: Task) -> None:
    """Whether the model multiplies the same when it is exported, as far as can be determined."""
    own = replace(task, notes=[])
    try:
        exported = _captured(own, exporting=True).products()
        eager = _captured(own, exporting=False, known_inputs=True).products()
    except Exception:
        return  # its other branch depends on missing data
    found = difference(eager, exported)
    if found is not None:
        task.assumed.append(
            f"{type(task.model).__name__} does otherwise when it is exported than when it runs: "
            f"{found}; the figures are of what it does when it is exported"
        )


def _export(task: Task, *, strict: bool, open_batch: bool = False) -> Exported:
    shadow = _fake(task, _open_sizes())
    model, example = shadow.model, shadow.example
    options: dict[str, Any] = {"strict": strict}
    if open_batch:
        auto = torch.export.Dim.AUTO
        leaf = lambda x: {0: auto} if isinstance(x, torch.Tensor) else None  # noqa: E731
        tree = torch.utils._pytree.tree_map(leaf, (example.args, example.kwargs))
        options["dynamic_shapes"] = _by_argument(model, example, *tree)
    with torch.no_grad() if _is_quantized(task.model) else contextlib.nullcontext():
        program = torch.export.export(model, example.args, example.kwargs or None, **options)
    if strict:
        _require_all_parameters(task.model, program)
    if shadow.asked or strict:
        _compare_branches(task)
    path = task.path(".pt2")
    save_program(program, path, task.model if task.weights else None, task.note())
    return Exported(path)


def _require_all_parameters(model: nn.Module, program: torch.export.ExportedProgram) -> None:
    """The strict mode leaves out those that forward does not use, and totals would lack them."""
    used = set(program.graph_signature.inputs_to_parameters.values())
    names: dict[int, list[str]] = {}  # a tied one has several
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


def _trace(task: Task) -> Exported:
    """Runs for real, on weights and inputs of one stored element; small weights keep their values."""
    model, example = _runnable(task)
    with torch.no_grad():
        script = traced(model, example, task.model if task.weights else None)
    places = _places_that_read_data(replace(task, notes=[]))
    if places:
        task.assumed.append(
            _decided_by_data(places, "traced once, on the inputs given and weights of zeros")
        )
    path = task.path(".pt")
    save_script(script, path, task.note())
    return Exported(path)


def _runnable(task: Task) -> tuple[nn.Module, Example]:
    model, notes = shadow_of(task.model, small_or_one_element)
    example, more = prepare(model, task.example, [])
    task.notes += notes + more
    return model, example.made_by(lambda t: one_element(t) if t.is_meta else t.detach().cpu())


def _places_that_read_data(task: Task) -> list[str]:
    """In a run of its own: the tracer loses track of tensors while they are observed."""
    model, example = _runnable(task)
    data = [*example.tensors(), *_without_values(task.model, model)]
    with torch.no_grad(), watched(data) as reads:
        model(*example.args, **example.kwargs)
    return reads.places


def _without_values(model: nn.Module, shadow: nn.Module) -> list[torch.Tensor]:
    """Tensors of the shadow that stand for others of the model."""
    pairs = zip(_state(model), _state(shadow))
    return [made for tensor, made in pairs if not worth_keeping(tensor)]


def _state(model: nn.Module) -> list[torch.Tensor]:
    return [*model.parameters(), *model.buffers()]


def _decided_by_data(places: list[str], how: str) -> str:
    named = ", ".join(places[:3]) + (f" and {len(places) - 3} more lines" if len(places) > 3 else "")
    return (
        f"data decides at {named}: the model was {how}, and other data may take other branches or "
        "sizes"
    )


def _script(task: Task) -> Exported:
    """The program with its branches, not a run of it; the native program follows the sizes."""
    model, notes = shadow_of(task.model, one_element)
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


def _require_it_runs(task: Task) -> None:
    refusal = _refusal(task)
    if refusal is not None:
        shapes = any(t.is_meta for t in task.example.tensors())
        raise InputError(
            f"{type(task.model).__name__} does not run on these inputs: {one_line(refusal)}"
            + (_SHAPES if shapes else "")
        ) from refusal


_SHAPES = (
    " (whole numbers in a tuple or list are taken for a shape, unless the annotation or default of "
    "forward's parameter says otherwise)"
)


def _refusal(task: Task) -> Exception | None:
    """Why the module itself does not run on the inputs, export or not; None: it does."""
    try:
        shadow = _fake(replace(task, notes=[]), _open_sizes())
        with torch.no_grad(), _random_state_kept(task.model):
            shadow.model(*shadow.example.args, **shadow.example.kwargs)
    except Exception as error:
        # An operator without a meta kernel (packed quantized weights) says nothing about the inputs.
        if _depends_on_data(error) or isinstance(error, NotImplementedError):
            return None
        return error
    return None


def _depends_on_data(error: BaseException | None) -> bool:
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
