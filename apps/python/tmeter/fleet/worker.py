"""``python -m tmeter.fleet.worker``: units from standard input, outcomes to standard output."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from .in_processes import _read, _write
from .work import run_unit


_PR_SET_PDEATHSIG = 1


def main() -> None:
    # Without the process that started it, its results have no reader.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints does not end up between answers
    while True:
        try:
            unit = _read(sys.stdin.buffer)
        except EOFError:
            return
        _write(answers, run_unit(unit))


if __name__ == "__main__":
    main()
