"""Writes tests/fixtures/zoo: some of the prepared files, made small, and what is expected of them.

Small means: deflated, and a `.pt2` without the stack traces of its nodes. PyTorch reads such files
as well. The expectations are the reference's, never tmeter's.
"""

import json
import sys
import zipfile
from pathlib import Path

import measure

MAX_BYTES = 350_000
MAX_TOTAL = 9_000_000

#: form: ids
CHOICE = {
    "scripted": [],
    "pt2": [],
}


def write(cache: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.pt*"):
        old.unlink()
    expected = {}
    for form, ids in CHOICE.items():
        for id in ids:
            name, facts = one(cache, id, form, folder)
            expected[name] = facts
    text = json.dumps({"generator": "./dev zoo --fixtures", "fixtures": expected}, indent=1, sort_keys=True)
    (folder / "expected.json").write_text(text + "\n")
    total = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{len(expected)} fixtures, {total:,} bytes in {folder}")
    if total > MAX_TOTAL:
        sys.exit(f"zoo: that is more than {MAX_TOTAL:,} bytes")


def one(cache: Path, id: str, form: str, folder: Path) -> tuple[str, dict]:
    record = measure.read_record(cache, id)
    if "file" not in record.get(form, {}):
        sys.exit(f"zoo: {id} is not prepared as {form}; run ./dev zoo --only {id} first")
    source = cache / id / record[form]["file"]
    target = folder / (id.replace("/", "-").replace("@", "-") + source.name.removeprefix("model"))
    shrink(source, target)
    if target.stat().st_size > MAX_BYTES:
        sys.exit(f"zoo: {target} is {target.stat().st_size:,} bytes; choose a smaller model")
    reference = record["reference"]
    keep = ("params", "macs", "device", "inputs", "published", "tied", "rows")
    facts = {"id": id, "form": form, "versions": record["versions"]}
    return target.name, facts | {k: reference[k] for k in keep if reference.get(k)}


def shrink(source: Path, target: Path) -> None:
    """The same archive, deflated; the time of day in it is always the same."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for info in old.infolist():
            data = old.read(info)
            if source.suffix == ".pt2" and "/models/" in info.filename and info.filename.endswith(".json"):
                data = without_stack_traces(data)
            new.writestr(zipfile.ZipInfo(info.filename), data, zipfile.ZIP_DEFLATED, 9)


def without_stack_traces(data: bytes) -> bytes:
    def strip(value):
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k != "stack_trace"}
        return [strip(v) for v in value] if isinstance(value, list) else value

    return json.dumps(strip(json.loads(data)), separators=(",", ":")).encode()
