"""Calls the native program once for the analysis, and again for other reports of its result."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .program import Completed, run

#: Statuses with a report: 5 means that a failed plugin was left out.
PLUGIN_LEFT_OUT = 5


def analyse(path: Path, arguments: Sequence[str] = ()) -> tuple[dict[str, Any], Completed]:
    """The JSON report of a model file, and the program's messages."""
    done = run([*arguments, "--report", "json", "--", str(path)], accept=(0, PLUGIN_LEFT_OUT))
    return json.loads(done.output), done


@contextmanager
def saved(report: dict[str, Any]) -> Iterator[str]:
    """The report as a temporary file for the program."""
    with tempfile.TemporaryDirectory(prefix="tmeter-") as folder:
        file = Path(folder) / "report.json"
        file.write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")
        yield str(file)


def show(report: dict[str, Any], kind: str, options: Sequence[str] = ()) -> str:
    """A report in another format, as text: ``tmeter show``."""
    with saved(report) as file:
        return run(["show", "--report", kind, *options, file]).output


def check(report: dict[str, Any], bounds: Sequence[str]) -> None:
    """Raises BudgetError with the bounds that do not hold."""
    asserted = [part for bound in bounds for part in ("--assert", bound)]
    with saved(report) as file:
        run(["show", "--report", f"json={os.devnull}", *asserted, file])


class Page:
    """A page that a notebook shows in a frame of its own, isolated from the notebook."""

    def __init__(self, page: str) -> None:
        self._page = page

    def __str__(self) -> str:
        return self._page

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self._page, quote=True)}" '
            'sandbox="allow-scripts allow-downloads allow-popups" '
            'style="width:100%;height:640px;border:1px solid #8884" title="tmeter report"></iframe>'
        )
