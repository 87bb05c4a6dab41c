"""Caches facts of operators, because torch makes new objects at each access to a schema."""

from __future__ import annotations

from typing import Any


class Operator:
    """One overload.

    Attributes:
        name: ``aten::conv2d``.
        target: the name in an exported program.
        base: the beginning of its result's name.
        parameters: name, whether it is keyword-only, type.
        gives_list: the result is a list of tensors.
        writes: the operator writes into an argument.
        gives_tensors: the results are tensors only, and arguments keep their values.
    """

    __slots__ = ("base", "gives_list", "gives_tensors", "name", "overload", "parameters", "target", "writes")

    def __init__(self, overload: Any) -> None:
        schema = overload._schema
        self.overload = overload
        self.name: str = schema.name
        namespace, _, base = self.name.partition("::")
        self.target = f"torch.ops.{namespace}.{base}.{overload._overloadname}"
        if base.startswith("__") and base.endswith("__"):
            base = base[2:-2]
        self.base = base
        self.parameters = [(a.name, bool(a.kwarg_only), str(a.type)) for a in schema.arguments]
        returns = schema.returns
        self.gives_list = len(returns) == 1
        self.writes = bool(schema.is_mutable)
        self.gives_tensors = (
            bool(returns) and not self.writes and all("Tensor" in str(r.type) for r in returns)
        )


_OPERATORS: dict[int, Operator] = {}


def operator_of(overload: Any) -> Operator:
    """The same object for each call with one overload. It holds the overload, so the overload's id stays unique."""
    operator = _OPERATORS.get(id(overload))
    if operator is None:
        operator = _OPERATORS[id(overload)] = Operator(overload)
    return operator
