"""The source and result of each file: a line of JSON for each, written by the process that analysed it.

A process has a file of its own in ``ledger/`` for each run, so no process waits for another, and a crash cuts at
most one last line. Cut lines are skipped, and their files are analysed again. Of several lines with one key the
last run's is valid. Runs are numbered, because clocks may be set back.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import socket
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import OutputError
from .output import Local, Output

FOLDER = "ledger"
_PLACE_BITS = 44
Row = dict[str, Any]


def definition_of(metrics: Sequence[Row]) -> tuple[str, bytes]:
    """An id of these metrics, and the line that defines them. The last pair is kept."""
    global _last
    if metrics == _last[0]:
        return _last[1]
    text = json.dumps(list(metrics))
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    definition = name, json.dumps({"metrics": name, "define": list(metrics)}).encode() + b"\n"
    _last = list(metrics), definition
    return definition


_last: tuple[list[Row], tuple[str, bytes]] = ([], ("", b""))


class Writer:
    """The ledger of one process in one run."""

    def __init__(self, output: Output, run: int) -> None:
        self._output, self._run = output, run
        self._descriptor: int | None = None
        self._begin()

    def _begin(self) -> None:
        self.name = f"{self._run:06}-{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
        self._defined: set[str] = set()
        self._lines: list[bytes] = []
        self._size = 0

    def add(self, line: bytes, metrics: Sequence[Row] = ()) -> int:
        """Adds a line; returns its place in the file. `metrics` describes its values."""
        if metrics:
            name, definition = definition_of(metrics)
            if name not in self._defined:
                self._defined.add(name)
                self._put(definition)
        return self._put(line)

    def _put(self, line: bytes) -> int:
        begin = self._size
        self._size += len(line)
        if isinstance(self._output, Local):
            self._append(self._output.path(f"{FOLDER}/{self.name}"), line)
        else:
            self._lines.append(line)
        return begin

    def _append(self, path: str, line: bytes) -> None:
        try:
            if self._descriptor is None:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._descriptor = os.open(path, flags, 0o644)
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            raise OutputError(error.errno or 0, f"{path} cannot be written: {error.strerror}") from error

    def flush(self) -> None:
        """Ends a file on an object store, which accepts whole files only; the next line begins another."""
        if self._lines:
            self._output.write(f"{FOLDER}/{self.name}", b"".join(self._lines))
            self.close()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._begin()


def _by_run(output: Output) -> list[tuple[int, str]]:
    """The files of a ledger with the numbers of their runs, the last run last."""
    found = []
    for name in output.names(FOLDER):
        run = name.partition("-")[0]
        if name.endswith(".jsonl") and run.isdecimal():
            found.append((int(run), name))
    return sorted(found)


def next_run(output: Output) -> int:
    return max((run for run, _ in _by_run(output)), default=0) + 1


class Ledger:
    """All lines of an output folder by key. They stay on disk."""

    _MAX_OPEN = 32  # the most open files

    def __init__(self, output: Output) -> None:
        self._output = output
        self._files: list[str] = []
        self._numbers: dict[str, int] = {}
        self._open: dict[int, _Lines] = {}
        self._positions: dict[str, int] = {}  # key → file and place in one number
        self.metrics: dict[str, list[Row]] = {}

    def load(self) -> None:
        for _, name in _by_run(self._output):
            number = self.number(name)
            try:
                lines = self._lines(number)
            except OSError:
                continue
            for place, line in lines.each():
                try:
                    entry = json.loads(line)
                    if "define" in entry:
                        self.metrics[entry["metrics"]] = entry["define"]
                    else:
                        self._positions[entry["key"]] = number << _PLACE_BITS | place
                except (ValueError, KeyError, TypeError):
                    continue

    def find(self, key: str) -> tuple[int, int] | None:
        """File and place of the last line of this key."""
        found = self._positions.get(key)
        return None if found is None else (found >> _PLACE_BITS, found & ((1 << _PLACE_BITS) - 1))

    def number(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self._files)
            self._files.append(name)
        return self._numbers[name]

    def entry(self, number: int, place: int) -> Row | None:
        """The line at this place; None: missing or damaged."""
        try:
            line = self._lines(number).at(place)
            found: Row = json.loads(line)
            return found if isinstance(found, dict) and "key" in found else None
        except (OSError, ValueError):
            return None

    def metrics_of(self, name: str, number: int) -> list[Row]:
        """The metrics of this id, as the file defines them. Raises KeyError if that line is missing."""
        if name not in self.metrics:
            for _, line in self._lines(number).each():
                if line.startswith(b'{"metrics"'):
                    found = json.loads(line)
                    self.metrics[found["metrics"]] = found["define"]
        return self.metrics[name]

    def _lines(self, number: int) -> _Lines:
        if number not in self._open:
            while len(self._open) >= self._MAX_OPEN:
                self._open.pop(next(iter(self._open))).close()
            self._open[number] = _Lines(self._output, self._files[number])
        return self._open[number]

    def close(self) -> None:
        for lines in self._open.values():
            lines.close()
        self._open.clear()


class _Lines:
    """One file of the ledger: the file in the output folder, or a copy in memory."""

    def __init__(self, output: Output, name: str) -> None:
        path = f"{FOLDER}/{name}"
        if isinstance(output, Local):
            self._file: Any = open(output.path(path), "rb")  # noqa: SIM115
        else:
            self._file = io.BytesIO(output.read(path))

    def at(self, place: int) -> bytes:
        self._file.seek(place)
        line: bytes = self._file.readline()
        return line

    def each(self) -> Iterator[tuple[int, bytes]]:
        self._file.seek(0)
        place = 0
        for line in self._file:
            yield place, line
            place += len(line)

    def close(self) -> None:
        self._file.close()
