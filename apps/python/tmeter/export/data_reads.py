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
from .source_lines import innermost_user_line
from .untraceable import handoffs_recorded, printing_frame

_TAGS = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


class DataReads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Follows the given tensors.

    Attributes:
        lines: lines that read values which depend on the given tensors.
        tracing_checks: lines that check whether the run is traced.
        handoffs: descriptions of lines that give work to other threads or modes.
        products: the multiplications of the run.
    """

    def __init__(self, data: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._data: dict[int, StorageWeakRef] = {}
        self.lines: list[str] = []
        self.tracing_checks: list[str] = []
        self.handoffs: list[str] = []
        self.products: Products = Counter()
        for tensor in data:
            self._mark(tensor)

    def _mark(self, tensor: torch.Tensor) -> None:
        if tensor.layout == torch.strided:
            reference = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]
            self._data.setdefault(reference.cdata, reference)

    def is_data(self, tensor: torch.Tensor) -> bool:
        return tensor.layout == torch.strided and tensor.untyped_storage()._cdata in self._data

    def record_line(self) -> None:
        _add(self.lines, innermost_user_line(sys._getframe(1)))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        inputs = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        outputs = [x for x in pytree.tree_leaves(result) if isinstance(x, torch.Tensor)]
        if is_product(func._schema.name):
            sizes = tuple(tuple(x.shape) for x in inputs)
            self.products[Product(func._schema.name, sizes, tuple(outputs[0].shape) if outputs else ())] += 1
        is_random = torch.Tag.nondeterministic_seeded in func.tags
        if is_random or any(map(self.is_data, inputs)):
            if any(tag in func.tags for tag in _TAGS):
                self.record_line()
            for x in outputs:
                self._mark(x)
            for parameter, x in zip(func._schema.arguments, args):
                if isinstance(x, torch.Tensor) and parameter.alias_info is not None:
                    self._mark(x)
        return result


def _add(lines: list[str], line: str) -> None:
    if line and line not in lines:
        lines.append(line)


@contextlib.contextmanager
def data_reads_recorded(data: list[torch.Tensor], *, tracing: bool = False) -> Iterator[DataReads]:
    """Also finds reads without an operator: tolist(), numpy(), a tensor's text.

    Args:
        tracing: the result of torch.jit.is_tracing().
    """
    reads = DataReads(data)

    def recording_reads(original: Any) -> Any:
        def read_data(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if reads.is_data(tensor):
                reads.record_line()
            return original(tensor, *args, **kwargs)

        return read_data

    def recording_prints(original: Any) -> Any:
        def text_of(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if printing_frame(sys._getframe(1)) is not None and reads.is_data(tensor):
                reads.record_line()
            return original(tensor, *args, **kwargs)

        return text_of

    def recording_tracing_checks(original: Any) -> Any:
        def is_tracing() -> bool:
            _add(reads.tracing_checks, innermost_user_line(sys._getframe(1)))
            return tracing

        return is_tracing

    with contextlib.ExitStack() as stack:
        for name in ("tolist", "numpy", "__array__"):
            stack.enter_context(_patched(torch.Tensor, name, recording_reads))
        stack.enter_context(_patched(torch._tensor_str, "_str", recording_prints))
        stack.enter_context(_patched(torch.jit, "is_tracing", recording_tracing_checks))
        stack.enter_context(handoffs_recorded(reads.handoffs))
        stack.enter_context(reads)
        yield reads


@contextlib.contextmanager
def _patched(owner: Any, name: str, wrap: Any) -> Iterator[None]:
    is_own = name in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, wrap(original))
    try:
        yield
    finally:
        if is_own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)
