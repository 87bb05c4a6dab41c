"""Inputs written as text, such as shapes. Does not need torch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .errors import InputError

_SHAPE = re.compile(r"^(scalar|\d+(?:x\d+)*)(?::([a-z0-9_]+))?$")

#: Short names of the command line → those of PyTorch.
DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u8": "uint8",
    "bool": "bool",
    "c64": "complex64",
    "c128": "complex128",
}
SHORT = {long: short for short, long in DTYPES.items()}


@dataclass(frozen=True)
class Shape:
    """The sizes of a tensor; dtype None: the dtype that the model expects."""

    sizes: tuple[int, ...]
    dtype: str | None = None

    def __str__(self) -> str:
        text = "x".join(map(str, self.sizes)) or "scalar"
        return f"{text}:{SHORT.get(self.dtype, self.dtype)}" if self.dtype else text


def is_sizes(value: Any) -> bool:
    """A tuple or list of plain integers (a torch.Size is one): a shape, not arguments."""
    return (
        isinstance(value, (tuple, list))
        and len(value) > 0
        and all(isinstance(n, int) and not isinstance(n, (bool, Enum)) for n in value)
    )


def parse_shape(text: str) -> Shape:
    """``"1x3x224x224"``, ``"1x128:i64"``, ``"scalar"``."""
    match = _SHAPE.match(text.strip())
    if not match:
        raise InputError(f"input {text!r}: a shape is expected, as in 1x3x224x224 or 1x128:i64")
    sizes, dtype = match.groups()
    if dtype is not None and dtype not in DTYPES and dtype not in SHORT:
        raise InputError(f"input {text!r}: unknown dtype {dtype!r}; there are {', '.join(DTYPES)}")
    numbers = () if sizes == "scalar" else tuple(int(n) for n in sizes.split("x"))
    return Shape(numbers, DTYPES.get(dtype, dtype) if dtype else None)


def command_line_inputs(inputs: Any) -> list[str]:
    """``--input`` options for a file."""
    if inputs is None:
        return []
    if isinstance(inputs, Mapping):
        return [f"--input={name}={_input_text(value)}" for name, value in inputs.items()]
    if isinstance(inputs, (tuple, list)) and not is_sizes(inputs):
        return [f"--input={_input_text(value)}" for value in inputs]
    return [f"--input={_input_text(inputs)}"]


def _input_text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, str)):
        return str(value)
    if isinstance(value, Shape):
        return str(value)
    if is_sizes(value):
        return str(Shape(tuple(value)))
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        dtype = str(value.dtype).removeprefix("torch.")
        return str(Shape(tuple(int(n) for n in value.shape), dtype))
    if isinstance(value, (tuple, list)):
        inside = ",".join(map(_input_text, value))
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    raise InputError(f"an input of a file cannot be a {type(value).__name__}; give a shape")
