"""``from tmeter.compat.torchinfo import summary``"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...result import Result
from ...specs import Shape, is_sizes
from .._common import analysed, number

if TYPE_CHECKING:
    from .layers import LayerInfo
    from .table import Look


class ModelStatistics:
    """The result of ``summary``; ``str`` and ``print`` give torchinfo's table.

    Attributes:
        summary_list: the layers in the order they are called (``LayerInfo``).
        input_size: sizes of the inputs.
        total_params, trainable_params: elements.
        total_mult_adds: by torchinfo's convention (docs/conventions.md), counted by the native program.
        total_input, total_param_bytes: bytes.
        total_output_bytes: twice the bytes of the results of layers with parameters, as in torchinfo.
        result: tmeter's own result; None if no inputs were given.
    """

    def __init__(
        self, model: Any, layers: list[LayerInfo], look: Look, result: Result | None = None
    ) -> None:
        from .layers import totals_of

        self.summary_list = layers
        self.result = result
        self.formatting = look
        self.total_params, self.trainable_params, self.total_param_bytes = totals_of(model)
        self.total_mult_adds = number(result, "flops") if result else 0
        report = result.to_dict() if result else {"inputs": []}
        given = [i for i in report["inputs"] if "shape" in i]
        self.input_size = [i["shape"] for i in given]
        self.total_input = sum(_bytes(i) for i in given)
        leaves = [x for x in layers if x.is_leaf_layer and x.num_params > 0]
        self.total_output_bytes = sum(2 * x.output_bytes for x in leaves)

    @staticmethod
    def to_megabytes(num: int) -> float:
        return num / 1e6

    def __repr__(self) -> str:
        from .table import table, with_unit

        lines, width = table(self.summary_list, self.total_params, self.formatting)
        divider = "=" * width
        frozen = self.total_params - self.trainable_params
        shown = [divider, lines[0], divider, *lines[1:], divider]
        shown += [
            f"Total params: {self.total_params:,}",
            f"Trainable params: {self.trainable_params:,}",
            f"Non-trainable params: {frozen:,}",
        ]
        if self.input_size:
            total = self.total_input + self.total_output_bytes + self.total_param_bytes
            shown += [
                f"Total mult-adds{with_unit(self.total_mult_adds)}",
                divider,
                f"Input size (MB): {self.total_input / 1e6:0.2f}",
                f"Forward/backward pass size (MB): {self.total_output_bytes / 1e6:0.2f}",
                f"Params size (MB): {self.total_param_bytes / 1e6:0.2f}",
                f"Estimated Total Size (MB): {total / 1e6:0.2f}",
            ]
        return "\n".join([*shown, divider])


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
    """Returns the summary and prints it unless ``verbose=0``. The module is not run.

    Without inputs only layers and parameters are reported, as in torchinfo. ``device`` and
    ``cache_forward_pass`` have no effect: nothing is run.
    """
    from .layers import layers_of_module, layers_of_report
    from .table import Look

    if input_size is not None and input_data is not None:
        raise UsageError("only one of (input_data, input_size) should be specified")
    chosen = "eval" if mode is None else _plain(mode)
    if chosen not in ("eval", "train"):
        raise UsageError(f"mode={chosen!r}: 'eval' or 'train' is expected")
    inputs = _inputs(input_size, input_data, batch_dim, dtypes)
    if kwargs:
        inputs = _with_names(model, inputs, kwargs)
    default = ["num_params"] if inputs is None else ["output_size", "num_params"]
    look = Look(
        [_plain(c) for c in col_names] if col_names is not None and inputs is not None else default,
        col_width,
        depth,
        frozenset(map(_plain, row_settings)) if row_settings is not None else frozenset({"depth"}),
        1 if verbose is None else verbose,
    )
    name = type(model).__name__
    if inputs is None:
        made = ModelStatistics(model, layers_of_module(model, name), look)
    else:
        result = analysed(model, inputs, "torchinfo", mode="train" if chosen == "train" else "eval")
        made = ModelStatistics(model, layers_of_report(model, name, result.to_dict()), look, result)
    if look.verbose > 0:
        print(made)
    return made


def _plain(value: Any) -> str:
    """The value of a setting, which may be a member of torchinfo's enums."""
    return str(getattr(value, "value", value))


def _bytes(given: dict[str, Any]) -> int:
    from ...specs import SHORT

    bits = "".join(c for c in SHORT.get(given.get("dtype", ""), "f32") if c.isdigit()) or "8"
    elements = 1
    for size in given["shape"]:
        elements *= size if isinstance(size, int) else 1
    return elements * int(bits) // 8


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
