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

from .source_lines import innermost_user_line

#: The most elements of a tensor that keeps its values: buffers and derived tensors, and parameters.
MAX_ELEMENTS, MAX_PARAMETER_ELEMENTS = 65_536, 1_024

_VALUE = "_tmeter_value"

#: Marks tensors whose values depend on the inputs.
_OF_INPUT = "_tmeter_of_input"

#: Operators that select elements. The number of selected elements does not depend on the first argument's values.
_SELECTING = ("aten::index", "aten::masked_select")

_UNINITIALIZED = ("empty", "new_empty", "_empty")


def is_value_kept(tensor: torch.Tensor) -> bool:
    """Whether a parameter or buffer is small enough to keep its values."""
    if tensor.is_meta or tensor.layout != torch.strided or tensor.is_quantized:
        return False
    if isinstance(tensor, torch._subclasses.FakeTensor) or type(tensor).__name__ == "DTensor":
        return False
    return tensor.numel() <= (MAX_PARAMETER_ELEMENTS if isinstance(tensor, torch.nn.Parameter) else MAX_ELEMENTS)


class TensorValues:
    """The known values of the fake tensors of one call.

    Args:
        max_elements: the most elements of a tensor that is computed.
    """

    def __init__(self, max_elements: int = MAX_ELEMENTS) -> None:
        self._max_elements = max_elements
        self._shared: set[int] = set()  # storages of the module itself
        self._pending: list[tuple[Any, Any, Any, list[weakref.ref[torch.Tensor]]]] = []
        self._overwritten: set[int] = set()  # storages
        self._real_tensors: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self.lines: list[str] = []  # lines that read the inputs

    def set_value(self, fake: torch.Tensor, real: torch.Tensor, *, of_input: bool = False) -> None:
        """Gives a value, which is copied at its first use; most are never used."""
        attributes = vars(fake)
        attributes[_VALUE] = (real,)
        attributes[_OF_INPUT] = of_input

    def share_weight(self, fake: torch.Tensor, weight: torch.Tensor) -> None:
        """Gives a read-only value."""
        setattr(fake, _VALUE, weight.detach())
        self._shared.add(weight.untyped_storage()._cdata)

    def record(self, operator: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Records an operator. References are weak: with a strong one torch would hand the model a copy of the result."""
        references = [weakref.ref(t) for t in _tensors(result)]
        self._pending.append((operator, args, kwargs, references))

    def compute(self, operator: Any, args: Any, kwargs: Any) -> Any:
        """The operator's result on real values; None: a value is unknown."""
        with _real_execution():
            for row in self._pending:
                self._execute(*row)
            self._pending.clear()
            if self._are_known(args, kwargs):
                self._record_line((args, kwargs))
                return operator(*self._real(args), **self._real(kwargs))
            return None

    def shape(self, operator: Any, args: Any) -> torch.Tensor | None:
        """A tensor with the shape of a selection by known values; None: a value is unknown."""
        if operator._schema.name not in _SELECTING or not self._are_known(args[1:], {}):
            return None
        self._record_line(args[1:])
        with _real_execution():
            placeholder = torch.zeros((), dtype=args[0].dtype).expand(args[0].shape)
            result: torch.Tensor = operator(placeholder, *self._real(args[1:]))
            return result

    def _record_line(self, arguments: Any) -> None:
        line = innermost_user_line(sys._getframe(1)) if _follows_from_inputs(arguments) else ""
        if line and line not in self.lines:
            self.lines.append(line)

    def _value(self, tensor: torch.Tensor) -> torch.Tensor | None:
        value = _value_of(tensor)
        if value is None and type(tensor) is torch.Tensor and not tensor.is_meta:
            if tensor.numel() <= MAX_ELEMENTS:  # a tensor that the model made of a number
                value_of_number = (tensor, tensor.detach().cpu().clone())
                value = self._real_tensors.setdefault(id(tensor), value_of_number)[1]
        if value is None or value.untyped_storage()._cdata in self._overwritten:
            return None
        return value

    def _are_known(self, args: Any, kwargs: Any) -> bool:
        return all(self._value(t) is not None for t in _tensors((args, kwargs)))

    def _real(self, arguments: Any) -> Any:
        def leaf(x: Any) -> Any:
            if isinstance(x, torch.Tensor):
                return self._value(x)
            return torch.device("cpu") if isinstance(x, torch.device) else x

        return pytree.tree_map(leaf, arguments)

    def _execute(
        self, operator: Any, args: Any, kwargs: Any, references: list[weakref.ref[torch.Tensor]]
    ) -> None:
        results = [reference() for reference in references]
        usable = not _is_undefined(operator) and all(
            t is None or t.numel() <= self._max_elements for t in results
        )
        usable = usable and not any(self._is_shared(t) for t in _written_tensors(operator, args, kwargs))
        if usable and self._are_known(args, kwargs):
            try:
                real = operator(*self._real(args), **self._real(kwargs))
            except Exception:
                usable = False
            else:
                of_input = _follows_from_inputs((args, kwargs))
                for fake, value in zip(results, _tensors(real)):
                    if fake is not None:
                        setattr(fake, _VALUE, value)
                        setattr(fake, _OF_INPUT, of_input)
                return
        for tensor in _written_tensors(operator, args, kwargs):
            old = _value_of(tensor)
            if old is not None:
                self._overwritten.add(old.untyped_storage()._cdata)
                self._real_tensors[id(old)] = (old, old)  # reserves the storage's address

    def _is_shared(self, tensor: torch.Tensor) -> bool:
        value = _value_of(tensor)
        return value is not None and value.untyped_storage()._cdata in self._shared


def _value_of(tensor: torch.Tensor) -> torch.Tensor | None:
    value: Any = getattr(tensor, _VALUE, None)
    if type(value) is tuple:  # the model's own tensor, not copied yet
        value = value[0].detach().cpu().clone()
        setattr(tensor, _VALUE, value)
    known: torch.Tensor | None = value
    return known


def _tensors(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    return [x for x in pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


def _follows_from_inputs(arguments: Any) -> bool:
    return any(getattr(t, _OF_INPUT, False) for t in _tensors(arguments))


def _arguments_with_schema(operator: Any, args: Any, kwargs: Any) -> Iterator[tuple[Any, Any]]:
    for i, parameter in enumerate(operator._schema.arguments):
        if i < len(args) and not parameter.kwarg_only:
            yield parameter, args[i]
        elif parameter.name in kwargs:
            yield parameter, kwargs[parameter.name]


def _written_tensors(operator: Any, args: Any, kwargs: Any) -> Iterator[torch.Tensor]:
    for parameter, value in _arguments_with_schema(operator, args, kwargs):
        if parameter.alias_info is not None and parameter.alias_info.is_write:
            yield from _tensors(value)


def _is_undefined(operator: Any) -> bool:
    name = operator._schema.name.partition("::")[2]
    return name.startswith(_UNINITIALIZED) or torch.Tag.nondeterministic_seeded in operator.tags


@contextlib.contextmanager
def _real_execution() -> Iterator[None]:
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes(), torch.no_grad(), torch._C._DisablePythonDispatcher():
        yield
