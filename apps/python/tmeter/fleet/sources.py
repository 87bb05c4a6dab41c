"""Expands the sources of a command line: globs, folders, lists of files, URLs, names of libraries' models."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import Error, UsageError
from .files import file_system, is_url
from .library_models import is_named
from .shards import is_index, read_checkpoint

#: Endings of model files. Other files of a folder are ignored.
ENDINGS = (".pt2", ".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".gguf", ".index.json")
_MAGIC = glob.has_magic
#: Later parts of a file. The reader of the first part finds them.
_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$")
_ANY_DEPTH = re.compile(r"(?:^|(?<=/))(?:\*\*/+)*\*\*(?:/+|$)")


class Found:
    """Sources in order, each once, and damaged lines of lists.

    Attributes:
        sources: name → source.
        damaged: ``LIST:LINE: why``.
    """

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.damaged: list[str] = []

    def add(self, sources: Iterable[str]) -> bool:
        """Whether there were any."""
        there_are = False
        for source in sources:
            self.sources.setdefault(source, source)
            there_are = True
        return there_are


def find(words: Iterable[str], lists: Iterable[str]) -> Found:
    """Each of `lists` is a file with one source per line; ``-``: standard input.

    Raises:
        UsageError: a glob or folder without a model, a list that cannot be read.
    """
    found = Found()
    for word in words:
        if not found.add(_named_by(word)):
            raise UsageError(_nothing(word))
    for name in lists:
        _read_list(name, found)
    if not found.sources:
        raise UsageError("no models are given")
    return found


def _nothing(word: str) -> str:
    if os.path.isdir(word):
        return f"{word}: no model file in this folder ({', '.join(ENDINGS)})"
    return f"{word}: no file matches"


def _named_by(word: str) -> Iterator[str]:
    if is_url(word):
        yield from _of_url(word)
    elif os.path.isdir(word):
        yield from _of_folder(word)
    elif _MAGIC(word) and not os.path.exists(word) and not is_named(word):
        yield from sorted(p for p in _matches(word) if not os.path.isdir(p))
    else:
        yield word  # a missing file becomes a row with an error


def _matches(pattern: str) -> Iterator[str]:
    """Like `glob`, but ``**`` does not follow links to folders, as in a shell, because links may form a circle."""
    deep = _ANY_DEPTH.search(pattern)
    if deep is None:
        yield from glob.iglob(pattern)
        return
    before, rest = pattern[: deep.start()], pattern[deep.end() :]
    for top in glob.iglob(before) if before else [""]:
        for where, folders, _ in os.walk(top or "."):
            folders[:] = [f for f in folders if not f.startswith(".")]
            shown = where if top else where[2:]
            yield from _matches(os.path.join(glob.escape(shown), rest or "*"))


def _of_folder(folder: str) -> Iterator[str]:
    """Leaves out shards that an index in the folder names."""
    for where, folders, files in os.walk(folder):
        folders.sort()
        models = [f for f in sorted(files) if f.endswith(ENDINGS) and not _LATER_PART.search(f)]
        shards: set[str] = set()
        for index in filter(is_index, models):
            shards |= _shards_of(Path(where, index))
        yield from (os.path.join(where, f) for f in models if f not in shards)


def _shards_of(index: Path) -> set[str]:
    try:
        return set(read_checkpoint(str(index)).shards)
    except (Error, OSError):
        return set()  # becomes a row with an error


def _of_url(word: str) -> Iterator[str]:
    scheme, _, rest = word.partition("://")
    if not _MAGIC(rest) or scheme in ("http", "https") or "::" in word:
        yield word
        return
    system, path = file_system(word)
    try:
        found = sorted(system.glob(path))
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        raise UsageError(f"{word}: {type(error).__name__}: {said}") from error
    yield from (str(system.unstrip_protocol(p)) for p in found)


def _read_list(name: str, found: Found) -> None:
    called = "standard input" if name == "-" else name
    try:
        if name == "-":
            _take_lines(sys.stdin.buffer, called, found)
        else:
            with open(name, "rb") as file:
                _take_lines(file, called, found)
    except OSError as error:
        raise UsageError(f"{called}: {error.strerror}") from error


def _take_lines(file: BinaryIO, called: str, found: Found) -> None:
    """Decodes the lines of a list. Names of files may have bytes that are not UTF-8."""
    for number, line in enumerate(file, 1):
        line = line.strip(b" \t\r\n")
        if not line or line.startswith(b"#"):
            continue
        why = _wrong_with(line)
        if why:
            found.damaged.append(f"{called}:{number}: {why}")
        else:
            found.add([os.fsdecode(line)])


def _wrong_with(line: bytes) -> str:
    if any(byte < 32 or byte == 127 for byte in line):
        return "a control character, so not a path"
    return f"{len(line):,} bytes, more than a path has" if len(line) > 4096 else ""
