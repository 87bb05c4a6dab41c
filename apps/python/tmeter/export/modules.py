"""Lists the modules of a model. torch's generators pass each module through every level above it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import nn


def named_modules_of(model: nn.Module, *, with_duplicates: bool = False) -> list[tuple[str, nn.Module]]:
    """The result of ``named_modules()``; with `with_duplicates` a module in two places occurs twice."""
    seen: set[int] = set()
    found: list[tuple[str, nn.Module]] = []
    pending: list[tuple[str, Any]] = [("", model)]
    while pending:
        path, module = pending.pop()
        if not with_duplicates:
            if id(module) in seen:
                continue
            seen.add(id(module))
        found.append((path, module))
        children = module._modules
        if children:
            prefix = f"{path}." if path else ""
            pending += [(prefix + k, m) for k, m in reversed([*children.items()]) if m is not None]
    return found


def modules_of(model: nn.Module) -> list[nn.Module]:
    """The result of ``modules()``."""
    seen: set[int] = set()
    found: list[nn.Module] = []
    pending: list[Any] = [model]
    while pending:
        module = pending.pop()
        if module is None or id(module) in seen:
            continue
        seen.add(id(module))
        found.append(module)
        children = module._modules
        if children:
            pending += reversed(children.values())
    return found


def parameters_of(model: nn.Module) -> Iterator[nn.Parameter]:
    """The parameters of all modules. A shared parameter occurs once per module."""
    for module in modules_of(model):
        for parameter in module._parameters.values():
            if parameter is not None:
                yield parameter
