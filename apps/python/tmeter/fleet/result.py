"""The result of a run, and functions that load it again."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Error, UsageError
from ..result import Result
from .output import SUMMARY, Local, Output, output_of, require_our_format
from .table import FACTS, Rows

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class FleetResult:
    """The result of `analyze` and `load`.

    Attributes:
        output: the folder with ``models.parquet``, ``index.html``, ``index.json``, ``reports/``; a
            ``str`` if it is a URL.
        models: a row for each model in the given order: its source (``source``), ``status``
            (``"ok"`` or ``"failed"``) with ``error`` and ``error_kind``, ``bytes`` of its files,
            ``seconds`` of workers (``fetch_seconds`` of them for fetching), ``tries`` of its files,
            and each metric's total, with ``METRIC_status`` if it is not a plain number. More than
            10,000 rows are read from the folder on access.
        metrics: id, title, unit and convention of each metric.
        warnings: notes for readers of the values.
        total: number of models of the run; `models` has fewer if the run was interrupted.
    """

    output: Path | str
    models: Sequence[dict[str, Any]]
    metrics: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]
    total: int = 0

    @property
    def failed(self) -> tuple[dict[str, Any], ...]:
        """The rows of failed models."""
        return tuple(row for row in self.models if row["status"] != "ok")

    @property
    def is_complete(self) -> bool:
        """Whether every model has a row."""
        return len(self.models) >= self.total

    def row(self, model: str) -> dict[str, Any]:
        """The row of a model. Raises UsageError if there is no such model."""
        found = next((row for row in self.models if row["model"] == model), None)
        if found is None:
            raise UsageError(f"there is no model {model!r} in this run")
        return found

    def result(self, model: str) -> Result:
        """The whole report. Raises Error with the reason if it is missing."""
        row = self.row(model)
        if row["status"] != "ok":
            raise Error(f"{model}: {row['error']}")
        if row["report"] is None:
            raise Error(f"{model}: its report was not kept (reports=False)")
        output = output_of(os.fspath(self.output))
        if isinstance(output, Local):
            return Result.load(output.path(row["report"]))
        with tempfile.NamedTemporaryFile(prefix="tmeter-", suffix=".json") as file:
            try:
                file.write(output.read(row["report"]))
            except FileNotFoundError as error:
                raise Error(f"{output.root}/{row['report']}: no such file") from error
            file.flush()
            return Result.load(file.name)

    def require_all(self) -> None:
        """Raises Error with the failed models and their reasons, if there are any."""
        failed = self.failed
        if failed:
            some = "\n".join(f"  {row['model']}: {row['error']}" for row in failed[:5])
            more = f"\n  and {len(failed) - 5} more" if len(failed) > 5 else ""
            raise Error(f"{len(failed)} of {len(self.models)} models failed:\n{some}{more}")

    def frame(self) -> pandas.DataFrame:
        """The rows as a data frame, indexed by model; missing values are ``<NA>``."""
        from ..frames import frame_of

        rows = list(self.models)
        columns = {fact: [row[fact] for row in rows] for fact in FACTS if fact != "model"}
        for metric in self.metrics:
            for key in (metric["id"], f"{metric['id']}_status"):
                values = [row.get(key) for row in rows]
                if key == metric["id"] or any(v is not None for v in values):
                    columns[key] = values
        return frame_of([row["model"] for row in rows], columns, "model")


def load(output: str | os.PathLike[str]) -> FleetResult:
    """Loads the results in an output folder without running anything.

    An interrupted run has the models done by then. A killed run has the table before it.

    Raises:
        UsageError: the results are missing, or are those of another version of tmeter.
    """
    folder = output_of(os.fspath(output))
    require_our_format(folder)
    try:
        summary = json.loads(folder.read(SUMMARY))
        rows = Rows.reopened(folder, summary.get("table"))
        metrics, warnings, total = summary["metrics"], summary["warnings"], summary["models"]
    except FileNotFoundError as error:
        raise UsageError(f"{os.fspath(output)}: there are no results of a fleet") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{os.fspath(output)}: its results are damaged ({error})") from error
    return result_of(folder, rows, metrics, warnings, total)


def result_of(
    folder: Output, rows: Rows, metrics: Sequence[dict[str, Any]], warnings: Sequence[str], total: int
) -> FleetResult:
    root = Path(folder.root) if isinstance(folder, Local) else folder.root
    return FleetResult(root, rows, tuple(metrics), tuple(warnings), total)
