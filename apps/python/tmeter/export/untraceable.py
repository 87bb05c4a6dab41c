"""Finds questions of forward that fake tensors answer differently from real ones: the class of a tensor, its printed
text, the operators that a dispatch mode of its own sees. Also finds work that other threads do, which no way records.

A right answer would need other globals for the model's code. So the lines that ask are only found, while they
run, and then no way with fake tensors is used.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dis
import functools
import sys
import sysconfig
import threading
import types
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode

from .modules import modules_of
from .source_lines import is_file_of_others, is_of_others, place_of

#: The expression whose class is requested: a local variable and its attributes; None: unknown.
_Chain = tuple[str, ...] | None
_Lines = dict[int, list[_Chain]]

_CLASSES = {"Tensor", "Parameter", "Buffer", "FloatTensor"}
_COMPARES = ("IS_OP", "COMPARE_OP", "CONTAINS_OP")
_NAMES = {"__name__", "__qualname__"}
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_FAKES = {"FakeTensor", "is_fake"}
#: transformers tests for fake tensors in order to keep branches that some data would need.
_GENERAL = "transformers/utils/import_utils.py"
_STANDARD = sysconfig.get_path("stdlib") + "/"
_SITE = sysconfig.get_path("purelib") + "/"


class Asked(Exception):
    """This way would give another answer than a run."""


@contextlib.contextmanager
def refused(model: nn.Module) -> Iterator[None]:
    """Raises Asked at the end if the module's forward has asked such a question."""
    places: list[str] = []
    failure: Exception | None = None
    try:
        with (
            _lines_watched(questions(model), places),
            _printing_watched(places),
            handing_over_watched(places),
        ):
            yield
    except Exception as error:
        if not places:
            raise
        failure = error
    if places:
        raise Asked(f"{places[0]}: this way cannot give the answer of a run") from failure


def _note(places: list[str], frame: Any, what: str) -> None:
    text = f"{place_of(frame)} {what}"
    if text not in places:
        places.append(text)


# Which class a tensor is.


def questions(model: nn.Module) -> dict[types.CodeType, _Lines]:
    """The lines that ask for a class, in all code that forward calls by name."""
    found = {}
    for code in _reachable(model):
        lines = _asking(code)
        if lines:
            found[code] = lines
    return found


@functools.lru_cache(4096)
def _asking(code: types.CodeType) -> _Lines:
    names = {*code.co_names, *code.co_freevars}
    fakes = names & _FAKES and not code.co_filename.endswith(_GENERAL)
    if not (fakes or names & {"type", "__class__"}):
        return {}
    steps = _steps(code)
    lines: _Lines = {}
    for i, (line, kind, name) in enumerate(steps):
        if fakes and name in _FAKES:
            lines.setdefault(line, []).append(None)
        chain: _Chain = None
        if name == "type" and kind.startswith("LOAD_"):
            chain, end = _after(steps, i + 1)
            start = i
        elif name == "__class__" and kind.startswith("LOAD_ATTR"):
            chain, end = _before(steps, i), i + 1
            start = i - len(chain or ())
        else:
            continue
        if chain is not None and chain[0] in ("self", "cls") and len(chain) == 1:
            continue
        if _is_only_said(steps, start, end):
            continue
        rest = [step for step in steps[end:] if step[0] == line]
        compared = any(k.startswith(_COMPARES) for _, k, _ in rest)
        classes = names & _CLASSES
        named = bool(rest) and any(n in _NAMES for _, _, n in rest[:3])
        if (classes or chain is not None) and (compared or named or classes):
            lines.setdefault(line, []).append(chain)
    return lines


def _is_only_said(steps: list[tuple[int, str, Any]], start: int, end: int) -> bool:
    """True for harmless uses, because watching them would slow every call: f"{type(x).__name__} is not …",
    getattr(type(x), "name", …)."""
    line, first, name = steps[end] if end < len(steps) else (0, "", "")
    if name in _NAMES and first.startswith(_ATTRIBUTES):
        rest = [kind for at, kind, _ in steps[end + 1 :] if at == line]
        return bool(rest) and rest[0].startswith("FORMAT_") and not any(k.startswith(_COMPARES) for k in rest)
    asked = steps[start - 1][2] if start > 0 else ""
    return asked in ("getattr", "hasattr") and first == "LOAD_CONST" and name not in _NAMES


def _steps(code: types.CodeType) -> list[tuple[int, str, Any]]:
    """Line, operation and name of each instruction with an effect."""
    starts = {offset: line for offset, line in dis.findlinestarts(code) if line}
    line, steps = code.co_firstlineno, []
    for step in dis.get_instructions(code):
        line = starts.get(step.offset, line)
        if step.opname not in ("PUSH_NULL", "CACHE", "PRECALL", "EXTENDED_ARG", "NOP"):
            steps.append((line, step.opname, step.argval))
    return steps


_LOCALS = ("LOAD_FAST", "LOAD_DEREF")


def _after(steps: list[tuple[int, str, Any]], i: int) -> tuple[_Chain, int]:
    """The argument of the call of `type`, and the index after the call."""
    chain: list[str] = []
    while i < len(steps):
        _, kind, name = steps[i]
        if kind.startswith(_LOCALS) and not chain or kind.startswith(_ATTRIBUTES) and chain:
            chain.append(name)
        else:
            called = kind.startswith("CALL") and chain
            return (tuple(chain), i + 1) if called and _is_text(chain) else (None, i + 1)
        i += 1
    return None, i


def _before(steps: list[tuple[int, str, Any]], i: int) -> _Chain:
    chain: list[str] = []
    while i > 0:
        i -= 1
        _, kind, name = steps[i]
        chain.insert(0, name)
        if kind.startswith(_LOCALS):
            return tuple(chain) if _is_text(chain) else None
        if not kind.startswith(_ATTRIBUTES):
            return None
    return None


def _is_text(chain: list[Any]) -> bool:
    return all(isinstance(name, str) for name in chain)


@contextlib.contextmanager
def _lines_watched(asking: dict[types.CodeType, _Lines], places: list[str]) -> Iterator[None]:
    """Uses the interpreter's tracing, so only code with such lines is slowed. A debugger's tracing continues."""
    if not asking:
        yield
        return
    theirs: Any = sys.gettrace()

    def call(frame: Any, event: str, arg: Any) -> Any:
        before = theirs(frame, event, arg) if theirs else None
        lines = asking.get(frame.f_code)
        if lines is None:
            return before

        def line(frame: Any, event: str, arg: Any) -> Any:
            if before is not None:
                before(frame, event, arg)
            if event == "line":
                for chain in lines.get(frame.f_lineno, ()):
                    if _is_fake(frame, chain):
                        _note(places, frame, "asks for the class of a tensor")
            return line

        return line

    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(theirs)


def _is_fake(frame: Any, chain: _Chain) -> bool:
    if chain is None:
        return True
    try:
        value = functools.reduce(getattr, chain[1:], frame.f_locals[chain[0]])
    except Exception:
        return False  # not assigned yet: the line asks later, or never
    return isinstance(value, FakeTensor)


# The code that forward may call.


#: The most frequent types of module attributes, none of them callable.
_NOT_CALLED = frozenset((type(None), bool, int, float, str, tuple, list, dict, OrderedDict, set))


def _reachable(model: nn.Module) -> Iterator[types.CodeType]:
    pending: list[tuple[Any, Any]] = []
    kinds: set[type] = set()
    for module in modules_of(model):
        own = [f for f in vars(module).values() if type(f) not in _NOT_CALLED]
        pending += [(f, module) for f in own if callable(f) and not isinstance(f, nn.Module)]
        if type(module) not in kinds:
            kinds.add(type(module))
            pending += [(getattr(type(module), name, None), module) for name in ("forward", "__call__")]
    seen: set[int] = set()
    while pending:
        value, owner = pending.pop()
        function = _function(value)
        if function is None or id(function) in seen:
            continue
        seen.add(id(function))
        file = function.__code__.co_filename
        if _is_standard(file) or not is_file_of_others(file):
            continue
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
            yield code
            pending += [(v, owner) for v in _named(code.co_names, function, owner)]
        pending += [(v, owner) for v in _enclosed(function)]


@functools.cache
def _is_standard(file: str) -> bool:
    return file.startswith(_STANDARD) and not file.startswith(_SITE)


def _function(value: Any) -> types.FunctionType | None:
    for _ in range(8):
        if isinstance(value, types.FunctionType):
            return value
        if isinstance(value, functools.partial):
            value = value.func
        elif isinstance(value, property):
            value = value.fget
        elif isinstance(value, type):
            value = vars(value).get("__call__") or vars(value).get("__init__")
        else:
            value = getattr(value, "__func__", None) or getattr(value, "__wrapped__", None)
    return None


def _named(names: tuple[str, ...], function: types.FunctionType, owner: Any) -> Iterator[Any]:
    known = function.__globals__
    modules = [m for m in map(known.get, names) if isinstance(m, types.ModuleType)]
    for name in names:
        if name in known:
            yield known[name]
        own = getattr(type(owner), name, None)
        if own is not None:
            yield own
        for module in modules:
            if name in vars(module):
                yield vars(module)[name]


def _enclosed(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty cell
            yield cell.cell_contents


# Printing, modes and threads.


@contextlib.contextmanager
def _printing_watched(places: list[str]) -> Iterator[None]:
    text: Any = torch._tensor_str
    original = text._str

    def shown(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        asking = text_asked_by(sys._getframe(1))
        if asking is not None:
            _note(places, asking, "asks for the text of a tensor")
        return original(tensor, *args, **kwargs)

    text._str = shown
    try:
        yield
    finally:
        text._str = original


def text_asked_by(frame: Any) -> Any:
    """The frame that prints a tensor; None: torch itself prints it."""
    inner = None
    while frame is not None and not is_of_others(frame):
        inner, frame = frame, frame.f_back
    asked = inner is not None and inner.f_code.co_filename == torch._tensor.__file__
    return frame if asked else None


#: Calls that hand operators to another recorder or thread: class, method, description.
_HANDS_OVER = (
    (TorchDispatchMode, "__enter__", "gives operators to a dispatch mode"),
    (threading.Thread, "start", "gives work to another thread"),
    (concurrent.futures.ThreadPoolExecutor, "submit", "gives work to another thread"),
)


@contextlib.contextmanager
def handing_over_watched(places: list[str]) -> Iterator[None]:
    """`places` receives the lines where the model lets others see or run its operators."""
    thread = threading.get_ident()

    def noting(original: Any, what: str) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            frame: Any = sys._getframe(1)
            while frame is not None and _is_standard(frame.f_code.co_filename):
                frame = frame.f_back
            if threading.get_ident() == thread and frame is not None and is_of_others(frame):
                _note(places, frame, what)
            return original(*args, **kwargs)

        return call

    originals = [(kind, name, getattr(kind, name)) for kind, name, _ in _HANDS_OVER]
    for kind, name, what in _HANDS_OVER:
        setattr(kind, name, noting(getattr(kind, name), what))
    try:
        yield
    finally:
        for kind, name, original in originals:
            setattr(kind, name, original)
