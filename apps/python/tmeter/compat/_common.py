"""The common parts of the calls."""

from __future__ import annotations

from typing import Any, Literal

from ..analysis import analyze
from ..errors import UsageError
from ..result import Result


def analysed(
    model: Any,
    inputs: Any,
    convention: str,
    plugins: str = "params,flops,memory",
    mode: Literal["eval", "train", "same"] = "eval",
) -> Result:
    return analyze(
        model,
        inputs,
        plugins=plugins,
        options={"flops.convention": convention},
        dynamic_batch=False,
        mode=mode,
    )


def number(result: Result, metric: str) -> int:
    """A total; 0 if the model has nothing to count."""
    return int(result.total(metric) or 0)


def refuse_rules(**given: Any) -> None:
    """Refuses custom rules: a rule in Python would need a second count, and ignoring it silently would be wrong."""
    for name, value in given.items():
        if value:
            raise UsageError(
                f"{name}: rules written in Python are not supported; a tmeter plugin counts "
                "operators of your own (tmeter plugin new NAME --kind op)"
            )


def as_arguments(inputs: Any) -> tuple[Any, ...]:
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
