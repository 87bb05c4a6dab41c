"""Makes fake tensors of one mode, as ``FakeTensor(mode, empty, device)`` does. That call's checks of arguments take
longer than the rest of the work on an operator."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses import FakeTensor, FakeTensorMode


_LAYOUT = torch.Tensor.layout.__get__  # type: ignore[attr-defined]


def is_strided(tensor: torch.Tensor) -> bool:
    """Avoids the Python code by which a fake tensor finds its layout."""
    if type(tensor) is FakeTensor and tensor.dispatch_keys is None:
        return _LAYOUT(tensor) is torch.strided
    return tensor.layout is torch.strided


class FakeTensorFactory:
    """Fake tensors of one mode. torch makes the first on a device; the others copy its attributes."""

    def __init__(self, mode: FakeTensorMode) -> None:
        self._mode = mode
        self._attributes: dict[torch.device, dict[str, Any]] = {}

    def like(self, empty: torch.Tensor, device: torch.device, requires_grad: bool) -> FakeTensor:
        """A fake tensor with the sizes and the storage of `empty`, a tensor on `meta`."""
        attributes = self._attributes.get(device)
        if attributes is None:
            first = FakeTensor(self._mode, empty, device)
            attributes = self._attributes[device] = dict(vars(first))
        fake_tensor: FakeTensor = torch.Tensor._make_subclass(
            FakeTensor,
            empty,
            requires_grad,
            dispatch_device=True,
            device_for_backend_keys=attributes["_fake_device"],
        )
        if not self._mode._allow_unsafe_data_ptr_access:
            torch._C._set_throw_on_mutable_data_ptr(fake_tensor)
        fake_tensor.__dict__.update(attributes)
        return fake_tensor
