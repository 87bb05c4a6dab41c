"""The differences of two results, by the native ``tmeter diff``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .program import run
from .source import Page

if TYPE_CHECKING:
    from .result import Result

#: Statuses with a report: 3 means that an assertion does not hold.
_DIFFERS = 3


class Diff:
    """``print`` writes the comparison as text; a notebook shows it as HTML."""

    def __init__(self, before: Result, after: Result) -> None:
        self._reports = before.to_json(), after.to_json()

    def report(self, kind: str = "text") -> str:
        """The comparison in one of the program's formats."""
        with tempfile.TemporaryDirectory(prefix="tmeter-") as folder:
            files = [Path(folder) / name for name in ("before.json", "after.json")]
            for file, text in zip(files, self._reports):
                file.write_text(text, encoding="utf-8")
            arguments = ["diff", *map(str, files), "--report", kind]
            return run(arguments, accept=(0, _DIFFERS)).output

    def __str__(self) -> str:
        return self.report().rstrip("\n")

    def _repr_html_(self) -> str:
        return Page(self.report("html"))._repr_html_()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    def to_json(self) -> str:
        return self.report("json")

    def to_markdown(self) -> str:
        return self.report("markdown")
