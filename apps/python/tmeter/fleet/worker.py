"""``python -m tmeter.fleet.worker DRIVER``: reads batches from standard input, writes results to standard output."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from types import FrameType

from .in_processes import _read, _write
from .work import run_batch

_PR_SET_PDEATHSIG = 1


def _end(number: int, frame: FrameType | None) -> None:
    """Raises, so that programs end and fetched files are removed."""
    signal.signal(signal.SIGTERM, lambda *_: None)  # a pending signal makes SIG_IGN print a traceback
    raise SystemExit(128 + number)


def main() -> None:
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles it and ends its workers
    # Without the driver its results have no reader.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if sys.argv[1:] and os.getppid() != int(sys.argv[1]):
        return
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps the output of libraries out of the results
    while True:
        try:
            batch = _read(sys.stdin.buffer)
        except EOFError:
            return
        try:
            for done in run_batch(batch):
                _write(answers, done)
            _write(answers, None)
        except BrokenPipeError:
            return


if __name__ == "__main__":
    main()
