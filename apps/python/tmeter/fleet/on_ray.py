"""Batches as Ray tasks. The only part that imports Ray."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..errors import Error, UsageError
from .deadlines import within
from .schedule import EngineLost, Event
from .units import Batch, Done, lost
from .work import run_batch

#: Batches for each processor: enough that none waits, few enough to be held in memory.
_AHEAD = 2
_TO_CONNECT = 10.0  # seconds, of a socket
_TO_START = 120.0
_TO_END = 5.0


def is_in_use() -> bool:
    """Ray is imported and connected already."""
    import sys

    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def _batch_here(batch: Batch) -> list[Done]:
    return list(run_batch(batch))


def _require_answer(address: str) -> None:
    """Ray itself waits for minutes at a closed port."""
    plain = address.removeprefix("ray://")
    host, colon, port = plain.rpartition(":")
    if not colon:
        return
    if not port.isdigit():
        raise UsageError(f"address={address!r}: HOST:PORT, ray://HOST:PORT or auto is expected")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _TO_CONNECT).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"address={address!r}: no Ray there ({why})") from error


def _connected(ray: Any, address: str | None, over: threading.Event) -> None:
    """The kernel ends a cluster of this machine with the thread that started it, which lasts until `over` is set.

    Raises:
        UsageError: there is no Ray at the address, or none that answers in time.
        Error: a cluster of this machine did not start.
    """
    if address is not None:
        _require_answer(address)
    options = {"log_to_driver": False, "logging_level": logging.ERROR, "include_dashboard": False}
    try:
        within(
            _TO_START,
            f"Ray at {address or 'this machine'}",
            lambda: ray.init(address=address, **options),
            over,
        )
    except Exception as error:  # Ray raises all kinds, down to Exception itself
        over.set()
        said = " ".join(str(error).split())[:300]
        if address is None:
            raise Error(f"Ray could not be started on this machine: {said}") from error
        raise UsageError(f"address={address!r}: no Ray there ({said})") from error


class OnRay:
    """Engine of a Ray cluster.

    Ray's own retries are off: retries are decided in one place.
    """

    def __init__(self, address: str | None, options: Mapping[str, Any]) -> None:
        try:
            import ray
        except ImportError as error:
            raise UsageError(
                "engine='ray' needs Ray: pip install 'tmeter[fleet]'; engine='local' does without"
            ) from error
        self._ray: Any = ray
        self._own = not ray.is_initialized()
        self._over = threading.Event()
        if self._own:
            _connected(ray, address or os.environ.get("RAY_ADDRESS"), self._over)
        self._task: Any = ray.remote(_batch_here)
        self._options = dict(options)
        self._running: dict[Any, tuple[int, Batch]] = {}

    @property
    def capacity(self) -> int:
        """The cluster may grow meanwhile."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1))) * _AHEAD

    def start(self, number: int, batch: Batch) -> None:
        options: dict[str, Any] = {"num_cpus": batch.cpus, "max_retries": 0}
        if batch.units[0].place:
            options["resources"] = dict(batch.units[0].place)
        task = self._task.options(**{**options, "name": "tmeter fleet", **self._options})
        self._running[task.remote(batch)] = number, batch

    def wait(self) -> list[Event]:
        ready, _ = self._ray.wait(list(self._running), num_returns=1)
        return [self._event(ref) for ref in ready]

    def _event(self, ref: Any) -> Event:
        number, batch = self._running.pop(ref)
        try:
            return Event(number, tuple(self._ray.get(ref)), True)
        except self._ray.exceptions.RayTaskError as error:  # tmeter is missing there, or another one
            cause = getattr(error, "cause", None) or error
            failed = Done(False, error=f"{type(cause).__name__}: {cause}", kind=type(cause).__name__)
            return Event(number, tuple(failed for _ in batch.units), True)
        except self._ray.exceptions.LocalRayletDiedError as error:
            raise EngineLost(
                "Ray's node of this machine died; the table is of the models done by then, and the next run goes on"
            ) from error
        except self._ray.exceptions.RayError as error:
            said = str(error).strip().splitlines() or [""]
            return Event(number, (), True, lost(f"{type(error).__name__}: {said[0]}"), False)

    def close(self) -> None:
        """A cancelled task cleans up; one that does not end is killed."""
        for ref in self._running:
            with suppress(Exception):
                self._ray.cancel(ref, force=False)
        left = list(self._running)
        with suppress(Exception):
            _, left = self._ray.wait(left, num_returns=len(left), timeout=_TO_END) if left else ([], [])
        for ref in left:
            with suppress(Exception):
                self._ray.cancel(ref, force=True)
        self._running.clear()
        if self._own:
            self._own = False
            self._ray.shutdown()
            self._over.set()
