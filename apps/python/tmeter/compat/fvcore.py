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
    """fvcore knows all convolutions by one name."""
    made = Counter[str]()
    for name, count in counts.items():
        made["conv" if name.startswith("conv") else name] += count
    return made


class _Analysis:
    """What both analyses share; figures are asked for when they are needed, as fvcore does."""

    _metric = ""
    _plugins = ""

    def __init__(self, model: Any, inputs: Any) -> None:
        self._model, self._inputs = model, as_arguments(inputs)

    @functools.cached_property
    def result(self) -> Result:
        """tmeter's own result, in fvcore's convention."""
        return analysed(self._model, self._inputs, "fvcore", self._plugins)

    @functools.cached_property
    def _figures(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(show(self.result.to_dict(), "fvcore-json"))
        return found

    @property
    def _of_metric(self) -> dict[str, Any]:
        figures: dict[str, Any] = self._figures[self._metric]
        return figures

    def total(self, module_name: str = "") -> int:
        return self.by_module()[module_name]

    def by_module(self) -> Counter[str]:
        return Counter({k: v or 0 for k, v in self._of_metric["by_module"].items()})

    def by_operator(self, module_name: str = "") -> Counter[str]:
        return self.by_module_and_operator()[module_name]

    def by_module_and_operator(self) -> dict[str, Counter[str]]:
        figures = self._of_metric["by_module_and_operator"]
        return {module: _renamed(counts) for module, counts in figures.items()}

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
    """fvcore's FLOPs: one multiply-add is one."""

    _metric = "flops"
    _plugins = "params,flops"


class ActivationCountAnalysis(_Analysis):
    """Elements of the outputs of convolutions and matrix products."""

    _metric = "activations"
    _plugins = "params,flops,activations"


def parameter_count(model: Any) -> Counter[str]:
    """Parameters of each module, by dot path, ``""`` for all; tied ones once per module."""
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
    """A Markdown table: module, parameters or shape, FLOPs and, if given, activations."""
    head = ["module", "#parameters or shape", "#flops"] + (["#activations"] if activations else [])
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join([":---"] * len(head)) + "|"]
    counts = flops.by_module()
    other = activations.by_module() if activations else Counter[str]()
    report = flops.result.to_dict()
    for module in report["modules"]:
        path = module["path"]
        depth = 0 if not path else path.count(".") + 1
        if depth > max_depth:
            continue
        params = module["values"].get("params") or 0
        row = [f"{'&nbsp;' * depth}{path or 'model'}", _short(params), _short(counts[path])]
        row += [_short(other[path])] if activations else []
        lines.append("| " + " | ".join(row) + " |")
        if show_param_shapes and depth < max_depth:
            lines += _shapes(report, path, depth + 1, len(head))
    return "\n".join(lines)


def _shapes(report: dict[str, Any], path: str, depth: int, columns: int) -> list[str]:
    owned = [t for t in report["tensors"] if t["owner"] == path and t["kind"] == "parameter"]
    return [
        "| "
        + " | ".join([f"{'&nbsp;' * depth}{t['name']}", str(tuple(t["shape"]))] + [""] * (columns - 2))
        + " |"
        for t in owned
    ]


def _short(value: float) -> str:
    for size, suffix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K")):
        if value >= size:
            return f"{value / size:.3f}{suffix}"
    return f"{value:g}"
