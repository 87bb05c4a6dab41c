"""A result in a notebook: a few kilobytes of HTML without scripts for a model of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from .report import Row, status_of

_MAX_ROWS = 20
_MAX_COLUMNS = 4
_MAX_TOTALS = 12
_MAX_WARNINGS = 3
_MAX_TEXT = 160
_PEAK = "predicted_peak_bytes"  # metrics of the text report's footer

_MARKS = {"lower_bound": "≥ ", "partial": "≥ ", "assumed": "~ "}
_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_NUMBER = ' style="text-align:right"'
_NAME = ' style="text-align:left"'


def summary(report: Row, warnings: Sequence[str]) -> str:
    """Totals, the modules nearest to the root, and the first warnings."""
    model = report["model"]
    return "".join(
        (
            f"<div><p><b>{_text(model['name'] or model['file'])}</b></p>",
            _totals(report),
            _modules(report),
            _warnings(warnings),
            "<p>The interactive page: <code>result.page()</code>, "
            'or <code>result.to_html("report.html")</code></p></div>',
        )
    )


def _totals(report: Row) -> str:
    known = [
        m
        for m in report["metrics"]
        if (not m["detail"] or m["id"] == _PEAK) and _has_total(report, m["id"])
    ]
    rows = (
        f"<tr><th{_NAME}>{_text(m['title'])}</th>{_cell(report, m, _total(report, m['id']))}</tr>"
        for m in known[:_MAX_TOTALS]
    )
    return _table(rows) + _more(len(known) - _MAX_TOTALS, "totals", "result.totals")


def _has_total(report: Row, metric: str) -> bool:
    return metric in report["totals"] or metric in report["totals_status"]


def _total(report: Row, metric: str) -> tuple[Any, str | None]:
    return report["totals"].get(metric), report["totals_status"].get(metric)


def _modules(report: Row) -> str:
    near = _nearest(report["modules"])
    if len(report["modules"]) < 2:
        return ""
    columns = [
        m
        for m in report["metrics"]
        if not m["detail"] and m["axis"] != "model" and any(m["id"] in r["values"] for r in near)
    ][:_MAX_COLUMNS]
    head = "".join(f"<th{_NUMBER}>{_text(m['title'])}</th>" for m in columns)
    rows = [f"<tr><th{_NAME}>module</th><th{_NAME}>type</th><th{_NAME}>output</th>{head}</tr>"]
    for row in near:
        cells = "".join(
            _cell(report, m, (row["values"].get(m["id"]), status_of(row, m["id"]))) for m in columns
        )
        words = (row["path"] or row["name"], row["type"], row.get("output_size") or "")
        rows.append(f"<tr>{''.join(f'<td{_NAME}>{_text(w)}</td>' for w in words)}{cells}</tr>")
    left = len(report["modules"]) - len(near)
    return _table(rows) + _more(left, "modules", "result.modules")


def _nearest(modules: Sequence[Row]) -> list[Row]:
    """As many complete levels below the root as fit. If the first level is too long, its beginning."""
    depths = [0 if m["id"] == "0" else m["id"].count(".") + 1 for m in modules]
    shown = [m for m, depth in zip(modules, depths) if depth <= 1]
    for level in range(2, max(depths, default=0) + 1):
        deeper = [m for m, depth in zip(modules, depths) if depth <= level]
        if len(deeper) > _MAX_ROWS:
            break
        shown = deeper
    return shown[:_MAX_ROWS]


def _warnings(warnings: Sequence[str]) -> str:
    items = "".join(f"<li>{_text(w)}</li>" for w in warnings[:_MAX_WARNINGS])
    more = _more(len(warnings) - _MAX_WARNINGS, "warnings", "result.warnings")
    return f"<ul>{items}</ul>{more}" if items else ""


def _table(rows: Iterable[str]) -> str:
    return f"<table>{''.join(rows)}</table>"


def _more(count: int, kind: str, where: str) -> str:
    return f"<p>{count:,} more {kind}: <code>{where}</code></p>" if count > 0 else ""


def _cell(report: Row, metric: Row, cell: tuple[Any, str | None]) -> str:
    value, status = cell
    if value is None:
        shown = (status or "").replace("_", " ")
        return f"<td{_NUMBER}>{_text(shown)}</td>"
    shown = _MARKS.get(status or "", "") + scaled(value, metric["unit_kind"], metric["unit"])
    exact = f"{value:,} {metric['unit']}".strip()
    return f'<td{_NUMBER} title="{_text(exact)}">{_text(shown)}</td>'


def scaled(value: float, kind: str, unit: str) -> str:
    """``4.09 GMAC``, ``97.5 MiB``, ``1.25 mJ``, ``40.0 %``: three digits, as in the text report."""
    if kind == "ratio":
        return f"{value:.1%}".replace("%", " %")
    if kind == "byte":
        return _with_prefix(value, 1024, [p and p.upper() + "i" for p in _PREFIXES], unit)
    if 0 < abs(value) < 1:
        for power, prefix in ((3, "m"), (6, "µ"), (9, "n"), (12, "p")):
            if abs(value) * 10**power >= 1:
                return f"{value * 10**power:.3g} {prefix}{unit}"
    return _with_prefix(value, 1000, _PREFIXES, unit)


def _with_prefix(value: float, step: int, prefixes: Sequence[str], unit: str) -> str:
    power = 0
    while abs(value) >= step - 0.5 and power + 1 < len(prefixes):
        value, power = value / step, power + 1
    number = f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{number} {prefixes[power]}{unit}".strip()


def _text(text: str) -> str:
    return escape(text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…", quote=True)
