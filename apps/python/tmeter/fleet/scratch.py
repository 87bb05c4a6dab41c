"""Temporary folders. The next run removes those whose owner was killed.

A folder's owner holds a lock on a file beside it. The kernel releases the lock when the process ends in any way.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "tmeter-fleet-"
_LOCK = ".lock"


def _locked_descriptor(path: str) -> int | None:
    """A descriptor that holds the lock of this file; None: another process holds it, or the file is gone."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(path).st_ino == os.fstat(descriptor).st_ino:  # the file was not removed in between
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


@contextmanager
def scratch(where: str | None = None) -> Iterator[Path]:
    """A folder that is removed at the end, or by `sweep` of a later run."""
    parent = Path(where or tempfile.gettempdir())
    parent.mkdir(parents=True, exist_ok=True)
    lock = None
    while lock is None:
        path = parent / f"{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
        lock = _locked_descriptor(f"{path}{_LOCK}")
        if lock is None and not os.access(parent, os.W_OK):
            raise PermissionError(f"{parent}: no right to write there")
    try:
        path.mkdir(mode=0o700)
        yield path
    finally:
        _remove(path, lock)


def _remove(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        os.unlink(f"{path}{_LOCK}")
    os.close(lock)


def sweep(*folders: str | None) -> None:
    """Removes the folders of ended processes. None: in the folder for temporary files."""
    for folder in folders:
        try:
            names = os.listdir(folder or tempfile.gettempdir())
        except OSError:
            continue
        parent = Path(folder or tempfile.gettempdir())
        for name in {n.removesuffix(_LOCK) for n in names if n.startswith(PREFIX)}:
            path = parent / name
            lock = _locked_descriptor(f"{path}{_LOCK}")
            if lock is not None:
                _remove(path, lock)
