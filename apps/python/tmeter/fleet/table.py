"""What a run gives: a row for each model, as data and as Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Error, UsageError
from ..report import status_of
from ..result import Result
from .folder import Folder

if TYPE_CHECKING:
    import pandas

#: Columns of every row, before those of figures.
FACTS = (
    "model source status error error_kind report shards bytes seconds fetch_seconds tries nodes"
).split()


@dataclass(frozen=True)
class FleetResult:
    """What `analyze` returns.

    Attributes:
        output: the folder with ``models.parquet``, ``index.html``, ``index.json``, ``reports/``.
        models: a row for each model, in the order given: where it is from (``source``), ``status``
            (``"ok"`` or ``"failed"``) with ``error`` and ``error_kind``, ``bytes`` of its files,
            ``seconds`` of workers (``fetch_seconds`` of them for fetching), ``tries`` of its files,
            and each metric's total, with ``METRIC_status`` where it is not a plain number.
        metrics: id, title, unit and convention of each metric.
        warnings: what a reader of the figures should know.
    """

    output: Path
    models: tuple[dict[str, Any], ...]
    metrics: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]

    @property
    def failed(self) -> tuple[dict[str, Any], ...]:
        return tuple(row for row in self.models if row["status"] != "ok")

    def row(self, model: str) -> dict[str, Any]:
        """Raises UsageError when there is no such model."""
        found = next((row for row in self.models if row["model"] == model), None)
        if found is None:
            raise UsageError(f"there is no model {model!r} in this run")
        return found

    def result(self, model: str) -> Result:
        """The whole report. Raises Error with the reason if it is missing."""
        row = self.row(model)
        if row["status"] != "ok":
            raise Error(f"{model}: {row['error']}")
        return Result.load(self.output / row["report"])

    def require_all(self) -> None:
        """Raises Error that names models which failed, and why."""
        if self.failed:
            some = "\n".join(f"  {row['model']}: {row['error']}" for row in self.failed[:5])
            more = f"\n  and {len(self.failed) - 5} more" if len(self.failed) > 5 else ""
            raise Error(f"{len(self.failed)} of {len(self.models)} models failed:\n{some}{more}")

    def frame(self) -> pandas.DataFrame:
        """Indexed by model; figures that are not there are ``<NA>``."""
        from ..frames import frame_of

        names, columns = columns_of(self.models, self.metrics)
        return frame_of(names, columns, "model")


def columns_of(
    rows: Sequence[dict[str, Any]], metrics: Sequence[dict[str, Any]]
) -> tuple[list[str], dict[str, list[Any]]]:
    """Model names; columns of facts, then of figures, of statuses only where there are any."""
    names = [row["model"] for row in rows]
    columns = {fact: [row[fact] for row in rows] for fact in FACTS if fact != "model"}
    for metric in metrics:
        for key in (metric["id"], f"{metric['id']}_status"):
            values = [row.get(key) for row in rows]
            if key == metric["id"] or any(v is not None for v in values):
                columns[key] = values
    return names, columns


def figures(index: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By the name of the report's file: each metric's total and status, from the native index."""
    out: dict[str, dict[str, Any]] = {}
    for module in index["modules"][1:]:
        row = out[module["name"]] = {}
        for metric in (m["id"] for m in index["metrics"]):
            row[metric] = module["values"].get(metric)
            row[f"{metric}_status"] = status_of(module, metric)
    return out


def write_parquet(
    folder: Folder, rows: Sequence[dict[str, Any]], metrics: Sequence[dict[str, Any]]
) -> Path | None:
    """Whole numbers are int64, others float64, absent ones null. None without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return None
    names, columns = columns_of(rows, metrics)
    arrays = {"model": pyarrow.array(map(_storable, names), pyarrow.string())}
    for key, values in columns.items():
        arrays[key] = pyarrow.array([_storable(v) for v in values], _type(values))
    about = {
        m["id"]: f"{m['title']} [{m['unit'] or m['unit_kind']}]: {m['convention']}" for m in metrics
    }
    fields = [
        pyarrow.field(k, a.type, metadata={"tmeter": about[k]} if k in about else None)
        for k, a in arrays.items()
    ]
    table = pyarrow.table(list(arrays.values()), schema=pyarrow.schema(fields))
    with folder.writing("models.parquet") as new:
        pyarrow.parquet.write_table(table, new)
    return folder.root / "models.parquet"


def _storable(value: Any) -> Any:
    """Names of files may hold bytes that are not UTF-8, which Parquet has no text for."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _type(values: Sequence[Any]) -> Any:
    import pyarrow

    present = [v for v in values if v is not None]
    if all(isinstance(v, str) for v in present):
        return pyarrow.string() if present else pyarrow.null()
    whole = all(isinstance(v, int) and -(2**63) <= v < 2**63 for v in present)
    return pyarrow.int64() if whole else pyarrow.float64()
