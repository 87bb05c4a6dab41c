"""``from tmeter.compat.ptflops import get_model_complexity_info``"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TextIO

from ..errors import UsageError
from ..specs import Shape
from ._common import analysed, number, refuse_rules

_MACS = ((10**9, "GMac"), (10**6, "MMac"), (10**3, "KMac"))
_PARAMS = ((10**6, "M"), (10**3, "k"))
_CONVENTIONS = {"pytorch": "ptflops", "aten": "torchvision"}
_PARAM_UNITS = {"B": 10**9, "M": 10**6, "K": 10**3, "k": 10**3}


def get_model_complexity_info(
    model: Any,
    input_res: tuple[int, ...],
    print_per_layer_stat: bool = True,
    as_strings: bool = True,
    input_constructor: Callable[[tuple[int, ...]], Any] | None = None,
    ost: TextIO | None = None,
    verbose: bool = False,
    ignore_modules: Any = (),
    custom_modules_hooks: Any = None,
    backend: Any = "pytorch",
    flops_units: str | None = None,
    param_units: str | None = None,
    output_precision: int = 2,
    backend_specific_config: Any = None,
) -> tuple[str | int | None, str | int | None]:
    """MACs by ptflops' convention, and parameters: as text, or as integers.

    ``input_res`` gets a batch of one; ``input_constructor`` may make any inputs. ``ost``: destination of
    the table, by default standard output. ``backend="aten"`` counts only multiply-accumulates; unlike
    that of ptflops it leaves out biases.
    """
    refuse_rules(custom_modules_hooks=custom_modules_hooks, ignore_modules=list(ignore_modules))
    if not isinstance(input_res, tuple) or not input_res:
        raise UsageError(f"input_res: a tuple of sizes is expected, got {input_res!r}")
    inputs: Any = (Shape((1, *input_res)),)
    if input_constructor is not None:
        inputs = input_constructor(input_res)
    result = analysed(model, inputs, _CONVENTIONS[_backend(backend)])
    macs, params = number(result, "flops"), number(result, "params")
    if print_per_layer_stat:
        print(result.to_text(depth="all", columns="params,flops"), file=ost or sys.stdout)
    if not as_strings:
        return macs, params
    return (
        _macs_text(macs, flops_units, output_precision),
        _params_text(params, param_units, output_precision),
    )


def _backend(backend: Any) -> str:
    name = str(getattr(backend, "value", backend)).lower()
    if name not in _CONVENTIONS:
        raise UsageError(f"backend {name!r}: there are {', '.join(_CONVENTIONS)}")
    return name


def _macs_text(macs: int, units: str | None, precision: int) -> str:
    for size, name in _MACS:
        if units == name or (units is None and macs >= size):
            return f"{round(macs / size, precision)} {name}"
    return f"{macs} Mac"


def _params_text(params: int, units: str | None, precision: int) -> str:
    if units is not None:
        size = _PARAM_UNITS.get(units)
        return f"{round(params / size, precision)} {units}" if size else str(params)
    for size, name in _PARAMS:
        if params >= size:
            return f"{round(params / size, precision)} {name}"
    return str(params)
