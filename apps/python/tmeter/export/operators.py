"""Facts of operators, kept: torch makes new objects of a schema for each question about it."""

from __future__ import annotations

from typing import Any


class Operator:
    """One overload.

    Attributes:
        name: ``aten::conv2d``.
        target: as an exported program names it.
        base: how its result is named.
        parameters: name, whether it is only given by name, type.
        gives_list: its result is a list of tensors.
        writes: into an argument.
        gives_tensors: and nothing else, and leaves its arguments as they are.
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


_KNOWN: dict[int, Operator] = {}


def operator_of(overload: Any) -> Operator:
    """Of one overload always the same object, which keeps it, so that its id stays its own."""
    known = _KNOWN.get(id(overload))
    if known is None:
        known = _KNOWN[id(overload)] = Operator(overload)
    return known
