"""What trees, tables and summaries share of rich."""

from __future__ import annotations

import importlib
from typing import Any

from ...errors import UsageError


def need_rich() -> None:
    need("rich", "what is printed")


def need(package: str, what: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise UsageError(f"{what} needs {package}, as torchmeter does: pip install {package}") from error


def box(name: Any) -> Any:
    """A box of rich by its name; None: no lines."""
    from rich import box as boxes

    if not isinstance(name, str):
        return name
    found = getattr(boxes, name.upper(), None)
    if not isinstance(found, boxes.Box):
        raise UsageError(f"rich has no box {name!r}; it has ROUNDED, SQUARE, HEAVY_EDGE, ASCII, …")
    return found


def print_lines(what: Any, pause: float) -> None:
    """Prints it line by line, with a pause in seconds between the lines.

    Raises:
        ValueError: the pause is negative.
    """
    from time import sleep

    from rich.console import Console

    if pause < 0:
        raise ValueError(f"render_interval must not be negative, got {pause}")
    console = Console()
    if not pause or not console.is_terminal:  # a file has no reader meanwhile
        console.print(what)
        return
    with console.capture() as captured:
        console.print(what)
    for line in captured.get().splitlines(keepends=True):
        console.file.write(line)
        console.file.flush()
        sleep(pause)


def summary(title: str, lines: dict[str, str], warnings: list[str]) -> Any:
    """Aligned lines as a ``rich.text.Text``."""
    need_rich()
    from rich.text import Text

    width = max([len(key) for key in lines], default=0)
    text = Text(f"• {'Statistics':<{width}}: {title}" if title else "")
    for key, value in lines.items():
        text.append(f"{chr(10) if text.plain else ''}• {key:<{width}}: {value}")
    if warnings:
        text.append("\n⚠  Warning: the result may be inaccurate, cause:", style="yellow")
        for warning in warnings:
            text.append(f"\n  ▶  {warning}")
    return text
