"""A run: hands out units, takes results, and makes the table from the ledger."""

from __future__ import annotations

import json
import time
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from .. import __version__
from ..errors import UsageError
from .earlier_results import EarlierResults, LedgerEntry, Validity
from .index import MOST as INDEX_MOST
from .index import Index
from .ledger import Row, Writer
from .merging import mark_of_merge
from .output import FORMAT, SUMMARY, Output
from .page import MOST as PAGE_MOST
from .page import page
from .plan import Plan
from .schedule import Progress
from .table import FACTS, Columns, Rows, write_parquet, write_rows
from .units import Batch, Done, Unit, file_name
from .work import OUTPUT_NOT_VISIBLE, run_batch

_MAX_WARNINGS = 20


class Run:
    """Records results as they arrive, and writes the table, the index and the page."""

    def __init__(
        self,
        output: Output,
        plan: Plan,
        progress: Callable[[Progress], None],
        resume: bool,
        cpus: float,
        sees_all: bool,
    ) -> None:
        self._output, self._plan, self._progress = output, plan, progress
        self._job, self._cpus, self._sees_all = plan.job, cpus, sees_all
        self._earlier_results = EarlierResults(output, plan.job, resume)
        self._ledger = self._earlier_results.ledger
        self._writer = Writer(output, plan.job.run)
        count = len(plan.names)
        self._files, self._positions = array("l", [-1]) * count, array("q", [-1]) * count
        self._schemas: dict[str, int] = {}  # ids of metrics → a file of the ledger that defines them
        self._failures: dict[int, tuple[str, str]] = {}  # failed checkpoints: kind, message
        self._warnings: dict[str, None] = {}
        self._start = time.monotonic()
        self._done = self._bytes = self._retried = self._fresh = 0
        self._kinds: Counter[str] = Counter()
        self._pending: list[Unit] = []
        self.output_error: str | None = None
        self._write_summary(False, 0, _metrics_before(output))

    # Handing out

    def batches(self, workers: int) -> Iterator[Batch]:
        """Batches of all files whose report does not exist yet."""
        for units in self._plan.batches(self._units_to_analyse(), workers):
            yield Batch(units, self._job, self._cpus)
            yield from self._merges()
        yield from self._merges()

    def _merges(self) -> Iterator[Batch]:
        while self._pending:
            yield Batch((self._pending.pop(),), self._job, self._cpus)

    def _units_to_analyse(self) -> Iterator[Unit]:
        for unit in self._plan.units():
            earlier = self._earlier_results.find(unit)
            validity = self._earlier_results.validity(earlier, unit, self._sees_all) if earlier else Validity.STALE
            if earlier is not None and validity is Validity.VALID:
                self._pending.extend(self._reuse(unit, earlier))
            elif earlier is not None and validity is Validity.WORKER_DECIDES:
                yield replace(unit, earlier_mark=earlier.entry["mark"])
            else:
                yield unit

    def _reuse(self, unit: Unit, earlier: LedgerEntry) -> list[Unit]:
        entry = earlier.entry
        error = entry.get("error") or ""
        if not error:
            self._schemas.setdefault(entry["metrics"], earlier.file)
        return self._note(unit, earlier.file, earlier.place, entry["mark"], entry.get("kind") or "", error)

    # Taking in

    def take(self, unit: Unit, done: Done) -> list[Batch]:
        """Raises OutputError if the output folder is gone."""
        self._output.require_lock()
        if done.kind == OUTPUT_NOT_VISIBLE:  # this machine sees its own folder
            (done,) = run_batch(Batch((unit,), self._job))
        if done.note:
            self._warnings.setdefault(done.note)
        if done.reused:
            earlier = self._earlier_results.find(unit)
            assert earlier is not None
            return self._batches_of(self._reuse(unit, earlier))
        if done.kind == "OutputError":
            self.output_error = self.output_error or done.error
        file, place = self._written(unit, done)
        if done.schema and done.ok:
            self._schemas.setdefault(done.schema, file)
        self._bytes += max(done.size, 0)
        if not unit.shards:
            self._fresh += 1
        merges = self._note(unit, file, place, done.mark, done.kind, done.error)
        return self._batches_of(merges)

    def _batches_of(self, units: list[Unit]) -> list[Batch]:
        return [Batch((unit,), self._job, self._cpus) for unit in units]

    def _written(self, unit: Unit, done: Done) -> tuple[int, int]:
        """The result's place in the ledger. It is written here if the worker could not write it."""
        if done.file:
            return self._ledger.number(done.file), done.place
        line = done.line or self._line(unit, done)
        if done.report:
            report = json.loads(line).get("report")
            if report:
                self._output.write(report, zlib.decompress(done.report))
        file = self._writer.name
        place = self._writer.add(line, done.metrics)
        self._writer.flush()
        return self._ledger.number(file), place

    def _line(self, unit: Unit, done: Done) -> bytes:
        entry = {"key": unit.key, "source": unit.source, "tries": unit.tries, "mark": ""}
        entry |= {"error": done.error, "kind": done.kind, "node": "", "report": None}
        return json.dumps(entry).encode() + b"\n"

    def take_retry(self, unit: Unit, done: Done) -> None:
        self._retried += 1

    def _note(self, unit: Unit, file: int, place: int, mark: str, kind: str, error: str) -> list[Unit]:
        """Notes a result; returns the merge that it makes possible."""
        if unit.shards or unit.shard < 0:
            self._files[unit.number], self._positions[unit.number] = file, place
        merges: list[Unit] = []
        if unit.shards:
            if error:
                self._failures[unit.number] = kind, error
        else:
            self._done += 1
            if error:
                self._kinds[kind] += 1
            if unit.shard >= 0:
                merges = self._note_shard(unit, file, place, mark, kind, error)
            self._report_progress()
        return merges

    def _note_shard(self, unit: Unit, file: int, place: int, mark: str, kind: str, error: str) -> list[Unit]:
        sharded = self._plan.sharded[unit.number]
        sharded.lines[unit.shard], sharded.marks[unit.shard] = (file, place), mark
        sharded.done += 1
        if error:
            self._failures.setdefault(unit.number, (kind, f"shard {sharded.names[unit.shard]}: {error}"))
        if sharded.done < len(sharded.names) or unit.number in self._failures:
            return []
        merge = self._plan.merge(unit.number)
        earlier = self._earlier_results.find(merge)
        stamped = sharded.checkpoint.stamp
        expected_mark = f"{self._job.identity_mark} {mark_of_merge(stamped, merge.shards)}"
        if earlier is not None and stamped and earlier.entry["mark"] == expected_mark:
            return self._reuse(merge, earlier)
        return [merge]

    def _report_progress(self) -> None:
        self._progress(
            Progress(
                self._done,
                self._kinds.total(),
                self._plan.total,
                self._bytes,
                time.monotonic() - self._start,
                self._retried,
                dict(self._kinds),
                self._fresh,
            )
        )

    # The table

    def _rows(self, metrics: dict[str, Row], index: Index | None) -> Iterator[Row]:
        """The rows of finished models in the given order."""
        same_metrics: dict[str, frozenset[str]] = {}
        for number, name in enumerate(self._plan.names):
            first = self._plan.same_as.get(number, number)
            entry, facts = self._facts(first)
            if facts is None:
                continue
            row = dict(zip(FACTS, (name, self._plan.sources[number], *facts)))
            if row["status"] == "ok" and entry is not None:
                schema = entry["metrics"]
                if schema not in same_metrics:
                    same_metrics[schema] = self._same_metrics(schema, metrics, name)
                for metric in same_metrics[schema]:
                    row[metric] = entry["totals"].get(metric)
                    row[f"{metric}_status"] = entry["status"].get(metric)
                if number != first and row["report"]:
                    row["report"] = self._output.link(row["report"], self._plan.report(number))
                if index is not None:
                    index.add(file_name(name), entry, row)
            yield row

    def _same_metrics(self, schema: str, metrics: dict[str, Row], name: str) -> frozenset[str]:
        """The metrics whose convention in this report is that of their column."""
        same = set()
        for metric in self._ledger.metrics_of(schema, self._schemas.get(schema, -1)):
            column = metrics[metric["id"]]
            if (column["convention"], column["unit"]) == (metric["convention"], metric["unit"]):
                same.add(metric["id"])
            else:
                self._warnings.setdefault(
                    f"{name}: {metric['id']!r} is counted by another convention than in the models before, "
                    f"and left out: {metric['convention']}"
                )
        return frozenset(same)

    def _facts(self, number: int) -> tuple[Row | None, tuple[Any, ...] | None]:
        """The ledger's line, and the columns after model and source; None: the model is not done."""
        if (error := self._plan.errors.get(number)) is not None:
            failed = "failed", str(error), type(error).__name__, None, None, None, 0.0, 0.0, 0, None
            return None, failed
        sharded = self._plan.sharded.get(number)
        entry = None
        if self._files[number] >= 0:
            entry = self._ledger.entry(self._files[number], self._positions[number])
        if sharded is None:
            return entry, None if entry is None else _facts(entry, [entry], None, None)
        if sharded.done < len(sharded.names) or (entry is None and number not in self._failures):
            return None, None
        shards = [e for e in (self._ledger.entry(*w) for w in sharded.lines) if e is not None]
        return entry, _facts(entry, shards, len(sharded.names), self._failures.get(number))

    def finish(self, is_whole: bool = True) -> tuple[Rows, list[Row], list[str]]:
        """Writes the table, the index and the page of the models done so far.

        Raises:
            UsageError: every model failed by the same mistake of the caller.
            OutputError: a file cannot be written.
        """
        self._output.require_lock()
        metrics: dict[str, Row] = {}
        for schema, file in self._schemas.items():
            for metric in self._ledger.metrics_of(schema, file):
                metrics.setdefault(metric["id"], metric)
        columns = Columns(list(metrics.values()))
        total = len(self._plan.names)
        index = Index(list(metrics.values())) if total <= INDEX_MOST else None
        usage_errors = _UsageErrorDetector()
        rows = write_rows(self._output, usage_errors.watch(self._rows(metrics, index)), columns)
        if is_whole:
            usage_errors.require_some()
        if not write_parquet(self._output, rows, len(rows), columns):
            self._warnings.setdefault("models.parquet was not written: it needs pyarrow (pip install pyarrow)")
        if index is not None:
            self._output.write("index.json", index.report())
        else:
            self._output.remove("index.json")
            self._warnings.setdefault(f"index.json was not written: it holds {INDEX_MOST:,} models at most")
        shown_rows = [row for _, row in zip(range(PAGE_MOST), rows)]
        content = page(shown_rows, columns.metrics, __version__, len(rows), usage_errors.failed, total)
        self._output.write("index.html", content.encode("utf-8", "backslashreplace"))
        warnings = list(self._warnings)[:_MAX_WARNINGS]
        self._write_summary(is_whole, len(rows), columns.metrics, warnings, rows.location)
        return rows, columns.metrics, warnings

    def _write_summary(
        self,
        is_whole: bool,
        done: int,
        metrics: Iterable[Row] = (),
        warnings: Iterable[str] = (),
        table: Row | None = None,
    ) -> None:
        """Without `table` a reader searches for the rows. After a kill they may be those of the run before."""
        summary = {
            "format": FORMAT,
            "tmeter": __version__,
            "models": len(self._plan.names),
            "done": done,
            "complete": is_whole,
            "metrics": list(metrics),
            "warnings": list(warnings),
            "table": table,
        }
        self._output.write(SUMMARY, json.dumps(summary).encode())

    def close(self) -> None:
        self._writer.close()
        self._ledger.close()


def _metrics_before(output: Output) -> list[Row]:
    """The metrics of the present table, which stays until this run replaces it."""
    try:
        found: list[Row] = json.loads(output.read(SUMMARY))["metrics"]
        return found
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _facts(entry: Row | None, files: list[Row], shards: int | None, failure: tuple[str, str] | None) -> tuple[Any, ...]:
    """The values of FACTS from status on. `files`: the lines of the model's file, or of its shards."""
    error: tuple[str | None, str | None] = failure or (None, None)
    if failure is None and entry is not None:
        error = entry.get("kind"), entry.get("error")
    failed = bool(error[1] or error[0])
    sizes = [f.get("size", -1) for f in files]
    are_sizes_known = bool(sizes) and all(s is not None and s >= 0 for s in sizes)
    return (
        "failed" if failed else "ok",
        error[1] if failed else None,
        error[0] if failed else None,
        None if failed or entry is None else entry.get("report"),
        shards,
        sum(sizes) if are_sizes_known else None,
        round(sum(f.get("seconds", 0.0) for f in files), 6),
        round(sum(f.get("fetch_seconds", 0.0) for f in files), 6),
        sum(f.get("tries", 0) for f in files),
        ", ".join(sorted({f["node"] for f in files if f.get("node")})) or None,
    )


class _UsageErrorDetector:
    """Detects a wrong option. It fails for all models and is reported once, as the caller's mistake."""

    def __init__(self) -> None:
        self.failed = self._usage = self._count = 0
        self._first = ""

    def watch(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            self._count += 1
            if row["status"] != "ok":
                self.failed += 1
                if row["error_kind"] == "UsageError":
                    self._usage += 1
                    self._first = self._first or row["error"]
            yield row

    def require_some(self) -> None:
        if self._count and self._usage == self._count:
            raise UsageError(self._first)


