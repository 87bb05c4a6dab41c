"""Makes a checkpoint's report from those of its shards, by ``tmeter merge``."""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import ModelError
from ..program import run
from .deadlines import Deadline
from .output import Local, Output
from .scratch import scratch
from .shards import read_checkpoint, require_tensors
from .units import Job, Unit, digest_of


def mark_of_merge(stamp: str, shards: tuple[tuple[str, str, str], ...]) -> str:
    """A text that changes with the index and with each shard."""
    return "merged " + digest_of("\0".join([stamp, *(mark for _, mark, _ in shards)]))


def merged(unit: Unit, job: Job, output: Output) -> tuple[str, int, float, tuple[str, ...]]:
    """Merges the reports of a checkpoint's shards; returns the fields of `work.Made`.

    Raises:
        ModelError: the index lists tensors that a shard lacks, or the shards do not fit together.
        OSError: the index was replaced during the run.
    """
    checkpoint = read_checkpoint(unit.source, Deadline(job.timeout))
    reports = {shard: report for shard, _, report in unit.shards}
    if set(reports) != set(checkpoint.shards):
        raise OSError(f"{unit.source} was replaced during the run")
    with scratch() as folder:
        for number, (shard, wanted) in enumerate(checkpoint.shards.items()):
            path = folder / f"{number:05}.json"
            if isinstance(output, Local):
                path.symlink_to(output.path(reports[shard]))
            else:
                path.write_bytes(output.read(reports[shard]))
            _require(shard, wanted, path)
        limit = [] if job.timeout is None else [f"--timeout={job.timeout}"]
        done = run(["merge", *limit, str(folder), "--report", "json"], limit=job.hard_limit)
    return done.output, -1, 0.0, done.messages


def _require(shard: str, wanted: frozenset[str], path: Path) -> None:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"shard {shard}: its report is gone or damaged: {error}") from error
    require_tensors(shard, wanted, report)
