"""Tables as pandas data frames and Arrow tables; both libraries are imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .report import TABLES, Row
from .wording import did_you_mean

if TYPE_CHECKING:
    import pandas
    import pyarrow


def _table(report: Row, table: str) -> tuple[list[str], dict[str, list[Any]], str]:
    if table not in TABLES:
        raise UsageError(f"there is no table {table!r}{did_you_mean(table, TABLES)}; there are {', '.join(TABLES)}")
    make, index_name = TABLES[table]
    index, columns = make(report)
    return index, columns, index_name


def frame(
    report: Row, table: str, *, leading_dot: bool = False, only: str | None = None
) -> pandas.DataFrame:
    """Counts are ``Int64``, other values ``Float64``: a missing value is ``<NA>``, never 0."""
    if only not in (None, "trainable"):
        raise UsageError(f"only={only!r}: 'trainable' is expected")
    if table != "modules" and (leading_dot or only):
        raise UsageError(f"leading_dot= and only= are for the table 'modules', not {table!r}")
    index, columns, name = _table(_trainable(report) if only else report, table)
    return frame_of(["." + path for path in index] if leading_dot else index, columns, name)


def _trainable(report: Row) -> Row:
    """The modules that hold trainable parameters, themselves or inside."""
    if not any(m["id"] == "params_trainable" for m in report["metrics"]):
        raise UsageError("only='trainable' needs the metric params_trainable: plugins='params'")
    rows = [r for r in report["modules"] if (r["values"].get("params_trainable") or 0) > 0]
    return {**report, "modules": rows}


def frame_of(index: list[str], columns: dict[str, list[Any]], name: str) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError as error:
        raise UsageError("data frames need pandas: pip install pandas") from error
    made = {key: pandas.Series(values, dtype=_dtype(values)) for key, values in columns.items()}
    result: pandas.DataFrame = pandas.DataFrame(made)
    result.index = pandas.Index(index, name=name, dtype="object")
    return result


def _dtype(values: list[Any]) -> Any:
    present = [v for v in values if v is not None]
    if not present:
        return "object"
    if all(isinstance(v, bool) for v in present):
        return "boolean"
    if all(isinstance(v, int) for v in present):
        return "Int64" if all(-(2**63) <= v < 2**63 for v in present) else "object"
    if all(isinstance(v, (int, float)) for v in present):
        return "Float64"
    return "object"


def arrow(report: Row, table: str) -> pyarrow.Table:
    try:
        import pyarrow
    except ImportError as error:
        raise UsageError("Arrow tables need pyarrow: pip install pyarrow") from error
    import json

    index, columns, name = _table(report, table)
    columns = {name: list(index), **columns}
    for key in ("targets", "changes"):  # of findings: lists of dictionaries of any shape
        if key in columns:
            columns[key] = [json.dumps(v) for v in columns[key]]
    return pyarrow.table(columns)
