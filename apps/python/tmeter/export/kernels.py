"""Sizes of results by torch's own kernels for tensors without data.

A fake tensor mode works them out in Python, operator by operator, which is four fifths of the time of a first
call. For the operators named here the kernels in C++ give the same sizes and strides on every device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager

#: Views, and operators of single elements: their strides follow from those of what they are given.
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


def _overloads(names: str) -> Iterator[Any]:
    for name in names.split():
        packet = getattr(torch.ops.aten, name)
        yield from (getattr(packet, overload) for overload in packet.overloads())


_ANY, _CONTIGUOUS = frozenset(_overloads(_OF_ANY_STRIDES)), frozenset(_overloads(_OF_CONTIGUOUS))


def result_of(mode: FakeTensorMode, operator: Any, args: Any, kwargs: Any) -> Any:
    """What the operator makes of fake tensors; None: ask the mode. Gradients are wanted of it as they would be, by
    which kernels of attention are chosen, but it has no history."""
    contiguous = operator in _CONTIGUOUS
    if not contiguous and operator not in _ANY:
        return None
    device, wanted = None, False
    for tensor in _tensors((*args, *kwargs.values())):
        # A constant is a number that the mode knows, and follows.
        if type(tensor) is not FakeTensor or tensor.constant is not None:
            return None
        if tensor.layout != torch.strided or (contiguous and not tensor.is_contiguous()):
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
            in_kernel_invocation_manager(mode),
        ):
            made = operator(*args, **kwargs)
    except Exception:
        return None  # the mode says what is wrong
    wanted = wanted and torch.is_grad_enabled()
    if isinstance(made, (tuple, list)):
        return type(made)(_fake(mode, t, device, wanted) for t in made)
    return _fake(mode, made, device, wanted)


def _fake(mode: FakeTensorMode, made: Any, device: torch.device, wanted: bool) -> Any:
    """An operator in place gives what it was given."""
    fake = made if isinstance(made, FakeTensor) else FakeTensor(mode, made, device)
    if wanted and not fake.requires_grad and (fake.is_floating_point() or fake.is_complex()):
        fake.requires_grad_()
    return fake


def by_mode(operator: Any, args: Any, kwargs: Any) -> Any:
    """In place without gradients, as those of `result_of` have no history that could be continued."""
    if not operator._schema.is_mutable:
        return operator(*args, **kwargs)
    with torch._C._AutoDispatchBelowAutograd():
        return operator(*args, **kwargs)


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _tensors(value)
