"""The operation tree: the modules of a live model, with ids as 1.2.1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from torch import nn


@dataclass
class Node:
    """``path`` is the dot path, by which the native report is looked up."""

    node_id: str
    name: str
    type: str
    path: str
    module: nn.Module
    children: list[Node] = field(default_factory=list)
    _signature: tuple[object, ...] | None = None

    @property
    def is_leaf(self) -> bool:
        return not self.children

    def walk(self) -> Iterator[Node]:
        """This node, then what is inside, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def inside(self) -> Iterator[Node]:
        """What is inside as torchmeter lists it: the children, then what is inside each."""
        yield from self.children
        for child in self.children:
            yield from child.inside()

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


def tree_of(model: nn.Module) -> Node:
    name = type(model).__name__
    root = Node("0", name, name, "", model)
    _grow(root)
    return root


def _grow(node: Node) -> None:
    prefix = "" if node.node_id == "0" else node.node_id + "."
    path = node.path + "." if node.path else ""
    for number, (name, module) in enumerate(node.module.named_children(), start=1):
        kind = type(module).__name__ + ("(inplace)" if getattr(module, "inplace", None) is True else "")
        child = Node(f"{prefix}{number}", name, kind, path + name, module)
        node.children.append(child)
        _grow(child)
