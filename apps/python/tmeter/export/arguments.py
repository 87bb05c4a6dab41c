"""The arguments of ``forward``: ``inputs=`` in any of its forms, as tensors that occupy no memory."""

from __future__ import annotations

import copy
import enum
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from ..errors import InputError
from ..specs import Shape, is_sizes, parse_shape
from .default_inputs import inputs_of_configuration

#: Arguments that are integers in every model.
_INTEGER_NAMES = ("ids", "labels", "attention_mask", "token_type", "positions", "cache_position")


@dataclass
class Example:
    """Positional and keyword arguments. Their tensors have sizes and dtypes, and may have values."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def mapped(self, make: Callable[[torch.Tensor], torch.Tensor]) -> Example:
        def leaf(value: Any) -> Any:
            return make(value) if isinstance(value, torch.Tensor) else value

        args, kwargs = pytree.tree_map(leaf, (self.args, self.kwargs))
        return Example(args, kwargs)

    def tensors(self) -> list[torch.Tensor]:
        leaves = pytree.tree_leaves((self.args, self.kwargs))
        return [x for x in leaves if isinstance(x, torch.Tensor)]


def example_of(model: nn.Module, inputs: Any) -> Example:
    """Raises InputError if inputs are missing or do not fit forward."""
    if inputs is None:
        inputs = inputs_of_configuration(model)
    example = _example(model, inputs)
    _require_signature(model, example)
    return example


def _example(model: nn.Module, inputs: Any) -> Example:
    non_tensor, order = _non_tensor_parameters(model)

    def value(argument: Any, parameter: str, name: str) -> Any:
        is_unchanged = parameter in non_tensor and (isinstance(argument, str) or is_sizes(argument))
        return argument if is_unchanged else _value(model, argument, name)

    if isinstance(inputs, Mapping):
        return Example((), {str(k): value(v, str(k), str(k)) for k, v in inputs.items()})
    if is_sizes(inputs):
        inputs = Shape(_with_batch(model, tuple(inputs)))
    if isinstance(inputs, str):
        inputs = parse_shape(inputs)
    if isinstance(inputs, (tuple, list)) and not hasattr(inputs, "_fields"):
        names = [*order, *[""] * len(inputs)]
        return Example(tuple(value(v, name, "") for v, name in zip(inputs, names)))
    return Example((_value(model, inputs, ""),))


def _non_tensor_parameters(model: nn.Module) -> tuple[set[str], list[str]]:
    """Parameters of forward that take strings or lists of numbers, so that such an argument is not a shape,
    and the positional parameters."""
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        return set(), []
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    order = [p.name for p in parameters if p.kind not in by_name]
    return {p.name for p in parameters if _is_non_tensor(p)}, order


_NON_TENSOR_TYPES = {"str", "int", "float", "Literal", "Size"}


def _is_non_tensor(parameter: inspect.Parameter) -> bool:
    if isinstance(parameter.default, str) or is_sizes(parameter.default):
        return True
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return False
    words = set(re.findall(r"\w+", annotation if isinstance(annotation, str) else str(annotation)))
    return bool(words & _NON_TENSOR_TYPES) and not any("Tensor" in word for word in words)


#: The beginning of a shape. Other strings are arguments.
_SHAPE_START = re.compile(r"\s*(\d|scalar\b)")


def _value(model: nn.Module, value: Any, name: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, enum.Enum):
        return value
    if isinstance(value, str):
        shape = _SHAPE_START.match(value)
        return _of_shape(model, parse_shape(value), name) if shape else value
    if isinstance(value, Shape):
        return _of_shape(model, value, name)
    if is_sizes(value):
        return _of_shape(model, Shape(tuple(value)), name)
    if type(value).__module__ == "numpy" and hasattr(value, "shape"):
        return torch.as_tensor(value) if value.shape else value.item()
    if isinstance(value, (list, tuple)):
        items = [_value(model, v, name) for v in value]
        named = hasattr(value, "_fields")
        return type(value)._make(items) if named else type(value)(items)  # type: ignore[union-attr]
    if isinstance(value, dict):
        return with_items(value, {k: _value(model, v, str(k)) for k, v in value.items()})
    if isinstance(value, Iterator):
        raise InputError(
            f"input {name or 'given'} is a {type(value).__name__}, which can be read only once; "
            "give a list or a tensor"
        )
    return value


def with_items(like: Any, items: dict[Any, Any]) -> Any:
    """A mapping of the same class."""
    if type(like) is dict:
        return items
    copied: Any = copy.copy(like)
    copied.update(items)
    return copied


def _of_shape(model: nn.Module, shape: Shape, name: str) -> torch.Tensor:
    if any(size < 0 for size in shape.sizes):
        raise InputError(f"input {shape}: sizes cannot be negative")
    dtype = getattr(torch, shape.dtype) if shape.dtype else _expected_dtype(model, name)
    try:
        return torch.empty(shape.sizes, dtype=dtype, device="meta")
    except RuntimeError as error:
        raise InputError(f"input {shape}: {str(error).splitlines()[0]}") from error


_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_EMBEDDINGS = (nn.Embedding, nn.EmbeddingBag)


def first_layer(model: nn.Module) -> nn.Module | None:
    """The first module with parameters that is not a container. A transformer's class token and positions
    belong to the whole model and do not describe its inputs."""

    def is_layer(module: nn.Module) -> bool:
        if isinstance(module, (*_CONVOLUTIONS, *_EMBEDDINGS)):
            return True  # parametrized layers have children, too
        has_no_children = next(module.children(), None) is None
        return has_no_children and next(module.parameters(), None) is not None

    return next((m for m in model.modules() if is_layer(m)), None)


def _with_batch(model: nn.Module, sizes: tuple[int, ...]) -> tuple[int, ...]:
    layer = first_layer(model)
    for dims, kind in enumerate(_CONVOLUTIONS, start=1):
        if isinstance(layer, kind) and len(sizes) == dims + 1:
            return (1, *sizes)
    return sizes


def _expected_dtype(model: nn.Module, name: str) -> torch.dtype:
    if any(part in name for part in _INTEGER_NAMES):
        return torch.int64
    if not name and isinstance(first_layer(model), _EMBEDDINGS):
        return torch.int64
    floating = (p.dtype for p in model.parameters() if p.dtype.is_floating_point)
    return next(floating, torch.get_default_dtype())


def _require_signature(model: nn.Module, example: Example) -> None:
    try:
        signature = inspect.signature(model.forward)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*example.args, **example.kwargs)
    except TypeError as error:
        raise InputError(
            f"{type(model).__name__}.forward{signature} cannot be called with the given inputs: "
            f"{error}"
        ) from None
