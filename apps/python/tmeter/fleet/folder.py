"""The output folder: every report the moment it is there, whole or not at all."""

from __future__ import annotations

import json
import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import Error, UsageError
from .named import is_named, stamp_of_named
from .places import stamp
from .units import Outcome, Unit


class OutputError(Error, OSError):
    """The output folder cannot be written: it is full, or not ours."""


@contextmanager
def _writing(path: Path) -> Iterator[Path]:
    """A file beside it that takes its name at the end."""
    new = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        yield new
        os.replace(new, path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        new.unlink(missing_ok=True)


def _ends_within_a_line(path: Path) -> bool:
    """A crash may have cut the last one."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


class Folder:
    """Reports, shards' reports, and a ledger of what each was made from."""

    def __init__(self, root: Path, resume: bool, version: str) -> None:
        self.root, self._version = root, version
        try:
            for name in ("reports", "shards"):
                (root / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{root}: {error.strerror}") from error
        self._ledger = self._read_ledger() if resume else {}
        self._line_is_open = _ends_within_a_line(root / "ledger.jsonl")

    def _read_ledger(self) -> dict[str, dict[str, Any]]:
        """Lines that a crash has cut are passed over: those units are analysed again."""
        found: dict[str, dict[str, Any]] = {}
        path = self.root / "ledger.jsonl"
        if not path.is_file():
            return found
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                entry = json.loads(line)
                found[entry["key"]] = entry
            except (ValueError, KeyError, TypeError):
                continue
        return found

    def _mark(self, unit: Unit) -> str:
        known_by = stamp_of_named if is_named(unit.source) else stamp
        return f"{unit.fingerprint(self._version)} {known_by(unit.source)}"

    def known(self, unit: Unit) -> dict[str, Any] | None:
        """The entry of an earlier run, if its report is there and nothing has changed since."""
        entry = self._ledger.get(unit.key)
        if entry is None or entry.get("mark") != self._mark(unit) or entry.get("error"):
            return None
        return entry if (self.root / unit.key).is_file() else None

    def keep(self, unit: Unit, outcome: Outcome, tries: int) -> dict[str, Any]:
        """Writes the report, then its line in the ledger."""
        if outcome.ok:
            self.write(unit.key, zlib.decompress(outcome.report))
        entry = {
            "key": unit.key,
            "model": unit.model,
            "source": unit.source,
            "mark": self._mark(unit),
            "error": outcome.error,
            "kind": outcome.kind,
            "node": outcome.node,
            "size": outcome.size,
            "tries": tries,
            "seconds": round(outcome.seconds, 6),
            "fetch_seconds": round(outcome.fetch_seconds, 6),
            "messages": list(outcome.messages),
        }
        path = self.root / "ledger.jsonl"
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write("\n" * self._line_is_open + json.dumps(entry) + "\n")
            self._line_is_open = False
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error
        return entry

    def write(self, name: str, content: bytes) -> Path:
        path = self.root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{path.parent}: {error.strerror or error}") from error
        with _writing(path) as new:
            new.write_bytes(content)
        return path

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        with _writing(self.root / name) as new:
            yield new

    def read(self, key: str) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.root / key).read_text(encoding="utf-8"))
        return report
