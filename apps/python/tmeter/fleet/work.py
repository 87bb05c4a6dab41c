"""The work of a worker on a batch. It is imported on every machine and needs neither Ray nor, except for models by
name, torch."""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import stat as stat_module
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import CrashError, Error, ModelError, OutputError, PluginError, ProgramMissingError
from ..program import run
from .deadlines import Deadline
from .files import is_disk_full, is_url, local, stamp, wait_for_next_tick
from .ledger import Row, Writer, definition_of
from .library_models import export_library_model, is_library_model, stamp_of_library_model
from .merging import mark_of_merge, merged
from .output import LOCK, Local, Output, Remote, output_of
from .scratch import sweep
from .units import Batch, Done, Job, Unit

#: As in tmeter.source: 5 means that a plugin was left out, which the report states.
_ACCEPTED = (0, 5)
#: Attempts at a file that is replaced while it is read.
MAX_READS = 3
#: Kind of a failed merge on a machine that does not see the shards' reports.
OUTPUT_NOT_VISIBLE = "UnseenError"
_PARALLEL_REQUESTS = 16  # to servers
_SWEEP_EVERY = 10.0  # seconds
_LONGEST_ERROR = 2000
#: The program's message for a file whose reader cannot be opened: the file, its kind, the remedy.
_READER_MISSING = re.compile(
    r"(?:.*\n)?(.+?): this is a ([^;]+); the plugin that reads it.+?(this tmeter reads .+)?$", re.DOTALL
)


@dataclass(frozen=True)
class MadeReport:
    """A report as text, and the facts of its making. size: bytes of the file; -1: not a single file."""

    report: str
    size: int = -1
    fetch_seconds: float = 0.0
    messages: tuple[str, ...] = ()


#: Source, job → report. Raises the exceptions of `report_of`.
ReportFunction = Callable[[str, Job], MadeReport]


def report_of(source: str, job: Job) -> MadeReport:
    """Makes the report of a source by the native program.

    Raises:
        Error, OSError: the program's error, or the network's.
    """
    start = time.monotonic()
    if is_library_model(source):
        return export_library_model(source, lambda path, more: _run_program(path, job, more, start, -1))
    with local(source, job.cache, Deadline(job.timeout), not job.identity.reads_weights) as path:
        try:
            made = _run_program(path, job, (), start, _size(path))
        except Error as error:
            raise type(error)(str(error).replace(str(path), source)) from error
        return replace(made, messages=tuple(m.replace(str(path), source) for m in made.messages))


def _size(path: Path) -> int:
    """The file's size; -1: not a single file. Raises for missing files, so that no program is started for them."""
    try:
        facts = path.stat()
    except FileNotFoundError as error:
        raise ModelError(f"{path}: no such file") from error
    except ValueError as error:
        raise ModelError(f"{path}: {error}") from error
    except OSError:
        return -1  # the program reports the reason
    return facts.st_size if stat_module.S_ISREG(facts.st_mode) else -1


def _run_program(path: Path, job: Job, more: tuple[str, ...], start: float, size: int) -> MadeReport:
    fetched = time.monotonic() - start
    command = [*more, *job.arguments, "--report", "json", "--", str(path)]
    done = run(command, accept=_ACCEPTED, limit=job.hard_limit)
    return MadeReport(done.output, size, fetched, done.messages)


def run_batch(batch: Batch) -> Iterator[Done]:
    """The result of each unit in order. Failures of one unit become its result and are not raised."""
    job = batch.job
    _sweep(job)
    results = _Results(job)
    buffered: list[Done] = []
    for unit, before in zip(batch.units, _stamps(batch)):
        if unit.shards and results.output is None:
            yield Done(False, kind=OUTPUT_NOT_VISIBLE)
            continue
        done = results.take(unit, *_analyse(unit, before, job, results.output))
        if results.is_buffered:
            buffered.append(done)
        else:
            yield done
    try:
        results.flush()
    except OutputError as error:
        buffered = [Done(False, fatal=True, error=str(error), kind="OutputError") for _ in buffered]
    yield from buffered


_last_sweep = 0.0


def _sweep(job: Job) -> None:
    global _last_sweep
    if time.monotonic() - _last_sweep > _SWEEP_EVERY:
        _last_sweep = time.monotonic()
        sweep(None, job.cache)


def _stamp_of(source: str, job: Job) -> str:
    if is_library_model(source):
        return stamp_of_library_model(source)
    return stamp(source, Deadline(job.timeout))


def _stamps(batch: Batch) -> Iterator[str | None]:
    """Stamps of remote files, requested in parallel. None: a local file, whose stamp is taken before reading."""
    remote = [unit.source for unit in batch.units if is_url(unit.source) and not unit.shards]
    found: dict[str, str] = {}
    if remote:
        with ThreadPoolExecutor(min(_PARALLEL_REQUESTS, len(remote))) as pool:
            found = dict(zip(remote, pool.map(lambda s: _stamp_of(s, batch.job), remote)))
    return iter([found.get(unit.source) for unit in batch.units])


def _analyse(unit: Unit, before: str | None, job: Job, output: Output | None) -> tuple[Row, str, Done]:
    """The ledger's line, the report, and the result without these."""
    start = time.monotonic()
    entry: Row = {"key": unit.key, "source": unit.source, "tries": unit.tries}
    made: MadeReport | None = None
    done = Done(True)
    try:
        made, mark = _read(unit, before, job, output)
        if made is None:
            return entry, "", Done(True, reused=True, mark=mark)
    except Exception as error:  # any exception of a library fails this unit only
        mark = getattr(error, "mark", "")
        done = _result_of_error(error)
    entry |= {
        "mark": mark,
        "error": done.error or None,
        "kind": done.kind or None,
        "node": platform.node(),
        "seconds": round(time.monotonic() - start, 6),
    }
    note = ""
    if made is not None:
        entry |= {"size": made.size, "fetch_seconds": round(made.fetch_seconds, 6)}
        entry["messages"] = list(made.messages)
        try:
            entry |= totals_of(json.loads(made.report))
        except (ValueError, KeyError, IndexError) as error:
            done = Done(False, retry=True, error=f"the program's report is damaged: {error}", kind="CrashError")
            entry |= {"error": done.error, "kind": done.kind}
        if job.identity.text and not mark.startswith(job.identity_mark):
            note = f"{platform.node()} has other plugins or profiles than the driver's machine"
    return entry, made.report if made else "", replace(done, mark=mark, note=note, size=made.size if made else -1)


def _read(unit: Unit, before: str | None, job: Job, output: Output | None) -> tuple[MadeReport | None, str]:
    """Analyses a file again if it, a plugin or a profile changed during the analysis."""
    for _ in range(MAX_READS):
        wait_for_next_tick(unit.source)
        mark = _mark(unit, _stamp_of(unit.source, job) if before is None else before, job)
        if unit.earlier_mark and mark == unit.earlier_mark:
            return None, mark
        made: MadeReport | None = None
        failure: Exception | None = None
        try:
            made = _make_report(unit, job, output)
        except Exception as error:
            failure = error
        before = _stamp_of(unit.source, job)
        if mark and mark != _mark(unit, before, job):
            continue
        if failure is not None:
            failure.mark = mark  # type: ignore[attr-defined]
            raise failure
        return made, mark
    raise OSError(f"{unit.source} was replaced while it was read, {MAX_READS} times")


def _mark(unit: Unit, stamped: str, job: Job) -> str:
    """The mark of a file's content and the way of analysis; empty if the content cannot be identified."""
    if not stamped:
        return ""
    if unit.shards:
        stamped = mark_of_merge(stamped, unit.shards)
    return f"{job.identity.fingerprint()} {stamped}"


def _make_report(unit: Unit, job: Job, output: Output | None) -> MadeReport:
    if unit.shards:
        assert output is not None
        return MadeReport(*merged(unit, job, output))
    module, _, function = job.report_function.partition(":")
    report_function: ReportFunction = getattr(importlib.import_module(module), function)
    return report_function(unit.source, job)


def _result_of_error(error: Exception) -> Done:
    if is_disk_full(error) or "No space left on device" in str(error):
        error = OutputError(f"no room to analyse it: {error}")
    if (missing := _READER_MISSING.match(str(error))) is not None:
        file, what, help_ = missing.groups()
        error = PluginError(f"{file}: this is a {what}; " + (help_ or "its reader is not installed"))
    retry = not isinstance(error, Error) or isinstance(error, (CrashError, ProgramMissingError))
    message = (str(error) or type(error).__name__)[:_LONGEST_ERROR]
    return Done(False, retry=retry, error=message, kind=type(error).__name__)


def totals_of(report: Row) -> Row:
    """The cells of a report: each metric's total and status."""
    root = report["modules"][0] if report["modules"] else {}
    return {
        "type": [root.get(k, "") for k in ("type", "qualified_type", "text")],
        "plugins": report["plugins"],
        "metrics": definition_of(report["metrics"])[0],
        "define": report["metrics"],
        "totals": {k: v for k, v in report["totals"].items() if v is not None},
        "status": {k: v for k, v in report["totals_status"].items() if v},
    }


class _Results:
    """Writes results to the output folder if this process sees it; otherwise returns them to the driver."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.output = _visible_output(job)
        self._writer = _writer_of(job, self.output) if self.output else None

    @property
    def is_buffered(self) -> bool:
        return isinstance(self.output, Remote)

    def take(self, unit: Unit, entry: Row, report: str, done: Done) -> Done:
        if done.reused or (done.retry and unit.tries <= self._job.retries):
            return done
        metrics = entry.pop("define", [])
        done = replace(done, schema=entry.get("metrics", ""))
        entry["report"] = unit.report if report and (self._job.reports or unit.report.startswith("shards/")) else None
        line = (json.dumps(entry) + "\n").encode()
        if self.output is None or self._writer is None or not _has_our_lock(self.output, self._job):
            packed = zlib.compress(report.encode("utf-8", "surrogatepass"), 1) if entry["report"] else b""
            return replace(done, line=line, report=packed, metrics=tuple(metrics))
        try:
            if entry["report"]:
                self.output.write(unit.report, report.encode("utf-8", "surrogatepass"))
            file = self._writer.name
            place = self._writer.add(line, metrics)
        except OutputError as error:
            return Done(False, fatal=True, error=str(error), kind="OutputError")
        return replace(done, file=file, place=place)

    def flush(self) -> None:
        if self._writer is not None:
            self._writer.flush()


def _visible_output(job: Job) -> Output | None:
    try:
        output = output_of(job.output)
        return output if _has_our_lock(output, job) else None
    except (Error, OSError):
        return None


def _has_our_lock(output: Output, job: Job) -> bool:
    """Whether the folder holds this run's lock: it is the driver's folder, and its run is going on."""
    if not isinstance(output, Local):
        return True
    try:
        return bool(json.loads(output.read(LOCK))["token"] == job.token)
    except (OSError, ValueError, KeyError, TypeError):
        return False


_writers: dict[tuple[str, str, int], Writer] = {}


def _writer_of(job: Job, output: Output) -> Writer:
    """One writer for each process and run."""
    key = job.output, job.token, os.getpid()
    if key not in _writers:
        for writer in _writers.values():
            writer.close()
        _writers.clear()
        _writers[key] = Writer(output, job.run)
    return _writers[key]
