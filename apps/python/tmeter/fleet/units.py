"""The messages to and from workers: plain data that travels between machines."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from .deadlines import GRACE
from .identity import Identity

_LONGEST = 80
#: How a report is made: by the native program.
REPORT = "tmeter.fleet.work:report_of"


@dataclass(frozen=True)
class Job:
    """What is the same for every file of a run.

    Attributes:
        arguments: of the native program.
        output: place of the results; a worker that sees this run's lock there writes them itself.
        token: of that lock.
        run: number of the run in that place.
        cache: folder for files fetched from URLs; None: the worker's temporary folder.
        timeout: seconds for fetching a file, for analysing it, and for merging.
        retries: how often what may go better another time is tried again.
        reports: whether the whole report of each model is kept.
        identity_mark: the driver's own fingerprint of `identity`.
        how: module and function that make a report of a file; others stand in for it in measurements.
    """

    arguments: tuple[str, ...]
    output: str
    token: str
    identity: Identity
    run: int = 0
    cache: str | None = None
    timeout: float | None = None
    retries: int = 2
    reports: bool = True
    how: str = REPORT
    identity_mark: str = ""

    @property
    def hard_limit(self) -> float | None:
        """Seconds after which a program that does not keep `timeout` is ended."""
        return None if self.timeout is None else self.timeout + GRACE


@dataclass(frozen=True)
class Unit:
    """One file to be analysed: a model, or a shard of one; or shards to be merged.

    Attributes:
        key: of the ledger: the model's name, of a shard with the shard's.
        source: path, URL, or name of a library's model; of a merge the index.
        report: where its report goes, relative to the output place.
        shards: of a merge: each shard's file, mark and report.
        known: the mark of an earlier run, when only a worker can tell whether it still holds.
        tries: this one included.
        number, shard: of the model in the run, and of the shard in it.
        place: Ray resources that lie where the file does, e.g. ``{"node:10.0.0.3": 0.01}``.
    """

    key: str
    source: str
    report: str
    shards: tuple[tuple[str, str, str], ...] = ()
    known: str = ""
    tries: int = 1
    number: int = -1
    shard: int = -1
    place: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Batch:
    units: tuple[Unit, ...]
    job: Job
    cpus: float = 1.0


@dataclass(frozen=True)
class Done:
    """What became of a unit.

    Attributes:
        ok: there is a report.
        kept: the report of an earlier run still holds.
        retry: it may go better another time.
        fatal: the output place cannot be written.
        line: of the ledger; empty when the worker has written it.
        report: likewise, compressed.
        metrics: of the line's figures, where the line is; schema: their id.
        file, place: where the worker has written the line.
        about: lines for the reader of the figures.
    """

    ok: bool
    kept: bool = False
    retry: bool = False
    fatal: bool = False
    error: str = ""
    kind: str = ""
    mark: str = ""
    size: int = -1
    line: bytes = b""
    report: bytes = b""
    metrics: tuple[dict[str, object], ...] = ()
    schema: str = ""
    file: str = ""
    place: int = -1
    about: str = ""


def lost(why: str) -> Done:
    """The worker died, or its machine."""
    return Done(False, error=why, kind="WorkerLostError", retry=True)


def file_name(name: str) -> str:
    """A plain file name, different for each name even where letters of another case are the same file."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip(".")[:_LONGEST] or "model"
    if plain != name or plain != plain.lower():
        plain += "-" + digest_of(name)
    return plain


def digest_of(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
