"""Compares tmeter.analyze on the zoo's models as live modules with FlopCounterMode and four Python tools.

    VENV/bin/python live.py --results FILE [--every N] [--only GLOB ...] [--page FILE]

Every model has a forked process, one at a time, with the libraries and tools already imported, like a user's second
call. Nothing is downloaded. FILE keeps the answers line by line; models in it are not run again.
`--page` writes the results so far as Markdown and runs nothing.
"""

import argparse
import csv
import json
import os
import random
import sys
import time
from pathlib import Path

import table
from prepare import wait

#: Above these sizes a model is built on meta (or not run by the tools), because of this machine's memory and time.
LARGEST_REAL, LARGEST_TIMED = 1_000_000_000, 50_000_000
MEMORY = 14 << 30


def chosen(globs: list[str]) -> list[table.Entry]:
    """In a fixed random order, so that the results after half of the time are a fair sample."""
    entries = list(table.chosen(globs).values())
    random.Random(14).shuffle(entries)
    return entries


def done(results: Path) -> dict[str, dict]:
    """The last answer of each model."""
    if not results.exists():
        return {}
    return {row["id"]: row for row in map(json.loads, results.read_text().splitlines())}


def in_fork(call, limit: int) -> int | None:
    """The exit status of a forked process that makes the call; None: it took too long."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            call()
            status = 0
        finally:
            sys.stdout.flush()
            os._exit(status)
    return wait(child, limit)


def in_child(entry: table.Entry, timed: bool, recorded: dict | None, folder: Path, limit: int) -> dict:
    answer, log = folder / "answer.json", folder / "child.log"
    answer.unlink(missing_ok=True)

    def work() -> None:
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(out, 1), os.dup2(out, 2)
        import live_steps

        live_steps.run(entry, timed, recorded, answer)

    status = in_fork(work, limit)
    facts = json.loads(answer.read_text()) if answer.exists() else {}
    if status != 0 or not facts.get("complete"):
        facts["ended"] = f"no result within {limit} s" if status is None else f"process ended with {status}"
    return facts


def references(table: Path) -> dict[str, dict]:
    """FlopCounterMode's MACs as recorded by `./dev zoo` for the same versions of all libraries."""
    found = {}
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["reference_params"] and row["reference_macs"]:
                reference = {"params": int(row["reference_params"]), "macs": int(row["reference_macs"]), "device": "recorded"}
                found.setdefault(row["model"], reference)
    return found


def run(options) -> None:
    import live_steps

    entries = chosen(options.only)
    finished = {} if options.again else done(options.results)
    recorded = references(options.reference) if options.reference else {}
    options.results.parent.mkdir(parents=True, exist_ok=True)
    live_steps.warm_up({e.library for e in entries})
    for number, entry in enumerate(entries):
        if entry.id in finished:
            continue
        start = time.monotonic()
        timed = number % options.every == 0
        if options.timing and not timed:
            continue
        facts = in_child(entry, timed, recorded.get(entry.id), options.results.parent, options.limit)
        row = {"id": entry.id, "versions": live_steps.versions(), **facts}
        with options.results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        ours = facts.get("tmeter", {})
        outcome = ours.get("error") or f"{ours.get('params')} {ours.get('macs')} of {facts.get('reference', {}).get('macs')}"
        print(f"{number:4} {entry.id:48} {time.monotonic() - start:6.1f} s  {outcome}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--only", metavar="GLOB", action="append", default=[])
    parser.add_argument("--again", action="store_true", help="run models with answers again")
    parser.add_argument("--every", type=int, default=3, help="the tools are timed on every N-th model (default 3)")
    parser.add_argument("--timing", action="store_true", help="run only the models on which the tools are timed")
    parser.add_argument("--limit", type=int, default=300, help="seconds for each model (default 300)")
    parser.add_argument("--reference", type=Path, help="take the reference values from this table of ./dev zoo (docs/dev/zoo.csv)")
    parser.add_argument("--page", type=Path, help="write the page of the results so far")
    parser.add_argument("--earlier", type=Path, help="for --page: answers of models that are missing in --results")
    options = parser.parse_args()
    if options.page:
        import live_page

        earlier = done(options.earlier) if options.earlier else {}
        live_page.write(done(options.results), earlier, options.page)
    else:
        run(options)


if __name__ == "__main__":
    main()
