"""The progress of a run in one line."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TextIO

from ..wording import counted
from .schedule import Progress

_EVERY = 0.2  # seconds


class ProgressLine:
    """Prints progress: on a terminal one changing line, elsewhere a line at intervals."""

    def __init__(self, stream: TextIO, every: float | None = None) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._every = every if every is not None else _EVERY if self._live else 30.0
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        at_end = progress.done == progress.total
        if not at_end and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every
        with suppress(OSError):
            if self._live:
                end = "\n" if at_end else ""
                print(f"\r\x1b[K{words(progress)}", end=end, file=self._stream, flush=True)
            else:
                print(words(progress), file=self._stream, flush=True)


def words(p: Progress) -> str:
    """``12 of 400 files · 3.1 files/s, 120 MB/s · 2 failed (ModelError 2) · 1 retried · 2 min left``"""
    parts = [f"{p.done:,} of {counted(p.total, 'file')}"]
    if p.fresh and p.seconds > 0:
        parts.append(f"{p.rate:,.1f} files/s, {p.bytes / p.seconds / 1e6:,.0f} MB/s")
    if p.failed:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(p.kinds.items()))
        parts.append(f"{p.failed:,} failed ({kinds})")
    if p.retried:
        parts.append(f"{p.retried:,} retried")
    if p.left is not None and p.done < p.total:
        parts.append(f"{_time(p.left)} left")
    return " · ".join(parts)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
