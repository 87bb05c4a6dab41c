"""``from tmeter.compat.torchinfo import summary``"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import UsageError
from ..result import Result
from ..specs import Shape, is_sizes
from ._common import analysed, number

#: torchinfo's names of columns → tmeter's.
_COLUMNS = {
    "input_size": "input_size",
    "output_size": "output_size",
    "num_params": "params",
    "kernel_size": "kernel_size",
    "mult_adds": "flops",
}


class ModelStatistics:
    """What ``summary`` returns: totals as numbers, the table as text.

    Attributes:
        total_params, trainable_params: elements.
        total_mult_adds: as torchinfo counts them.
        total_param_bytes, total_input: bytes.
    """

    def __init__(self, result: Result, depth: int, columns: Iterable[str]) -> None:
        self.result = result
        report = result.to_dict()
        self.total_params = number(result, "params")
        self.trainable_params = number(result, "params_trainable")
        self.total_mult_adds = number(result, "flops")
        self.total_param_bytes = number(result, "param_bytes")
        self.input_size = [i["shape"] for i in report["inputs"] if "shape" in i]
        shown = ",".join(_COLUMNS[c] for c in columns if c in _COLUMNS)
        self._text = result.to_text(depth=depth, columns=shown)

    def __repr__(self) -> str:
        return (
            f"{self._text.rstrip()}\n"
            f"Total params: {self.total_params:,}\n"
            f"Trainable params: {self.trainable_params:,}\n"
            f"Non-trainable params: {self.total_params - self.trainable_params:,}\n"
            f"Total mult-adds: {self.total_mult_adds:,}\n"
            f"Params size (MB): {self.total_param_bytes / 1e6:0.2f}"
        )


def summary(
    model: Any,
    input_size: Any = None,
    input_data: Any = None,
    batch_dim: int | None = None,
    cache_forward_pass: bool | None = None,
    col_names: Iterable[str] | None = None,
    col_width: int = 25,
    depth: int = 3,
    device: Any = None,
    dtypes: Any = None,
    mode: str | None = None,
    row_settings: Iterable[str] | None = None,
    verbose: int | None = None,
    **kwargs: Any,
) -> ModelStatistics:
    """Prints (``verbose=0``: does not) and returns the summary; the module is not run.

    ``device``, ``cache_forward_pass``, ``col_width`` and ``row_settings`` have no effect: nothing is run,
    and the table is tmeter's.
    """
    if input_size is not None and input_data is not None:
        raise UsageError("only one of (input_data, input_size) should be specified")
    if mode == "train":
        raise UsageError("mode='train': models are analysed in evaluation mode")
    inputs = _inputs(input_size, input_data, batch_dim, dtypes)
    if kwargs:
        inputs = _with_names(model, inputs, kwargs)
    result = analysed(model, inputs, "torchinfo")
    columns = list(col_names) if col_names is not None else ["output_size", "num_params"]
    made = ModelStatistics(result, depth, columns)
    if verbose is None or verbose > 0:
        print(made)
    return made


def _inputs(input_size: Any, input_data: Any, batch_dim: int | None, dtypes: Any) -> Any:
    if input_data is not None:
        return input_data if isinstance(input_data, (dict, tuple, list)) else (input_data,)
    if input_size is None:
        return None
    sizes = [input_size] if is_sizes(input_size) else list(input_size)
    names = [str(d).removeprefix("torch.") for d in dtypes] if dtypes else [None] * len(sizes)
    return tuple(Shape(_batched(tuple(s), batch_dim), d) for s, d in zip(sizes, names))


def _batched(sizes: tuple[int, ...], batch_dim: int | None) -> tuple[int, ...]:
    return sizes if batch_dim is None else (*sizes[:batch_dim], 1, *sizes[batch_dim:])


def _with_names(model: Any, inputs: Any, kwargs: dict[str, Any]) -> Any:
    import inspect

    given = inputs if isinstance(inputs, (tuple, list)) else ()
    named = dict(inputs) if isinstance(inputs, dict) else {}
    return {**inspect.signature(model.forward).bind_partial(*given).arguments, **named, **kwargs}
