"""Results of earlier runs on the same content, analysed in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .files import ABSENT, is_url, stamp
from .ledger import Ledger, Row
from .library_models import is_named, stamp_of_named
from .output import Local, Output
from .units import Job, Unit

#: Classes of errors that the file itself causes. They recur until it changes.
REFUSED = {"ModelError", "CannotRunError", "InputError", "UsageError"}


@dataclass(frozen=True)
class Held:
    """A line of the ledger and its place."""

    entry: Row
    file: int
    place: int


class Answer(Enum):
    YES = "it holds"
    NO = "it does not"
    ASK = "only a worker can determine it"


class Known:
    def __init__(self, output: Output, job: Job, resume: bool) -> None:
        self._output, self._job = output, job
        self.ledger = Ledger(output)
        self._names: dict[str, frozenset[str]] = {}  # remote folder → its files, listed once
        if resume:
            self.ledger.load()

    def find(self, unit: Unit) -> Held | None:
        """The unit's ledger line, which is valid if the file has not changed."""
        found = self.ledger.find(unit.key)
        entry = self.ledger.entry(*found) if found else None
        if entry is None or found is None or not entry.get("mark"):
            return None
        if entry.get("error"):
            return Held(entry, *found) if entry.get("kind") in REFUSED else None
        return Held(entry, *found) if self._is_whole(entry, found[0], unit) else None

    def _is_whole(self, entry: Row, file: int, unit: Unit) -> bool:
        """Whether the line's metrics are defined and, if reports are kept, its report exists."""
        try:
            self.ledger.metrics_of(entry["metrics"], file)
        except (KeyError, OSError):
            return False
        report = entry.get("report")
        if report is None:
            return not (self._job.reports or unit.shard >= 0)
        return self._is_there(report)

    def _is_there(self, report: str) -> bool:
        if isinstance(self._output, Local):
            return self._output.exists(report)
        folder, _, name = report.rpartition("/")
        if folder not in self._names:
            self._names[folder] = frozenset(self._output.names(folder))
        return name in self._names[folder]

    def holds(self, held: Held, unit: Unit, sees_all: bool = True) -> Answer:
        """sees_all: workers see the same paths as this process."""
        if is_url(unit.source):
            return Answer.ASK
        known_by = stamp_of_named if is_named(unit.source) else stamp
        stamped = known_by(unit.source)
        if stamped == ABSENT and not sees_all:
            return Answer.ASK
        return Answer.YES if held.entry["mark"] == f"{self._job.identity_mark} {stamped}" else Answer.NO
