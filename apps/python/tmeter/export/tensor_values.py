"""Values of small tensors, so that forward can read the model's own state.

A fake tensor has no elements, but a model may test `if self.mask[i] > 0` on a small buffer. So operations on
small tensors are recorded, and executed in that order when a value is read.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .source_lines import innermost

#: The most elements of a tensor that keeps its values: buffers and derived tensors, and parameters.
KEPT, KEPT_PARAMETER = 65_536, 1_024

_VALUE = "_tmeter_value"

#: Marks tensors whose values depend on the inputs.
_OF_INPUT = "_tmeter_of_input"

#: Operators that select elements. The number of selected elements does not depend on the first argument's values.
_CHOOSING = ("aten::index", "aten::masked_select")

_UNDEFINED = ("empty", "new_empty", "_empty")


def worth_keeping(tensor: torch.Tensor) -> bool:
    """Whether a parameter or buffer is small enough to keep its values."""
    if tensor.is_meta or tensor.layout != torch.strided or tensor.is_quantized:
        return False
    if isinstance(tensor, torch._subclasses.FakeTensor) or type(tensor).__name__ == "DTensor":
        return False
    return tensor.numel() <= (KEPT_PARAMETER if isinstance(tensor, torch.nn.Parameter) else KEPT)


class Values:
    """The known values of the fake tensors of one call.

    Args:
        kept: the most elements of a tensor that is computed.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._shared: set[int] = set()  # storages of the module itself
        self._pending: list[tuple[Any, Any, Any, list[weakref.ref[torch.Tensor]]]] = []
        self._overwritten: set[int] = set()  # storages
        self._plain: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self.places: list[str] = []  # lines that read the inputs

    def give(self, fake: torch.Tensor, real: torch.Tensor, *, of_input: bool = False) -> None:
        """Gives a value, which is copied at its first use; most are never used."""
        attributes = vars(fake)
        attributes[_VALUE] = (real,)
        attributes[_OF_INPUT] = of_input

    def share(self, fake: torch.Tensor, weight: torch.Tensor) -> None:
        """Gives a read-only value."""
        setattr(fake, _VALUE, weight.detach())
        self._shared.add(weight.untyped_storage()._cdata)

    def note(self, operator: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Records an operator. References are weak: with a strong one torch would hand the model a copy of the result."""
        made = [weakref.ref(t) for t in _tensors(result)]
        self._pending.append((operator, args, kwargs, made))

    def answer(self, operator: Any, args: Any, kwargs: Any) -> Any:
        """The operator's result on real values; None: a value is unknown."""
        with _for_real():
            for row in self._pending:
                self._work_out(*row)
            self._pending.clear()
            if self._are_known(args, kwargs):
                self._note_place((args, kwargs))
                return operator(*self._real(args), **self._real(kwargs))
            return None

    def shape(self, operator: Any, args: Any) -> torch.Tensor | None:
        """A tensor with the shape of a selection by known values; None: a value is unknown."""
        if operator._schema.name not in _CHOOSING or not self._are_known(args[1:], {}):
            return None
        self._note_place(args[1:])
        with _for_real():
            stand_in = torch.zeros((), dtype=args[0].dtype).expand(args[0].shape)
            made: torch.Tensor = operator(stand_in, *self._real(args[1:]))
            return made

    def _note_place(self, arguments: Any) -> None:
        place = innermost(sys._getframe(1)) if _follows_from_inputs(arguments) else ""
        if place and place not in self.places:
            self.places.append(place)

    def _of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        value = _value_of(tensor)
        if value is None and type(tensor) is torch.Tensor and not tensor.is_meta:
            if tensor.numel() <= KEPT:  # a tensor that the model made of a number
                kept = (tensor, tensor.detach().cpu().clone())
                value = self._plain.setdefault(id(tensor), kept)[1]
        if value is None or value.untyped_storage()._cdata in self._overwritten:
            return None
        return value

    def _are_known(self, args: Any, kwargs: Any) -> bool:
        return all(self._of(t) is not None for t in _tensors((args, kwargs)))

    def _real(self, arguments: Any) -> Any:
        def leaf(x: Any) -> Any:
            if isinstance(x, torch.Tensor):
                return self._of(x)
            return torch.device("cpu") if isinstance(x, torch.device) else x

        return pytree.tree_map(leaf, arguments)

    def _work_out(
        self, operator: Any, args: Any, kwargs: Any, result: list[weakref.ref[torch.Tensor]]
    ) -> None:
        made = [reference() for reference in result]
        usable = not _is_undefined(operator) and all(
            t is None or t.numel() <= self._kept for t in made
        )
        usable = usable and not any(self._is_shared(t) for t in _written(operator, args, kwargs))
        if usable and self._are_known(args, kwargs):
            try:
                real = operator(*self._real(args), **self._real(kwargs))
            except Exception:
                usable = False
            else:
                of_input = _follows_from_inputs((args, kwargs))
                for fake, value in zip(made, _tensors(real)):
                    if fake is not None:
                        setattr(fake, _VALUE, value)
                        setattr(fake, _OF_INPUT, of_input)
                return
        for tensor in _written(operator, args, kwargs):
            old = _value_of(tensor)
            if old is not None:
                self._overwritten.add(old.untyped_storage()._cdata)
                self._plain[id(old)] = (old, old)  # reserves the storage's address

    def _is_shared(self, tensor: torch.Tensor) -> bool:
        value = _value_of(tensor)
        return value is not None and value.untyped_storage()._cdata in self._shared


def _value_of(tensor: torch.Tensor) -> torch.Tensor | None:
    value: Any = getattr(tensor, _VALUE, None)
    if type(value) is tuple:  # the model's own tensor, not copied yet
        value = value[0].detach().cpu().clone()
        setattr(tensor, _VALUE, value)
    made: torch.Tensor | None = value
    return made


def _tensors(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    return [x for x in pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


def _follows_from_inputs(arguments: Any) -> bool:
    return any(getattr(t, _OF_INPUT, False) for t in _tensors(arguments))


def _with_schema(operator: Any, args: Any, kwargs: Any) -> Iterator[tuple[Any, Any]]:
    for i, wanted in enumerate(operator._schema.arguments):
        if i < len(args) and not wanted.kwarg_only:
            yield wanted, args[i]
        elif wanted.name in kwargs:
            yield wanted, kwargs[wanted.name]


def _written(operator: Any, args: Any, kwargs: Any) -> Iterator[torch.Tensor]:
    for wanted, given in _with_schema(operator, args, kwargs):
        if wanted.alias_info is not None and wanted.alias_info.is_write:
            yield from _tensors(given)


def _is_undefined(operator: Any) -> bool:
    name = operator._schema.name.partition("::")[2]
    return name.startswith(_UNDEFINED) or torch.Tag.nondeterministic_seeded in operator.tags


@contextlib.contextmanager
def _for_real() -> Iterator[None]:
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes(), torch.no_grad(), torch._C._DisablePythonDispatcher():
        yield
