"""``Meter.profile``: rows as a polars frame, columns chosen and added, drawn by rich, saved."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import UsageError
from .config import Settings
from .drawing import box, need, need_rich
from .statistics import Statistics
from .values import Number, Value

_FORMATS = ("csv", "xlsx")


@dataclass
class Columns:
    """The requested parts of a table, with torchmeter's names and meanings."""

    raw_data: bool = False
    pick_cols: Sequence[str] = ()
    exclude_cols: Sequence[str] = ()
    custom_cols: Mapping[str, str] = field(default_factory=dict)
    keep_custom_name: bool = False
    newcol_name: str = ""
    newcol_func: Callable[[Any], Any] | None = None
    newcol_type: Any = None
    newcol_idx: int = -1
    keep_new_col: bool = False
    save_to: str | None = None
    save_format: str | None = None

    def __post_init__(self) -> None:
        for name in ("pick_cols", "exclude_cols"):
            if not isinstance(getattr(self, name), (list, tuple, set)):
                raise TypeError(f"{name}: a list, tuple or set of column names is expected")
        if not isinstance(self.custom_cols, Mapping):
            raise TypeError("custom_cols: a dict is expected, as in {'FLOPs': 'flops'}")
        for key in ("save_to", "save_format"):
            if not isinstance(getattr(self, key), (str, type(None))):
                raise TypeError(f"{key}: a string is expected")
        if self.newcol_name and self.newcol_func is not None:
            _require_one_argument(self.newcol_func)


def _require_one_argument(function: Any) -> None:
    if not callable(function):
        raise TypeError("newcol_func: a function is expected")
    if len(inspect.signature(function).parameters) != 1:
        raise TypeError("newcol_func: a function of one argument, the frame, is expected")


def frame_of(statistics: Statistics, raw: bool) -> Any:
    """One row per module (parameters: per tensor); values are objects with ``val``, or numbers."""
    polars = need("polars", "a table of values")
    rows = statistics.rows
    columns = {}
    for position, name in enumerate(statistics.tb_fields):
        values = [row[position] for row in rows]
        numbers = any(isinstance(v, Number) for v in values)
        if numbers and raw:
            values = [v.raw_data if isinstance(v, Number) else v for v in values]
        # Only values with a unit are objects: polars has the other types.
        kind = {"dtype": polars.Object} if numbers and not raw else {}
        columns[name] = polars.Series(name, values, **kind, strict=False)
    return polars.DataFrame(columns)


def arranged(frame: Any, wanted: Columns) -> Any:
    """Picks, excludes and renames columns and adds the new one, in this order."""
    names = list(frame.columns)
    for name in (*wanted.pick_cols, *wanted.exclude_cols, *wanted.custom_cols):
        if name not in names and name in wanted.pick_cols:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(names)}")
    chosen = [n for n in (wanted.pick_cols or names) if n not in wanted.exclude_cols]
    shown = frame.select(chosen)
    shown = shown.rename({k: v for k, v in wanted.custom_cols.items() if k in chosen})
    return _with_new_column(shown, frame, wanted) if wanted.newcol_name else shown


def _with_new_column(shown: Any, frame: Any, wanted: Columns) -> Any:
    polars = need("polars", "a table of values")
    if wanted.newcol_name in shown.columns:
        raise ValueError(f"there is a column {wanted.newcol_name!r} already")
    values = wanted.newcol_func(frame) if wanted.newcol_func else [None] * len(frame)
    if len(values) != len(shown):
        raise RuntimeError(f"newcol_func gave {len(values)} values for {len(shown)} rows")
    at = wanted.newcol_idx
    at = max(0, len(shown.columns) + 1 + at) if at < 0 else min(at, len(shown.columns))
    added = polars.Series(wanted.newcol_name, values, dtype=wanted.newcol_type)
    return shown.clone().insert_column(at, added)


def draw(frame: Any, settings: Settings) -> Any:
    """A ``rich.table.Table``."""
    need_rich()
    from rich.table import Table

    look: dict[str, Any] = settings.table_display_args.data_dict
    look["padding"] = tuple(look.get("padding") or (0, 1))
    table = Table(**{**look, "box": box(look.get("box"))})
    for name in frame.columns:
        table.add_column(name, **settings.table_column_args.data_dict)
    for row in frame.rows():
        table.add_row(*(_text(value, bool(look.get("highlight"))) for value in row))
    return table


def _text(value: Any, highlight: bool) -> Any:
    from rich.highlighter import ReprHighlighter
    from rich.text import Text

    shown = "-" if value is None else str(value)
    # A value may be marked "[dim](×2)[/]"; names are text, whatever they contain.
    text = Text.from_markup(shown) if isinstance(value, Value) else Text(shown)
    if highlight:
        ReprHighlighter().highlight(text)
    return text


class TableRenderer:
    """The tables of a meter, ``Meter.table_renderer``. A call draws one, as `Meter.profile` does.

    Attributes:
        stats_data: the last drawn frames, by statistic.
    """

    valid_export_format = list(_FORMATS)

    def __init__(self, meter: Any, settings: Settings) -> None:
        self._meter, self._settings = meter, settings
        self.stats_data: dict[str, Any] = {}

    @property
    def tb_args(self) -> Any:
        """The settings of tables."""
        return self._settings.table_display_args

    @tb_args.setter
    def tb_args(self, value: Any) -> None:
        self._settings.table_display_args = value

    @property
    def col_args(self) -> Any:
        """The settings of columns."""
        return self._settings.table_column_args

    @col_args.setter
    def col_args(self, value: Any) -> None:
        self._settings.table_column_args = value

    def df2tb(self, df: Any, show_raw: bool = False) -> Any:
        """A frame as a ``rich.table.Table``."""
        return draw(_raw(df) if show_raw else df, self._settings)

    def clear(self, stat_name: str | None = None) -> None:
        """Removes a frame, or all frames."""
        if stat_name is None:
            self.stats_data.clear()
        else:
            self.stats_data.pop(stat_name, None)

    def export(
        self, df: Any, save_path: str, file_suffix: str = "", ext: str | None = None, raw_data: bool = False
    ) -> None:
        """Writes a frame as csv or xlsx."""
        wanted = Columns(save_to=save_path, save_format=ext)
        name = type(self._meter.model).__name__
        save(_raw(df) if raw_data else df, wanted, f"{name}_{file_suffix}" if file_suffix else name)

    def __call__(self, stat_name: str, **tb_kwargs: Any) -> tuple[Any, Any]:
        drawn, frame = self._meter.profile(stat_name, show=False, **tb_kwargs)
        self.stats_data[stat_name] = frame
        return drawn, frame


def _raw(frame: Any) -> Any:
    """Values as numbers."""
    polars = need("polars", "a table of values")
    made = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype == polars.Object:
            column = polars.Series(name, [getattr(v, "raw_data", v) for v in column], strict=False)
        made.append(column)
    return polars.DataFrame(made)


def save(frame: Any, wanted: Columns, stem: str) -> Path | None:
    """Writes csv or xlsx into a file, or into a folder under the model's name."""
    if wanted.save_to is None:
        return None
    path = Path(wanted.save_to)
    part = path.with_name(f"{path.name}.part-{os.getpid()}")
    kind = (wanted.save_format or path.suffix).lstrip(".").lower()
    if kind not in _FORMATS:
        raise ValueError(f"save_to {wanted.save_to!r}: the format must be csv or xlsx; set save_format")
    made = _file_of(_flat(frame), kind)
    try:
        if path.is_dir() or not path.suffix:
            path.mkdir(parents=True, exist_ok=True)
            path = path / f"{stem}.{kind}"
        elif wanted.save_format:
            path = path.with_suffix("." + kind)
        part = path.with_name(f"{path.name}.part-{os.getpid()}")
        part.write_bytes(made)
        part.replace(path)  # the file gets its name once it is complete
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return path


def _file_of(frame: Any, kind: str) -> bytes:
    if kind == "csv":
        text: str = frame.write_csv()
        return text.encode()
    need("xlsxwriter", "an xlsx file")
    made = io.BytesIO()
    frame.write_excel(made, autofit=True)
    return made.getvalue()


def _flat(frame: Any) -> Any:
    """Values and lists as text; numbers stay numbers."""
    polars = need("polars", "a table of values")
    made = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype == polars.Object or column.dtype == polars.List:
            said = [None if v is None else str(_plain(v)) for v in column]
            column = polars.Series(name, said, dtype=polars.String)
        made.append(column)
    return polars.DataFrame(made)


def _plain(value: Any) -> Any:
    return value.to_list() if hasattr(value, "to_list") else value
