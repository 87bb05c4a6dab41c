"""Finds the bytes that a report needs if no plugin reads elements: headers and directories."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Callable
from typing import IO

#: Begin and end of a range of bytes.
Part = tuple[int, int]

#: The limit of the safetensors reader for its header. GGUF headers with vocabularies reach some 20 MB.
_LARGEST = 100_000_000
_CHUNK = 1 << 20
#: Skipping fewer bytes of elements costs more, by another request, than fetching them.
WORTH = 8 << 20
#: The most bytes of a member's name and padding, which precede its elements.
_SLACK = 4096
_MOST_MEMBERS = 200_000
#: Elements in archives of torch.export and torch.save.
_ELEMENTS = re.compile(r"(^|/)data/(weights/weight_\d+|\d+)$")
#: LibTorch reads all of a TorchScript archive.
_OF_TORCHSCRIPT = re.compile(r"(^|/)(constants\.pkl|code/.*)$", re.DOTALL)


class _Unknown(Exception):
    """A file that its reader will refuse, or whose format is newer than this module."""


def parts_of(
    file: IO[bytes], size: int, name: str, seeks: Callable[[], bool]
) -> list[Part] | None:
    """The ranges that a report needs, in order. None: the whole file.

    Args:
        seeks: whether seeking to the end is cheap, which is known after the first byte.

    Raises:
        ConnectionError: the file ends early.
    """
    if size < 8:
        return None
    first = exactly(file, 8)
    if name.endswith(".safetensors"):
        length = int.from_bytes(first, "little")
        return [(0, 8 + min(length, size - 8, _LARGEST))]
    if size < WORTH:
        return None
    try:
        if first[:4] == b"GGUF":
            return [(0, _Gguf(file, first, size).end())]
        if first[:4] == b"PK\x03\x04" and seeks():
            return _around_elements(file, size)
    except (_Unknown, struct.error, zipfile.BadZipFile, NotImplementedError):
        pass  # the whole file is fetched, and its reader reports the error
    return None


def exactly(file: IO[bytes], count: int) -> bytes:
    """Reads `count` bytes. Raises ConnectionError if the file has fewer."""
    content = b""
    while len(content) < count and (more := file.read(count - len(content))):
        content += more
    if len(content) < count:
        raise ConnectionError("the file ends early")
    return content


def _around_elements(file: IO[bytes], size: int) -> list[Part] | None:
    """The ranges of a ZIP archive around its large records of elements; None: it has none."""
    with zipfile.ZipFile(file) as archive:
        members = sorted(archive.infolist(), key=lambda m: m.header_offset)
    if len(members) > _MOST_MEMBERS or any(_OF_TORCHSCRIPT.search(m.filename) for m in members):
        return None
    parts: list[Part] = []
    begin = 0
    ends = [m.header_offset for m in members[1:]] + [size]
    for member, end in zip(members, ends):
        hole = member.header_offset + _SLACK, member.header_offset + 30 + member.compress_size
        if hole[1] > end:
            return None  # members that overlap
        is_stored = member.compress_type == zipfile.ZIP_STORED
        if is_stored and hole[1] - hole[0] >= WORTH and _ELEMENTS.search(member.filename):
            parts.append((begin, hole[0]))
            begin = hole[1]
    return [*parts, (begin, size)] if parts else None


class _Gguf:
    """Reads past the key-value pairs and the descriptions of tensors."""

    _SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    _STRING, _ARRAY = 8, 9

    def __init__(self, file: IO[bytes], first: bytes, size: int) -> None:
        self._file, self._size = file, size
        self._content, self._at = bytearray(first), 4
        self._order = "<" if first[4:6] != b"\0\0" else ">"
        self._version = self._number("I")
        if self._version not in (2, 3):
            raise _Unknown

    def end(self) -> int:
        tensors, pairs = self._number("Q"), self._number("Q")
        for _ in range(pairs):
            self._skip_string()
            self._skip_values(self._number("I"), 1)
        for _ in range(tensors):
            self._skip_string()
            self._skip(8 * self._number("I"))
            self._skip(4 + 8)  # type and offset
        return self._at

    def _need(self, count: int) -> None:
        end = self._at + count
        if end > min(self._size, _LARGEST):
            raise _Unknown
        while len(self._content) < end:
            more = self._file.read(_CHUNK)
            if not more:
                raise ConnectionError("the file ends early")
            self._content += more

    def _number(self, kind: str) -> int:
        size = struct.calcsize(f"<{kind}")
        self._need(size)
        (value,) = struct.unpack_from(self._order + kind, self._content, self._at)
        self._at += size
        return int(value)

    def _skip(self, count: int) -> None:
        self._need(count)
        self._at += count

    def _skip_string(self) -> None:
        self._skip(self._number("Q"))

    def _skip_strings(self, count: int) -> None:
        """Reads past an array, such as a long vocabulary."""
        content, at, length = self._content, self._at, struct.Struct(self._order + "Q").unpack_from
        for _ in range(count):
            if at + 8 > len(content):
                self._at = at
                self._need(8)
            at += 8 + length(content, at)[0]
        self._at = at
        self._need(0)

    def _skip_values(self, kind: int, count: int, depth: int = 0) -> None:
        if kind == self._STRING:
            self._skip_strings(count)
        elif kind == self._ARRAY and depth < 4:
            for _ in range(count):
                inner = self._number("I")
                self._skip_values(inner, self._number("Q"), depth + 1)
        elif kind in self._SIZES:
            self._skip(count * self._SIZES[kind])
        else:
            raise _Unknown
