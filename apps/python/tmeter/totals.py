"""The metrics of the whole model, as a mapping and as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .wording import did_you_mean

if TYPE_CHECKING:
    import pandas


class Totals(Mapping[str, Any]):
    """Metric id → value, or None.

    ``totals["macs"]`` needs no pandas. Attributes and columns of a data frame
    (``totals.loc["macs", "unit"]``, ``totals["unit"]``) are those of ``result.frame("totals")``.
    """

    def __init__(
        self, values: Mapping[str, int | float | None], frame: Callable[[], pandas.DataFrame]
    ) -> None:
        self._values = values
        self._frame = frame

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and key in self._values:
            return self._values[key]
        try:
            return self._frame()[key]
        except (KeyError, UsageError):
            raise KeyError(f"{key!r}{did_you_mean(key, self._values)}; there are {', '.join(self._values)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._frame(), name)

    def __repr__(self) -> str:
        return repr(dict(self._values))

    def _repr_html_(self) -> str | None:
        """The table as HTML; None without pandas: the notebook shows the text."""
        try:
            shown: str = self._frame().to_html()
        except UsageError:
            return None
        return shown
