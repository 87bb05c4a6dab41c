"""``from tmeter.compat.thop import profile, clever_format``"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._common import analysed, as_arguments, number, refuse_rules

_STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K"))


def profile(
    model: Any,
    inputs: Any,
    custom_ops: Any = None,
    verbose: bool = True,
    ret_layer_info: bool = False,
    report_missing: bool = False,
) -> Any:
    """thop's count, which it calls MACs, and the parameters, both as floats.

    With ``ret_layer_info`` also its nested dictionary: child name → (count, parameters, children).
    """
    refuse_rules(custom_ops=custom_ops)
    result = analysed(model, as_arguments(inputs), "thop")
    totals = float(number(result, "flops")), float(number(result, "params"))
    if (verbose or report_missing) and result.coverage and result.coverage["unknown_ops"]:
        print("[WARN] no rule for", ", ".join(o["op"] for o in result.coverage["unknown_ops"]))
    return (*totals, _layers(result.to_dict())) if ret_layer_info else totals


def _layers(report: dict[str, Any]) -> dict[str, Any]:
    """The module tree in thop's form."""
    made: dict[str, dict[str, Any]] = {m["id"]: {} for m in report["modules"]}
    for module in report["modules"]:
        if module["parent"] is None:
            continue
        values = module["values"]
        counts = float(values.get("flops") or 0), float(values.get("params") or 0)
        made[module["parent"]][module["name"]] = (*counts, made[module["id"]])
    return made[report["modules"][0]["id"]]


def clever_format(nums: float | Iterable[float], format: str = "%.2f") -> Any:
    """``4133742592`` → ``"4.13G"``; several numbers give a tuple."""
    made = [_clever(n, format) for n in (nums if isinstance(nums, Iterable) else [nums])]
    return made[0] if len(made) == 1 else tuple(made)


def _clever(value: float, format: str) -> str:
    for size, suffix in _STEPS:
        if value > size:
            return format % (value / size) + suffix
    return format % value + "B"
