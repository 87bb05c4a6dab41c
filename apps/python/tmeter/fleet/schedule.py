"""Keeps workers busy, and tries again what may go better another time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from .units import Outcome, Unit

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
    """

    done: int
    failed: int
    total: int
    bytes: int
    seconds: float
    retried: int


class Engine(Protocol):
    """Where units run."""

    @property
    def capacity(self) -> int:
        """Units worth handing out at one time."""

    def start(self, unit: Unit) -> None: ...

    def wait(self) -> list[tuple[Unit, Outcome]]:
        """Until at least one is done. What died with its worker comes back as `lost`."""

    def close(self) -> None:
        """Ends what still runs."""


def run_all(
    units: Iterable[Unit],
    engine: Engine,
    retries: int,
    on_done: Callable[[Unit, Outcome, int], None],
    on_retry: Callable[[Unit, Outcome], None],
) -> None:
    """Each unit's last outcome goes to `on_done` with the number of tries, as soon as it is there."""
    waiting = deque((unit, 1) for unit in units)
    tries: dict[str, int] = {}
    while waiting or tries:
        while waiting and len(tries) < engine.capacity:
            unit, number = waiting.popleft()
            tries[unit.key] = number
            engine.start(unit)
        for unit, outcome in engine.wait():
            number = tries.pop(unit.key)
            if outcome.ok or not outcome.retry or number > retries:
                on_done(unit, outcome, number)
                continue
            on_retry(unit, outcome)
            if not waiting and not tries:
                time.sleep(min(0.1 * 2**number, _LONGEST_PAUSE))
            waiting.append((unit, number + 1))
