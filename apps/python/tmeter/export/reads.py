"""Where a traced run reads data: with other data, the branch or size that follows may differ."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .places import innermost

_TAGS = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


class Reads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes in `places` each line that reads what follows from the given tensors."""

    def __init__(self, data: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._data: dict[int, StorageWeakRef] = {}
        self.places: list[str] = []
        for tensor in data:
            self._mark(tensor)

    def _mark(self, tensor: torch.Tensor) -> None:
        if tensor.layout == torch.strided:
            reference = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]
            self._data.setdefault(reference.cdata, reference)

    def is_data(self, tensor: torch.Tensor) -> bool:
        return tensor.layout == torch.strided and tensor.untyped_storage()._cdata in self._data

    def note(self) -> None:
        place = innermost(sys._getframe(1))
        if place and place not in self.places:
            self.places.append(place)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        leaves = pytree.tree_leaves((args, kwargs))
        if any(isinstance(x, torch.Tensor) and self.is_data(x) for x in leaves):
            if any(tag in func.tags for tag in _TAGS):
                self.note()
            for x in pytree.tree_leaves(result):
                if isinstance(x, torch.Tensor):
                    self._mark(x)
            for wanted, given in zip(func._schema.arguments, args):
                if isinstance(given, torch.Tensor) and wanted.alias_info is not None:
                    self._mark(given)
        return result


@contextlib.contextmanager
def watched(data: list[torch.Tensor]) -> Iterator[Reads]:
    """Also what passes no operator: tolist() and numpy()."""
    reads = Reads(data)
    names = ("tolist", "numpy", "__array__")
    originals = {name: getattr(torch.Tensor, name) for name in names}

    def noting(original: Any) -> Any:
        def read(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if reads.is_data(tensor):
                reads.note()
            return original(tensor, *args, **kwargs)

        return read

    own = {name for name in names if name in vars(torch.Tensor)}
    for name in names:
        setattr(torch.Tensor, name, noting(originals[name]))
    try:
        with reads:
            yield reads
    finally:
        for name in names:
            if name in own:
                setattr(torch.Tensor, name, originals[name])
            else:
                delattr(torch.Tensor, name)
