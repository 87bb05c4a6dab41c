"""Sizes of results of operators on fake tensors.

A fake tensor mode works them out in Python, and so do most of torch's own kernels for tensors without data: some
hundred microseconds an operator. So three things are tried before: the sizes that the same operator gave for the same
sizes; a rule, for operators whose result is as large as an argument; torch's kernels in C++, which give the same sizes
and strides on every device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager

from .fake_tensors import FakeTensors, is_strided
from .operators import Operator

#: Views, and operators of single elements: their strides follow from those of their arguments.
_OF_ANY_STRIDES = (
    "abs add chunk clamp contiguous div elu exp expand gelu hardsigmoid hardswish hardtanh leaky_relu log "
    "maximum minimum mul neg permute pow relu relu6 rsqrt select sigmoid silu slice softplus split "
    "split_with_sizes sqrt squeeze sub t tanh transpose unbind unflatten unsqueeze view "
    "add_ div_ elu_ hardsigmoid_ hardswish_ hardtanh_ leaky_relu_ mul_ relu_ sigmoid_ silu_ sub_ tanh_"
)

#: Some kernels choose the memory format of a result by the device, and the mode's reshape strides sizes of one in a
#: way of its own; where all arguments are contiguous there is nothing to choose.
_OF_CONTIGUOUS = (
    "adaptive_avg_pool2d avg_pool2d batch_norm bmm cat conv1d conv2d embedding flatten group_norm layer_norm linear "
    "matmul max_pool2d mean pixel_shuffle reshape roll softmax stack sum"
)

#: The result is as the first argument.
_AS_FIRST = (
    "abs batch_norm elu exp gelu group_norm hardsigmoid hardswish hardtanh layer_norm leaky_relu log neg relu relu6 "
    "rsqrt sigmoid silu softplus sqrt tanh"
)
#: The result is as the larger of the first two arguments.
_AS_LARGER = "add.Tensor sub.Tensor mul.Tensor div.Tensor maximum minimum pow.Tensor_Scalar pow.Tensor_Tensor"
#: Of one argument, written into it.
_IN_PLACE = "elu_ hardsigmoid_ hardswish_ hardtanh_ leaky_relu_ relu_ sigmoid_ silu_ tanh_"
#: Views of some arguments, and new tensors for others.
_MAY_SHARE = "contiguous flatten reshape to"


def _overloads(names: str) -> Iterator[Any]:
    for name in names.split():
        name, _, overload = name.partition(".")
        packet = getattr(torch.ops.aten, name)
        yield from (getattr(packet, o) for o in packet.overloads() if overload in ("", o))


_ANY, _CONTIGUOUS, _WRITING, _SHARING = (
    frozenset(_overloads(names)) for names in (_OF_ANY_STRIDES, _OF_CONTIGUOUS, _IN_PLACE, _MAY_SHARE)
)
_DROPOUT, _TO_DTYPE = torch.ops.aten.dropout.default, torch.ops.aten.to.dtype


@dataclass(frozen=True)
class _Sizes:
    """A new tensor, the result of an operator."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    requires_grad: bool


class Kernels:
    """Results of operators on the fake tensors of one mode."""

    def __init__(self, mode: FakeTensorMode) -> None:
        self._mode = mode
        self._fakes = FakeTensors(mode)
        self._known: dict[Any, Any] = {}

    def result(self, operator: Operator, args: Any, kwargs: Any) -> Any:
        """The operator's result. It requires gradients as in a real run, because kernels of attention are chosen by
        that, but it may have no history."""
        overload = operator.overload
        if _is_first(overload, args, kwargs):
            return args[0]
        fresh = operator.makes_new or overload in _SHARING
        key = _signature(operator, args, kwargs) if fresh else None
        if key is None:
            return self._worked_out(overload, args, kwargs)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _by_rule(overload, args, kwargs)
        if known is None:
            result = self._worked_out(overload, args, kwargs)
            self._known[key] = _sizes_of(result, args, kwargs)
            return result
        if isinstance(known, _Sizes):
            return self._new(known)
        return type(known)(self._new(sizes) for sizes in known)

    def _new(self, of: _Sizes) -> Any:
        with (
            torch._C._AutoDispatchBelowAutograd(),
            torch._C._DisablePythonDispatcher(),
            torch._C._DisableTorchDispatch(),
        ):
            empty = torch.empty_strided(of.sizes, of.strides, dtype=of.dtype, device="meta")
        return self._fakes.like(empty, of.device, of.requires_grad)

    def _fake(self, made: Any, device: torch.device, wanted: bool) -> Any:
        """An operator in place gives what it was given."""
        if not isinstance(made, FakeTensor):
            wanted = wanted and (made.is_floating_point() or made.is_complex())
            return self._fakes.like(made, device, wanted or made.requires_grad)
        if wanted and not made.requires_grad and (made.is_floating_point() or made.is_complex()):
            made.requires_grad_()
        return made

    def _worked_out(self, overload: Any, args: Any, kwargs: Any) -> Any:
        result = self._by_kernel(overload, args, kwargs)
        return _by_mode(overload, args, kwargs) if result is None else result

    def _by_kernel(self, overload: Any, args: Any, kwargs: Any) -> Any:
        """Below gradients and modes, in torch's own kernels; None: ask the mode."""
        contiguous = overload in _CONTIGUOUS
        if not contiguous and overload not in _ANY:
            return None
        device, wanted = None, False
        for tensor in _tensors((*args, *kwargs.values())):
            if not _is_plain(tensor) or (contiguous and not tensor.is_contiguous()):
                return None
            if device not in (None, tensor.fake_device):
                return None
            device = tensor.fake_device
            wanted = wanted or tensor.requires_grad
        if device is None:
            return None
        try:
            with (
                torch._C._AutoDispatchBelowAutograd(),
                torch._C._DisablePythonDispatcher(),
                in_kernel_invocation_manager(self._mode),
            ):
                made = overload(*args, **kwargs)
        except Exception:
            return None  # the mode says what is wrong
        wanted = wanted and torch.is_grad_enabled()
        if isinstance(made, (tuple, list)):
            return type(made)(self._fake(t, device, wanted) for t in made)
        return self._fake(made, device, wanted)


def _by_mode(operator: Any, args: Any, kwargs: Any) -> Any:
    """In place without gradients, as results may have no history that could be continued."""
    if not operator._schema.is_mutable:
        return operator(*args, **kwargs)
    with torch._C._AutoDispatchBelowAutograd():
        return operator(*args, **kwargs)


def _tensors(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _tensors(value)


def _is_plain(tensor: torch.Tensor) -> bool:
    """A constant is a number that the mode knows, and follows."""
    return type(tensor) is FakeTensor and tensor.constant is None and is_strided(tensor)


# The same operator on the same sizes.


def _is_first(operator: Any, args: Any, kwargs: Any) -> bool:
    """Whether the operator gives what it was given."""
    if operator in _WRITING:
        return _is_plain(args[0]) and args[0].is_floating_point()
    if operator is _DROPOUT:
        return len(args) == 3 and args[2] is False and _is_plain(args[0])
    if operator is _TO_DTYPE:
        return not kwargs and len(args) == 2 and _is_plain(args[0]) and args[0].dtype is args[1]
    return False


class _NotPlain(Exception):
    pass


def _signature(operator: Operator, args: Any, kwargs: Any) -> Any:
    """What the sizes of its results follow from; None: from more than that."""
    parts: list[Any] = [operator, torch.is_grad_enabled()]
    try:
        _describe(args, parts)
        for name, value in kwargs.items():
            parts.append(name)
            _describe((value,), parts)
    except _NotPlain:
        return None
    return tuple(parts)


def _describe(values: Any, parts: list[Any]) -> None:
    for value in values:
        kind = type(value)
        if kind is FakeTensor:
            if not _is_plain(value):
                raise _NotPlain
            parts += (value.shape, value.stride(), value.dtype, value._fake_device, value.requires_grad)
        elif kind is tuple or kind is list:
            parts.append(len(value))
            _describe(value, parts)
        elif kind in _HASHED:
            parts += (kind, value)
        else:
            raise _NotPlain


_HASHED = frozenset(
    (type(None), bool, int, float, str, torch.dtype, torch.device, torch.layout, torch.memory_format)
)


def _sizes_of(result: Any, args: Any, kwargs: Any) -> Any:
    """None: the result shares its elements with an argument, or is more than a fake tensor."""
    given = {t.untyped_storage()._cdata for t in _tensors((*args, *kwargs.values()))}

    def sizes(made: Any) -> _Sizes:
        if not isinstance(made, FakeTensor) or not _is_plain(made) or made.storage_offset():
            raise _NotPlain
        if made.untyped_storage()._cdata in given:
            raise _NotPlain
        shape, strides = tuple(made.shape), tuple(made.stride())
        return _Sizes(shape, strides, made.dtype, made.fake_device, made.requires_grad)

    try:
        if type(result) in (tuple, list):
            return type(result)(sizes(made) for made in result)
        return sizes(result)
    except _NotPlain:
        return None


# Rules.


def _by_rule(operator: Any, args: Any, kwargs: Any) -> _Sizes | None:
    rule = _RULES.get(operator)
    if rule is None:
        return None
    tensors = list(_tensors((*args, *kwargs.values())))
    first = tensors[0]
    if not first.is_floating_point() or any(
        t.dtype != first.dtype or t.fake_device != first.fake_device for t in tensors
    ):
        return None
    sizes = rule(*args, **kwargs)
    if sizes is None or 0 in sizes:
        return None  # kernels stride empty tensors in ways of their own
    wanted = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    return _Sizes(sizes, _strides(sizes), first.dtype, first.fake_device, wanted)


def _strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides, elements = [], 1
    for size in reversed(sizes):
        strides.append(elements)
        elements *= size
    return tuple(reversed(strides))


def _in_order(tensor: torch.Tensor) -> bool:
    """Contiguous, with the strides that go with it where sizes of one leave a choice."""
    return tuple(tensor.stride()) == _strides(tuple(tensor.shape))


def _as_first(first: torch.Tensor, *_: Any, **__: Any) -> tuple[int, ...] | None:
    return tuple(first.shape) if _in_order(first) else None


def _as_larger(first: Any, second: Any, **_: Any) -> tuple[int, ...] | None:
    if not isinstance(first, torch.Tensor):
        return None
    if not isinstance(second, torch.Tensor):
        return _as_first(first) if type(second) in (int, float) else None
    sizes = tuple(torch.broadcast_shapes(first.shape, second.shape))  # type: ignore[no-untyped-call]
    both = _in_order(first) and _in_order(second)
    return sizes if both and sizes in (tuple(first.shape), tuple(second.shape)) else None


def _as_linear(x: torch.Tensor, weight: torch.Tensor, bias: Any = None) -> tuple[int, ...] | None:
    if weight.dim() != 2 or x.dim() == 0 or x.shape[-1] != weight.shape[1]:
        return None
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        return None
    tensors = (x, weight) if bias is None else (x, weight, bias)
    return (*x.shape[:-1], weight.shape[0]) if all(map(_in_order, tensors)) else None


_RULES: dict[Any, Callable[..., tuple[int, ...] | None]] = {
    **dict.fromkeys(_overloads(_AS_FIRST), _as_first),
    **dict.fromkeys(_overloads(_AS_LARGER), _as_larger),
    torch.ops.aten.linear.default: _as_linear,
}
