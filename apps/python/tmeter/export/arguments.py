"""What ``forward`` is called with: ``inputs=`` in any of its forms, made into tensors of no size."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from ..errors import InputError
from ..specs import Shape, is_sizes, parse_shape
from .known_inputs import inputs_of_configuration

#: Arguments that are whole numbers wherever they occur.
_IDS = ("ids", "labels", "attention_mask", "token_type", "positions", "cache_position")


@dataclass
class Example:
    """Positional and keyword arguments; tensors in it have sizes and dtypes, and may have values."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def made_by(self, make: Callable[[torch.Tensor], torch.Tensor]) -> Example:
        def leaf(value: Any) -> Any:
            return make(value) if isinstance(value, torch.Tensor) else value

        args, kwargs = pytree.tree_map(leaf, (self.args, self.kwargs))
        return Example(args, kwargs)

    def tensors(self) -> list[torch.Tensor]:
        leaves = pytree.tree_leaves((self.args, self.kwargs))
        return [x for x in leaves if isinstance(x, torch.Tensor)]


def example_of(model: nn.Module, inputs: Any) -> Example:
    """Raises InputError without inputs, or if they do not fit forward."""
    if inputs is None:
        inputs = inputs_of_configuration(model)
    example = _example(model, inputs)
    _require_signature(model, example)
    return example


def _example(model: nn.Module, inputs: Any) -> Example:
    if isinstance(inputs, Mapping):
        texts = _texts(model)
        return Example(
            (),
            {str(k): v if k in texts else _value(model, v, str(k)) for k, v in inputs.items()},
        )
    if is_sizes(inputs):
        inputs = Shape(_with_batch(model, tuple(inputs)))
    if isinstance(inputs, (tuple, list)):
        return Example(tuple(_value(model, v, "") for v in inputs))
    return Example((_value(model, inputs, ""),))


def _texts(model: nn.Module) -> set[str]:
    """Parameters of forward that are texts and must not be read as shapes."""
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        return set()
    return {p.name for p in parameters if isinstance(p.default, str) or p.annotation in (str, "str")}


def _value(model: nn.Module, value: Any, name: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, str):
        return _of_shape(model, parse_shape(value), name)
    if isinstance(value, Shape):
        return _of_shape(model, value, name)
    if is_sizes(value):
        return _of_shape(model, Shape(tuple(value)), name)
    if type(value).__module__ == "numpy" and hasattr(value, "shape"):
        return torch.as_tensor(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_value(model, v, name) for v in value)
    if isinstance(value, dict):
        return {k: _value(model, v, str(k)) for k, v in value.items()}
    if isinstance(value, Iterator):
        raise InputError(
            f"input {name or 'given'} is a {type(value).__name__}, which can be read only once; "
            "give a list or a tensor"
        )
    return value


def _of_shape(model: nn.Module, shape: Shape, name: str) -> torch.Tensor:
    if any(size < 0 for size in shape.sizes):
        raise InputError(f"input {shape}: sizes cannot be negative")
    dtype = getattr(torch, shape.dtype) if shape.dtype else _expected_dtype(model, name)
    try:
        return torch.empty(shape.sizes, dtype=dtype, device="meta")
    except RuntimeError as error:
        raise InputError(f"input {shape}: {str(error).splitlines()[0]}") from error


_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_TABLES = (nn.Embedding, nn.EmbeddingBag)


def first_layer(model: nn.Module) -> nn.Module | None:
    """The first module with parameters that is not a container: a transformer's class token and positions
    belong to the whole and say nothing of its inputs."""

    def is_layer(module: nn.Module) -> bool:
        if isinstance(module, (*_CONVOLUTIONS, *_TABLES)):
            return True  # also with children: parametrizations
        alone = next(module.children(), None) is None
        return alone and next(module.parameters(), None) is not None

    return next((m for m in model.modules() if is_layer(m)), None)


def _with_batch(model: nn.Module, sizes: tuple[int, ...]) -> tuple[int, ...]:
    layer = first_layer(model)
    for dims, kind in enumerate(_CONVOLUTIONS, start=1):
        if isinstance(layer, kind) and len(sizes) == dims + 1:
            return (1, *sizes)
    return sizes


def _expected_dtype(model: nn.Module, name: str) -> torch.dtype:
    if any(part in name for part in _IDS):
        return torch.int64
    if not name and isinstance(first_layer(model), _TABLES):
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
