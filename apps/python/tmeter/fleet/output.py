"""The output: a folder, or a URL of fsspec. A file exists complete or not at all."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..errors import OutputError, UsageError
from .files import file_system, is_url

#: Version of the folder's files. A run cannot continue in a folder of another version.
FORMAT = 3
SUMMARY, LOCK = "fleet.json", "lock"
_PART_FOLDER = ".part"
_STORES = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "oss"}
#: Seconds between renewals of a remote lock, and after which an old lock counts as abandoned.
_RENEW_EVERY, _ABANDONED_AFTER = 20.0, 90.0
_TO_END = 5.0  # seconds for writing a renewal
_BLOCK = 1 << 20  # bytes per read


def output_of(root: str) -> Output:
    return Remote(root) if is_url(root) else Local(root)


class Output:
    """Files by names relative to the root. Every method raises OutputError if a file cannot be written."""

    root: str

    def read(self, name: str) -> bytes:
        """The content of a file. Raises FileNotFoundError."""
        raise NotImplementedError

    def open(self, name: str) -> IO[bytes]:
        """A file that can be read at any position. Raises FileNotFoundError."""
        raise NotImplementedError

    def size(self, name: str) -> int:
        """The size in bytes. Raises FileNotFoundError."""
        raise NotImplementedError

    def exists(self, name: str) -> bool:
        raise NotImplementedError

    def names(self, folder: str) -> list[str]:
        """The names of the files in a folder, without the folder; empty if it does not exist."""
        raise NotImplementedError

    def write(self, name: str, content: bytes) -> None:
        raise NotImplementedError

    def link(self, name: str, other: str) -> str:
        """Makes `other` a link to `name`; returns the name that has the content, `name` if links are not possible."""
        return name

    def remove(self, name: str) -> None:
        """Removes a file or a folder with its files, if it exists."""
        raise NotImplementedError

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """A local file that gets this name at the end."""
        raise NotImplementedError
        yield Path()

    @contextmanager
    def locked(self) -> Iterator[str]:
        """Locks the output for one driver and gives the lock's token. Raises UsageError that names another driver."""
        raise NotImplementedError
        yield ""

    def has_lock(self) -> bool:
        """Whether the lock of `locked` is still ours."""
        raise NotImplementedError

    def require_lock(self) -> None:
        """Raises OutputError if the lock is lost."""
        if not self.has_lock():
            raise OutputError(f"{self.root} was removed, moved or taken by another run during this one")


def _write_error(path: object, error: OSError) -> OutputError:
    return OutputError(error.errno or 0, f"{path} cannot be written: {error.strerror or error}")


class Local(Output):
    """A folder. New files are written in `.part`, which the next run empties."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self._lock = (-1, -1)  # device and inode

    def path(self, name: str) -> str:
        return os.path.join(self.root, name)

    def read(self, name: str) -> bytes:
        with open(self.path(name), "rb") as file:
            return file.read()

    def open(self, name: str) -> IO[bytes]:
        return open(self.path(name), "rb")

    def size(self, name: str) -> int:
        return os.path.getsize(self.path(name))

    def exists(self, name: str) -> bool:
        return os.path.isfile(self.path(name))

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(os.listdir(self.path(folder)))
        except FileNotFoundError:
            return []

    def write(self, name: str, content: bytes) -> None:
        with self.writing(name) as new, open(new, "wb") as file:
            file.write(content)

    def link(self, name: str, other: str) -> str:
        try:
            with self.writing(other) as new:
                os.link(self.path(name), new)
        except OutputError:  # no links on this file system
            return name
        return other

    def remove(self, name: str) -> None:
        path = self.path(name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(FileNotFoundError):
                os.unlink(path)

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        path = self.path(name)
        new = os.path.join(self.root, _PART_FOLDER, f"{os.getpid()}-{os.urandom(6).hex()}")
        try:
            os.makedirs(os.path.dirname(new), exist_ok=True)
            yield Path(new)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            try:
                os.replace(new, path)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.replace(new, path)
        except OSError as error:
            raise error if isinstance(error, OutputError) else _write_error(path, error) from error
        finally:
            with suppress(OSError):
                os.unlink(new)

    @contextmanager
    def locked(self) -> Iterator[str]:
        try:
            os.makedirs(self.root, exist_ok=True)
            descriptor = os.open(self.path(LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UsageError(f"{self.root}: {error.strerror}") from error
        try:
            token = self._acquire(descriptor)
            self._lock = _device_and_inode(os.fstat(descriptor))
            try:
                shutil.rmtree(self.path(_PART_FOLDER), ignore_errors=True)
                yield token
            finally:
                if self.has_lock():
                    shutil.rmtree(self.path(_PART_FOLDER), ignore_errors=True)
                    with suppress(OSError):
                        os.unlink(self.path(LOCK))
        finally:
            os.close(descriptor)

    def has_lock(self) -> bool:
        try:
            return _device_and_inode(os.stat(self.path(LOCK))) == self._lock
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True  # a file server may be away for a moment

    def _acquire(self, descriptor: int) -> str:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_same_file = _device_and_inode(os.stat(self.path(LOCK))) == _device_and_inode(os.fstat(descriptor))
        except FileNotFoundError:
            is_same_file = False
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise UsageError(f"{self.root} cannot be locked: {error.strerror}") from error
            raise _in_use_error(self.root, os.pread(descriptor, 4096, 0)) from None
        if not is_same_file:  # the other process has ended this moment
            raise _in_use_error(self.root, b"")
        owner = _owner()
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(owner).encode(), 0)
        except OSError as error:
            self.remove(LOCK)
            raise _write_error(self.path(LOCK), error) from error
        return str(owner["token"])


def _device_and_inode(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"


def _owner() -> dict[str, Any]:
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    return {"host": socket.gethostname(), "pid": os.getpid(), "since": now, "token": os.urandom(8).hex()}


def _in_use_error(root: str, lock: bytes) -> UsageError:
    try:
        owner = json.loads(lock)
        who = f"process {owner['pid']} on {owner['host']} since {owner['since']}"
    except (ValueError, KeyError, TypeError):
        who = "another process"
    return UsageError(f"{root} is being written by {who}; wait for it, or give another output folder")


class Remote(Output):
    """A URL of fsspec. Objects appear complete. The lock is an object that is renewed."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/")
        self._system, self._path = file_system(self.root)
        self._has_lock = False

    def path(self, name: str) -> str:
        return f"{self._path}/{name}"

    def read(self, name: str) -> bytes:
        self._system.invalidate_cache()
        content: bytes = self._system.cat_file(self.path(name))
        return content

    def open(self, name: str) -> IO[bytes]:
        self._system.invalidate_cache()
        file: IO[bytes] = self._system.open(self.path(name), "rb", block_size=_BLOCK)
        return file

    def size(self, name: str) -> int:
        self._system.invalidate_cache()
        return int(self._system.info(self.path(name))["size"])

    def exists(self, name: str) -> bool:
        self._system.invalidate_cache()
        return bool(self._system.exists(self.path(name)))

    def names(self, folder: str) -> list[str]:
        self._system.invalidate_cache()
        try:
            found = self._system.ls(self.path(folder), detail=False)
        except FileNotFoundError:
            return []
        return sorted(str(f).rstrip("/").rsplit("/", 1)[-1] for f in found)

    def write(self, name: str, content: bytes) -> None:
        try:
            self._make_folder(name)
            self._system.pipe_file(self.path(name), content)
        except Exception as error:
            raise self._write_error(name, error) from error

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._system.rm(self.path(name), recursive=True)

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        with tempfile.NamedTemporaryFile(prefix="tmeter-") as new:
            yield Path(new.name)
            try:
                self._make_folder(name)
                self._system.put_file(new.name, self.path(name))
            except Exception as error:
                raise self._write_error(name, error) from error

    def _make_folder(self, name: str) -> None:
        """Makes folders except on object stores, which would make a bucket instead."""
        protocol = self._system.protocol
        if not _STORES & {protocol, *(protocol if isinstance(protocol, tuple) else ())}:
            self._system.makedirs(self.path(name).rsplit("/", 1)[0], exist_ok=True)

    def _write_error(self, name: str, error: Exception) -> OutputError:
        return OutputError(f"{self.root}/{name} cannot be written: {_one_line(error)}")

    @contextmanager
    def locked(self) -> Iterator[str]:
        owner = _owner()
        lock = self._lock_content()
        if _is_renewed(lock):
            raise _in_use_error(self.root, lock)
        self._renew_lock(owner)
        token = str(owner["token"])
        if token.encode() not in (lock := self._lock_content()):
            raise _in_use_error(self.root, lock)
        self._has_lock = True
        ended = threading.Event()

        def renew() -> None:
            while self._has_lock and not ended.wait(_RENEW_EVERY):
                with suppress(Exception):  # errors of the network
                    self._has_lock = token.encode() in self._lock_content()
                    if self._has_lock:
                        self._renew_lock(owner)

        renewer = threading.Thread(target=renew, daemon=True, name="tmeter-lock")
        renewer.start()
        try:
            yield token
        finally:
            ended.set()
            renewer.join(_TO_END)
            if self._has_lock:
                with suppress(Exception):
                    self.remove(LOCK)

    def has_lock(self) -> bool:
        return self._has_lock

    def _lock_content(self) -> bytes:
        try:
            return self.read(LOCK)
        except FileNotFoundError:
            return b""
        except Exception as error:
            raise UsageError(f"{self.root}: {type(error).__name__}: {error}") from error

    def _renew_lock(self, owner: dict[str, Any]) -> None:
        self.write(LOCK, json.dumps({**owner, "beat": time.time()}).encode())


def _is_renewed(lock: bytes) -> bool:
    try:
        return abs(time.time() - float(json.loads(lock)["beat"])) < _ABANDONED_AFTER  # clocks may be set back
    except (ValueError, KeyError, TypeError):
        return False


def require_our_format(output: Output) -> None:
    """Raises UsageError if the output has results of another format, which must not be mixed."""
    try:
        found = json.loads(output.read(SUMMARY))
        number = found["format"]
    except FileNotFoundError:
        if output.exists("ledger.jsonl"):
            number = 1
        else:
            return
    except (ValueError, KeyError, TypeError):
        number = None
    except Exception as error:  # no folder, no rights or no network
        why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise UsageError(f"{output.root}: {why}") from error
    if number != FORMAT:
        raise UsageError(
            f"{output.root} has results of another version of tmeter (format {number}, not {FORMAT}); "
            "nothing was changed: give another output folder"
        )
