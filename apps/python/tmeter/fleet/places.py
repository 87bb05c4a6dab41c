"""Files where they lie: paths, and URLs through fsspec."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import ModelError, UsageError

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*(::|://)")
#: Bytes that are left free on a disk that a file is fetched to.
_SPARE = 64 << 20


def is_url(source: str) -> bool:
    return _URL.match(source) is not None


def _opened(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise UsageError(f"{url}: URLs need fsspec: pip install 'tmeter[fleet]'") from error
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ValueError, ImportError) as error:  # no such protocol, or its library is missing
        raise UsageError(f"{url}: {error}") from error
    return system, path


def _failed(url: str, error: BaseException) -> Exception:
    """A permanent error is a ModelError; a transient one (networks) is an OSError, and tried again."""
    if isinstance(error, (FileNotFoundError, PermissionError, IsADirectoryError)):
        return ModelError(f"{url}: {error.strerror or 'there is no such file'}")
    return OSError(f"{url}: {type(error).__name__}: {error}")


def read(source: str, most: int) -> bytes:
    """A small file, whole.

    Raises:
        ModelError: it is not there, cannot be read, or is larger than `most` bytes.
        OSError: reading broke off.
    """
    if not is_url(source):
        try:
            with open(source, "rb") as file:
                content = file.read(most + 1)
        except OSError as error:
            raise ModelError(f"{source}: {error.strerror}") from error
    else:
        system, path = _opened(source)
        try:
            with system.open(path, "rb") as file:
                content = file.read(most + 1)
        except Exception as error:
            raise _failed(source, error) from error
    if len(content) > most:
        raise ModelError(f"{source}: more than {most:,} bytes")
    return content


def missing(source: str, names: Iterable[str]) -> list[str]:
    """Of these files beside it those that are not there. A folder elsewhere is asked for once."""
    if not is_url(source):
        return [name for name in names if not os.path.isfile(beside(source, name))]
    system, path = _opened(source)
    try:
        found = system.ls(path.rsplit("/", 1)[0] if "/" in path else "", detail=False)
    except Exception as error:
        raise _failed(source, error) from error
    there = {str(entry).rstrip("/").rsplit("/", 1)[-1] for entry in found}
    return [name for name in names if name not in there]


def beside(source: str, name: str) -> str:
    """The file of this name in the same folder."""
    if is_url(source):
        return source.rsplit("/", 1)[0] + "/" + name
    return os.path.join(os.path.dirname(source), name)


def stamp(source: str) -> str:
    """Size and time of change: what a file is known by. Empty: not to be had."""
    try:
        if not is_url(source):
            facts = os.stat(source)
            return f"{facts.st_size} {facts.st_mtime_ns}"
        system, path = _opened(source)
        info = system.info(path)
        marks = [info.get(k) for k in ("size", "ETag", "etag", "md5Hash", "mtime", "LastModified")]
        return " ".join(str(m) for m in marks if m is not None)
    except Exception:
        return ""


@contextmanager
def local(source: str, cache: str | None) -> Iterator[Path]:
    """The file on this machine, under its own name; fetched from a URL it is removed afterwards."""
    if not is_url(source):
        yield Path(source)
        return
    system, path = _opened(source)
    name = path.rstrip("/").rsplit("/", 1)[-1] or "model"
    if cache is not None:
        os.makedirs(cache, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tmeter-fetched-", dir=cache) as folder:
        target = Path(folder) / name
        try:
            _require_room(source, system.info(path).get("size"), folder)
            system.get_file(path, str(target))
        except (ModelError, UsageError):
            raise
        except Exception as error:
            raise _failed(source, error) from error
        yield target


def _require_room(source: str, size: Any, folder: str) -> None:
    free = shutil.disk_usage(folder).free
    if isinstance(size, int) and size + _SPARE > free:
        raise OSError(
            f"{source}: {size:,} bytes do not fit into {folder}, which has {free:,} free; "
            "cache= names another folder"
        )
