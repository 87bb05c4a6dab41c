"""Inputs other than tensors are fixed, so that only tensors are traced.

`use_cache=False`, None, numbers, texts, enums and configurations reach forward unchanged. Containers that
mix both (dicts, dataclasses, named tuples) are flattened, and rebuilt inside forward.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from ..errors import InputError
from .arguments import Example, with_items

#: Rebuilds a value from its tensors by name.
_Rebuild = Callable[[dict[str, torch.Tensor]], Any]


def fix_non_tensor_inputs(model: nn.Module, example: Example) -> tuple[Example, list[str]]:
    """Changes the copied module's forward so that it takes only tensors, by name.

    Returns:
        The remaining arguments, and notes.
    """
    signature = inspect.signature(model.forward)
    bound = signature.bind(*example.args, **example.kwargs)
    arguments = dict(_arguments_by_name(signature, bound))
    if all(_only_tensors(value) for value in arguments.values()):
        return example, []
    tensors: dict[str, torch.Tensor] = {}
    rebuilders = {name: _flatten(value, name, tensors) for name, value in arguments.items()}
    fixed = [name for name, value in arguments.items() if not _has_tensors(value)]
    original = model.forward

    @functools.wraps(original)
    def forward(*args: torch.Tensor, **named: torch.Tensor) -> Any:
        named = dict(zip(tensors, args)) | named
        rebuilt = {name: rebuild(named) for name, rebuild in rebuilders.items()}
        return _call(original, signature, rebuilt)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD  # the only kind that the tracer supports
    forward.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind) for name in tensors]
    )
    model.forward = forward
    fixed_values = ", ".join(f"{name}={_short_repr(arguments[name])}" for name in fixed)
    return Example((), tensors), [f"fixed at {fixed_values}"] if fixed else []


def _arguments_by_name(signature: inspect.Signature, bound: inspect.BoundArguments) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind == inspect.Parameter.VAR_KEYWORD:
            found += value.items()
        elif kind == inspect.Parameter.VAR_POSITIONAL:
            found += [(f"{name}_{i}", item) for i, item in enumerate(value)]
        else:
            found.append((name, value))
    return found


def _call(forward: Any, signature: inspect.Signature, values: dict[str, Any]) -> Any:
    """Passes arguments by position where forward permits it; parameters before ``*args`` need it."""
    args: list[Any] = []
    rest = dict(values)
    for name, parameter in signature.parameters.items():
        if parameter.kind == inspect.Parameter.VAR_POSITIONAL:
            args += [rest.pop(n) for n in list(rest) if n.startswith(f"{name}_")]
        elif parameter.kind == inspect.Parameter.POSITIONAL_ONLY and name in rest:
            args.append(rest.pop(name))
        elif parameter.kind == inspect.Parameter.POSITIONAL_OR_KEYWORD:
            if name not in rest or len(args) < _position(signature, name):
                continue
            args.append(rest.pop(name))
    return forward(*args, **rest)


def _position(signature: inspect.Signature, name: str) -> int:
    return list(signature.parameters).index(name)


def _only_tensors(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return True
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_only_tensors, value))


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """The items of a container by name; None for other values."""
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [(str(i), item) for i, item in enumerate(value)]
    if isinstance(value, types.SimpleNamespace):
        return list(vars(value).items())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f.name, getattr(value, f.name, None)) for f in dataclasses.fields(value)]
    return None


def _has_tensors(value: Any, depth: int = 0) -> bool:
    if isinstance(value, torch.Tensor):
        return True
    parts = _parts(value) if depth < 16 else None
    return any(_has_tensors(item, depth + 1) for _, item in parts or ())


def _flatten(value: Any, name: str, tensors: dict[str, torch.Tensor]) -> _Rebuild:
    if isinstance(value, torch.Tensor):
        while name in tensors:
            name += "_"
        tensors[name] = value
        return lambda named: named[name]
    if not _has_tensors(value):
        _require_no_hidden_tensors(value, name)
        return lambda _: value
    rebuilders = [
        (key, _flatten(item, f"{name}_{key}".replace(".", "_"), tensors))
        for key, item in _parts(value) or ()
    ]
    return lambda named: _rebuilt(value, [(key, rebuild(named)) for key, rebuild in rebuilders])


def _rebuilt(value: Any, items: list[tuple[str, Any]]) -> Any:
    if isinstance(value, Mapping):
        return with_items(value, dict(zip(value, (item for _, item in items))))
    if isinstance(value, (list, tuple)):
        values = [item for _, item in items]
        named = hasattr(value, "_fields")
        return type(value)._make(values) if named else type(value)(values)  # type: ignore[union-attr]
    copied = copy.copy(value)
    for key, item in items:
        object.__setattr__(copied, key, item)
    return copied


def _require_no_hidden_tensors(value: Any, name: str) -> None:
    attributes = getattr(value, "__dict__", None)
    hidden = isinstance(attributes, dict) and any(map(_has_tensors, attributes.values()))
    if hidden and not isinstance(value, nn.Module):
        raise InputError(
            f"input {name} is a {type(value).__name__}, whose tensors cannot be traced; give a "
            "module whose forward takes them as tensors, in lists, dicts or dataclasses"
        )


def _short_repr(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:37]}…"
