"""Reads files behind http:// and https:// with the standard library: size, version, and any range of bytes."""

from __future__ import annotations

import http.client
import io
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

from .deadlines import Deadline

_BLOCK = 1 << 18
_BLOCKS_KEPT = 16
#: Statuses of files that are missing or forbidden; another try would give the same.
_PERMANENT = {400: "bad request", 401: "no right to read it", 403: "no right to read it"}
_GONE = {404: "there is no such file", 410: "there is no such file"}


@dataclass(frozen=True)
class Facts:
    """size: bytes; -1: the server does not report them. stamp: empty if the server reports neither version nor time."""

    size: int
    stamp: str


def _request(
    url: str, deadline: Deadline, method: str = "GET", headers: Mapping[str, str] | None = None
) -> http.client.HTTPResponse:
    request = urllib.request.Request(
        url, method=method, headers={"User-Agent": "tmeter", "Accept-Encoding": "identity", **(headers or {})}
    )
    try:
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=deadline.left())
        return response
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in _GONE:
            raise FileNotFoundError(2, _GONE[error.code]) from error
        if error.code in _PERMANENT:
            raise PermissionError(13, f"{_PERMANENT[error.code]} (HTTP {error.code})") from error
        raise ConnectionError(f"HTTP {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        reason = error.reason
        raise reason if isinstance(reason, OSError) else ConnectionError(str(reason)) from error
    except http.client.HTTPException as error:
        raise ConnectionError(f"{type(error).__name__}: {error}") from error


def _facts(response: http.client.HTTPResponse) -> Facts:
    size = response.headers.get("Content-Length")
    if response.status == 206:
        size = response.headers.get("Content-Range", "").rpartition("/")[2]
    marks = [response.headers.get(name) for name in ("ETag", "Last-Modified")]
    has_size = size is not None and size.isdigit()
    present_marks = [m for m in marks if m]
    return Facts(int(size) if has_size and size else -1, " ".join([str(size), *present_marks]) if present_marks else "")


def facts(url: str, deadline: Deadline) -> Facts:
    """From a HEAD request or, if the server does not support it, a request for the first byte."""
    try:
        with _request(url, deadline, "HEAD") as response:
            return _facts(response)
    except (ConnectionError, PermissionError) as error:
        if "HTTP 405" not in str(error) and "HTTP 501" not in str(error) and "HTTP 403" not in str(error):
            raise
    with _request(url, deadline, headers={"Range": "bytes=0-0"}) as response:
        return _facts(response)


class HttpFile(io.RawIOBase):
    """A file that is read in blocks. The last few blocks are kept.

    Attributes:
        has_ranges: whether the server sends parts of the file; otherwise the bytes before a part are read, too.
    """

    def __init__(self, url: str, deadline: Deadline) -> None:
        self._url, self._deadline = url, deadline
        self._position = 0
        self.facts = facts(url, deadline)
        self._blocks: dict[int, bytes] = {}
        self.has_ranges = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.facts.size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        content = self._read_some(len(view))
        view[: len(content)] = content
        self._position += len(content)
        return len(content)

    def _read_some(self, most: int) -> bytes:
        if self.facts.size >= 0 and self._position >= self.facts.size:
            return b""
        if most >= _BLOCK:
            return self._range(self._position, most)
        number, inside = divmod(self._position, _BLOCK)
        if number not in self._blocks:
            while len(self._blocks) >= _BLOCKS_KEPT:
                self._blocks.pop(next(iter(self._blocks)))
            self._blocks[number] = self._range(number * _BLOCK, _BLOCK)
        return self._blocks[number][inside : inside + most]

    def _range(self, begin: int, most: int) -> bytes:
        headers = {"Range": f"bytes={begin}-{begin + most - 1}"}
        try:
            with _request(self._url, self._deadline, headers=headers) as response:
                self.has_ranges = response.status == 206
                if not self.has_ranges:
                    _skip(response, begin, self._deadline)
                return response.read(most)
        except http.client.HTTPException as error:
            raise ConnectionError(f"{type(error).__name__}: {error}") from error


def _skip(response: http.client.HTTPResponse, count: int, deadline: Deadline) -> None:
    while count > 0:
        deadline.left()
        content = response.read(min(count, 1 << 20))
        if not content:
            raise ConnectionError("the answer ends early")
        count -= len(content)


def stream(url: str, deadline: Deadline) -> http.client.HTTPResponse:
    """The whole file, in one answer."""
    return _request(url, deadline)
