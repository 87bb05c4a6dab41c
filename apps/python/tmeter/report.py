"""Reads the JSON report (docs/schema/tmeter-report-1.schema.json) into tables of columns.

A figure is a number, or it is not and a status says why: ``unknown`` (no rule), ``unavailable``
(not known on this machine or for this file), ``not_finite``. A number may carry ``lower_bound`` or ``partial`` (something
inside has no figure), ``assumed`` (it rests on an assumption about data, which a warning names) or
``zero_by_rule``. Statuses are columns of their own, never numbers.
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
    """None: a plain number, or the metric does not apply to this row."""
    return next((s for s in STATUSES if metric in row.get(s, ())), None)


def totals(report: Row) -> tuple[list[str], Columns]:
    metrics = report["metrics"]
    statuses = report["totals_status"]
    return [m["id"] for m in metrics], {
        "value": [report["totals"].get(m["id"]) for m in metrics],
        "status": [statuses.get(m["id"]) for m in metrics],
        "unit": [m["unit"] for m in metrics],
        "title": [m["title"] for m in metrics],
        "provenance": [m["provenance"]["kind"] for m in metrics],
        "provenance_text": [m["provenance"]["text"] for m in metrics],
        "convention": [m["convention"] for m in metrics],
        "plugin": [m["plugin"] for m in metrics],
    }


def _figures(report: Row, rows: Sequence[Row]) -> Columns:
    """A column for each metric that applies to a row, and one of statuses where there are any."""
    columns: Columns = {}
    for metric in (m["id"] for m in report["metrics"]):
        if not any(metric in row["values"] for row in rows):
            continue
        columns[metric] = [row["values"].get(metric) for row in rows]
        statuses = [status_of(row, metric) for row in rows]
        if any(statuses):
            columns[f"{metric}_status"] = statuses
    return columns


def _plain(rows: Sequence[Row], **named: Callable[[Row], Any]) -> Columns:
    return {name: [get(row) for row in rows] for name, get in named.items()}


def modules(report: Row) -> tuple[list[str], Columns]:
    rows = report["modules"]
    described = _plain(
        rows,
        name=lambda r: r["name"],
        type=lambda r: r["type"],
        kernel_size=lambda r: r.get("kernel_size"),
        calls=lambda r: r["calls"],
        depth=lambda r: 0 if r["id"] == "0" else r["id"].count(".") + 1,
        input_size=lambda r: r.get("input_size"),
        output_size=lambda r: r.get("output_size"),
    )
    return [r["path"] for r in rows], described | _figures(report, rows)


def operators(report: Row) -> tuple[list[str], Columns]:
    rows = report["nodes"]
    described = _plain(
        rows,
        position=lambda r: r["index"],
        op=lambda r: r["op"] + ("." + r["overload"] if r["overload"] else ""),
        call=lambda r: r.get("call", 1),
        location=lambda r: r.get("location"),
    )
    return [r["module"] or "" for r in rows], described | _figures(report, rows)


def tensors(report: Row) -> tuple[list[str], Columns]:
    rows = report["tensors"]
    described = _plain(
        rows,
        kind=lambda r: r["kind"],
        dtype=lambda r: r["dtype"],
        shape=lambda r: r["shape"],
        numel=lambda r: r["numel"],
        trainable=lambda r: r["trainable"],
        module=lambda r: r["owner"],
        tied_to=lambda r: r.get("tied_to"),
    )
    return [r["name"] for r in rows], described | _figures(report, rows)


def findings(report: Row) -> tuple[list[str], Columns]:
    rows = report["findings"]
    return [r["rule"] for r in rows], _plain(
        rows,
        severity=lambda r: r["severity"],
        text=lambda r: r["text"],
        evidence=lambda r: r["evidence"],
        action=lambda r: r["action"],
        targets=lambda r: r["targets"],
        changes=lambda r: r["changes"],
        plugin=lambda r: r["plugin"],
    )


#: Table → its maker, and the name of its index.
TABLES: dict[str, tuple[Callable[[Row], tuple[list[str], Columns]], str]] = {
    "totals": (totals, "metric"),
    "modules": (modules, "path"),
    "operators": (operators, "module"),
    "tensors": (tensors, "name"),
    "findings": (findings, "rule"),
}
