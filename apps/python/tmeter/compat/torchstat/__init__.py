"""``from tmeter.compat.torchstat import stat``"""

from __future__ import annotations

from typing import Any

from ...analysis import analyze
from ...errors import CannotRunError, PluginError
from ...result import Result
from ...specs import Shape
from .table import table


def stat(model: Any, input_size: tuple[int, ...], query_granularity: int = 1) -> None:
    """Prints torchstat's table of layers with its columns and totals.

    Args:
        model: a live module or the path of a file.
        input_size: without the batch, e.g. ``(3, 224, 224)``.
        query_granularity: 1 for all layers; N combines the layers of modules that are N levels
            high, as torchstat does.

    MAdd and Flops follow torchstat's formulas (docs/conventions.md). Shapes are without the batch.
    ``duration[%]`` is measured by running the model for a second; ``-``: the model cannot be run.
    """
    print(table(_measured(model, (Shape((1, *input_size)),)), query_granularity))


def _measured(model: Any, inputs: Any) -> Result:
    analyze_options: dict[str, Any] = {
        "options": {"flops.convention": "torchstat"},
        "request": ["madd", "traffic_bytes"],
        "dynamic_batch": False,
    }
    try:
        return analyze(model, inputs, inference=True, run_for=1, **analyze_options)
    except (CannotRunError, PluginError):
        return analyze(model, inputs, **analyze_options)
