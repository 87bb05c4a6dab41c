"""The common use of rich in trees, tables and summaries."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import UsageError


def need_rich() -> None:
    need("rich", "printing")


def need(package: str, what: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise UsageError(f"{what} needs {package}, as torchmeter does: pip install {package}") from error


def box(name: Any) -> Any:
    """One of rich's boxes by its name; None: no lines."""
    from rich import box as boxes

    if not isinstance(name, str):
        return name
    found = getattr(boxes, name.upper(), None)
    if not isinstance(found, boxes.Box):
        raise UsageError(f"rich has no box {name!r}; it has ROUNDED, SQUARE, HEAVY_EDGE, ASCII, …")
    return found


def print_lines(what: Any, below: Any, pause: float) -> None:
    """Prints both line by line, the second as wide as the first, with a pause in seconds between lines.

    Raises:
        ValueError: the pause is negative.
    """
    from time import sleep

    from rich.console import Console

    if pause < 0:
        raise ValueError(f"render_interval must not be negative, got {pause}")
    console = Console()
    width = min(console.width, console.measure(what).maximum)
    if not pause or not console.is_terminal:  # a pause is of no use in a file
        console.print(what)
        console.print(below, width=width)
        return
    with console.capture() as captured:
        console.print(what)
        console.print(below, width=width)
    for line in captured.get().splitlines(keepends=True):
        console.file.write(line)
        console.file.flush()
        sleep(pause)


def labelled(lines: Mapping[str, Any]) -> list[Any]:
    """A ``rich.text.Text`` for each line, with aligned colons."""
    need_rich()
    from rich.text import Text

    width = max([len(key) for key in lines], default=0)
    return [Text.assemble("• ", (f"{key:<{width}}:", "bold"), " ", v) for key, v in lines.items()]


def doubts(statistic: str, reasons: Sequence[str]) -> list[Any]:
    """Reasons why values may be inaccurate: a ``rich.text.Text`` for each line."""
    from rich.text import Text

    if not reasons:
        return []
    lines = ["⚠  Warning: the result may be inaccurate, cause:", *(f"  ▶  {r}" for r in reasons)]
    more = f"  ☑  use `Meter(your_model).profile('{statistic}')` to see more."
    return [*(Text(line, "dim yellow") for line in lines), Text(more, "dim cyan")]


def joined(lines: Sequence[Any]) -> Any:
    """One ``rich.text.Text`` with rich's colours for numbers and names."""
    from rich.highlighter import ReprHighlighter
    from rich.text import Text

    text = Text("\n").join(lines)
    shown = ReprHighlighter()(text.plain)
    shown.copy_styles(text)
    return shown


def panels(named: Mapping[str, Any]) -> Any:
    """Boxes side by side: a ``rich.columns.Columns``. The first has its own colour."""
    need_rich()
    from rich.box import HORIZONTALS
    from rich.columns import Columns
    from rich.panel import Panel

    drawn: list[Panel] = []
    for title, text in named.items():
        colour = "cyan" if drawn else "orange1"
        drawn.append(Panel.fit(text, HORIZONTALS, title=f"[b]{title}[/]", border_style=colour))
    return Columns(drawn, align="center", expand=True)


def footer(texts: Sequence[Any]) -> Any:
    """Texts side by side below a line: a ``rich.columns.Columns``."""
    from rich.columns import Columns
    from rich.rule import Rule
    from rich.text import Text

    for text in texts:
        text.style = "dim"
    title: Any = Rule(Text("s u m m a r y", "gray54"), characters="-", style="gray54")
    return Columns(texts, (1, 1), title=title, equal=True, expand=True)


_FILLED = (list, tuple, set, dict)


def described(value: Any) -> Any:
    """An input as a ``rich.text.Text``: shapes of tensors, and the items of containers with guides."""
    from rich.text import Text

    kind = type(value)
    if hasattr(value, "shape"):
        shape = (str(list(value.shape)), "bold green")
        return Text.assemble(("Shape", "dim"), "(", shape, ") ", (f"<{kind.__name__}>", "dim"))
    if not isinstance(value, _FILLED) or not value:
        what, of = _plain(value)
        return Text.assemble((what, "bold green"), " ", (f"<{of}>", "dim"))
    items = []
    for key, item in value.items() if isinstance(value, dict) else ((None, x) for x in value):
        inner = described(item)
        if isinstance(value, dict):
            key_type = (f"<{type(key).__name__}>", "dim")
            before = Text.assemble((str(key), "bold green"), " ", key_type, ": ")
            inner = before + _hanging(inner, [" " * before.cell_len])
        items.append(inner)
    filled = _hanging(Text(",\n").join(items), _guides(len(kind.__name__) + 1))
    return Text.assemble((kind.__name__, "dim"), "(", filled, ")")


def _plain(value: Any) -> tuple[str, str]:
    """The text for a value, and its type."""
    kind = type(value)
    if callable(value) and hasattr(value, "__name__") and not isinstance(value, type):
        return value.__name__, "function"
    if kind.__module__ == "builtins":
        return str(value), kind.__name__
    return "obj", f"{kind.__module__}.{kind.__qualname__}"


def _guides(width: int) -> list[str]:
    return [f"{mark:<{width}}" for mark in ("│", "└─")]


def _hanging(text: Any, marks: Sequence[str]) -> Any:
    """Puts the first mark before each line but the first, and the last mark before the last line."""
    from rich.text import Text

    first, *others = text.split("\n", allow_blank=True)
    before = [marks[0]] * (len(others) - 1) + [marks[-1]]
    return Text("\n").join([first, *(Text(m) + line for m, line in zip(before, others))])
