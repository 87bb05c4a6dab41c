"""The work of a run. A million models take a few hundred megabytes: names, sources and numbers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from ..errors import Error
from .deadlines import Deadline
from .files import is_url, sibling
from .shards import Checkpoint, is_index, read_checkpoint
from .units import Job, Unit, digest_of, file_name

Place = Callable[[str], Mapping[str, float]]

_PARALLEL_READS = 16  # indexes that are read in parallel
#: The most models whose reports share one folder. More are spread over 256 folders.
_MAX_REPORTS_IN_FOLDER = 10_000
_MAX_UNITS, _MAX_REMOTE_UNITS = 64, 8
_MAX_BYTES = 256 << 20
_BATCHES_PER_WORKER = 8  # per worker, so that all workers end at about the same time


@dataclass
class Sharded:
    """A checkpoint's shards in order: names, marks of existing reports, and their ledger lines."""

    checkpoint: Checkpoint
    names: list[str]
    marks: list[str] = field(default_factory=list)
    lines: list[tuple[int, int]] = field(default_factory=list)  # of the ledger
    done: int = 0

    def __post_init__(self) -> None:
        self.marks = [""] * len(self.names)
        self.lines = [(-1, -1)] * len(self.names)


class Plan:
    """The models in the given order. A model with a bad index fails alone, before its shards are read."""

    def __init__(self, named: Mapping[str, str], job: Job, place: Place | None) -> None:
        self.names: Sequence[str] = list(named)
        self.sources: Sequence[str] = list(named.values())
        self.job = job
        self._place = place
        self.sharded: dict[int, Sharded] = {}
        self.errors: dict[int, BaseException] = {}
        self.same_as: dict[int, int] = self._models_of_same_file()
        self._read_indexes()

    @property
    def total(self) -> int:
        """The number of files: models, and shards of checkpoints."""
        without_files = len(self.same_as) + len(self.errors)
        shards = sum(len(s.names) - 1 for s in self.sharded.values())
        return len(self.names) - without_files + shards

    def _models_of_same_file(self) -> dict[int, int]:
        """Models with the same file as an earlier model, under any path."""
        first: dict[object, int] = {}
        same: dict[int, int] = {}
        for number, source in enumerate(self.sources):
            key: object = source
            if not is_url(source):
                try:
                    facts = os.stat(source)
                    # The ending matters, because it helps to choose the reader.
                    key = facts.st_dev << 64 | facts.st_ino, os.path.splitext(source)[1]
                except (OSError, ValueError):
                    pass
            if (found := first.setdefault(key, number)) != number:
                same[number] = found
        return same

    def _read_indexes(self) -> None:
        indexes = [n for n, s in enumerate(self.sources) if is_index(s) and n not in self.same_as]
        if not indexes:
            return
        with ThreadPoolExecutor(min(_PARALLEL_READS, len(indexes))) as pool:
            for number, found in zip(indexes, pool.map(self._read_index, indexes)):
                if isinstance(found, Checkpoint):
                    self.sharded[number] = Sharded(found, list(found.shards))
                else:
                    self.errors[number] = found

    def _read_index(self, number: int) -> Checkpoint | BaseException:
        source = self.sources[number]
        for tries in range(self.job.retries + 1):
            try:
                return read_checkpoint(source, Deadline(self.job.timeout))
            except Error as error:
                return error
            except Exception as error:  # errors of the network or of a library
                failure = error
                if tries < self.job.retries:
                    time.sleep(0.2 * 2**tries)
        return failure

    # Units

    def units(self) -> Iterator[Unit]:
        for number in range(len(self.names)):
            if number in self.same_as or number in self.errors:
                continue
            if number in self.sharded:
                for shard in range(len(self.sharded[number].names)):
                    yield self._shard(number, shard)
            else:
                name = self.names[number]
                yield self._unit(name, self.sources[number], self.report(number), number)

    def _unit(self, key: str, source: str, report: str, number: int, shard: int = -1) -> Unit:
        place = tuple(self._place(source).items()) if self._place else ()
        return Unit(key, source, report, number=number, shard=shard, place=place)

    def _shard(self, number: int, shard: int) -> Unit:
        name, file = self.names[number], self.sharded[number].names[shard]
        report = f"shards/{file_name(name)}/{file_name(file)}.json"
        return self._unit(f"{name}\0{file}", sibling(self.sources[number], file), report, number, shard)

    def merge(self, number: int) -> Unit:
        """The merge of a model's shards, once all have reports."""
        sharded = self.sharded[number]
        shards = [
            (file, sharded.marks[i], self._shard(number, i).report) for i, file in enumerate(sharded.names)
        ]
        name = self.names[number]
        return Unit(name, self.sources[number], self.report(number), tuple(shards), number=number)

    def report(self, number: int) -> str:
        name = self.names[number]
        folder = "" if len(self.names) <= _MAX_REPORTS_IN_FOLDER else digest_of(name)[:2] + "/"
        return f"reports/{folder}{file_name(name)}.json"

    def batches(self, units: Iterator[Unit], workers: int) -> Iterator[tuple[Unit, ...]]:
        """Groups small files, because a batch costs the driver about as much as a single file."""
        max_units = min(_MAX_UNITS, max(1, self.total // (workers * _BATCHES_PER_WORKER)))
        batch: list[Unit] = []
        size = 0
        for unit in units:
            remote = is_url(unit.source)
            bytes_ = 0 if remote else _size(unit.source)
            limit = min(max_units, _MAX_REMOTE_UNITS) if remote and self.job.identity.reads_weights else max_units
            if batch and (len(batch) >= limit or size + bytes_ > _MAX_BYTES or batch[0].place != unit.place):
                yield tuple(batch)
                batch, size = [], 0
            batch.append(unit)
            size += bytes_
        if batch:
            yield tuple(batch)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0
