"""The quick way: records the operators of one call on fake tensors as torch.export does, without its
proxies, verification and serialization, which take most of its time.

The program equals that of torch.export's non-strict mode with fixed sizes: same dispatch key, same
state. An uncertain case raises `CaptureError`; then torch.export is used. Unlike torch.export, this records
the model's behaviour outside of an export, unless `exporting` is set, and forward can read the values
of small buffers.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sys
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
)
from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode, PythonKeyTracer
from torch.fx.graph import _Namespace
from torch.utils._python_dispatch import TorchDispatchMode

from .arguments import Example
from .export_checks import exporting_flag
from .kernels import Kernels
from .modules import named_modules_of
from .operators import operator_of
from .program_text import CaptureError, OperatorRow, Program
from .tensor_values import TensorValues
from .untraceable import require_traceable


#: For tensors that a model makes of numbers. torch.export makes the same replacement.
_LIFT_FRESH, _LIFT_FRESH_COPY = torch.ops.aten.lift_fresh.default, torch.ops.aten.lift_fresh_copy.default
_PRE_DISPATCH, _PYTHON = torch._C.DispatchKey.PreDispatch, torch._C.DispatchKey.Python


class _Recorder(ProxyTorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records each operator before its decomposition, as the tracer of torch.export does. The dispatcher
    accepts only proxy modes there: the only reason for this base class."""

    def __init__(self, program: Program, module_stack: _ModuleStack, mode: Any, values: TensorValues) -> None:
        super().__init__(PythonKeyTracer(), "fake", pre_dispatch=True)
        self._program, self._module_stack = program, module_stack
        self._mode, self._values = mode, values
        self._kernels = Kernels(mode)
        self._source_lines: dict[Any, str] = {}

    def __enter__(self) -> Any:
        return TorchDispatchMode.__enter__(self)  # type: ignore[no-untyped-call]

    def __exit__(self, *error: Any) -> None:
        TorchDispatchMode.__exit__(self, *error)  # type: ignore[no-untyped-call]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not isinstance(func, torch._ops.OpOverload):
            raise CaptureError(f"{func} takes a function")
        return self.record(func, args, kwargs or {})

    def record(self, func: Any, args: Any, kwargs: Any) -> Any:
        operator = operator_of(func)
        arguments = self._program.arguments(operator, args, kwargs)
        try:
            result = self._kernels.result(operator, args, kwargs)
        except (DataDependentOutputException, DynamicOutputShapeException):
            result = self._values.compute(func, args, kwargs)
            selected = self._values.shape(func, args) if result is None else None
            if selected is not None:
                result = self._like(selected)
            if result is None:
                raise
            if selected is None and isinstance(result, (torch.Tensor, tuple, list)):
                result = self._fake(result)
        if isinstance(result, (bool, int, float, complex)):
            return result  # reading a number is not an operator of the model
        self._values.record(func, args, kwargs, result)
        if func is _LIFT_FRESH:
            operator = operator_of(_LIFT_FRESH_COPY)
        self._program.add(OperatorRow(operator, arguments, self._module_stack.stack(), self._source_line()), result)
        return result

    def _source_line(self) -> str:
        """The innermost line of a forward outside torch, or else inside it, as JSON."""
        frame: Any = sys._getframe(3)
        torch_frame: Any = None
        while frame is not None:
            code = frame.f_code
            if code.co_name == "forward":
                if "/torch/" not in code.co_filename:
                    return self._line(frame)
                torch_frame = torch_frame or frame
            elif code.co_name == "capture" and code.co_filename == __file__:
                break
            frame = frame.f_back
        return self._line(torch_frame) if torch_frame else '""'

    def _line(self, frame: Any) -> str:
        code, line = frame.f_code, frame.f_lineno
        text = self._source_lines.get((code, line))
        if text is None:
            text = json.dumps(f'File "{code.co_filename}", line {line}, in forward')
            self._source_lines[code, line] = text
        return text

    def _fake(self, real: Any) -> Any:
        if not isinstance(real, torch.Tensor):
            return type(real)(self._fake(x) for x in real)
        fake = self._like(real)
        self._values.set_value(fake, real)
        return fake

    def _like(self, real: torch.Tensor) -> torch.Tensor:
        with self._mode:
            return torch.empty_strided(real.shape, real.stride(), dtype=real.dtype)


@contextlib.contextmanager
def _direct_dispatch_to(recorder: _Recorder) -> Iterator[None]:
    """Calls the mode directly, because torch's four functions on the way take longer than the mode. As in torch,
    the mode is off the stack during its call."""
    operators: Any = torch._ops.OpOverload
    modes: Any = torch._ops.mode_stack_state_for_pre_dispatch()  # type: ignore[no-untyped-call]
    include: Any = torch._C._dispatch_tls_set_dispatch_key_included
    is_excluded: Any = torch._C._dispatch_tls_is_dispatch_key_excluded
    original, thread = operators._get_dispatch, threading.get_ident()

    def get_dispatch(overload: Any, key: Any) -> Any:
        is_recorded = key == _PRE_DISPATCH and threading.get_ident() == thread and modes.get(0) is recorder
        if not is_recorded or is_excluded(_PYTHON):
            return original(overload, key)

        def handler(*args: Any, **kwargs: Any) -> Any:
            modes.set(0, None)
            include(_PRE_DISPATCH, False)
            try:
                return recorder.record(overload, args, kwargs)
            finally:
                modes.set(0, recorder)
                include(_PRE_DISPATCH, True)

        return handler

    operators._get_dispatch = get_dispatch
    try:
        yield
    finally:
        operators._get_dispatch = original


class _ModuleStack:
    """The stack of modules whose forward is running, in the form of torch.export."""

    def __init__(self, named_modules: list[tuple[str, nn.Module]]) -> None:
        self._paths: dict[nn.Module, str | None] = {}
        for path, module in named_modules:
            self._paths[module] = None if module in self._paths else path
        self._counts: dict[str, int] = {}
        self._open_paths: list[str] = []
        self._stacks: list[str] = [""]
        self._thread = threading.get_ident()

    def stack(self) -> str:
        """The stack as JSON."""
        return f'"{self._stacks[-1]}"'

    def path(self) -> str:
        return self._open_paths[-1] if self._open_paths else ""

    def __call__(self, original: Any, module: nn.Module, args: Any, kwargs: Any) -> Any:
        if threading.get_ident() != self._thread or module not in self._paths:
            return original(module, *args, **kwargs)
        path = self._paths[module]
        if path is None:
            raise CaptureError(f"{type(module).__name__} has more than one place in the model")
        count = self._counts.get(path, 0)
        self._counts[path] = count + 1
        number = f"@{count}" if count else ""
        kind = type(module)
        entry = f"L__self__{path}{number},{path},{kind.__module__}.{kind.__qualname__}"
        outer = self._stacks[-1]
        self._open_paths.append(path)
        self._stacks.append((f"{outer};" if outer else "") + json.dumps(entry)[1:-1])
        try:
            return original(module, *args, **kwargs)
        finally:
            self._open_paths.pop()
            self._stacks.pop()


@contextlib.contextmanager
def _forwards_reported_to(module_stack: _ModuleStack) -> Iterator[None]:
    """Reports each module's forward to `module_stack`. No hooks: some modules of torch compute differently with hooks."""
    original = nn.Module.__call__

    def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return module_stack(original, module, args, kwargs)

    nn.Module.__call__ = call  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module.__call__ = original  # type: ignore[method-assign]


@contextlib.contextmanager
def _no_autocast() -> Iterator[None]:
    """Raises CaptureError in autocast regions, which torch.export records instead of their operators."""
    kind = torch.amp.autocast_mode.autocast
    original = kind.__enter__
    thread = threading.get_ident()

    def enter(self: Any) -> Any:
        if self._enabled and threading.get_ident() == thread:
            raise CaptureError("autocast is used")
        return original(self)  # type: ignore[no-untyped-call]

    kind.__enter__ = enter  # type: ignore[method-assign]
    try:
        yield
    finally:
        kind.__enter__ = original  # type: ignore[method-assign]


@contextlib.contextmanager
def _fake_scalars_as_numbers() -> Iterator[None]:
    """Lets `torch.tensor([a, b])` read fake scalars as numbers; it would read their missing data."""
    originals = torch.tensor, torch.as_tensor

    def reading_scalars(original: Any) -> Any:
        @functools.wraps(original)
        def make(data: Any, *args: Any, **kwargs: Any) -> Any:
            return original(_scalars_as_numbers(data), *args, **kwargs)

        return make

    torch.tensor, torch.as_tensor = map(reading_scalars, originals)
    try:
        yield
    finally:
        torch.tensor, torch.as_tensor = originals


def _scalars_as_numbers(data: Any, inside: bool = False) -> Any:
    if isinstance(data, (list, tuple)):
        return [_scalars_as_numbers(item, True) for item in data]
    scalar = inside and isinstance(data, torch.Tensor) and data.dim() == 0
    return data.item() if scalar else data


@contextlib.contextmanager
def _torch_modes_of_export(exporting: bool) -> Iterator[None]:
    """Sets torch's modes as torch.export does. Only `exporting` sets the flags that models read."""
    from torch.export._trace import _ignore_backend_decomps

    grad_enabled = torch.is_grad_enabled()
    fastpath_enabled = torch.backends.mha.get_fastpath_enabled()
    # Compiled parts run as written, and layers operator by operator.
    eager = torch.compiler.set_stance("force_eager")
    with _ignore_backend_decomps(), exporting_flag(exporting), eager:
        try:
            torch.backends.mha.set_fastpath_enabled(False)
            yield
        finally:
            torch.backends.mha.set_fastpath_enabled(fastpath_enabled)
            torch._C._set_grad_enabled(grad_enabled)


def _is_compiled(module: nn.Module) -> bool:
    kind = type(module).__name__
    return kind == "OptimizedModule" or vars(module).get("_compiled_call_impl") is not None


def capture(
    model: nn.Module, example: Example, mode: Any, values: TensorValues, *, exporting: bool
) -> Program:
    """Records the call of a copied module with the example. Its tensors are fakes of `mode`; `values` has known values.

    Raises:
        CaptureError: the record would differ from that of torch.export. Exceptions of the model are passed on.
    """
    named_modules = named_modules_of(model, with_duplicates=True)
    compiled = [m for _, m in named_modules if _is_compiled(m)]
    if compiled:
        raise CaptureError(f"{type(compiled[0]).__name__} is compiled")
    module_stack = _ModuleStack(named_modules)
    program = Program(model, named_modules, example, _Namespace(), module_stack.path)
    recorder = _Recorder(program, module_stack, mode, values)
    with (
        _torch_modes_of_export(exporting),
        _no_autocast(),
        _fake_scalars_as_numbers(),
        require_traceable(model),
        mode,
        enable_python_dispatcher(),
        _forwards_reported_to(module_stack),
        recorder,
        _direct_dispatch_to(recorder),
        torch._C._EnablePreDispatch(),
    ):
        outputs = model(*example.args, **example.kwargs)
    program.finish(outputs)
    return program
