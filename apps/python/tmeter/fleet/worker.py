"""``python -m tmeter.fleet.worker``: units from standard input, outcomes to standard output."""

from __future__ import annotations

import os
import sys

from .in_processes import _read, _write
from .work import run_unit


def main() -> None:
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
