"""The messages to and from workers, as plain data."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from .deadlines import GRACE
from .identity import Identity

_LONGEST_NAME = 80
#: The function that makes a report: by the native program.
REPORT = "tmeter.fleet.work:report_of"


@dataclass(frozen=True)
class Job:
    """The common settings of all files of a run.

    Attributes:
        arguments: of the native program.
        output: folder of the results; a worker that sees this run's lock there writes results itself.
        token: of that lock.
        run: number of the run in that folder.
        cache: folder for files fetched from URLs; None: the worker's temporary folder.
        timeout: seconds for fetching a file, for analysing it, and for merging.
        retries: how often a unit is tried again after a transient failure.
        reports: whether the whole report of each model is kept.
        identity_mark: the driver's own fingerprint of `identity`.
        report_function: module and function that make the report of a file; measurements replace it.
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
    report_function: str = REPORT
    identity_mark: str = ""

    @property
    def hard_limit(self) -> float | None:
        """Seconds after which a program that exceeds `timeout` is ended."""
        return None if self.timeout is None else self.timeout + GRACE


@dataclass(frozen=True)
class Unit:
    """One file to be analysed: a model, or a shard of one; or shards to be merged.

    Attributes:
        key: the model's name in the ledger, for a shard with the shard's name.
        source: path, URL, or name of a library's model; for a merge the index.
        report: name of its report, relative to the output folder.
        shards: for a merge: each shard's file, mark and report.
        earlier_mark: the mark of an earlier run, if only a worker can determine whether it is valid.
        tries: attempts, this one included.
        number, shard: of the model in the run, and of the shard in the model.
        place: Ray resources on the node of the file, e.g. ``{"node:10.0.0.3": 0.01}``.
    """

    key: str
    source: str
    report: str
    shards: tuple[tuple[str, str, str], ...] = ()
    earlier_mark: str = ""
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
    """The result of a unit.

    Attributes:
        ok: the report exists.
        reused: the report of an earlier run is still valid.
        retry: the failure is transient.
        fatal: the output place cannot be written.
        line: of the ledger; empty when the worker has written it.
        report: likewise, compressed.
        metrics: definitions of the line's values, if the line is here; schema: their id.
        file, place: position of the line, if the worker has written it.
        note: a note for readers of the values.
    """

    ok: bool
    reused: bool = False
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
    note: str = ""


def lost(why: str) -> Done:
    """The result of a unit whose worker or machine died."""
    return Done(False, error=why, kind="WorkerLostError", retry=True)


def file_name(name: str) -> str:
    """A plain file name, unique for each name even on file systems that ignore case."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip(".")[:_LONGEST_NAME] or "model"
    if plain != name or plain != plain.lower():
        plain += "-" + digest_of(name)
    return plain


def digest_of(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
