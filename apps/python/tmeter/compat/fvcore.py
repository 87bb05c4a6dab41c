"""``from tmeter.compat.fvcore import FlopCountAnalysis, flop_count_table, parameter_count``"""

from __future__ import annotations

import functools
import json
from collections import Counter
from typing import Any

from ..result import Result
from ..source import show
from ._common import analysed, as_arguments, refuse_rules


def _renamed(counts: dict[str, int]) -> Counter[str]:
    """fvcore uses one name for all convolutions."""
    made = Counter[str]()
    for name, count in counts.items():
        made["conv" if name.startswith("conv") else name] += count
    return made


class _Analysis:
    """The base of both analyses. As in fvcore, counts are computed at first use."""

    _metric = ""
    _plugins = ""

    def __init__(self, model: Any, inputs: Any) -> None:
        self._model, self._inputs = model, as_arguments(inputs)

    @functools.cached_property
    def result(self) -> Result:
        """tmeter's result by fvcore's convention."""
        return analysed(self._model, self._inputs, "fvcore", self._plugins, mode="same")

    @functools.cached_property
    def _values(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(show(self.result.to_dict(), "fvcore-json"))
        return found

    @property
    def _of_metric(self) -> dict[str, Any]:
        values: dict[str, Any] = self._values[self._metric]
        return values

    def total(self, module_name: str = "") -> int:
        return self.by_module()[module_name]

    def by_module(self) -> Counter[str]:
        return Counter({k: v or 0 for k, v in self._of_metric["by_module"].items()})

    def by_operator(self, module_name: str = "") -> Counter[str]:
        return self.by_module_and_operator()[module_name]

    def by_module_and_operator(self) -> dict[str, Counter[str]]:
        values = self._of_metric["by_module_and_operator"]
        return {module: _renamed(counts) for module, counts in values.items()}

    def unsupported_ops(self, module_name: str = "") -> Counter[str]:
        if module_name:
            inside = self.result.operators
            inside = inside[[i == module_name or i.startswith(module_name + ".") for i in inside.index]]
            if f"{self._metric}_status" not in inside:
                return Counter()
            unknown = inside[inside[f"{self._metric}_status"] == "unknown"]
            return Counter(unknown["op"].tolist())
        coverage = self.result.coverage or {"unknown_ops": []}
        return Counter({o["op"]: o["count"] for o in coverage["unknown_ops"]})

    def uncalled_modules(self) -> set[str]:
        modules = self.result.to_dict()["modules"]
        return {m["path"] for m in modules if m["calls"] == 0 and not m["children"] and m["path"]}

    def set_op_handle(self, *args: Any, **kwargs: Any) -> Any:
        refuse_rules(set_op_handle=[*args, *kwargs])
        return self

    def unsupported_ops_warnings(self, enabled: bool) -> Any:
        return self

    def uncalled_modules_warnings(self, enabled: bool) -> Any:
        return self

    def tracer_warnings(self, mode: str) -> Any:
        return self


class FlopCountAnalysis(_Analysis):
    """fvcore's FLOPs: a multiply-add counts as one."""

    _metric = "flops"
    _plugins = "params,flops"


class ActivationCountAnalysis(_Analysis):
    """Elements of the outputs of convolutions and matrix products."""

    _metric = "activations"
    _plugins = "params,flops,activations"


def parameter_count(model: Any) -> Counter[str]:
    """Parameters of each module by dot path, ``""`` for all; tied parameters count once per module."""
    counts = Counter[str]()
    for path, module in model.named_modules():
        counts[path] = sum(p.numel() for p in module.parameters())
    return counts


def flop_count_table(
    flops: FlopCountAnalysis,
    max_depth: int = 3,
    activations: ActivationCountAnalysis | None = None,
    show_param_shapes: bool = True,
) -> str:
    """fvcore's Markdown table: module, parameters or shape, FLOPs and, if given, activations.

    Modules with neither parameters nor values are left out.
    """
    counts = flops.by_module()
    others = activations.by_module() if activations else Counter[str]()
    head = ["module", "#parameters or shape", "#flops"] + (["#activations"] if activations else [])

    def cells(path: str) -> list[str]:
        shown = [_short(counts[path]) if counts[path] else ""]
        return shown + ([_short(others[path]) if others[path] else ""] if activations else [])

    rows: list[list[str]] = []
    for name, size, parameter in _hierarchy(flops._model, max_depth, show_param_shapes):
        if parameter is not None:
            rows.append([name, parameter, *[""] * (len(head) - 2)])
        elif size or counts[name]:
            rows.append([name or "model", _short(size) if size else "", *cells(name)])
    return _markdown(head, rows)


def parameter_count_table(model: Any, max_depth: int = 3) -> str:
    """fvcore's Markdown table: module, parameters or shape."""
    rows = []
    for name, size, parameter in _hierarchy(model, max_depth, True):
        if parameter is not None or size:
            rows.append([name or "model", parameter or _short(size, "%.1f")])
    return _markdown(["name", "#elements or shape"], rows)


def flop_count_str(
    flops: FlopCountAnalysis, activations: ActivationCountAnalysis | None = None
) -> str:
    """The module tree as text; the layout is tmeter's."""
    text = flops.result.to_text(depth="all", columns="params,flops")
    return text if activations is None else f"{text}\n{activations.result.to_text(columns='activations')}"


def _hierarchy(model: Any, max_depth: int, shapes: bool) -> list[tuple[str, int, str | None]]:
    """(dot path, elements, shape if it is a parameter); siblings with parameters come first."""
    found: list[tuple[str, int, str | None]] = []

    def visit(module: Any, path: str, depth: int) -> None:
        found.append((path, sum(p.numel() for p in module.parameters()), None))
        if depth >= max_depth:
            return
        prefix = path + "." if path else ""
        if shapes:
            own = module.named_parameters(recurse=False)
            found.extend((prefix + name, p.numel(), str(tuple(p.shape))) for name, p in own)
        children = list(module.named_children())
        for has_parameters in (True, False):
            for name, child in children:
                if (next(child.parameters(), None) is not None) == has_parameters:
                    visit(child, prefix + name, depth + 1)

    visit(model, "", 0)
    return found


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    padded = [title + "  " for title in head]  # as tabulate does
    widths = [max(len(row[i]) for row in [padded, *rows]) for i in range(len(head))]
    lines = [" | ".join(cell.ljust(w) for cell, w in zip(row, widths)) for row in [head, *rows]]
    rule = "|".join(":" + "-" * (w + 1) for w in widths)
    return "\n".join([f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:])])


def _short(value: float, style: str = "") -> str:
    """``1.827G``, ``0.148M``: a unit is used from a tenth of its size."""
    for size, suffix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K")):
        if value >= size / 10:
            return (style % (value / size) if style else f"{round(value / size, 3):g}") + suffix
    return f"{value:g}"
