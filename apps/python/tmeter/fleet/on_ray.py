"""Batches as Ray tasks. The only part that imports Ray."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..errors import Error, UsageError
from .deadlines import within
from .schedule import EngineLost, Event
from .units import Batch, Done, lost
from .work import run_batch

#: The beginning of an HTTP/2 connection, with empty settings. A gRPC server such as Ray's answers with its own.
_FRAME, _SETTINGS = 9, b"\x04"
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _SETTINGS + bytes(5)
#: Batches for each processor: enough to keep it busy, few enough for the memory.
_AHEAD = 2
_TO_CONNECT = 10.0  # seconds, of a socket
_TO_START = 120.0
_TO_END, _TO_CLOSE = 5.0, 60.0
#: Seconds between two checks of the cluster, and of silence of its head (Ray ends this process after 60).
_CHECK_EVERY, _GONE = 5.0, 30.0
#: Seconds that a cluster has to add a node with the resources of a task.
_TO_GROW = 900.0
_SO_FAR = "the table is of the models done by then, and the next run goes on"
_NODE_DIED = f"Ray's node of this machine died; {_SO_FAR}"


def is_in_use() -> bool:
    """Whether Ray is imported and connected already."""
    import sys

    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def _batch_here(batch: Batch) -> list[Done]:
    return list(run_batch(batch))


def _require_answer(address: str) -> None:
    """Tests the address first, because Ray waits for minutes at a closed port."""
    plain = address.removeprefix("ray://")
    host, colon, port = plain.rpartition(":")
    if not colon:
        return
    if not port.isdigit():
        raise UsageError(f"address={address!r}: HOST:PORT, ray://HOST:PORT or auto is expected")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _TO_CONNECT) as connection:
            if os.environ.get("RAY_USE_TLS", "0").lower() in ("", "0", "false"):
                connection.sendall(_GREETING)
                if connection.recv(_FRAME)[3:4] != _SETTINGS:
                    raise OSError("the server there is another one")
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"address={address!r}: no Ray there ({why})") from error


def _connected(ray: Any, address: str | None, ended: threading.Event) -> None:
    """Connects to a cluster. One on this machine ends with the thread that started it, which lasts until `ended` is set.

    Raises:
        UsageError: no Ray answers at the address in time.
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
            ended,
        )
    except Exception as error:  # Ray raises many classes, even Exception itself
        ended.set()
        text = " ".join(str(error).split())[:300]
        if address is None:
            raise Error(f"Ray could not be started on this machine: {text}") from error
        raise UsageError(f"address={address!r}: no Ray there ({text})") from error


def _head(ray: Any) -> tuple[str, int] | None:
    """The address of the cluster's head; None: unknown, as with a Ray client."""
    with suppress(Exception):
        host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
        return host.strip("[]"), int(port)
    return None


class OnRay:
    """The engine that runs batches on a Ray cluster.

    Ray's own retries are off: retries are decided in one place. Calls to a missing head never return, so
    `_check_cluster` tests first whether it listens.
    """

    sees_all = False

    def __init__(self, address: str | None, options: Mapping[str, Any]) -> None:
        try:
            import ray
        except ImportError as error:
            raise UsageError(
                "engine='ray' needs Ray: pip install 'tmeter[fleet]'; engine='local' does without"
            ) from error
        self._ray: Any = ray
        self._own = not ray.is_initialized()
        self._ended = threading.Event()
        address = address or os.environ.get("RAY_ADDRESS")
        if self._own:
            _connected(ray, address, self._ended)
        self._to_grow = 0.0 if self._own and address is None else _TO_GROW
        self._task: Any = ray.remote(_batch_here)
        self._options = {"max_retries": 0, "name": "tmeter fleet", **options}
        self._running: dict[Any, tuple[int, Batch]] = {}
        self._head = _head(ray)
        self._last_check, self._last_answer = -_CHECK_EVERY, time.monotonic()
        self._last_change = time.monotonic()  # the last time that a batch began or ended
        self._capacity = 1

    @property
    def capacity(self) -> int:
        """Read again each time, because the cluster may grow."""
        self._check_cluster()
        return self._capacity

    def start(self, number: int, batch: Batch) -> None:
        self._last_change = time.monotonic()
        self._running[self._task.options(**self._demand(batch)).remote(batch)] = number, batch

    def _demand(self, batch: Batch) -> dict[str, Any]:
        options: dict[str, Any] = {"num_cpus": batch.cpus}
        if batch.units[0].place:
            options["resources"] = dict(batch.units[0].place)
        return {**options, **self._options}

    def wait(self) -> list[Event]:
        while True:
            self._check_cluster()
            try:
                ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=_CHECK_EVERY)
            except Exception as error:  # errors of a client whose server is gone
                raise EngineLost(f"Ray gives no answer ({type(error).__name__}); {_SO_FAR}") from error
            if ready:
                self._last_change = time.monotonic()
                return [self._event(ref) for ref in ready]

    def _check_cluster(self) -> None:
        """Raises EngineLost if the head is gone, or no node has a task's resources."""
        now = time.monotonic()
        if now - self._last_check < _CHECK_EVERY:
            return
        self._last_check = now
        if self._head is not None:
            try:
                socket.create_connection(self._head, _CHECK_EVERY).close()
            except OSError as error:
                if now - self._last_answer > _GONE:
                    raise EngineLost(f"Ray's head node gives no answer ({error.strerror or error}); {_SO_FAR}") from error
                return
        self._last_answer = now
        self._capacity = max(1, int(self._ray.cluster_resources().get("CPU", 1))) * _AHEAD
        if self._running and now - self._last_change > max(self._to_grow, _CHECK_EVERY):
            self._require_resources()

    def _require_resources(self) -> None:
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        if not nodes:
            raise EngineLost(_NODE_DIED)
        demanded: dict[str, float] = {}
        for _, batch in self._running.values():
            options = self._demand(batch)
            demanded = {"CPU": options["num_cpus"], **options.get("resources", {})}
            if any(all(resources.get(name, 0) >= count for name, count in demanded.items()) for resources in nodes):
                return
        text = ", ".join(f"{name} {count:g}" for name, count in demanded.items())
        raise EngineLost(f"no node of the Ray cluster has the resources that a task requests ({text}); {_SO_FAR}")

    def _event(self, ref: Any) -> Event:
        number, batch = self._running.pop(ref)
        try:
            return Event(number, tuple(self._ray.get(ref)), True)
        except self._ray.exceptions.RayTaskError as error:  # tmeter is missing there, or differs
            cause = getattr(error, "cause", None) or error
            failed = Done(False, error=f"{type(cause).__name__}: {cause}", kind=type(cause).__name__)
            return Event(number, tuple(failed for _ in batch.units), True)
        except self._ray.exceptions.LocalRayletDiedError as error:
            raise EngineLost(_NODE_DIED) from error
        except self._ray.exceptions.RayError as error:
            text = str(error).strip().splitlines() or [""]
            return Event(number, (), True, lost(f"{type(error).__name__}: {text[0]}"), False)

    def close(self) -> None:
        """Cancels tasks, which clean up, and kills those that do not end. A lost cluster is left alone."""
        with suppress(TimeoutError):
            within(_TO_CLOSE, "Ray", self._close)

    def _close(self) -> None:
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
            self._ended.set()
