"""Runs batches in processes of this machine, without Ray.

A worker is a Python process that reads batches from a pipe. If it dies, its current unit is known. A pool of the
standard library does not report that, and a script would need ``if __name__ == "__main__"`` for it.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any

from .schedule import Event
from .units import Batch, Done, lost
from .work import MAX_READS

_HEADER = 8
#: Seconds that a worker has for clean-up.
_TO_END = 5.0


def _write(stream: IO[bytes], value: Any) -> None:
    content = pickle.dumps(value)
    stream.write(len(content).to_bytes(_HEADER, "little") + content)
    stream.flush()


def _read(stream: IO[bytes]) -> Any:
    """Reads one message. Raises EOFError if the other process is gone."""
    header = stream.read(_HEADER)
    content = stream.read(int.from_bytes(header, "little")) if len(header) == _HEADER else b""
    if not content or len(content) < int.from_bytes(header, "little"):
        raise EOFError
    return pickle.loads(content)


_Work = tuple[int, Batch]


class _Worker(threading.Thread):
    """A worker process, which is started again if it dies."""

    def __init__(self, work: queue.Queue[_Work | None], events: queue.Queue[Event]) -> None:
        super().__init__(daemon=True, name="tmeter-fleet")
        self._work, self._events = work, events
        self.process: subprocess.Popen[bytes] | None = None
        self._closing = self._is_timed_out = False

    def run(self) -> None:
        while (work := self._work.get()) is not None:
            self._do(*work)
        self.end()

    def request_end(self) -> None:
        self._closing = True
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        """Ends the worker. After the time for clean-up its process group is killed, which includes its program."""
        process = self.process
        if process is None:
            return
        self.request_end()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_TO_END)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _do(self, number: int, batch: Batch) -> None:
        limit = batch.job.hard_limit
        # Each attempt fetches the file and analyses it.
        watch = threading.Timer((limit or 0) * 2 * MAX_READS * len(batch.units), self._give_up)
        if limit is not None:
            watch.start()
        try:
            process = self._started_process()
            assert process.stdin is not None and process.stdout is not None
            _write(process.stdin, batch)
            while isinstance(done := _read(process.stdout), Done):
                self._events.put(Event(number, (done,), False))
            self._events.put(Event(number, (), True))
        except (EOFError, OSError):
            self._events.put(Event(number, (), True, lost(self._death_of_worker())))
        finally:
            watch.cancel()

    def _give_up(self) -> None:
        """Kills a worker that was stopped, or that waits for a missing file server."""
        process = self.process
        if process is not None:
            self._is_timed_out = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def _started_process(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            if self._closing:
                raise EOFError
            command = [sys.executable, "-m", "tmeter.fleet.worker", str(os.getpid())]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        return self.process

    def _death_of_worker(self) -> str:
        process = self.process
        if process is None:
            return "the worker could not be started"
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        self.process = None
        status, is_timed_out, self._is_timed_out = process.wait(), self._is_timed_out, False
        how = "gave no answer in time" if is_timed_out else f"ended with {status}"
        return f"the worker, process {process.pid}, {how}"


class Processes:
    """The engine that runs batches in processes of this machine."""

    sees_all = True

    def __init__(self, workers: int) -> None:
        self._work: queue.Queue[_Work | None] = queue.Queue()
        self._events: queue.Queue[Event] = queue.Queue()
        self._workers = [_Worker(self._work, self._events) for _ in range(workers)]
        for worker in self._workers:
            worker.start()

    @property
    def capacity(self) -> int:
        return len(self._workers)

    def start(self, number: int, batch: Batch) -> None:
        self._work.put((number, batch))

    def wait(self) -> list[Event]:
        events = [self._events.get()]
        with suppress(queue.Empty):
            while True:
                events.append(self._events.get_nowait())
        return events

    def close(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._work.get_nowait()
        for worker in self._workers:
            worker.request_end()
            self._work.put(None)
        for worker in self._workers:
            worker.end()
            worker.join(_TO_END)
