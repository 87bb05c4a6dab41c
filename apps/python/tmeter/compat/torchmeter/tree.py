"""The operation tree, drawn by rich. Equal neighbours are drawn once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...errors import UsageError
from .config import Namespace, Settings
from .drawing import box, need_rich
from .nodes import Node

_LETTERS = "xyijkabcdefghlmnopqrstuvwz"
_DEFAULT_LABEL = "[b gray35](<node_id>) [green]<name>[/green] [cyan]<type>[/]"
_PLACEHOLDER = re.compile(r"(?<!\\)<(.*?)(?<!\\)>")

#: Text with placeholders, or a function that makes it from a node's attributes.
Template = str | Callable[..., "str | None"] | None


def mark_repeats(root: Node, fold_from: int = 2) -> None:
    """Sets ``repeat_winsz`` and ``repeat_time`` of the first node of each run; others have 1."""
    for node in root.walk():
        for times, run in _groups(node.children, fold_from):
            if times > 1:
                run[0].repeat_winsz, run[0].repeat_time = len(run) // times, times


def _groups(nodes: Sequence[Node], fold_from: int) -> Iterator[tuple[int, Sequence[Node]]]:
    """Runs of equal neighbours, or of equal patterns of neighbours, with their repetitions."""
    keys = [node.signature for node in nodes]
    at = 0
    while at < len(nodes):
        times, period = _repeats(keys, at, fold_from)
        yield times, nodes[at : at + times * period]
        at += times * period


def _repeats(keys: Sequence[object], at: int, fold_from: int) -> tuple[int, int]:
    for period in range(1, (len(keys) - at) // 2 + 1):
        pattern = keys[at : at + period]
        times = 1
        while keys[at + times * period : at + (times + 1) * period] == pattern:
            times += 1
        if times >= fold_from:
            return times, period
    return 1, 1


def default_footer(attributes: Mapping[str, Any]) -> str:
    """The ids that the letter represents: ``Where x ∈ [1, 2]``, ``Where x = 1, 4, 7``."""
    first = int(str(attributes["node_id"]).rpartition(".")[2])
    window, times = int(attributes["repeat_winsz"]), int(attributes["repeat_time"])
    if window == 1:
        return f"Where <loop_algebra> ∈ [{first}, {first + times - 1}]"
    return f"Where <loop_algebra> = {', '.join(str(first + i * window) for i in range(times))}"


class TreeRenderer:
    """Draws a tree when it is called. Each meter has one, ``Meter.tree_renderer``.

    Attributes:
        opnode: the root.
        loop_algebras: the letters for ids inside a repeated block.
        fold_from: the smallest number of repetitions that are folded into one.
    """

    loop_algebras = _LETTERS

    def __init__(self, node: Node, settings: Settings) -> None:
        if not isinstance(node, Node):
            raise TypeError(f"node: a node of Meter.optree is expected, got {type(node).__name__}")
        self.opnode = node
        self.fold_from = 2
        self._settings = settings
        self._footer: Template = default_footer

    @property
    def tree_levels_args(self) -> Namespace:
        """The settings of levels: "default", "all", "0", "1", …"""
        levels: Namespace = self._settings.tree_levels_args
        return levels

    @tree_levels_args.setter
    def tree_levels_args(self, value: Mapping[str, Any]) -> None:
        self._settings.tree_levels_args = value

    @property
    def default_level_args(self) -> Namespace:
        """The settings of levels that have none of their own."""
        found: Namespace = self.tree_levels_args.default
        return found

    @default_level_args.setter
    def default_level_args(self, value: Mapping[str, Any]) -> None:
        self._settings.tree_levels_args = {"default": value}

    @property
    def repeat_block_args(self) -> Namespace:
        """The settings of the frame around a repeated block; ``repeat_footer`` may be among them."""
        found: Namespace = self._settings.tree_repeat_block_args
        return found

    @repeat_block_args.setter
    def repeat_block_args(self, value: Mapping[str, Any]) -> None:
        given = dict(value.data_dict if isinstance(value, Namespace) else value)
        if "repeat_footer" in given:
            self.repeat_footer = given.pop("repeat_footer")
        self._settings.tree_repeat_block_args = given

    @property
    def repeat_footer(self) -> Template:
        """The footer of a repeated block: a text with placeholders, a function of the attributes, or None.

        Raises:
            RuntimeError: set to another type, or to a function of several arguments.
        """
        return self._footer

    @repeat_footer.setter
    def repeat_footer(self, value: Template) -> None:
        if callable(value):
            count = len(inspect.signature(value).parameters)
            if count > 1:
                raise RuntimeError(f"repeat_footer: a function of at most one argument is expected, not {count}")
        elif value is not None and not isinstance(value, str):
            raise RuntimeError(
                f"repeat_footer: a string, a function or None is expected, got {type(value).__name__}"
            )
        self._footer = value

    def resolve_attr(self, attr_val: Any) -> str:
        """A placeholder's value as text. Users may replace this function."""
        return str(attr_val)

    def __call__(self) -> Any:
        """A ``rich.tree.Tree``.

        Raises:
            UsageError: rich is not installed, or a function of the user fails.
        """
        need_rich()
        from rich.tree import Tree

        mark_repeats(self.opnode, self.fold_from)
        tree = Tree(self._label(self.opnode, "0", 0), **self._look(0))
        self._grow(tree, self.opnode, "", 1, 0)
        return tree

    def _add(self, tree: Any, node: Node, shown: str, level: int, letters: int) -> None:
        look = self._look(level)
        look.pop("hide_root", None)
        branch = tree.add(self._label(node, shown, level), **look)
        self._grow(branch, node, shown + ".", level + 1, letters)

    def _grow(self, tree: Any, node: Node, prefix: str, level: int, letters: int) -> None:
        folds = self._settings.tree_fold_repeat
        groups = _groups(node.children, self.fold_from) if folds else [(1, node.children)]
        for times, children in groups:
            if times > 1:
                tree.add(self._block(children, times, prefix, level, letters))
                continue
            for child in children:
                self._add(tree, child, prefix + child.place, level, letters)

    def _block(self, nodes: Sequence[Node], times: int, prefix: str, level: int, letters: int) -> Any:
        """Draws a repeated block once, in a frame with the number of repetitions and the ids."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.rule import Rule
        from rich.tree import Tree

        letter = self.loop_algebras[letters % len(self.loop_algebras)]
        first, more = nodes[0], {"loop_algebra": letter}
        window = nodes[: len(nodes) // times]
        if len(window) == 1:
            tree = Tree(self._label(first, prefix + letter, level), **self._look(level))
            self._grow(tree, first, prefix + letter + ".", level + 1, letters + 1)
        else:
            tree = Tree("", hide_root=True)
            for offset, node in enumerate(window):
                place = f"{letter}+{offset}" if offset else letter
                shown = prefix + (f"({place})" if offset and prefix else place)
                self._add(tree, node, shown, level, letters + 1)
        inside: list[Any] = [tree]
        look: dict[str, Any] = self.repeat_block_args.data_dict
        footer = self._resolved(self._footer, first, more)
        if footer:
            inside.append(Rule(characters="-", style=f"dim {look.get('style') or ''}".strip()))
            inside.append(f"[dim]{footer}[/]")
        for key in ("title", "subtitle"):
            look[key] = self._resolved(look.get(key), first, more) or None
        look["padding"] = tuple(look.get("padding") or (0, 1))
        look["expand"] = bool(look.get("expand") or look.get("width"))  # a width is exact
        return Panel(Group(*inside, fit=True), **{**look, "box": box(look.get("box"))})

    def _level(self, level: int) -> dict[str, Any]:
        """As in torchmeter, the settings of a level replace those of `default`, except for the label."""
        levels = self.tree_levels_args.data_dict
        default: dict[str, Any] = levels.get("default", {})
        found: dict[str, Any] = {"label": default.get("label"), **levels.get(str(level), default)}
        return found

    def _look(self, level: int) -> dict[str, Any]:
        look = self._level(level)
        look.pop("label")
        return look

    def _label(self, node: Node, shown: str, level: int) -> str:
        label = self._level(level)["label"] or _DEFAULT_LABEL
        return self._resolved(label, node, {"node_id": shown})

    def _resolved(self, template: Template, node: Node, more: Mapping[str, Any]) -> str:
        """The template with the node's attributes in place of ``<name>``; ``\\<`` stays ``<``."""
        from rich.markup import escape

        attributes = {**node.attributes, **more}
        if callable(template):
            try:
                takes = len(inspect.signature(template).parameters)
                template = template(attributes) if takes else template()
            except Exception as error:
                raise UsageError(
                    f"the function {getattr(template, '__name__', 'of the template')} failed for "
                    f"{node.node_id} {node.name}: {type(error).__name__}: {error}"
                ) from error
            if template is not None and not isinstance(template, str):
                raise UsageError(f"a template's function must return a string, got {type(template).__name__}")
        if template is None:
            return ""
        known = lambda m: escape(self.resolve_attr(attributes.get(m[1])))  # noqa: E731
        text = _PLACEHOLDER.sub(known, template)
        return text.replace("\\<", "<").replace("\\>", ">")


def draw(root: Node, settings: Settings) -> Any:
    """A ``rich.tree.Tree`` of the settings."""
    return TreeRenderer(root, settings)()
