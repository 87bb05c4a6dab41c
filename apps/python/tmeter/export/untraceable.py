"""Finds code of forward that gets another result for fake tensors than for real ones: checks of a tensor's class, its
printed text, the operators that a dispatch mode of its own sees. Also finds work of other threads, which no way records.

The right result would need other globals for the model's code. So the lines are only found, while they run, and then
no way with fake tensors is used.
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
from .source_lines import is_user_file, is_user_frame, source_line_of

#: The expression whose class is requested: a local variable and its attributes; None: unknown.
_Chain = tuple[str, ...] | None
_Lines = dict[int, list[_Chain]]

_TENSOR_CLASSES = {"Tensor", "Parameter", "Buffer", "FloatTensor"}
_COMPARE_OPS = ("IS_OP", "COMPARE_OP", "CONTAINS_OP")
_NAME_ATTRIBUTES = {"__name__", "__qualname__"}
_ATTRIBUTE_OPS = ("LOAD_ATTR", "LOAD_METHOD")
_FAKE_TENSOR_NAMES = {"FakeTensor", "is_fake"}
#: transformers tests for fake tensors in order to keep branches that some data would need.
_IGNORED_FILE = "transformers/utils/import_utils.py"
_STDLIB = sysconfig.get_path("stdlib") + "/"
_SITE_PACKAGES = sysconfig.get_path("purelib") + "/"


class Untraceable(Exception):
    """This way would give another answer than a run."""


@contextlib.contextmanager
def require_traceable(model: nn.Module) -> Iterator[None]:
    """Raises Untraceable at the end if the module's forward has run such code."""
    lines: list[str] = []
    failure: Exception | None = None
    try:
        with (
            _type_checks_recorded(type_checks(model), lines),
            _prints_recorded(lines),
            handoffs_recorded(lines),
        ):
            yield
    except Exception as error:
        if not lines:
            raise
        failure = error
    if lines:
        raise Untraceable(f"{lines[0]}: this way cannot give the answer of a run") from failure


def _record(lines: list[str], frame: Any, what: str) -> None:
    text = f"{source_line_of(frame)} {what}"
    if text not in lines:
        lines.append(text)


# Which class a tensor is.


def type_checks(model: nn.Module) -> dict[types.CodeType, _Lines]:
    """The lines that check a class, in all code that forward calls by name."""
    found = {}
    for code in _reachable_code(model):
        lines = _type_checks_in(code)
        if lines:
            found[code] = lines
    return found


@functools.lru_cache(4096)
def _type_checks_in(code: types.CodeType) -> _Lines:
    names = {*code.co_names, *code.co_freevars}
    fake_names = names & _FAKE_TENSOR_NAMES and not code.co_filename.endswith(_IGNORED_FILE)
    if not (fake_names or names & {"type", "__class__"}):
        return {}
    instructions = _instructions(code)
    lines: _Lines = {}
    for i, (line, kind, name) in enumerate(instructions):
        if fake_names and name in _FAKE_TENSOR_NAMES:
            lines.setdefault(line, []).append(None)
        chain: _Chain = None
        if name == "type" and kind.startswith("LOAD_"):
            chain, end = _chain_after(instructions, i + 1)
            start = i
        elif name == "__class__" and kind.startswith("LOAD_ATTR"):
            chain, end = _chain_before(instructions, i), i + 1
            start = i - len(chain or ())
        else:
            continue
        if chain is not None and chain[0] in ("self", "cls") and len(chain) == 1:
            continue
        if _is_harmless_use(instructions, start, end):
            continue
        rest = [instruction for instruction in instructions[end:] if instruction[0] == line]
        is_compared = any(k.startswith(_COMPARE_OPS) for _, k, _ in rest)
        classes = names & _TENSOR_CLASSES
        is_name_read = bool(rest) and any(n in _NAME_ATTRIBUTES for _, _, n in rest[:3])
        if (classes or chain is not None) and (is_compared or is_name_read or classes):
            lines.setdefault(line, []).append(chain)
    return lines


def _is_harmless_use(instructions: list[tuple[int, str, Any]], start: int, end: int) -> bool:
    """True for harmless uses, because watching them would slow every call: f"{type(x).__name__} is not …",
    getattr(type(x), "name", …)."""
    line, first, name = instructions[end] if end < len(instructions) else (0, "", "")
    if name in _NAME_ATTRIBUTES and first.startswith(_ATTRIBUTE_OPS):
        rest = [kind for at, kind, _ in instructions[end + 1 :] if at == line]
        return bool(rest) and rest[0].startswith("FORMAT_") and not any(k.startswith(_COMPARE_OPS) for k in rest)
    called = instructions[start - 1][2] if start > 0 else ""
    return called in ("getattr", "hasattr") and first == "LOAD_CONST" and name not in _NAME_ATTRIBUTES


def _instructions(code: types.CodeType) -> list[tuple[int, str, Any]]:
    """Line, operation and name of each instruction with an effect."""
    starts = {offset: line for offset, line in dis.findlinestarts(code) if line}
    line, instructions = code.co_firstlineno, []
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        if instruction.opname not in ("PUSH_NULL", "CACHE", "PRECALL", "EXTENDED_ARG", "NOP"):
            instructions.append((line, instruction.opname, instruction.argval))
    return instructions


_LOCAL_OPS = ("LOAD_FAST", "LOAD_DEREF")


def _chain_after(instructions: list[tuple[int, str, Any]], i: int) -> tuple[_Chain, int]:
    """The argument of the call of `type`, and the index after the call."""
    chain: list[str] = []
    while i < len(instructions):
        _, kind, name = instructions[i]
        if kind.startswith(_LOCAL_OPS) and not chain or kind.startswith(_ATTRIBUTE_OPS) and chain:
            chain.append(name)
        else:
            is_called = kind.startswith("CALL") and chain
            return (tuple(chain), i + 1) if is_called and _are_strings(chain) else (None, i + 1)
        i += 1
    return None, i


def _chain_before(instructions: list[tuple[int, str, Any]], i: int) -> _Chain:
    chain: list[str] = []
    while i > 0:
        i -= 1
        _, kind, name = instructions[i]
        chain.insert(0, name)
        if kind.startswith(_LOCAL_OPS):
            return tuple(chain) if _are_strings(chain) else None
        if not kind.startswith(_ATTRIBUTE_OPS):
            return None
    return None


def _are_strings(chain: list[Any]) -> bool:
    return all(isinstance(name, str) for name in chain)


@contextlib.contextmanager
def _type_checks_recorded(checks: dict[types.CodeType, _Lines], lines: list[str]) -> Iterator[None]:
    """Uses the interpreter's tracing, so only code with such lines is slowed. A debugger's tracing continues."""
    if not checks:
        yield
        return
    outer_trace: Any = sys.gettrace()

    def call(frame: Any, event: str, arg: Any) -> Any:
        outer_line_trace = outer_trace(frame, event, arg) if outer_trace else None
        checked_lines = checks.get(frame.f_code)
        if checked_lines is None:
            return outer_line_trace

        def line(frame: Any, event: str, arg: Any) -> Any:
            if outer_line_trace is not None:
                outer_line_trace(frame, event, arg)
            if event == "line":
                for chain in checked_lines.get(frame.f_lineno, ()):
                    if _is_fake(frame, chain):
                        _record(lines, frame, "asks for the class of a tensor")
            return line

        return line

    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(outer_trace)


def _is_fake(frame: Any, chain: _Chain) -> bool:
    if chain is None:
        return True
    try:
        value = functools.reduce(getattr, chain[1:], frame.f_locals[chain[0]])
    except Exception:
        return False  # not assigned yet: the line checks it later, or never
    return isinstance(value, FakeTensor)


# The code that forward may call.


#: The most frequent types of module attributes, none of them callable.
_NOT_CALLABLE = frozenset((type(None), bool, int, float, str, tuple, list, dict, OrderedDict, set))


def _reachable_code(model: nn.Module) -> Iterator[types.CodeType]:
    pending: list[tuple[Any, Any]] = []
    kinds: set[type] = set()
    for module in modules_of(model):
        attributes = [f for f in vars(module).values() if type(f) not in _NOT_CALLABLE]
        pending += [(f, module) for f in attributes if callable(f) and not isinstance(f, nn.Module)]
        if type(module) not in kinds:
            kinds.add(type(module))
            pending += [(getattr(type(module), name, None), module) for name in ("forward", "__call__")]
    seen: set[int] = set()
    while pending:
        value, owner = pending.pop()
        function = _function_of(value)
        if function is None or id(function) in seen:
            continue
        seen.add(id(function))
        file = function.__code__.co_filename
        if _is_stdlib(file) or not is_user_file(file):
            continue
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
            yield code
            pending += [(v, owner) for v in _values_of_names(code.co_names, function, owner)]
        pending += [(v, owner) for v in _closure_values(function)]


@functools.cache
def _is_stdlib(file: str) -> bool:
    return file.startswith(_STDLIB) and not file.startswith(_SITE_PACKAGES)


def _function_of(value: Any) -> types.FunctionType | None:
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


def _values_of_names(names: tuple[str, ...], function: types.FunctionType, owner: Any) -> Iterator[Any]:
    module_globals = function.__globals__
    modules = [m for m in map(module_globals.get, names) if isinstance(m, types.ModuleType)]
    for name in names:
        if name in module_globals:
            yield module_globals[name]
        attribute = getattr(type(owner), name, None)
        if attribute is not None:
            yield attribute
        for module in modules:
            if name in vars(module):
                yield vars(module)[name]


def _closure_values(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty cell
            yield cell.cell_contents


# Printing, modes and threads.


@contextlib.contextmanager
def _prints_recorded(lines: list[str]) -> Iterator[None]:
    tensor_str: Any = torch._tensor_str
    original = tensor_str._str

    def text_of(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        printer = printing_frame(sys._getframe(1))
        if printer is not None:
            _record(lines, printer, "asks for the text of a tensor")
        return original(tensor, *args, **kwargs)

    tensor_str._str = text_of
    try:
        yield
    finally:
        tensor_str._str = original


def printing_frame(frame: Any) -> Any:
    """The frame that prints a tensor; None: torch itself prints it."""
    inner = None
    while frame is not None and not is_user_frame(frame):
        inner, frame = frame, frame.f_back
    is_printed_by_user = inner is not None and inner.f_code.co_filename == torch._tensor.__file__
    return frame if is_printed_by_user else None


#: Calls that hand operators to another recorder or thread: class, method, description.
_HANDOFFS = (
    (TorchDispatchMode, "__enter__", "gives operators to a dispatch mode"),
    (threading.Thread, "start", "gives work to another thread"),
    (concurrent.futures.ThreadPoolExecutor, "submit", "gives work to another thread"),
)


@contextlib.contextmanager
def handoffs_recorded(lines: list[str]) -> Iterator[None]:
    """`lines` receives the lines where the model lets others see or run its operators."""
    thread = threading.get_ident()

    def recording(original: Any, what: str) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            frame: Any = sys._getframe(1)
            while frame is not None and _is_stdlib(frame.f_code.co_filename):
                frame = frame.f_back
            if threading.get_ident() == thread and frame is not None and is_user_frame(frame):
                _record(lines, frame, what)
            return original(*args, **kwargs)

        return call

    originals = [(kind, name, getattr(kind, name)) for kind, name, _ in _HANDOFFS]
    for kind, name, what in _HANDOFFS:
        setattr(kind, name, recording(getattr(kind, name), what))
    try:
        yield
    finally:
        for kind, name, original in originals:
            setattr(kind, name, original)
