"""The operation tree, drawn by rich; neighbours that are alike are drawn once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .config import Settings
from .drawing import box, need_rich
from .nodes import Node

_LETTERS = "xyzuvwabcdefghijklmnopqrst"


def draw(root: Node, settings: Settings) -> Any:
    """A ``rich.tree.Tree``.

    Raises:
        UsageError: rich is not installed.
    """
    need_rich()
    from rich.tree import Tree

    tree = Tree(_label(root, "0", 0, settings), **_look(0, settings))
    _grow(tree, root, "", 0, settings)
    return tree


def _grow(tree: Any, node: Node, prefix: str, letters: int, settings: Settings) -> None:
    level = prefix.count(".") + 1
    groups = _groups(node.children) if settings.tree_fold_repeat else [(1, node.children)]
    for times, children in groups:
        if times == 1:
            for child in children:
                _add(tree, child, prefix + _last(child), level, letters, settings)
        else:
            tree.add(_block(children, times, prefix, letters, settings))


def _add(tree: Any, node: Node, shown: str, level: int, letters: int, settings: Settings) -> None:
    branch = tree.add(_label(node, shown, level, settings), **_look(level, settings, inner=True))
    _grow(branch, node, shown + ".", letters, settings)


def _last(node: Node) -> str:
    return node.node_id.rpartition(".")[2]


def _block(nodes: Sequence[Node], times: int, prefix: str, letters: int, settings: Settings) -> Any:
    """What repeats, once, in a frame that says how often and for which numbers."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.tree import Tree

    period = len(nodes) // times
    letter = _LETTERS[letters % len(_LETTERS)]
    level = prefix.count(".") + 1
    inside: list[Any] = []
    for offset, node in enumerate(nodes[:period]):
        shown = prefix + letter + (f"+{offset}" if offset else "")
        tree = Tree(_label(node, shown, level, settings), **_look(level, settings))
        _grow(tree, node, shown + ".", letters + 1, settings)
        inside.append(tree)
    numbers = ", ".join(_last(node) for node in nodes[::period])
    inside.append(f"Where {letter} ∈ \\[{numbers}]")
    look: dict[str, Any] = settings.tree_repeat_block_args.data_dict
    look["title"] = str(look.get("title") or "").replace("<repeat_time>", str(times))
    look["padding"] = tuple(look.get("padding") or (0, 1))
    return Panel(Group(*inside), **{**look, "box": box(look.get("box"))})


def _groups(nodes: Sequence[Node]) -> Iterator[tuple[int, Sequence[Node]]]:
    """Runs of equal neighbours, or of equal patterns of neighbours: how often, and all of them."""
    keys = [node.signature for node in nodes]
    at = 0
    while at < len(nodes):
        times, period = _repeats(keys, at)
        yield times, nodes[at : at + times * period]
        at += times * period


def _repeats(keys: Sequence[object], at: int) -> tuple[int, int]:
    for period in range(1, (len(keys) - at) // 2 + 1):
        pattern = keys[at : at + period]
        times = 1
        while keys[at + times * period : at + (times + 1) * period] == pattern:
            times += 1
        if times > 1:
            return times, period
    return 1, 1


def _look(level: int, settings: Settings, inner: bool = False) -> dict[str, Any]:
    levels = settings.tree_levels_args.data_dict
    look = {**levels.get("default", {}), **levels.get(str(level), {}), **levels.get("all", {})}
    look.pop("label", None)
    if inner:
        look.pop("hide_root", None)
    return look


def _label(node: Node, shown: str, level: int, settings: Settings) -> Any:
    from rich.markup import escape
    from rich.text import Text

    levels = settings.tree_levels_args.data_dict
    default = levels.get("default", {}).get("label", "(<node_id>) <name> <type>")
    of_level = {**levels.get(str(level), {}), **levels.get("all", {})}
    label = str(of_level.get("label", default))
    for key, value in (("node_id", shown), ("name", node.name), ("type", node.type)):
        label = label.replace(f"<{key}>", escape(value))
    return Text.from_markup(label)
