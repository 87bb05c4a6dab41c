"""Access to local files, http(s), members of zip and tar files, and all other URLs of fsspec."""

from __future__ import annotations

import errno
import glob
import hashlib
import io
import os
import re
import shutil
import stat as stat_module
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, cast

from ..errors import ModelError, OutputError, UsageError
from . import http
from .deadlines import STALL, Call, Deadline, within
from .headers import exactly, parts_of
from .scratch import scratch

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*(::|://)")
_ARCHIVE = re.compile(r"^(zip|tar)://(.+?)::(.+)$", re.DOTALL)
#: Bytes that stay free on the disk to which a file is fetched.
_RESERVED_BYTES = 64 << 20
_BLOCK, _BUFFER, _CHUNK = 1 << 18, 1 << 16, 1 << 20
#: Errors of cloud and archive libraries that another try would repeat.
_PERMANENT = set(
    "NoCredentialsError PartialCredentialsError ProfileNotFound ParamValidationError BadZipFile ReadError".split()
)
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
#: The step of file times. A second change within one step is invisible.
_TICK = 0.02

#: One part of a split GGUF file. Its reader reads the others, too.
_GGUF_PART = re.compile(r"-(\d{5})-of-(\d{5}\.gguf)$")
_MODEL_ENDINGS = (".json", ".safetensors", ".bin", ".pt", ".pth", ".pt2", ".ckpt", ".gguf")
_MOST_IN_FOLDER = 20_000

#: Keys of a file's version in fsspec's file systems: S3, GCS, Azure, disks, SFTP, FTP, GitHub, Hugging Face.
_VERSION_KEYS = (
    "ETag etag VersionId md5Hash generation mtime ino LastModified last_modified modify modified sha blob_id CRC"
).split()

ABSENT = "absent"


def is_url(source: str) -> bool:
    return _URL.match(source) is not None


def _is_http(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def is_disk_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in _DISK_FULL


def file_system(url: str) -> tuple[Any, str]:
    """The file system of fsspec, and the path in it. Raises UsageError if a library for it is missing."""
    try:
        import fsspec
    except ImportError as error:
        raise UsageError(f"{url}: URLs need fsspec: pip install 'tmeter[fleet]'") from error
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ValueError, ImportError) as error:  # no such protocol, or its library is missing
        raise UsageError(f"{url}: {error}") from error
    return system, path


def _fresh_file_system(url: str) -> tuple[Any, str]:
    system, path = file_system(url)
    system.invalidate_cache()  # facts must be current
    return system, path


def _translated_error(url: str, error: BaseException) -> Exception:
    """Turns permanent errors into ModelError, and transient ones (networks) into OSError, which is tried again."""
    if isinstance(error, (ModelError, UsageError, OutputError)):
        return error
    if is_disk_full(error):
        return OutputError(f"{url} cannot be fetched: {os.strerror(cast(OSError, error).errno or 0)}")
    if isinstance(error, PermissionError) or type(error).__name__ in _PERMANENT:
        why = getattr(error, "strerror", None) or str(error) or "no right to read it"
        return ModelError(f"{url}: {_one_line(why)}")
    if isinstance(error, (FileNotFoundError, IsADirectoryError, NotADirectoryError)):
        return ModelError(f"{url}: {error.strerror or 'there is no such file'}")
    return OSError(f"{url}: {type(error).__name__}: {_one_line(str(error))}")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:400]


@contextmanager
def _errors_translated(url: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise _translated_error(url, error) from error


# Opening


@contextmanager
def _open(source: str, deadline: Deadline) -> Iterator[tuple[IO[bytes], int]]:
    """A remote file that can be read at any position, and its size (-1: unknown)."""
    if _is_http(source):
        file = http.HttpFile(source, deadline)
        yield io.BufferedReader(file, _BUFFER), file.facts.size
        return
    if (found := _ARCHIVE.match(source)) is not None:
        with _member(found, deadline) as (archive, path):
            with archive.open(path, "rb") as member:
                yield member, int(archive.info(path)["size"])
        return
    system, path = _fresh_file_system(source)
    with system.open(path, "rb", block_size=_BLOCK) as file:
        size = getattr(file, "size", None)
        yield file, int(size) if size is not None else -1


@contextmanager
def _member(found: re.Match[str], deadline: Deadline) -> Iterator[tuple[Any, str]]:
    kind, path, container = found.groups()
    try:
        import fsspec
    except ImportError as error:
        raise UsageError(f"{container}: archives need fsspec: pip install 'tmeter[fleet]'") from error
    opened: AbstractContextManager[tuple[IO[bytes], int]]
    if is_url(container):
        opened = _open(container, deadline)
    else:
        opened = nullcontext((_open_file(container), -1))
    with opened as (file, _):
        try:
            archive = fsspec.get_filesystem_class(kind)(fo=file, skip_instance_cache=True)
            yield archive, path
        finally:
            if not is_url(container):
                file.close()


# Facts


def read(source: str, most: int, deadline: Deadline | None = None) -> bytes:
    """The content of a small file.

    Raises:
        ModelError: it does not exist, cannot be read, or is larger than `most` bytes.
        OSError: reading broke off, or took too long.
    """
    deadline = deadline or Deadline(None)
    if not is_url(source):
        try:
            with _open_file(source) as file:
                content = file.read(most + 1)
        except (OSError, ValueError) as error:
            raise ModelError(f"{source}: {_reason(error)}") from error
    else:
        with _errors_translated(source):
            content = within(deadline.left(), source, lambda: _read(source, most, deadline))
    if len(content) > most:
        raise ModelError(f"{source}: more than {most:,} bytes")
    return content


def _open_file(path: str) -> IO[bytes]:
    """Raises ModelError unless it is a regular file; opening a named pipe would wait for a writer."""
    file = open(path, "rb", opener=lambda p, flags: os.open(p, flags | os.O_NONBLOCK))
    if not stat_module.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ModelError(f"{path}: not a file")
    return file


def _read(source: str, most: int, deadline: Deadline) -> bytes:
    with _open(source, deadline) as (file, _):
        content = bytearray()
        while len(content) <= most and (more := file.read(min(1 << 20, most + 1 - len(content)))):
            content += more
        return bytes(content)


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)


def missing(source: str, names: Iterable[str]) -> list[str]:
    """The names that do not exist in the folder of `source`. A remote folder is listed once."""
    if not is_url(source):
        return [name for name in names if not os.path.isfile(sibling(source, name))]
    if _is_http(source) or _ARCHIVE.match(source):  # folders cannot be listed: a missing file fails later
        return []
    with _errors_translated(source):
        present = within(STALL, source, lambda: _sibling_names(source))
    return [name for name in names if name not in present]


def _sibling_names(source: str) -> set[str]:
    system, path = _fresh_file_system(source)
    found = system.ls(path.rsplit("/", 1)[0] if "/" in path else "", detail=False)
    return {str(entry).rstrip("/").rsplit("/", 1)[-1] for entry in found}


def sibling(source: str, name: str) -> str:
    """The file of this name in the same folder."""
    if not is_url(source):
        return os.path.join(os.path.dirname(source), name)
    if (found := _ARCHIVE.match(source)) is not None:
        kind, path, container = found.groups()
        return f"{kind}://{os.path.join(os.path.dirname(path), name)}::{container}"
    if _is_http(source):
        parts = urllib.parse.urlsplit(source)
        path = parts.path.rsplit("/", 1)[0] + "/" + urllib.parse.quote(name)
        return urllib.parse.urlunsplit(parts._replace(path=path))
    return source.rsplit("/", 1)[0] + "/" + name


def name_of(source: str) -> str:
    """The file's name without its folder."""
    if (found := _ARCHIVE.match(source)) is not None:
        source = found[2]
    elif _is_http(source):
        source = urllib.parse.unquote(urllib.parse.urlsplit(source).path)
    return source.rstrip("/").rsplit("/", 1)[-1] or "model"


def stamp(source: str, deadline: Deadline | None = None) -> str:
    """A stamp that changes with the file; `ABSENT`: no such file; empty: unknown.

    For a path: size, times and inode. For an object: size, etag, version or time, as its server reports them.
    """
    if not is_url(source):
        return _stamp_of_path(source)
    deadline = deadline or Deadline(None)
    try:
        return within(deadline.left(), source, lambda: _stamp_of_url(source, deadline))
    except (FileNotFoundError, ModelError):
        return ABSENT
    except Exception:
        return ""


def _stamp_of_path(path: str) -> str:
    try:
        facts = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return ABSENT
    except OSError as error:
        return f"refused {error.errno}"
    if stat_module.S_ISDIR(facts.st_mode):
        return _stamp_of_folder(path)
    own = _stamp_of_stat(facts)
    part = _GGUF_PART.search(path)
    if part is None:
        return own
    others = glob.glob(f"{glob.escape(path[: part.start()])}-*-of-{part[2]}")
    return f"{own} of {_digest([_stamp_of_file(p) for p in sorted(others)])}"


def _stamp_of_stat(facts: os.stat_result) -> str:
    return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_ino}"


def _stamp_of_file(path: str) -> str:
    try:
        return f"{path} {_stamp_of_stat(os.stat(path))}"
    except OSError as error:
        return f"{path} {error.errno}"


def _stamp_of_folder(path: str) -> str:
    """The stamp of the models and configurations in a folder and its subfolders, such as a diffusers pipeline.

    A folder with too many files has no stamp, so it is always read again.
    """
    stamps: list[str] = []
    for where, folders, files in os.walk(path):
        folders[:] = sorted(folders) if where == path else []
        model_files = (name for name in sorted(files) if name.endswith(_MODEL_ENDINGS))
        stamps += [_stamp_of_file(os.path.join(where, name)) for name in model_files]
        if len(stamps) > _MOST_IN_FOLDER:
            return ""
    return f"folder {_digest(stamps)}"


def _digest(texts: list[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _stamp_of_url(source: str, deadline: Deadline) -> str:
    if _is_http(source):
        return http.facts(source, deadline).stamp
    if (found := _ARCHIVE.match(source)) is not None:
        container = stamp(found[3], deadline)
        return f"{found[2]} in {container}" if container not in ("", ABSENT) else container
    system, path = _fresh_file_system(source)
    info = system.info(path)
    marks = [str(info[k]) for k in _VERSION_KEYS if info.get(k) is not None]
    return " ".join([str(info.get("size")), *marks]) if marks else ""


def wait_for_next_tick(source: str) -> None:
    """Waits for the next step of file times if the file has just been written, so that its stamp is unique.

    The wait is limited, because the clock may have been set back, or a file server's clock may be ahead.
    """
    if is_url(source):
        return
    try:
        age = time.time() - os.stat(source).st_ctime
    except (OSError, ValueError):
        return
    if age < _TICK:
        time.sleep(min(_TICK, _TICK - age))


# Fetching


@contextmanager
def local(
    source: str, cache: str | None, deadline: Deadline | None = None, headers: bool = False
) -> Iterator[Path]:
    """The file on this machine under its own name. A file from a URL is removed afterwards.

    Args:
        headers: no elements are read. If the format is known, only headers are fetched, and the rest is a hole.

    Raises:
        ModelError: it does not exist.
        OutputError: the disk to which it is fetched is full.
        OSError: fetching broke off, or took too long.
    """
    if not is_url(source):
        yield Path(source)
        return
    deadline = deadline or Deadline(None)
    with _cache_folder(cache) as folder:
        target = folder / name_of(source)
        with _errors_translated(source):
            if not (headers and _fetch_headers(source, target, deadline)):
                _fetch(source, target, deadline)
        yield target


@contextmanager
def _cache_folder(cache: str | None) -> Iterator[Path]:
    try:
        context = scratch(cache)
        folder = context.__enter__()
    except OSError as error:
        raise OutputError(f"{cache or 'the temporary folder'}: {_reason(error)}") from error
    try:
        yield folder
    finally:
        context.__exit__(None, None, None)


def _fetch_headers(source: str, target: Path, deadline: Deadline) -> bool:
    """Fetches the headers into `target`; False: the whole file is needed."""
    read = [0]

    def fetch() -> bool:
        with _open(source, deadline) as (file, size):
            counted = cast(IO[bytes], _Counted(file, read))
            parts = parts_of(counted, size, name_of(source), lambda: _seeks(source, file))
            if parts is None:
                return False
            with open(target, "wb") as out:
                for begin, end in parts:
                    counted.seek(begin)
                    out.seek(begin)
                    while begin < end:
                        content = exactly(counted, min(_CHUNK, end - begin))
                        begin += out.write(content)
                out.truncate(size)
            return True

    return bool(_run_with_stall_limit(deadline, fetch, lambda: read[0]))


class _Counted(io.RawIOBase):
    """A file that counts the bytes read."""

    def __init__(self, file: IO[bytes], read: list[int]) -> None:
        self._file, self._read = file, read
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable  # type: ignore[method-assign]

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self._read[0] += len(content)
        return content


def _seeks(source: str, file: object) -> bool:
    """Whether the end of the file can be read without the bytes before it."""
    if isinstance(file, io.BufferedReader) and isinstance(file.raw, http.HttpFile):
        return file.raw.has_ranges
    return _ARCHIVE.match(source) is None


def _fetch(source: str, target: Path, deadline: Deadline) -> None:
    if _is_http(source):
        _run_with_stall_limit(deadline, lambda: _download(source, target, deadline), lambda: _file_size(target))
        return
    if _ARCHIVE.match(source):
        _run_with_stall_limit(deadline, lambda: _copy(source, target, deadline), lambda: _file_size(target))
        return
    system, path = within(deadline.left(), source, lambda: _fresh_file_system(source))
    info = within(deadline.left(), source, lambda: system.info(path))
    _require_space(source, info.get("size"), target.parent)
    _run_with_stall_limit(deadline, lambda: system.get_file(path, str(target)), lambda: _file_size(target))


def _file_size(target: Path) -> int:
    return target.stat().st_size if target.exists() else 0


def _download(source: str, target: Path, deadline: Deadline) -> None:
    with http.stream(source, deadline) as response, open(target, "wb") as out:
        size = response.length
        _require_space(source, size, target.parent)
        shutil.copyfileobj(response, out, 1 << 20)
        if size is not None and out.tell() != size:
            raise ConnectionError(f"{out.tell():,} of {size:,} bytes arrived")


def _copy(source: str, target: Path, deadline: Deadline) -> None:
    with _open(source, deadline) as (file, size), open(target, "wb") as out:
        _require_space(source, size, target.parent)
        shutil.copyfileobj(file, out, 1 << 20)


def _run_with_stall_limit(deadline: Deadline, work: Callable[[], Any], received: Callable[[], int]) -> Any:
    """Fetches in a thread, which is abandoned if no byte arrives, or when time is up.

    received: the number of bytes so far.
    """
    call = Call(work)
    call.start()
    last_change, size = time.monotonic(), -1
    while True:
        call.join(0.2)
        if not call.is_alive():
            return call.outcome()
        deadline.left()
        current = received()
        if current != size:
            last_change, size = time.monotonic(), current
        elif time.monotonic() - last_change > STALL:
            raise TimeoutError(f"no byte arrived within {STALL:.0f} s")


def _require_space(source: str, size: Any, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if isinstance(size, int) and size + _RESERVED_BYTES > free:
        raise OutputError(
            f"{source}: {size:,} bytes do not fit into {folder}, which has {free:,} free; "
            "cache= names another folder"
        )
