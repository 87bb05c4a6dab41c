"""Time limits for calls of networks, clusters and libraries that have none."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

#: Seconds without a byte or an answer after which a connection counts as dead.
STALL = 60.0
#: Seconds beyond its time limit after which a program is ended. Programs enforce the limit themselves.
GRACE = 60.0


class Deadline:
    """The seconds that a piece of work may take; None: no limit while bytes arrive."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        """The seconds for the next step, at most `STALL`. Raises TimeoutError when time is up."""
        if self._end is None:
            return STALL
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time limit has passed")
        return min(left, STALL)


class Call(threading.Thread, Generic[T]):
    """Work in a thread that does not keep the process alive.

    Attributes:
        done: set when the work has ended.
        until: the thread waits for this event after the work, because processes that it started may end with it.
    """

    def __init__(self, work: Callable[[], T], until: threading.Event | None = None) -> None:
        super().__init__(daemon=True, name="tmeter-deadline")
        self._work = work
        self.done = threading.Event()
        self.until = until
        self.result: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result.append(self._work())
        except BaseException as error:
            self.error = error
        self.done.set()
        if self.until is not None:
            self.until.wait()

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return self.result[0]


def within(seconds: float, what: str, work: Callable[[], T], until: threading.Event | None = None) -> T:
    """The result of `work`. After the time it continues in a thread that does not keep the process alive.

    until: as for `Call`.

    Raises:
        TimeoutError: `what` took longer.
    """
    call = Call(work, until)
    call.start()
    if not call.done.wait(seconds):
        raise TimeoutError(f"{what}: no answer within {seconds:.0f} s")
    return call.outcome()
