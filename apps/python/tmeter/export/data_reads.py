"""Observes a run on real tensors in order to judge a trace of the model. It finds lines that read data or random numbers
(other values may lead to other branches or sizes), that check whether the run is traced, and that start other threads."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .export_checks import Product, Products
from .program_text import is_product
from .source_lines import innermost
from .untraceable import handing_over_watched, text_asked_by

_TAGS = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


class Reads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Follows the given tensors.

    Attributes:
        places: lines that read values which depend on the given tensors.
        tracing: lines that check whether the run is traced.
        handed_over: descriptions of lines that give work to other threads or modes.
        products: the multiplications of the run.
    """

    def __init__(self, data: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._data: dict[int, StorageWeakRef] = {}
        self.places: list[str] = []
        self.tracing: list[str] = []
        self.handed_over: list[str] = []
        self.products: Products = Counter()
        for tensor in data:
            self._mark(tensor)

    def _mark(self, tensor: torch.Tensor) -> None:
        if tensor.layout == torch.strided:
            reference = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]
            self._data.setdefault(reference.cdata, reference)

    def is_data(self, tensor: torch.Tensor) -> bool:
        return tensor.layout == torch.strided and tensor.untyped_storage()._cdata in self._data

    def note(self) -> None:
        _add(self.places, innermost(sys._getframe(1)))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        made = [x for x in pytree.tree_leaves(result) if isinstance(x, torch.Tensor)]
        if is_product(func._schema.name):
            sizes = tuple(tuple(x.shape) for x in given)
            self.products[Product(func._schema.name, sizes, tuple(made[0].shape) if made else ())] += 1
        drawn = torch.Tag.nondeterministic_seeded in func.tags
        if drawn or any(map(self.is_data, given)):
            if any(tag in func.tags for tag in _TAGS):
                self.note()
            for x in made:
                self._mark(x)
            for wanted, x in zip(func._schema.arguments, args):
                if isinstance(x, torch.Tensor) and wanted.alias_info is not None:
                    self._mark(x)
        return result


def _add(places: list[str], place: str) -> None:
    if place and place not in places:
        places.append(place)


@contextlib.contextmanager
def watched(data: list[torch.Tensor], *, tracing: bool = False) -> Iterator[Reads]:
    """Also finds reads without an operator: tolist(), numpy(), a tensor's text.

    Args:
        tracing: the result of torch.jit.is_tracing().
    """
    reads = Reads(data)

    def noting(original: Any) -> Any:
        def read(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if reads.is_data(tensor):
                reads.note()
            return original(tensor, *args, **kwargs)

        return read

    def printing(original: Any) -> Any:
        def shown(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if text_asked_by(sys._getframe(1)) is not None and reads.is_data(tensor):
                reads.note()
            return original(tensor, *args, **kwargs)

        return shown

    def asking(original: Any) -> Any:
        def is_tracing() -> bool:
            _add(reads.tracing, innermost(sys._getframe(1)))
            return tracing

        return is_tracing

    with contextlib.ExitStack() as stack:
        for name in ("tolist", "numpy", "__array__"):
            stack.enter_context(_replaced(torch.Tensor, name, noting))
        stack.enter_context(_replaced(torch._tensor_str, "_str", printing))
        stack.enter_context(_replaced(torch.jit, "is_tracing", asking))
        stack.enter_context(handing_over_watched(reads.handed_over))
        stack.enter_context(reads)
        yield reads


@contextlib.contextmanager
def _replaced(owner: Any, name: str, by: Any) -> Iterator[None]:
    own = name in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, by(original))
    try:
        yield
    finally:
        if own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)
