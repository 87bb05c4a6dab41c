"""Results of earlier runs on the same content, analysed in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .files import ABSENT, is_url, stamp
from .ledger import Ledger, Row
from .library_models import is_library_model, stamp_of_library_model
from .output import Local, Output
from .units import Job, Unit

#: Classes of errors that the file itself causes. They recur until it changes.
PERMANENT_ERRORS = {"ModelError", "CannotRunError", "InputError", "UsageError"}


@dataclass(frozen=True)
class LedgerEntry:
    """A line of the ledger and its place."""

    entry: Row
    file: int
    place: int


class Validity(Enum):
    VALID = "it holds"
    STALE = "it does not"
    WORKER_DECIDES = "only a worker can determine it"


class EarlierResults:
    def __init__(self, output: Output, job: Job, resume: bool) -> None:
        self._output, self._job = output, job
        self.ledger = Ledger(output)
        self._names: dict[str, frozenset[str]] = {}  # remote folder → its files, listed once
        if resume:
            self.ledger.load()

    def find(self, unit: Unit) -> LedgerEntry | None:
        """The unit's ledger line, which is valid if the file has not changed."""
        position = self.ledger.find(unit.key)
        entry = self.ledger.entry(*position) if position else None
        if entry is None or position is None or not entry.get("mark"):
            return None
        if entry.get("error"):
            return LedgerEntry(entry, *position) if entry.get("kind") in PERMANENT_ERRORS else None
        return LedgerEntry(entry, *position) if self._is_whole(entry, position[0], unit) else None

    def _is_whole(self, entry: Row, file: int, unit: Unit) -> bool:
        """Whether the line's metrics are defined and, if reports are kept, its report exists."""
        try:
            self.ledger.metrics_of(entry["metrics"], file)
        except (KeyError, OSError):
            return False
        report = entry.get("report")
        if report is None:
            return not (self._job.reports or unit.shard >= 0)
        return self._has_report(report)

    def _has_report(self, report: str) -> bool:
        if isinstance(self._output, Local):
            return self._output.exists(report)
        folder, _, name = report.rpartition("/")
        if folder not in self._names:
            self._names[folder] = frozenset(self._output.names(folder))
        return name in self._names[folder]

    def validity(self, earlier: LedgerEntry, unit: Unit, sees_all: bool = True) -> Validity:
        """sees_all: workers see the same paths as this process."""
        if is_url(unit.source):
            return Validity.WORKER_DECIDES
        stamp_function = stamp_of_library_model if is_library_model(unit.source) else stamp
        current_stamp = stamp_function(unit.source)
        if current_stamp == ABSENT and not sees_all:
            return Validity.WORKER_DECIDES
        return Validity.VALID if earlier.entry["mark"] == f"{self._job.identity_mark} {current_stamp}" else Validity.STALE
