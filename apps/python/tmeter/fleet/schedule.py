"""Keeps workers busy, and repeats units after transient failures."""

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
    """The progress of a run.

    Attributes:
        done: files analysed, those of an earlier run and failed ones included.
        failed: of these, those without a report.
        total: all files: models, and shards of checkpoints.
        bytes: of the files analysed in this run.
        seconds: since the run began.
        retried: how often a file was handed out again.
        kinds: class of the error → number of failures.
        fresh: files analysed in this run; the others have older results.
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
        """Files per second in this run."""
        return self.fresh / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Remaining seconds at this rate; None: unknown yet."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None


@dataclass(frozen=True)
class Event:
    """News of the batch that was started under `number`: finished units in order.

    Attributes:
        ended: the batch has ended.
        lost: the worker or its machine died, and the remaining units with it.
        suspect: whether the worker was at the first lost unit; otherwise at any of them.
    """

    number: int
    dones: tuple[Done, ...]
    ended: bool
    lost: Done | None = None
    suspect: bool = True


class EngineLost(Error):
    """The engine has ended and cannot run batches."""


class Engine(Protocol):
    """Runs batches."""

    @property
    def sees_all(self) -> bool:
        """Whether workers see the same paths as this process."""

    @property
    def capacity(self) -> int:
        """The number of batches to hand out at a time."""

    def start(self, number: int, batch: Batch) -> None: ...

    def wait(self) -> list[Event]:
        """Waits for the next events. Raises EngineLost."""

    def close(self) -> None:
        """Ends running batches and waits for their clean-up."""


#: Takes the final result of a unit and returns batches that can start now.
OnDone = Callable[[Unit, Done], Iterable[Batch]]


class Schedule:
    """One run. `on_done` receives the final result of each unit at once."""

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
        self._delayed: list[tuple[float, int, Batch]] = []  # a heap by time
        self._numbers = itertools.count()

    def run(self) -> None:
        """Raises EngineLost, or OutputError if a worker could not write its results."""
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
                    self._finish(batch, batch.units[len(dones)], done)
                    dones.append(done)
                if event.ended:
                    del running[event.number]
                    self._retry_lost(batch, batch.units[len(dones) :], event)

    def _next(self, idle: bool) -> Batch | None:
        if idle and not self._ready and self._delayed:
            first = next(self._fresh, None)
            if first is not None:
                return first
            time.sleep(max(0.0, self._delayed[0][0] - time.monotonic()))
        while self._delayed and self._delayed[0][0] <= time.monotonic():
            self._ready.append(heapq.heappop(self._delayed)[2])
        return self._ready.popleft() if self._ready else next(self._fresh, None)

    def _finish(self, batch: Batch, unit: Unit, done: Done) -> None:
        if done.fatal:
            raise OutputError(done.error)
        if done.ok or not done.retry or unit.tries > self._retries:
            self._ready.extend(self._on_done(unit, done))
            return
        self._on_retry(unit, done)
        retried = replace(batch, units=(replace(unit, tries=unit.tries + 1),))
        pause = min(0.1 * 2**unit.tries, _LONGEST_PAUSE)
        heapq.heappush(self._delayed, (time.monotonic() + pause, next(self._numbers), retried))

    def _retry_lost(self, batch: Batch, units: tuple[Unit, ...], event: Event) -> None:
        """Only the unit that ends every worker fails; the other units of its batch are tried again."""
        if not units:
            return
        loss = event.lost or Done(False, error="the worker gave no answer", kind="WorkerLostError", retry=True)
        if len(units) == 1 or event.suspect:
            self._finish(batch, units[0], loss)
            if len(units) > 1:
                self._ready.append(replace(batch, units=units[1:]))
        else:
            for unit in units:
                self._on_retry(unit, loss)
                self._ready.append(replace(batch, units=(unit,)))
