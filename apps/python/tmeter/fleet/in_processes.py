"""Units in processes of this machine: what there is without Ray.

A worker is a Python of its own that reads units from a pipe. It is known which unit it had when it
died, which a pool of the standard library does not tell, and a script needs no
``if __name__ == "__main__"``.
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

from .units import Outcome, Unit, lost

_HEADER = 8


def _write(stream: IO[bytes], value: Any) -> None:
    content = pickle.dumps(value)
    stream.write(len(content).to_bytes(_HEADER, "little") + content)
    stream.flush()


def _read(stream: IO[bytes]) -> Any:
    """Raises EOFError when the other side is gone."""
    header = stream.read(_HEADER)
    content = stream.read(int.from_bytes(header, "little")) if len(header) == _HEADER else b""
    if not content or len(content) < int.from_bytes(header, "little"):
        raise EOFError
    return pickle.loads(content)


class _Worker(threading.Thread):
    """One process, started again when it dies."""

    def __init__(self, units: queue.Queue[Unit | None], done: queue.Queue[tuple[Unit, Outcome]]):
        super().__init__(daemon=True, name="tmeter-fleet")
        self._units, self._done = units, done
        self.process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        while (unit := self._units.get()) is not None:
            self._done.put((unit, self._outcome(unit)))
        self.end()

    def end(self) -> None:
        """With the program that it runs: it is the first of a process group."""
        process = self.process
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _outcome(self, unit: Unit) -> Outcome:
        try:
            process = self._running()
            assert process.stdin is not None and process.stdout is not None
            _write(process.stdin, unit)
            outcome = _read(process.stdout)
            assert isinstance(outcome, Outcome)
            return outcome
        except (EOFError, OSError):
            return lost(self._buried())

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            command = [sys.executable, "-m", "tmeter.fleet.worker"]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        return self.process

    def _buried(self) -> str:
        process = self.process
        if process is None:
            return "the worker could not be started"
        self.end()
        self.process = None
        return f"the worker, process {process.pid}, ended with {process.wait()}"


class Processes:
    """Engine of the processes of this machine."""

    def __init__(self, workers: int) -> None:
        self._units: queue.Queue[Unit | None] = queue.Queue()
        self._done: queue.Queue[tuple[Unit, Outcome]] = queue.Queue()
        self._workers = [_Worker(self._units, self._done) for _ in range(workers)]
        for worker in self._workers:
            worker.start()

    @property
    def capacity(self) -> int:
        return len(self._workers)

    def start(self, unit: Unit) -> None:
        self._units.put(unit)

    def wait(self) -> list[tuple[Unit, Outcome]]:
        return [self._done.get()]

    def close(self) -> None:
        while not self._units.empty():
            self._units.get()
        for worker in self._workers:
            self._units.put(None)
            worker.end()
