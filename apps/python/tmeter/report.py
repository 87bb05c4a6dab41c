"""Reads the JSON report (docs/schema/tmeter-report-1.schema.json) into tables of columns.

A value is a number, or missing with a status as the reason: ``unknown`` (no rule), ``unavailable``
(not known on this machine or for this file), ``not_finite``. A number may carry ``lower_bound`` or ``partial``
(a part has no value), ``assumed`` (it rests on an assumption that a warning names) or ``zero_by_rule``.
Statuses are columns of their own, never numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Columns = dict[str, list[Any]]

STATUSES = (
    "zero_by_rule",
    "unknown",
    "unavailable",
    "not_finite",
    "lower_bound",
    "partial",
    "assumed",
)


def status_of(row: Row, metric: str) -> str | None:
    """The status of a value; None: a plain number, or the metric does not apply to this row."""
    return next((s for s in STATUSES if metric in row.get(s, ())), None)


def totals(report: Row) -> tuple[list[str], Columns]:
    metrics = report["metrics"]
    described = _plain(
        metrics,
        ("value", lambda m: report["totals"].get(m["id"])),
        ("status", lambda m: report["totals_status"].get(m["id"])),
        "unit",
        "title",
        ("provenance", lambda m: m["provenance"]["kind"]),
        ("provenance_text", lambda m: m["provenance"]["text"]),
        "convention",
        "plugin",
    )
    return [m["id"] for m in metrics], described


def _values(report: Row, rows: Sequence[Row]) -> Columns:
    """A column for each metric that applies to at least one row, and a column of its statuses if there are any."""
    columns: Columns = {}
    for metric in (m["id"] for m in report["metrics"]):
        if not any(metric in row["values"] for row in rows):
            continue
        columns[metric] = [row["values"].get(metric) for row in rows]
        statuses = [status_of(row, metric) for row in rows]
        if any(statuses):
            columns[f"{metric}_status"] = statuses
    return columns


def _member(key: str) -> Callable[[Row], Any]:
    return lambda row: row.get(key)


def _plain(rows: Sequence[Row], *columns: str | tuple[str, Callable[[Row], Any]]) -> Columns:
    """A column for each member (None in rows without it) and for each function."""
    named = [(c, _member(c)) if isinstance(c, str) else c for c in columns]
    return {name: [get(row) for row in rows] for name, get in named}


def modules(report: Row) -> tuple[list[str], Columns]:
    rows = report["modules"]
    depth = ("depth", lambda r: 0 if r["id"] == "0" else r["id"].count(".") + 1)
    described = _plain(rows, "name", "type", "kernel_size", "calls", depth, "input_size", "output_size")
    return [r["path"] for r in rows], described | _values(report, rows)


def operators(report: Row) -> tuple[list[str], Columns]:
    rows = report["nodes"]
    described = _plain(
        rows,
        ("position", lambda r: r["index"]),
        ("op", lambda r: r["op"] + ("." + r["overload"] if r["overload"] else "")),
        ("call", lambda r: r.get("call", 1)),
        "location",
    )
    return [r["module"] or "" for r in rows], described | _values(report, rows)


def tensors(report: Row) -> tuple[list[str], Columns]:
    rows = report["tensors"]
    owner = ("module", lambda r: r["owner"])
    described = _plain(rows, "kind", "dtype", "shape", "numel", "trainable", owner, "tied_to")
    return [r["name"] for r in rows], described | _values(report, rows)


def findings(report: Row) -> tuple[list[str], Columns]:
    rows = report["findings"]
    members = ("severity", "text", "evidence", "action", "targets", "changes", "plugin")
    return [r["rule"] for r in rows], _plain(rows, *members)


#: Table → function that makes it, and the name of its index.
TABLES: dict[str, tuple[Callable[[Row], tuple[list[str], Columns]], str]] = {
    "totals": (totals, "metric"),
    "modules": (modules, "path"),
    "operators": (operators, "module"),
    "tensors": (tensors, "name"),
    "findings": (findings, "rule"),
}
