"""Makes the forward of a copied module exportable: tensors in, a tuple of tensors out, no cache."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from .arguments import Example
from .export_checks import export_checks_recorded
from .fixed_inputs import fix_non_tensor_inputs
from .modules import modules_of


def prepare(model: nn.Module, example: Example, export_checks: list[str]) -> tuple[Example, list[str]]:
    """Changes the copy, never the user's module.

    Args:
        export_checks: receives the lines where forward checks whether it is being exported.

    Returns:
        The remaining arguments of forward, and notes.
    """
    notes = _switch_cache_off(model) + _switch_experts(model)
    _skip_idle_conversions(model)
    example, fixed = fix_non_tensor_inputs(model, example)
    original = model.forward

    @functools.wraps(original)
    def forward(*args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        with export_checks_recorded(export_checks):
            return tuple(tensors_in(original(*args, **kwargs)))

    model.forward = forward
    return example, notes + fixed


def _skip_idle_conversions(model: nn.Module) -> None:
    """A forward that calls ``self.classifier.to(dtype)`` (routers of mixtures of experts) would replace
    parameters by equal ones, which torch refuses for fake tensors."""
    for module in modules_of(model):
        state = vars(module)
        original = state.get("_apply") or type(module)._apply.__get__(module)
        state["_apply"] = functools.partial(_apply, module, original)


def _apply(module: nn.Module, original: Any, function: Any, recurse: bool = True) -> nn.Module:
    tensors = (*module.parameters(recurse), *module.buffers(recurse))
    with torch.no_grad():
        same = all(_has_same_type(t, function(t)) for t in tensors)
    applied: nn.Module = module if same else original(function, recurse)
    return applied


def _has_same_type(before: torch.Tensor, after: torch.Tensor) -> bool:
    return (before.dtype, before.device, before.shape) == (after.dtype, after.device, after.shape)


def tensors_in(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """All tensors in a model's result, inside tuples, dicts and data classes, too."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth > 8 or value is None:
        return
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item, depth + 1)
    elif dataclasses.is_dataclass(value):
        for data_field in dataclasses.fields(value):
            yield from tensors_in(getattr(value, data_field.name, None), depth + 1)
    elif isinstance(getattr(value, "__dict__", None), dict):
        yield from tensors_in(vars(value), depth + 1)


def _configurations(model: nn.Module) -> list[Any]:
    """transformers: the configurations of the model and of its parts."""
    config: Any = getattr(model, "config", None)
    return [config, *(getattr(config, k, None) for k in getattr(config, "sub_configs", {}))]


def _switch_experts(model: nn.Module) -> list[str]:
    """transformers: the loop over experts that have tokens depends on data. The grouped product, the
    default, multiplies the same rows by the same matrices."""
    switched = []
    for part in _configurations(model):
        if getattr(part, "_experts_implementation", None) == "eager":
            part._experts_implementation = "grouped_mm"
            switched.append(part)
    # Models without experts have the setting, too, and so do mixtures with a loop of their own.
    is_read = any(
        _reads_experts_setting(m) and any(getattr(m, "config", None) is part for part in switched)
        for m in modules_of(model)
    )
    return ["experts_implementation was 'eager', exported as 'grouped_mm'"] if is_read else []


def _reads_experts_setting(module: nn.Module) -> bool:
    """Whether transformers has replaced the class's forward by a choice of implementations."""
    # Looked up statically, because the class of a scripted module has a forward that raises.
    code = getattr(inspect.getattr_static(type(module), "forward", None), "__code__", None)
    return code is not None and "_experts_implementation" in code.co_names


def _switch_cache_off(model: nn.Module) -> list[str]:
    """transformers: a cache object in the outputs cannot be exported, and costs nothing here."""
    switched = False
    for part in _configurations(model):
        if getattr(part, "use_cache", False) is True:
            part.use_cache = False
            switched = True
    return ["use_cache was switched off"] if switched else []
