"""What a worker does with a unit. Imported on every machine: needs neither torch, but for models
by name, nor Ray."""

from __future__ import annotations

import os
import platform
import tempfile
import time
import zlib
from pathlib import Path

from .. import __version__
from ..errors import CrashError, Error, ProgramMissingError
from ..program import run
from .named import exported, is_named
from .places import local
from .units import Outcome, Unit

#: As in tmeter.source: a plugin was left out, and the report says so.
_ACCEPTED = (0, 5)


def run_unit(unit: Unit) -> Outcome:
    """Never raises what another try, or another unit, could survive."""
    start = time.monotonic()
    try:
        done = _analysed(unit, start)
    except Error as error:
        done = _failed(error, isinstance(error, (CrashError, ProgramMissingError)))
    except (OSError, MemoryError) as error:  # a network, a full disk: here and now
        done = _failed(error, True)
    except (
        Exception
    ) as error:  # of a file system's library: whatever it is, it costs this unit only
        done = _failed(error, True)
    return done


def _analysed(unit: Unit, start: float) -> Outcome:
    if is_named(unit.source):
        return exported(unit.source, lambda path, more: _reported(unit, path, more, start))
    with local(unit.source, unit.cache) as path:
        return _reported(unit, path, (), start)


def _reported(unit: Unit, path: Path, more: tuple[str, ...], start: float) -> Outcome:
    fetched = time.monotonic()
    size = path.stat().st_size if path.is_file() and not is_named(unit.source) else -1
    with tempfile.TemporaryDirectory(prefix="tmeter-") as folder:
        report = Path(folder) / "report.json"
        command = [*more, *unit.arguments, "--report", f"json={report}", "--", str(path)]
        done = run(command, accept=_ACCEPTED)
        content = zlib.compress(report.read_bytes(), 1)
    return Outcome(
        report=content,
        node=platform.node(),
        version=__version__,
        size=size,
        seconds=time.monotonic() - start,
        fetch_seconds=fetched - start,
        messages=done.messages,
    )


def _failed(error: BaseException, retry: bool) -> Outcome:
    said = str(error) or type(error).__name__
    return Outcome(
        error=said,
        kind=type(error).__name__,
        retry=retry,
        node=f"{platform.node()} ({os.getpid()})",
        version=__version__,
    )
