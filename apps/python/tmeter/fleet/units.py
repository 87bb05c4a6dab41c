"""The messages to and from workers: plain data that travels between machines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_LONGEST = 100


@dataclass(frozen=True)
class Unit:
    """One file to be analysed: a model, or a shard of one.

    Attributes:
        key: where its report goes, relative to the output folder.
        model: of which model it is.
        source: path or URL.
        arguments: of the native program.
        cache: folder for files fetched from URLs; None: the worker's temporary folder.
        place: Ray resources that lie where the file does, e.g. ``{"node:10.0.0.3": 0.01}``.
    """

    key: str
    model: str
    source: str
    arguments: tuple[str, ...] = ()
    cache: str | None = None
    cpus: float = 1.0
    place: tuple[tuple[str, float], ...] = ()

    def fingerprint(self, version: str) -> str:
        """Changes when the report would: what the file is, is the ledger's business."""
        text = "\0".join((self.source, version, *self.arguments))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Outcome:
    """What became of a unit: a report (compressed JSON), or an error that may go away or not."""

    report: bytes = b""
    error: str = ""
    kind: str = ""
    retry: bool = False
    node: str = ""
    version: str = ""
    size: int = -1
    seconds: float = 0.0
    fetch_seconds: float = 0.0
    messages: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        return not self.error


def lost(why: str) -> Outcome:
    """The worker died, or its machine."""
    return Outcome(error=why, kind="WorkerLostError", retry=True)


def file_names(names: Iterable[str]) -> dict[str, str]:
    """A plain file name for each, different even where letters of another case are the same file."""
    out: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip(".")[:_LONGEST] or "model"
        if plain != name or plain.lower() in used:
            plain += "-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        used.add(plain.lower())
        out[name] = plain
    return out
