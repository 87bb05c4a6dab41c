"""Determines whether a model checks if it is being exported, and the difference that this makes."""

from __future__ import annotations

import contextlib
import math
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from .source_lines import is_user_frame, source_line_of


class _RecordingFlag(int):
    """A true flag that records each reader outside of torch."""

    lines: list[str]

    def _record_reader(self) -> int:
        frame = sys._getframe(2)
        if is_user_frame(frame):
            self.lines.append(source_line_of(frame))
        return 1

    def __bool__(self) -> bool:
        return bool(self._record_reader())

    def __or__(self, other: Any) -> Any:
        return bool(self._record_reader() | other)

    def __and__(self, other: Any) -> Any:
        return bool(self._record_reader() & other)

    __ror__, __rand__ = __or__, __and__


@contextlib.contextmanager
def exporting_flag(exporting: bool) -> Iterator[None]:
    """Sets the result of torch.compiler.is_exporting() and is_compiling()."""
    compiler = torch.compiler
    flags_before = compiler._is_compiling_flag, compiler._is_exporting_flag
    compiler._is_compiling_flag = compiler._is_exporting_flag = exporting
    try:
        yield
    finally:
        compiler._is_compiling_flag, compiler._is_exporting_flag = flags_before


@contextlib.contextmanager
def export_checks_recorded(lines: list[str]) -> Iterator[None]:
    """While torch exports, `lines` receives the lines where the model checks for it."""
    compiler = torch.compiler
    flags_before = compiler._is_compiling_flag, compiler._is_exporting_flag
    if all(flags_before):
        flag = _RecordingFlag(1)
        flag.lines = lines
        compiler._is_compiling_flag = compiler._is_exporting_flag = flag  # type: ignore[assignment]
    try:
        yield
    finally:
        compiler._is_compiling_flag, compiler._is_exporting_flag = flags_before


class Product(NamedTuple):
    """An operator that multiplies and accumulates, and the shapes of its operands and result."""

    operator: str
    operands: tuple[tuple[int, ...], ...]
    result: tuple[int, ...]

    def macs(self) -> int | None:
        """None: unknown. For comparisons only; reported values come from the native program."""
        name = self.operator.partition("::")[2]
        if len(self.operands) < 2 or not self.operands[0]:
            return None
        left, right = self.operands[:2]
        if name in _BY_LAST_DIM:
            return math.prod(self.result) * left[-1]
        if name in _AFTER_SELF and len(self.operands) > 2:
            return math.prod(self.result) * self.operands[1][-1]
        if name == "scaled_dot_product_attention" and len(self.operands) > 2:
            return math.prod(left[:-1]) * right[-2] * (left[-1] + self.operands[2][-1])
        return None


_BY_LAST_DIM = (
    "linear", "matmul", "mm", "bmm", "mv", "dot", "_grouped_mm", "grouped_mm_fallback",
)  # fmt: skip
_AFTER_SELF = ("addmm", "baddbmm", "addmv")

Products = Counter[Product]


def difference(eager: Products, exported: Products) -> str | None:
    """The difference in words; None: the number of MACs is equal, even if operators differ."""
    more, less = exported - eager, eager - exported
    if _macs(more) is not None and _macs(more) == _macs(less):
        return None
    parts = [f"{_counted_by_operator(c)} {word}" for c, word in ((more, "more"), (less, "less")) if c]
    return " and ".join(parts)


def _macs(products: Products) -> int | None:
    counts = [(product.macs(), times) for product, times in products.items()]
    if any(macs is None for macs, _ in counts):
        return None
    return sum((macs or 0) * times for macs, times in counts)


def _counted_by_operator(products: Products) -> str:
    by_operator: Counter[str] = Counter()
    for product, count in products.items():
        by_operator[product.operator] += count
    return ", ".join(f"{count} × {operator}" for operator, count in by_operator.most_common(4))
