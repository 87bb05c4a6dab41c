"""The index of a sharded checkpoint: its files and the tensors of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ..errors import ModelError
from .deadlines import Deadline
from .files import missing, read, stamp

_LARGEST_INDEX = 100_000_000  # bytes; the native program's limit
_MOST_SHARDS = 10_000
_MAX_NAMED = 3


@dataclass(frozen=True)
class Checkpoint:
    """Shards by file name, each with the tensors that it must have. stamp: of the index."""

    shards: dict[str, frozenset[str]]
    stamp: str = ""


def is_index(source: str) -> bool:
    return source.endswith(".index.json")


def read_checkpoint(source: str, deadline: Deadline | None = None) -> Checkpoint:
    """Reads an index and checks that every shard exists.

    Raises:
        ModelError: it is not an index, names files elsewhere, or shards are missing.
        OSError: the network failed.
    """
    index_stamp = stamp(source, deadline)
    weights = _weight_map(source, read(source, _LARGEST_INDEX, deadline))
    shards: dict[str, set[str]] = {}
    for tensor, file in weights.items():
        if not isinstance(file, str) or not _is_plain(file):
            raise ModelError(f"{source}: {tensor!r} should be in {file!r}, not a plain file name")
        shards.setdefault(file, set()).add(tensor)
    if len(shards) > _MOST_SHARDS:
        raise ModelError(f"{source}: {len(shards):,} shards; {_MOST_SHARDS:,} are the limit")
    missing_names = missing(source, sorted(shards))
    if missing_names:
        raise ModelError(
            f"{source}: {_counted(missing_names, 'shard')} not there: {_some(missing_names)} "
            f"(of {len(shards)} that it names)"
        )
    return Checkpoint(
        {file: frozenset(tensors) for file, tensors in sorted(shards.items())}, index_stamp
    )


def _weight_map(source: str, content: bytes) -> dict[str, Any]:
    try:
        index = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{source}: not JSON: {str(error)[:200]}") from error
    weights = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(weights, dict) or not weights:
        raise ModelError(f"{source}: not an index of shards: it has no 'weight_map'")
    return weights


def _is_plain(name: str) -> bool:
    return bool(name) and name not in (".", "..") and not set(name) & set("/\\\0")


def _counted(names: list[str], what: str) -> str:
    return f"1 {what} is" if len(names) == 1 else f"{len(names)} {what}s are"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def require_tensors(shard: str, wanted: frozenset[str], report: dict[str, Any]) -> None:
    """Raises ModelError if the index lists tensors that the shard does not have."""
    missing_names = sorted(wanted - {tensor["name"] for tensor in report["tensors"]})
    if missing_names:
        raise ModelError(
            f"shard {shard}: according to the index it holds {_some(missing_names)}, but it does not"
        )
