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
from .library_models import is_library_model
from .shards import is_index, read_checkpoint

#: Endings of model files. Other files of a folder are ignored.
ENDINGS = (".pt2", ".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".gguf", ".index.json")
_has_wildcards = glob.has_magic
#: Later parts of a file. The reader of the first part finds them.
_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$")
_ANY_DEPTH = re.compile(r"(?:^|(?<=/))(?:\*\*/+)*\*\*(?:/+|$)")


class FoundSources:
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
        has_sources = False
        for source in sources:
            self.sources.setdefault(source, source)
            has_sources = True
        return has_sources


def find(words: Iterable[str], lists: Iterable[str]) -> FoundSources:
    """Each of `lists` is a file with one source per line; ``-``: standard input.

    Raises:
        UsageError: a glob or folder without a model, a list that cannot be read.
    """
    found = FoundSources()
    for word in words:
        if not found.add(_sources_of_word(word)):
            raise UsageError(_nothing_found(word))
    for name in lists:
        _read_list(name, found)
    if not found.sources:
        raise UsageError("no models are given")
    return found


def _nothing_found(word: str) -> str:
    if os.path.isdir(word):
        return f"{word}: no model file in this folder ({', '.join(ENDINGS)})"
    return f"{word}: no file matches"


def _sources_of_word(word: str) -> Iterator[str]:
    if is_url(word):
        yield from _of_url(word)
    elif os.path.isdir(word):
        yield from _of_folder(word)
    elif _has_wildcards(word) and not os.path.exists(word) and not is_library_model(word):
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
    if not _has_wildcards(rest) or scheme in ("http", "https") or "::" in word:
        yield word
        return
    system, path = file_system(word)
    try:
        found = sorted(system.glob(path))
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise UsageError(f"{word}: {type(error).__name__}: {reason}") from error
    yield from (str(system.unstrip_protocol(p)) for p in found)


def _read_list(name: str, found: FoundSources) -> None:
    list_name = "standard input" if name == "-" else name
    try:
        if name == "-":
            _add_lines(sys.stdin.buffer, list_name, found)
        else:
            with open(name, "rb") as file:
                _add_lines(file, list_name, found)
    except OSError as error:
        raise UsageError(f"{list_name}: {error.strerror}") from error


def _add_lines(file: BinaryIO, list_name: str, found: FoundSources) -> None:
    """Decodes the lines of a list. Names of files may have bytes that are not UTF-8."""
    for number, line in enumerate(file, 1):
        line = line.strip(b" \t\r\n")
        if not line or line.startswith(b"#"):
            continue
        why = _why_damaged(line)
        if why:
            found.damaged.append(f"{list_name}:{number}: {why}")
        else:
            found.add([os.fsdecode(line)])


def _why_damaged(line: bytes) -> str:
    if any(byte < 32 or byte == 127 for byte in line):
        return "a control character, so not a path"
    return f"{len(line):,} bytes, more than a path has" if len(line) > 4096 else ""
