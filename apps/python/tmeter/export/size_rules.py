"""Rules that give the sizes and strides of a result from those of the arguments.

Each rule agrees with a fake tensor mode, which sometimes differs from a device. There is no rule for tensors with sizes
of zero, and usually none for sizes of one with unusual strides: the mode treats these specially.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import in_kernel_invocation_manager


class Layout(NamedTuple):
    """The layout of a new tensor; dtype None: the type of the arguments."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype | None = None


#: None: there is no rule for these arguments.
Rule = Callable[..., Layout | None]


def overloads(names: str) -> Iterator[Any]:
    """All overloads of `add`, or the one that `add.Tensor` names."""
    for name in names.split():
        name, _, overload = name.partition(".")
        packet = getattr(torch.ops.aten, name)
        yield from (getattr(packet, o) for o in packet.overloads() if overload in ("", o))


def _strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides, elements = [], 1
    for size in reversed(sizes):
        strides.append(elements)
        elements *= size
    return tuple(reversed(strides))


def _contiguous_layout(*sizes: int) -> Layout | None:
    return None if 0 in sizes else Layout(sizes, _strides(sizes))


def has_usual_strides(tensor: torch.Tensor) -> bool:
    """Contiguous, with the usual strides even for sizes of one, which permit any."""
    return tuple(tensor.stride()) == _strides(tuple(tensor.shape))


def _is_dense(tensor: torch.Tensor) -> bool:
    """Without gaps, in any order of the dimensions."""
    elements = 1
    for stride, size in sorted((s, n) for s, n in zip(tensor.stride(), tensor.shape) if n != 1):
        if stride != elements:
            return False
        elements *= size
    return True


def _is_only_contiguous(image: torch.Tensor) -> bool:
    """Contiguous and not channels-last. A tensor with a single channel or point may be both."""
    one = image.shape[1] == 1 or math.prod(image.shape[2:]) == 1
    return has_usual_strides(image) or (not one and image.is_contiguous())


def _layout_like(tensor: torch.Tensor, *, ones: bool = False) -> Layout | None:
    """
    Args:
        ones: the result keeps the strides of sizes of one.
    """
    sizes = tuple(tensor.shape)
    if 0 in sizes:
        return None
    is_permuted = not tensor.is_contiguous() and (ones or 1 not in sizes) and _is_dense(tensor)
    return Layout(sizes, tuple(tensor.stride())) if is_permuted or has_usual_strides(tensor) else None


# Element-wise operators.


def _elementwise(first: torch.Tensor, *_: Any, **__: Any) -> Layout | None:
    return _layout_like(first)


def _clamped(first: torch.Tensor, *numbers: Any) -> Layout | None:
    return _layout_like(first) if all(n is None or type(n) in (int, float) for n in numbers) else None


def _compared_with_number(first: torch.Tensor, other: Any) -> Layout | None:
    layout = _layout_like(first) if type(other) in (int, float) else None
    return layout._replace(dtype=torch.bool) if layout else None


def _broadcast(first: Any, second: Any, **_: Any) -> Layout | None:
    if not isinstance(first, torch.Tensor):
        return None
    if not isinstance(second, torch.Tensor):
        return _layout_like(first) if type(second) in (int, float) else None
    sizes = tuple(torch.broadcast_shapes(first.shape, second.shape))  # type: ignore[no-untyped-call]
    if has_usual_strides(first) and has_usual_strides(second):
        return _contiguous_layout(*sizes) if sizes in (tuple(first.shape), tuple(second.shape)) else None
    alike = first.shape == second.shape and first.stride() == second.stride()
    return _layout_like(first) if alike else None


def _layer_norm(x: torch.Tensor, sizes: Any, *_: Any, **__: Any) -> Layout | None:
    plain = has_usual_strides(x) or not x.is_contiguous()
    return _contiguous_layout(*x.shape) if plain and x.shape[-len(sizes) :] == torch.Size(sizes) else None


def _batch_norm(x: torch.Tensor, *of_channels: Any, **__: Any) -> Layout | None:
    alike = x.dim() > 1 and all(t is None or t.shape == x.shape[1:2] for t in of_channels[:4])
    return _layout_like(x) if alike else None


def _group_norm(x: torch.Tensor, groups: int, weight: Any = None, bias: Any = None, *_: Any) -> Layout | None:
    alike = x.dim() > 1 and all(t is None or t.shape == x.shape[1:2] for t in (weight, bias))
    return _contiguous_layout(*x.shape) if alike and x.shape[1] % groups == 0 and has_usual_strides(x) else None


# Products.


def _linear(x: torch.Tensor, weight: torch.Tensor, bias: Any = None) -> Layout | None:
    if weight.dim() != 2 or x.dim() == 0 or x.shape[-1] != weight.shape[1]:
        return None
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        return None
    tensors = (x, weight) if bias is None else (x, weight, bias)
    return _contiguous_layout(*x.shape[:-1], weight.shape[0]) if all(map(has_usual_strides, tensors)) else None


def _matmul(one: torch.Tensor, other: torch.Tensor) -> Layout | None:
    if min(one.dim(), other.dim()) < 2 or one.shape[-1] != other.shape[-2]:
        return None
    if other.dim() == 2:
        return _contiguous_layout(*one.shape[:-1], other.shape[-1])
    if one.dim() != other.dim() or one.shape[:-2] != other.shape[:-2]:
        return None
    return _contiguous_layout(*one.shape[:-1], other.shape[-1])


def _is_broadcastable(mask: torch.Tensor, sizes: tuple[int, ...]) -> bool:
    """Whether the mask can be broadcast to these sizes."""
    return mask.dim() <= len(sizes) and all(n in (1, of) for n, of in zip(reversed(mask.shape), reversed(sizes)))


_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
_CHOICE = torch.ops.aten._fused_sdp_choice.default
_BY_PRODUCTS, _FUSED = 0, 1


def _attention(query: Any, key: Any, value: Any, mask: Any = None, *rest: Any, **named: Any) -> Layout | None:
    """Either two products, or one kernel whose result has the query's layout."""
    if query.fake_device.type != "cpu" or not query.dim() == key.dim() == value.dim() == 4:
        return None
    if not query.shape[:2] == key.shape[:2] == value.shape[:2] or key.shape[2] != value.shape[2]:
        return None
    if query.shape[3] != key.shape[3]:
        return None
    if mask is not None and not _is_broadcastable(mask, (*query.shape[:3], key.shape[2])):
        return None
    with (
        torch._C._AutoDispatchBelowAutograd(),
        torch._C._DisablePythonDispatcher(),
        in_kernel_invocation_manager(query.fake_mode),
    ):
        chosen = _CHOICE.redispatch(_CPU, query, key, value, mask, *rest, **named)
    if chosen == _FUSED:
        return _layout_like(query, ones=True)
    return _contiguous_layout(*query.shape[:-1], value.shape[-1]) if chosen == _BY_PRODUCTS else None


# Windows. If an argument is not contiguous, the memory format of the result depends on the device.


def _windows(sizes: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> list[int]:
    dims = len(kernel)
    every = [v * dims if len(v) == 1 else v for v in map(list, (stride, padding, dilation))]
    return [
        (n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(sizes, kernel, *every)
    ]


def _convolution(dims: int) -> Rule:
    def sizes(
        x: Any, weight: Any, bias: Any = None, stride: Any = (1,), padding: Any = (0,), dilation: Any = (1,), groups: int = 1
    ) -> Layout | None:
        if not x.dim() == weight.dim() == dims + 2 or not (_is_only_contiguous(x) and has_usual_strides(weight)):
            return None
        channels = weight.shape[0]
        if groups < 1 or x.shape[1] != weight.shape[1] * groups or channels % groups:
            return None
        if bias is not None and tuple(bias.shape) != (channels,):
            return None
        if not all(type(n) is int for n in (*stride, *padding, *dilation)) or min(stride) < 1:
            return None
        windows = _windows(x.shape[2:], weight.shape[2:], stride, padding, dilation)
        return _contiguous_layout(x.shape[0], channels, *windows) if min(windows) > 0 else None

    return sizes


def _adaptive(x: torch.Tensor, sizes: list[int]) -> Layout | None:
    ordinary = x.dim() == 4 and has_usual_strides(x) and x.shape[1] > 1 and min(sizes) > 0
    return _contiguous_layout(*x.shape[:-2], *sizes) if ordinary else None


def _upsampled(x: torch.Tensor, sizes: Any, *rest: Any) -> Layout | None:
    factors = rest[-1]
    if x.dim() != 4 or not has_usual_strides(x) or 1 in x.shape[1:]:
        return None
    if sizes is None:
        sizes = [math.floor(n * f) for n, f in zip(x.shape[2:], factors)]
    return _contiguous_layout(*x.shape[:2], *sizes) if min(sizes) > 0 else None


def _padded(x: torch.Tensor, by: list[int], mode: str = "constant", value: Any = None) -> Layout | None:
    if mode != "constant" or len(by) % 2 or not has_usual_strides(x) or 1 in x.shape:
        return None
    sizes = list(x.shape)
    for i in range(len(by) // 2):
        sizes[-1 - i] += by[2 * i] + by[2 * i + 1]
    return _contiguous_layout(*sizes) if min(sizes) > 1 else None


# Concatenation and reduction.


def _cat(tensors: Any, dim: int = 0) -> Layout | None:
    first = tensors[0]
    if not -first.dim() <= dim < first.dim() or not all(t.is_contiguous() for t in tensors):
        return None
    dim %= first.dim()
    rest = [(*t.shape[:dim], *t.shape[dim + 1 :]) for t in tensors]
    if any(r != rest[0] for r in rest) or any(t.dim() != first.dim() for t in tensors):
        return None
    sizes = list(first.shape)
    sizes[dim] = sum(t.shape[dim] for t in tensors)
    return _contiguous_layout(*sizes)


def _reduced(x: torch.Tensor, dims: Any, keepdim: bool = False, *, dtype: Any = None) -> Layout | None:
    if dtype is not None or not dims or not x.is_contiguous():
        return None
    if not all(-x.dim() <= d < x.dim() for d in dims) or len({d % x.dim() for d in dims}) < len(dims):
        return None
    reduced_dims = {d % x.dim() for d in dims}
    sizes = [(1 if i in reduced_dims else n) for i, n in enumerate(x.shape) if keepdim or i not in reduced_dims]
    return None if 0 in x.shape else _contiguous_layout(*sizes)


def _indexed(x: torch.Tensor, indices: Any) -> Layout | None:
    """Selects rows of a table by one index tensor."""
    if len(indices) != 1 or indices[0] is None or not x.dim() or not has_usual_strides(x):
        return None
    index = indices[0]
    if index.dtype not in (torch.int64, torch.int32) or not has_usual_strides(index):
        return None
    return _contiguous_layout(*index.shape, *x.shape[1:]) if 1 not in (*index.shape, *x.shape) else None


_RULES: dict[Any, Rule] = {
    **dict.fromkeys(
        overloads(
            "abs elu exp gelu hardsigmoid hardswish hardtanh leaky_relu log neg relu "
            "relu6 rsqrt sigmoid silu softplus sqrt tanh"
        ),
        _elementwise,
    ),
    **dict.fromkeys(overloads("clamp.default clamp_min.default"), _clamped),
    **dict.fromkeys(overloads("eq.Scalar ne.Scalar lt.Scalar le.Scalar gt.Scalar ge.Scalar"), _compared_with_number),
    **dict.fromkeys(
        overloads("add.Tensor sub.Tensor mul.Tensor div.Tensor maximum minimum pow.Tensor_Scalar pow.Tensor_Tensor"),
        _broadcast,
    ),
    torch.ops.aten.layer_norm.default: _layer_norm,
    torch.ops.aten.batch_norm.default: _batch_norm,
    torch.ops.aten.group_norm.default: _group_norm,
    torch.ops.aten.linear.default: _linear,
    torch.ops.aten.matmul.default: _matmul,
    torch.ops.aten.scaled_dot_product_attention.default: _attention,
    torch.ops.aten.conv1d.default: _convolution(1),
    torch.ops.aten.conv2d.default: _convolution(2),
    torch.ops.aten.conv3d.default: _convolution(3),
    torch.ops.aten.adaptive_avg_pool2d.default: _adaptive,
    **dict.fromkeys(overloads("upsample_nearest2d.vec upsample_bilinear2d.vec upsample_bicubic2d.vec"), _upsampled),
    torch.ops.aten.pad.default: _padded,
    torch.ops.aten.cat.default: _cat,
    torch.ops.aten.mean.dim: _reduced,
    torch.ops.aten.index.Tensor: _indexed,
}


def layout_of(overload: Any, args: Any, kwargs: Any) -> Layout | None:
    rule = _RULES.get(overload)
    if rule is None:
        return None
    try:
        return rule(*args, **kwargs)
    except (TypeError, IndexError, RuntimeError):
        return None  # torch reports the error
