"""Numbers that print with a unit, as torchmeter's do."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

#: Unit systems: sizes with their names, largest first.
COUNT = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K"))
BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
SECONDS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
PER_SECOND = ((1e12, "TIPS"), (1e9, "GIPS"), (1e6, "MIPS"), (1e3, "KIPS"), (1.0, "IPS"))

Units = tuple[tuple[float, str], ...]


def with_unit(value: float, units: Units) -> str:
    """``4122626560`` → ``"4.12 G"``; whole multiples without digits: ``"40 KiB"``."""
    for size, name in units:
        if value >= size:
            return f"{value / size:.2f} {name}" if value % size else f"{int(value // size)} {name}"
    return f"{value:.2f}"


class Number:
    """Arithmetic and comparison use the raw number."""

    @property
    def raw_data(self) -> float:
        raise NotImplementedError

    def __float__(self) -> float:
        return float(self.raw_data)

    def __int__(self) -> int:
        return int(self.raw_data)

    def __bool__(self) -> bool:
        return bool(self.raw_data)

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __hash__(self) -> int:
        return hash(float(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Number, int, float)) and float(self) == float(other)

    def __lt__(self, other: Any) -> bool:
        return float(self) < float(other)

    def __le__(self, other: Any) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: Any) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: Any) -> bool:
        return float(self) >= float(other)

    def __add__(self, other: Any) -> float:
        return float(self) + float(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> float:
        return float(self) - float(other)

    def __rsub__(self, other: Any) -> float:
        return float(other) - float(self)

    def __mul__(self, other: Any) -> float:
        return float(self) * float(other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> float:
        return float(self) / float(other)

    def __rtruediv__(self, other: Any) -> float:
        return float(other) / float(self)

    def __floordiv__(self, other: Any) -> float:
        return float(self) // float(other)

    def __mod__(self, other: Any) -> float:
        return float(self) % float(other)

    def __pow__(self, other: Any) -> float:
        return float(float(self) ** float(other))


class Value(Number):
    """A count or a number of bytes; ``val`` is exact and covers all calls.

    Its text has the count of one call and the number of calls: ``200.70 K (×2)``.
    """

    def __init__(self, val: int, units: Units = COUNT, calls: int = 1) -> None:
        self.val, self._units, self._calls = val, units, max(calls, 1)

    @property
    def raw_data(self) -> float:
        return float(self.val)

    def __repr__(self) -> str:
        mark = f" [dim](×{self._calls})[/]" if self._calls > 1 else ""
        return with_unit(self.val / self._calls, self._units) + mark


class Measured(Number):
    """Repeated measurements; ``val`` is their median and interquartile range."""

    def __init__(self, vals: Sequence[float], units: Units) -> None:
        self.vals, self._units = list(vals), units

    @property
    def metrics(self) -> float:
        return statistics.median(self.vals) if self.vals else 0.0

    @property
    def iqr(self) -> float:
        if len(self.vals) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.vals, n=4, method="inclusive")
        return high - low

    @property
    def val(self) -> tuple[float, float]:
        return self.metrics, self.iqr

    @property
    def raw_data(self) -> float:
        return self.metrics

    def __repr__(self) -> str:
        return " ± ".join(self._said(value) for value in self.val)

    def _said(self, value: float) -> str:
        """Unlike torchmeter, keeps the basic unit for small numbers: ``0.91 IPS``."""
        said = with_unit(value, self._units)
        base = next(name for size, name in self._units if size == 1.0)
        return said if " " in said else f"{said} {base}"
