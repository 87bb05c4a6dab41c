"""``from tmeter.compat.calflops import calculate_flops, calculate_flops_hf``"""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from ..specs import Shape
from ._common import analysed, number, refuse_rules

_SIZES = {"T": 1e12, "G": 1e9, "M": 1e6, "K": 1e3, "": 1.0}


def calculate_flops(
    model: Any,
    input_shape: tuple[int, ...] | None = None,
    transformer_tokenizer: Any = None,
    args: Any = (),
    kwargs: Any = None,
    forward_mode: str = "forward",
    include_backPropagation: bool = False,
    compute_bp_factor: float = 2.0,
    print_results: bool = True,
    print_detailed: bool = True,
    output_as_string: bool = True,
    output_precision: int = 2,
    output_unit: str | None = None,
    ignore_modules: Any = None,
) -> tuple[Any, Any, Any]:
    """(FLOPs, MACs, parameters) of all arithmetic, by tmeter's convention ``full``.

    calflops counts norms, activations and poolings by other factors, so its FLOPs differ in the
    third digit; MACs are the same.
    """
    refuse_rules(ignore_modules=ignore_modules)
    if forward_mode != "forward":
        raise UsageError(f"forward_mode={forward_mode!r}: only 'forward' is analysed")
    inputs = _inputs(input_shape, transformer_tokenizer, args, kwargs)
    result = analysed(model, inputs, "full")
    factor = 1 + compute_bp_factor if include_backPropagation else 1
    flops, macs = number(result, "flops") * factor, number(result, "macs") * factor
    params = number(result, "params")
    if print_results:
        print(result.to_text(depth="all") if print_detailed else result.to_text(depth=0))
    if not output_as_string:
        return flops, macs, params
    unit, digits = output_unit, output_precision
    return (
        _text(flops, unit, digits) + "FLOPS",
        _text(macs, unit, digits) + "MACs",
        _text(params, unit.replace("B", "G") if unit else None, digits).replace("G", "B").strip(),
    )


def calculate_flops_hf(
    model_name: str,
    empty_model: Any = None,
    input_shape: tuple[int, ...] | None = None,
    trust_remote_code: bool = True,
    access_token: str = "",
    forward_mode: str = "forward",
    include_backPropagation: bool = False,
    compute_bp_factor: float = 2.0,
    print_results: bool = True,
    print_detailed: bool = True,
    output_as_string: bool = True,
    output_precision: int = 2,
    output_unit: str | None = None,
    ignore_modules: Any = None,
    return_results: bool = False,
) -> tuple[Any, ...]:
    """Like `calculate_flops`, for a transformers model by its name on the Hub or a folder with config.json.

    Only the configuration is read, code of the repository is not run, and no tokenizer is needed: the
    input is token ids and a mask of ``input_shape``, (1, 128) if none is given.
    """
    from ..factories import build

    name = model_name.removeprefix("https://huggingface.co/")
    model = empty_model if empty_model is not None else build(f"hf:{name}")[0]
    sizes = tuple(input_shape) if input_shape is not None else (1, 128)
    totals = calculate_flops(
        model,
        kwargs={"input_ids": Shape(sizes, "int64"), "attention_mask": Shape(sizes, "int64")},
        forward_mode=forward_mode,
        include_backPropagation=include_backPropagation,
        compute_bp_factor=compute_bp_factor,
        print_results=print_results,
        print_detailed=print_detailed,
        output_as_string=output_as_string,
        output_precision=output_precision,
        output_unit=output_unit,
        ignore_modules=ignore_modules,
    )
    return (*totals, "") if return_results else totals


def _inputs(shape: tuple[int, ...] | None, tokenizer: Any, args: Any, kwargs: Any) -> Any:
    if tokenizer is not None:
        batch, length = shape or (1, 128)
        sizes = (batch, length)
        return {"input_ids": Shape(sizes, "int64"), "attention_mask": Shape(sizes, "int64")}
    if shape is not None:
        if len(shape) < 1 or args or kwargs:
            raise UsageError("input_shape is for one tensor; give args and kwargs without it")
        return (Shape(tuple(shape)),)
    return dict(kwargs) if kwargs else tuple(args)


def _text(value: float, unit: str | None, precision: int) -> str:
    if unit is None:
        unit = next((u for u, size in _SIZES.items() if value >= size), "")
    return f"{round(value / _SIZES.get(unit, 1.0), precision):g} {unit}"
