"""Keeps workers busy, and tries again what may go better another time."""

from __future__ import annotations

import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..errors import Error, OutputError
from .units import Batch, Done, Unit

_LONGEST_PAUSE = 5.0


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        done: files analysed, those of an earlier run and failed ones included.
        failed: of these, those without a report.
        total: all files: models, and shards of checkpoints.
        bytes: of the files analysed in this run.
        seconds: since the run began.
        retried: how often a file was handed out again.
        kinds: of the failures: class of the error, and how many.
        fresh: files analysed in this run; the others were there already.
    """

    done: int
    failed: int
    total: int
    bytes: int
    seconds: float
    retried: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    fresh: int = 0

    @property
    def rate(self) -> float:
        """Files a second, of this run."""
        return self.fresh / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds, at this rate; None: not known yet."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None


@dataclass(frozen=True)
class Event:
    """Of the batch that was started under `number`: units that are done, in order.

    Attributes:
        ended: there is no more of it.
        lost: the worker died, or its machine, with the units that are not done.
        suspect: whether the first lost unit was being worked on. Else any of them.
    """

    number: int
    dones: tuple[Done, ...]
    ended: bool
    lost: Done | None = None
    suspect: bool = True


class EngineLost(Error):
    """The engine has ended, and runs no batch."""


class Engine(Protocol):
    """Where batches run."""

    @property
    def sees_all(self) -> bool:
        """Whether workers see the same paths as this process."""

    @property
    def capacity(self) -> int:
        """Batches worth handing out at one time."""

    def start(self, number: int, batch: Batch) -> None: ...

    def wait(self) -> list[Event]:
        """Until something has happened. Raises EngineLost."""

    def close(self) -> None:
        """Ends what still runs, and waits for its cleaning up."""


#: Takes the last end of a unit; what it returns is worth starting now.
OnDone = Callable[[Unit, Done], Iterable[Batch]]


class Schedule:
    """One run. Each unit's last end goes to `on_done`, as soon as it is there."""

    def __init__(
        self,
        batches: Iterable[Batch],
        engine: Engine,
        retries: int,
        on_done: OnDone,
        on_retry: Callable[[Unit, Done], None],
    ) -> None:
        self._fresh = iter(batches)
        self._engine, self._retries = engine, retries
        self._on_done, self._on_retry = on_done, on_retry
        self._ready: deque[Batch] = deque()
        self._later: list[tuple[float, int, Batch]] = []  # a heap by time
        self._numbers = itertools.count()

    def run(self) -> None:
        """Raises EngineLost, and OutputError when a worker could not write its results."""
        running: dict[int, tuple[Batch, list[Done]]] = {}
        while True:
            while len(running) < self._engine.capacity and (batch := self._next(not running)):
                number = next(self._numbers)
                running[number] = batch, []
                self._engine.start(number, batch)
            if not running:
                return
            for event in self._engine.wait():
                if event.number not in running:
                    continue
                batch, dones = running[event.number]
                for done in event.dones:
                    self._end(batch, batch.units[len(dones)], done)
                    dones.append(done)
                if event.ended:
                    del running[event.number]
                    self._lose(batch, batch.units[len(dones) :], event)

    def _next(self, idle: bool) -> Batch | None:
        if idle and not self._ready and self._later:
            first = next(self._fresh, None)
            if first is not None:
                return first
            time.sleep(max(0.0, self._later[0][0] - time.monotonic()))
        while self._later and self._later[0][0] <= time.monotonic():
            self._ready.append(heapq.heappop(self._later)[2])
        return self._ready.popleft() if self._ready else next(self._fresh, None)

    def _end(self, batch: Batch, unit: Unit, done: Done) -> None:
        if done.fatal:
            raise OutputError(done.error)
        if done.ok or not done.retry or unit.tries > self._retries:
            self._ready.extend(self._on_done(unit, done))
            return
        self._on_retry(unit, done)
        again = replace(batch, units=(replace(unit, tries=unit.tries + 1),))
        pause = min(0.1 * 2**unit.tries, _LONGEST_PAUSE)
        heapq.heappush(self._later, (time.monotonic() + pause, next(self._numbers), again))

    def _lose(self, batch: Batch, units: tuple[Unit, ...], event: Event) -> None:
        """A unit that ends every worker fails alone: those beside it are not blamed."""
        if not units:
            return
        why = event.lost or Done(False, error="the worker gave no answer", kind="WorkerLostError", retry=True)
        if len(units) == 1 or event.suspect:
            self._end(batch, units[0], why)
            if len(units) > 1:
                self._ready.append(replace(batch, units=units[1:]))
        else:
            for unit in units:
                self._on_retry(unit, why)
                self._ready.append(replace(batch, units=(unit,)))
