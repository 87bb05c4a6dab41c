"""Makes the files and reference values of the given rows in a permanent cache.

    VENV/bin/python prepare.py --cache DIR [--limit SECONDS] ID...

PyTorch and the library are imported once. Each step then runs in a forked process, so a model
that fails, hangs or runs out of memory does not affect others. Finished steps are not repeated.
"""

import argparse
import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import table


def needed_steps(entry: table.Entry, record: dict, again: bool) -> list[str]:
    steps = ["reference", *entry.forms]
    if again or record.get("digest") != entry.digest:
        record.clear()
        record |= {"id": entry.id, "digest": entry.digest}
    return [step for step in steps if step not in record]


def prepare(entry: table.Entry, options) -> None:
    folder = options.cache / entry.id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "record.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    for step in needed_steps(entry, record, options.again):
        record[step] = in_child(step, entry, folder, options.limit)
        record["versions"] = versions()
        replace(path, json.dumps(record, indent=1))
        result = record[step]
        outcome = result.get("error") or result.get("macs") or result.get("bytes")
        print(f"{entry.id:48} {step:10} {result.get('seconds', 0):6.1f} s  {outcome}", flush=True)


def in_child(step: str, entry: table.Entry, folder: Path, limit: int) -> dict:
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        child_main(step, entry, folder, answer)
    status = wait(child, limit)
    if answer.exists():
        facts = json.loads(answer.read_text())
        answer.unlink()
        return facts
    why = f"no result within {limit} s" if status is None else f"process ended with {status}"
    return {"error": why, "seconds": limit if status is None else 0}


def child_main(step: str, entry: table.Entry, folder: Path, answer: Path) -> None:
    """Never returns, because the child must not run the parent's clean-up."""
    try:
        log = os.open(folder / f"{step}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        import steps

        replace(answer, json.dumps(steps.run(step, entry, folder)))
    finally:
        sys.stdout.flush()
        os._exit(0)


def wait(child: int, limit: int) -> int | None:
    """The exit status; None: the child had to be stopped."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def replace(path: Path, text: str) -> None:
    """Writes the whole file or none, because an interrupted run continues from its files."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def versions() -> dict:
    import platform
    from importlib.metadata import version

    names = ("torch", "torchvision", "timm", "transformers")
    return {name: version(name) for name in names} | {"python": platform.python_version()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=240)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("ids", nargs="+")
    options = parser.parse_args()
    entries = table.all_entries()
    for library in dict.fromkeys(entries[id].library for id in options.ids):
        importlib.import_module(library)
    import steps  # noqa: F401  (imports torch before the forks)

    for id in options.ids:
        import_model(entries[id])
        prepare(entries[id], options)


def import_model(entry: table.Entry) -> None:
    """Imports a model's module once for all steps, because transformers imports it on demand."""
    try:
        getattr(sys.modules[entry.library], entry.builder, None)
    except Exception as error:  # the steps raise it again and record it
        print(f"{entry.id}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
