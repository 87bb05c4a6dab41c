"""Whether a model asks if it is being exported, and what it then does otherwise."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from .places import is_of_others


class _Watched(int):
    """True, and notes who asks; torch's own code does not count."""

    places: list[str]

    def _noted(self) -> int:
        frame = sys._getframe(2)
        if is_of_others(frame):
            self.places.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return 1

    def __bool__(self) -> bool:
        return bool(self._noted())

    def __or__(self, other: Any) -> Any:
        return bool(self._noted() | other)

    def __and__(self, other: Any) -> Any:
        return bool(self._noted() & other)

    __ror__, __rand__ = __or__, __and__


@contextlib.contextmanager
def exporting_flag(exporting: bool) -> Iterator[None]:
    """What torch.compiler.is_exporting() and is_compiling() say."""
    compiler = torch.compiler
    before = compiler._is_compiling_flag, compiler._is_exporting_flag
    compiler._is_compiling_flag = compiler._is_exporting_flag = exporting
    try:
        yield
    finally:
        compiler._is_compiling_flag, compiler._is_exporting_flag = before


@contextlib.contextmanager
def watched(places: list[str]) -> Iterator[None]:
    """While torch exports, notes in `places` where the model asks whether it does."""
    compiler = torch.compiler
    before = compiler._is_compiling_flag, compiler._is_exporting_flag
    if all(before):
        flag = _Watched(1)
        flag.places = places
        compiler._is_compiling_flag = compiler._is_exporting_flag = flag  # type: ignore[assignment]
    try:
        yield
    finally:
        compiler._is_compiling_flag, compiler._is_exporting_flag = before


#: An operator and the shapes it is given, and how often.
Products = Counter[tuple[str, tuple[tuple[int, ...], ...]]]


def difference(eager: Products, exported: Products) -> str | None:
    """In words; None: both multiply the same."""
    more, less = exported - eager, eager - exported
    if not more and not less:
        return None
    parts = [f"{_named(c)} {word}" for c, word in ((more, "more"), (less, "less")) if c]
    return " and ".join(parts)


def _named(products: Products) -> str:
    by_operator: Counter[str] = Counter()
    for (operator, _), count in products.items():
        by_operator[operator] += count
    return ", ".join(f"{count} × {operator}" for operator, count in by_operator.most_common(4))
