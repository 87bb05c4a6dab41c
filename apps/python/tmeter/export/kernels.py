"""Computes the sizes of operators' results on fake tensors.

A fake tensor mode computes them in Python, and so do most of torch's own kernels for tensors without data. That takes
some hundred microseconds an operator, and milliseconds for an operator that is decomposed. So three sources come first:
the earlier result of the same operator on the same sizes, views included; a rule (size_rules.py); torch's kernels in
C++ if they give the same sizes and strides on every device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager

from .fake_tensor_factory import FakeTensorFactory, is_strided
from .operators import Operator
from .size_rules import layout_of, overloads

#: Views and element-wise operators. Their strides follow from the strides of their arguments.
_OF_ANY_STRIDES = (
    "abs add alias chunk clamp contiguous div elu exp expand expand_as gelu hardsigmoid hardswish hardtanh leaky_relu log "
    "maximum minimum mul neg permute pow relu relu6 rsqrt select sigmoid silu slice softplus split "
    "split_with_sizes sqrt squeeze sub t tanh transpose unbind unsqueeze view "
    "add_ div_ elu_ hardsigmoid_ hardswish_ hardtanh_ leaky_relu_ mul_ relu_ sigmoid_ silu_ sub_ tanh_"
)

#: Some kernels choose the memory format of a result by the device. With contiguous arguments there is only one format.
_OF_CONTIGUOUS = (
    "adaptive_avg_pool2d avg_pool2d batch_norm bmm cat embedding group_norm layer_norm linear "
    "matmul max_pool2d mean pixel_shuffle roll softmax stack sum"
)

#: For sizes of one the mode chooses other strides and may copy. With a contiguous argument no kernel copies.
_OF_NO_SIZE_OF_ONE = "flatten reshape reshape_as unflatten"

#: Operators that write their result into their only tensor argument.
_IN_PLACE = "elu_ hardsigmoid_ hardswish_ hardtanh_ leaky_relu_ relu_ sigmoid_ silu_ tanh_"

_ANY, _CONTIGUOUS, _NO_ONES, _WRITING = (
    frozenset(overloads(names)) for names in (_OF_ANY_STRIDES, _OF_CONTIGUOUS, _OF_NO_SIZE_OF_ONE, _IN_PLACE)
)
_DROPOUT, _TO_DTYPE = torch.ops.aten.dropout.default, torch.ops.aten.to.dtype


class _NewTensor(NamedTuple):
    """A tensor with a new storage."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    requires_grad: bool


class _View(NamedTuple):
    """A view of the first argument. `offset` is relative to that argument's offset."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    device: torch.device
    requires_grad: bool


class _FirstArgument(NamedTuple):
    """The first argument."""


_Description = _NewTensor | _View | _FirstArgument


class Kernels:
    """Results of operators on the fake tensors of one mode."""

    def __init__(self, mode: FakeTensorMode) -> None:
        self._mode = mode
        self._factory = FakeTensorFactory(mode)
        self._descriptions: dict[Any, Any] = {}

    def result(self, operator: Operator, args: Any, kwargs: Any) -> Any:
        """The operator's result. It requires gradients as in a real run, because the choice of attention kernels
        depends on that, but it may have no history."""
        overload = operator.overload
        if _is_first(overload, args, kwargs):
            return args[0]
        key = _signature(operator, args, kwargs) if operator.gives_tensors else None
        if key is None:
            return self._computed(overload, args, kwargs)
        found: Any = self._descriptions.get(key)
        if found is None:
            found = self._descriptions[key] = _by_rule(overload, args, kwargs)
        if found is None:
            result = self._computed(overload, args, kwargs)
            self._descriptions[key] = _description_of(result, args, kwargs)
            return result
        kind = type(found)
        return self._make(found, args) if kind in _DESCRIPTION_TYPES else kind(self._make(one, args) for one in found)

    def _make(self, description: _Description, args: Any) -> Any:
        if isinstance(description, _FirstArgument):
            return args[0]
        with (
            torch._C._AutoDispatchBelowAutograd(),
            torch._C._DisablePythonDispatcher(),
            torch._C._DisableTorchDispatch(),
        ):
            if isinstance(description, _NewTensor):
                tensor = torch.empty_strided(description.sizes, description.strides, dtype=description.dtype, device="meta")
            else:
                offset = args[0].storage_offset() + description.offset
                tensor = torch.as_strided(args[0], description.sizes, description.strides, offset)
        return self._factory.like(tensor, description.device, description.requires_grad)

    def _fake(self, result: Any, device: torch.device, requires_grad: bool) -> Any:
        """The result as a fake tensor. An in-place operator returns a fake tensor already."""
        if not isinstance(result, FakeTensor):
            requires_grad = requires_grad and (result.is_floating_point() or result.is_complex())
            return self._factory.like(result, device, requires_grad or result.requires_grad)
        if requires_grad and not result.requires_grad and (result.is_floating_point() or result.is_complex()):
            result.requires_grad_()
        return result

    def _computed(self, overload: Any, args: Any, kwargs: Any) -> Any:
        result = self._by_kernel(overload, args, kwargs)
        return _by_mode(overload, args, kwargs) if result is None else result

    def _by_kernel(self, overload: Any, args: Any, kwargs: Any) -> Any:
        """The result of torch's own kernels, below gradients and modes; None: the mode has to compute it."""
        contiguous, no_ones = overload in _CONTIGUOUS, overload in _NO_ONES
        if not (contiguous or no_ones or overload in _ANY):
            return None
        device, requires_grad = None, False
        for tensor in _tensors((*args, *kwargs.values())):
            if not _is_plain(tensor) or (contiguous and not tensor.is_contiguous()):
                return None
            if device not in (None, tensor.fake_device):
                return None
            device = tensor.fake_device
            requires_grad = requires_grad or tensor.requires_grad
        if device is None:
            return None
        try:
            with (
                torch._C._AutoDispatchBelowAutograd(),
                torch._C._DisablePythonDispatcher(),
                in_kernel_invocation_manager(self._mode),
            ):
                result = overload(*args, **kwargs)
        except Exception:
            return None  # the mode reports the error
        if no_ones and _may_be_strided_otherwise(args[0], result):
            return None
        requires_grad = requires_grad and torch.is_grad_enabled()
        if isinstance(result, (tuple, list)):
            return type(result)(self._fake(t, device, requires_grad) for t in result)
        return self._fake(result, device, requires_grad)


def _by_mode(operator: Any, args: Any, kwargs: Any) -> Any:
    """In-place operators run without gradients, because results may have no history."""
    if not operator._schema.is_mutable:
        return operator(*args, **kwargs)
    with torch._C._AutoDispatchBelowAutograd():
        return operator(*args, **kwargs)


def _may_be_strided_otherwise(argument: torch.Tensor, result: torch.Tensor) -> bool:
    return not argument.is_contiguous() and any(n < 2 for n in (*argument.shape, *result.shape))


def _tensors(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _tensors(value)


def _is_plain(tensor: torch.Tensor) -> bool:
    """False for constants, too: the mode tracks their values."""
    return type(tensor) is FakeTensor and tensor.constant is None and is_strided(tensor)


# The same operator on the same sizes.


def _is_first(operator: Any, args: Any, kwargs: Any) -> bool:
    """Whether the operator returns its first argument."""
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
    """A key that determines the sizes of the results; None: they depend on more."""
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
        elif kind in _HASHED_TYPES:
            parts += (kind, value)
        else:
            raise _NotPlain


_HASHED_TYPES = frozenset(
    (type(None), bool, int, float, str, torch.dtype, torch.device, torch.layout, torch.memory_format)
)


_DESCRIPTION_TYPES = frozenset((_NewTensor, _View, _FirstArgument))


def _description_of(result: Any, args: Any, kwargs: Any) -> Any:
    """The result as `_NewTensor`, `_View` or `_FirstArgument`; None: it does not consist of these."""
    argument_storages = {t.untyped_storage()._cdata for t in _tensors((*args, *kwargs.values()))}
    first = args[0] if args and isinstance(args[0], torch.Tensor) else None

    def described(tensor: Any) -> _Description:
        if not isinstance(tensor, FakeTensor) or not _is_plain(tensor):
            raise _NotPlain
        if tensor is first:
            return _FirstArgument()
        sizes, strides, offset = tuple(tensor.shape), tuple(tensor.stride()), int(tensor.storage_offset())
        storage = tensor.untyped_storage()._cdata
        if storage not in argument_storages:
            if offset:
                raise _NotPlain
            return _NewTensor(sizes, strides, tensor.dtype, tensor.fake_device, tensor.requires_grad)
        if first is None or storage != first.untyped_storage()._cdata or tensor.dtype != first.dtype or tensor.is_complex():
            raise _NotPlain
        offset -= int(first.storage_offset())
        return _View(sizes, strides, offset, tensor.fake_device, tensor.requires_grad)

    try:
        if type(result) in (tuple, list):
            return type(result)(described(tensor) for tensor in result)
        return described(result)
    except _NotPlain:
        return None


#: Operators whose arguments may have different types.
_OF_OTHER_TYPES = frozenset((torch.ops.aten.index.Tensor, torch.ops.aten.scaled_dot_product_attention.default))


def _by_rule(operator: Any, args: Any, kwargs: Any) -> _NewTensor | None:
    tensors = list(_tensors((*args, *kwargs.values())))
    if not tensors or not tensors[0].is_floating_point():
        return None
    first = tensors[0]
    same_type = operator not in _OF_OTHER_TYPES
    for tensor in tensors:
        if tensor.fake_device != first.fake_device:
            return None
        if tensor.dtype != first.dtype and (same_type or tensor.is_floating_point()):
            return None
    layout = layout_of(operator, args, kwargs)
    if layout is None:
        return None
    dtype = layout.dtype or first.dtype
    requires_grad = dtype.is_floating_point and torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    return _NewTensor(layout.sizes, layout.strides, dtype, first.fake_device, requires_grad)
