"""The modules of a report as a tree of objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .errors import UsageError
from .report import Row, status_of
from .wording import did_you_mean


class ModuleNode:
    """One module. Its metrics include everything inside it and all its calls.

    ``node["macs"]`` is the value of a metric, or None; `status` gives the reason.

    Attributes:
        id: position in the tree, ``"0"`` for the root, ``"3.1.2"`` below it.
        path: dot path as in PyTorch, ``""`` for the root.
        name: last part of the path; the root has the model's type.
        type: class name, e.g. ``"Conv2d"``.
        text: PyTorch's text of the module, as far as the file contains it.
        calls: how often the module was called.
        attributes: arguments of the constructor that the file contains, e.g. ``kernel_size``.
        kernel_size, input_size, output_size: as in the columns of these names; None: unknown.
        repeat: ``{"window": 2, "times": 3}`` where a run of identical siblings begins, else None.
        parent: the enclosing module; None for the root.
        children: the modules directly inside, in order.
        metrics: every metric that applies to modules.
    """

    def __init__(self, row: Row, parent: ModuleNode | None) -> None:
        self._row = row
        self.id: str = row["id"]
        self.path: str = row["path"]
        self.type: str = row["type"]
        self.name: str = row["name"] or (self.type if parent is None else "")
        self.text: str = row["text"]
        self.calls: int = row["calls"]
        self.attributes: Mapping[str, Any] = dict(row.get("attributes", {}))
        self.kernel_size: str | None = row.get("kernel_size")
        self.input_size: str | None = row.get("input_size")
        self.output_size: str | None = row.get("output_size")
        self.repeat: Mapping[str, int] | None = row.get("repeat")
        self.parent = parent
        self.children: list[ModuleNode] = []
        self.metrics: Mapping[str, int | float | None] = dict(row["values"])

    def __getitem__(self, metric: str) -> int | float | None:
        """The value of a metric. Raises KeyError with the known metrics."""
        if metric not in self.metrics:
            hint = did_you_mean(metric, self.metrics)
            raise KeyError(f"{metric!r}{hint}; {self.path or 'the root'} has {', '.join(self.metrics)}")
        return self.metrics[metric]

    def status(self, metric: str) -> str | None:
        """Like `Result.status`, for this module."""
        return status_of(self._row, metric)

    @property
    def is_leaf(self) -> bool:
        """Whether the module contains no others."""
        return not self.children

    def walk(self) -> Iterator[ModuleNode]:
        """This module, then all modules inside it, depth first in the order of the report."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def find(self, where: str) -> ModuleNode:
        """The module with this path or, if there is none, with this id, among this module and those inside.

        Raises:
            UsageError: no module has that path or id.
        """
        wanted = where.removeprefix(".")
        nodes = list(self.walk())
        for node in (*(n for n in nodes if n.path == wanted), *(n for n in nodes if n.id == wanted)):
            return node
        hint = did_you_mean(wanted, (n.path for n in nodes if n.path))
        raise UsageError(f"there is no module {where!r} here{hint}; a path as layer1.0 or an id as 2.1")

    def __repr__(self) -> str:
        inside = f", {len(self.children)} children" if self.children else ""
        return f"<{self.id} {self.path or self.name}: {self.type or 'no type'}{inside}>"


def tree_of(report: Row) -> ModuleNode:
    """The root of a report's modules. Its rows have parents first."""
    nodes: dict[str, ModuleNode] = {}
    for row in report["modules"]:
        parent = nodes[row["parent"]] if row["parent"] is not None else None
        node = ModuleNode(row, parent)
        nodes[row["id"]] = node
        if parent is not None:
            parent.children.append(node)
    return nodes["0"]
