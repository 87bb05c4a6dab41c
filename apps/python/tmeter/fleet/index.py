"""``index.json``: a report whose modules are the models, as ``tmeter merge --index`` makes it.

The values come from the table. The program reads every report for its index, and for a million
models the reports are larger than the models.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .. import __version__
from .ledger import Row

#: The most models of an index, because `tmeter show` holds all of them in memory.
MOST = 20_000
_MISSING_STATUSES = {"unknown", "unavailable", "not_finite"}
_PARTIAL_STATUSES = {"lower_bound", "partial", "assumed"}


class Index:
    """Built from the models' ledger lines, one after the other."""

    def __init__(self, metrics: Sequence[Row]) -> None:
        self._metrics = list(metrics)
        self._sums = {m["id"]: _Sum(m) for m in metrics}
        self._modules: list[Row] = []
        self._plugins: dict[str, Row] = {}
        self.too_many = False

    def add(self, name: str, entry: Row, row: Row) -> None:
        """`row` has the values and statuses of the metrics with the same convention in all models."""
        for plugin in entry.get("plugins", ()):
            self._plugins.setdefault(json.dumps(plugin), plugin)
        values: dict[str, Any] = {}
        statuses: dict[str, list[str]] = {}
        for metric, total in self._sums.items():
            value, status = row.get(metric), row.get(f"{metric}_status")
            if value is None and status is None:
                total.add(None, None)
                continue
            values[metric] = value
            if status in _MISSING_STATUSES or status in _PARTIAL_STATUSES:
                statuses.setdefault(status, []).append(metric)
            total.add(value, status)
        if len(self._modules) >= MOST:
            self.too_many = True
            return
        kind, qualified, text = (*entry.get("type", ()), "", "", "")[:3]
        self._modules.append(
            _module(str(len(self._modules) + 1), name, kind, qualified, text, 0, "0", [], values) | statuses
        )

    def report(self) -> bytes:
        count = len(self._modules)
        used = [m for m in self._metrics if self._sums[m["id"]].is_used]
        totals = {m: s.value for m, s in self._sums.items() if s.is_used}
        statuses = {m: s.status for m, s in self._sums.items() if s.status}
        by_status: dict[str, list[str]] = {}
        for metric, status in statuses.items():
            by_status.setdefault(status, []).append(metric)
        children = [m["id"] for m in self._modules]
        root = _module("0", "", "models", "models", "models", 1, None, children, totals) | by_status
        return json.dumps(
            {
                "schema": "tmeter-report/1",
                "tool": {"name": "tmeter", "version": __version__},
                "model": dict.fromkeys(("producer", "part", "size", "sizes"))
                | {"name": "models", "file": f"{count} models", "format": f"index of {count} models"},
                **{k: [] for k in ("inputs", "outputs", "symbols")},
                "metrics": [_as_module_metric(m) for m in used],
                "totals": totals,
                "totals_status": statuses,
                "formulas": [],
                "sweep": None,
                "coverage": None,
                "modules": [root, *self._modules],
                "module_calls": [{"module": 0}],
                **{k: [] for k in ("nodes", "tensors", "findings", "series", "distributions")},
                "config": {},
                "warnings": [],
                "plugins": list(self._plugins.values()),
                "hardware": None,
                "command": "tmeter fleet",
                "timing": {"analysis_seconds": None},
            },
            ensure_ascii=False,
        ).encode("utf-8", "backslashreplace")


def _module(
    id_: str,
    name: str,
    kind: str,
    qualified: str,
    text: str,
    calls: int,
    parent: str | None,
    children: list[str],
    values: dict[str, Any],
) -> Row:
    return {
        "id": id_,
        "path": name,
        "name": name,
        "type": kind,
        "qualified_type": qualified,
        "text": text,
        "calls": calls,
        "parent": parent,
        "children": children,
        "values": values,
    }


def _as_module_metric(metric: Row) -> Row:
    provenance = metric["provenance"]
    if provenance["kind"] == "unavailable":  # the status of that model
        provenance = {"kind": "computed", "text": ""}
    return {**metric, "axis": "module", "of_tensors": False, "provenance": provenance}


class _Sum:
    """A metric's total over all models, by its aggregation; null for other aggregations.

    The rule is that of core/merging/model_index.cpp.
    """

    def __init__(self, metric: Row) -> None:
        self._aggregation = metric["aggregation"]
        self._value: int | float | None = None
        self._gap = self._missing = self._partial = self._assumed = False

    def add(self, value: Any, status: str | None) -> None:
        if value is None:
            self._gap = self._gap or status is not None
            self._missing = True
            return
        self._partial = self._partial or status in ("lower_bound", "partial")
        self._assumed = self._assumed or status == "assumed"
        if self._value is None:
            self._value = value
        elif self._aggregation == "max":
            self._value = max(self._value, value)
        else:
            self._value += value

    @property
    def is_used(self) -> bool:
        """Whether the metric applies to any model."""
        return self._gap or self._value is not None

    @property
    def value(self) -> int | float | None:
        if self._aggregation not in ("sum", "max"):
            return None
        whole = isinstance(self._value, int)
        return None if whole and abs(self._value or 0) >= 2**63 else self._value

    @property
    def status(self) -> str | None:
        if self._aggregation not in ("sum", "max"):
            return None
        if self.value is None:
            return "unavailable" if self._gap or self._value is not None else None
        if self._assumed:
            return "assumed"
        return "lower_bound" if self._partial or self._missing else None
