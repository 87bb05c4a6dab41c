"""The operation tree: the modules of a live model, with ids as 1.2.1."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import nn


@dataclass(repr=False, eq=False)
class Node:
    """One module.

    Attributes:
        node_id: as ``1.2.1``; the root is ``0``.
        path: the dot path, the key of the native report.
        module, operation: the module itself.
        repeat_winsz, repeat_time: where a run of equal neighbours begins: the neighbours of one repetition, and the repetitions; else 1.
    """

    node_id: str
    name: str
    type: str
    path: str
    module: nn.Module
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    repeat_winsz: int = 1
    repeat_time: int = 1
    _signature: tuple[object, ...] | None = None
    _statistics: Callable[[str, Node], Any] | None = None  # the root has the functions of its meter

    def _statistic(self, name: str) -> Any:
        root = self
        while root.parent is not None:
            root = root.parent
        if root._statistics is None:
            raise RuntimeError("the values of a node are those of its meter: Meter(model).optree")
        return root._statistics(name, self)

    @property
    def param(self) -> Any:
        """Like `Meter.param`, for this module."""
        return self._statistic("param")

    @property
    def cal(self) -> Any:
        """Like `Meter.cal`, for this module."""
        return self._statistic("cal")

    @property
    def mem(self) -> Any:
        """Like `Meter.mem`, for this module."""
        return self._statistic("mem")

    @property
    def ittp(self) -> Any:
        """Like `Meter.ittp`, for this module; runs the model."""
        return self._statistic("ittp")

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def operation(self) -> nn.Module:
        return self.module

    @property
    def module_repr(self) -> str:
        """PyTorch's text of the module; for a module with others inside, its type."""
        return str(self.module) if self.is_leaf else self.type

    @property
    def childs(self) -> OrderedDict[str, Node]:
        """The modules directly inside, by id."""
        return OrderedDict((child.node_id, child) for child in self.children)

    @property
    def place(self) -> str:
        """The last part of the id."""
        return self.node_id.rpartition(".")[2]

    @property
    def attributes(self) -> dict[str, Any]:
        """The names in templates: ``<name>``, ``<type>``, ``<parent>``, …"""
        return {
            "node_id": self.node_id,
            "name": self.name,
            "type": self.type,
            "path": self.path,
            "is_leaf": self.is_leaf,
            "operation": self.module,
            "module_repr": self.module_repr,
            "parent": f"{self.parent.node_id} {self.parent.name}" if self.parent else None,
            "childs": ", ".join(self.childs),
            "repeat_winsz": self.repeat_winsz,
            "repeat_time": self.repeat_time,
        }

    def walk(self) -> Iterator[Node]:
        """This node, then all nodes inside, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def inside(self) -> Iterator[Node]:
        """The nodes inside in torchmeter's order: the children, then the nodes inside each."""
        yield from self.children
        for child in self.children:
            yield from child.inside()

    def __repr__(self) -> str:
        return f"{self.node_id} {self.name}: {self.module_repr}"

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal for modules that do the same: kind, arguments, shapes of parameters, children."""
        if self._signature is None:
            own = tuple(
                (name, tuple(p.shape), p.requires_grad)
                for name, p in self.module.named_parameters(recurse=False)
            )
            said = self.module.extra_repr()
            self._signature = (self.type, said, own, tuple(c.signature for c in self.children))
        return self._signature


class OperationTree:
    """The modules of a model as nodes, ``Meter.optree``.

    Attributes:
        root: the root of the tree.
        all_nodes: the root, then the nodes inside in the order of `Meter.subnodes`.
    """

    def __init__(self, model: nn.Module) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(f"model: a torch.nn.Module is expected, got {type(model).__name__}")
        self.root = tree_of(model)

    @property
    def all_nodes(self) -> list[Node]:
        return [self.root, *self.root.inside()]

    def __repr__(self) -> str:
        return repr(self.root)


def tree_of(model: nn.Module) -> Node:
    name = type(model).__name__
    root = Node("0", name, name, "", model)
    _grow(root)
    return root


def _grow(node: Node) -> None:
    prefix = "" if node.node_id == "0" else node.node_id + "."
    path = node.path + "." if node.path else ""
    for number, (name, module) in enumerate(node.module.named_children(), start=1):
        child = Node(f"{prefix}{number}", name, type(module).__name__, path + name, module, node)
        node.children.append(child)
        _grow(child)
