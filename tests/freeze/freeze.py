#!/usr/bin/env python3
"""Keeps digests of all reports on all fixtures, to show that a code change changes no value.

    freeze.py --record FILE                 before the change
    freeze.py --compare FILE                after it: lists differences; exit status 1 if there are any
    freeze.py --compare FILE --ignore 'metrics/spectral_norm' --ignore 'tensors/spectral_norm'
    freeze.py --record FILE --keep FOLDER   keeps the reports too, so that `diff` can show a difference

Every model file below tests/fixtures is analysed by all plugins that need no run of the model, with 1, 2
and 64 threads. A run writes text, JSON, CSV and HTML. A failed run is recorded by its status and message.

Times, the command line and the folder of the fixtures are removed before hashing. JSON is hashed by section, its
tables by column ("tensors/mean"), HTML by data block and the page around it, so the list of changes names
the places. FILE holds digests only, about 4 MB; keep it outside of the repository. Recordings of builds with
different plugins or from different processors cannot be compared: sums of floating-point numbers depend on the
width of the vectors.

Both also require equal reports for all numbers of threads, and record the reports of the first number.
"""
import argparse
import base64
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = SOURCE / "tests" / "fixtures"
SUFFIXES = {".pt2", ".pt", ".pth", ".safetensors", ".bin"}
THREADS = (1, 2, 64)
FORMATS = {"text": "txt", "json": "json", "csv": "csv", "html": "html"}

TIME = re.compile(r"\s*analysed in \d[\d.,]*\s?[a-zµ]+")
BLOCK = re.compile(rb'<script type="application/octet-stream" id="([^"]+)">([^<]*)</script>')


def models(only):
    """Model files by their path below the fixtures; an index of shards replaces its shards."""
    files = [f for f in sorted(FIXTURES.rglob("*")) if f.suffix in SUFFIXES or f.name.endswith(".index.json")]
    names = [str(f.relative_to(FIXTURES)) for f in files if f.is_file()]
    return [n for n in names if fnmatch.fnmatch(n, only)]


def digest(content):
    if not isinstance(content, bytes):
        content = content.encode()
    return hashlib.sha256(content).hexdigest()[:16]


def without_place(text):
    return text.replace(str(FIXTURES), "FIXTURES")


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def of_text(content):
    return {"": digest(TIME.sub("", without_place(content.decode())))}


def of_csv(content):
    return {"": digest(without_place(content.decode()))}


def columns_of(section, rows):
    """Digests of the rows' other members, and of the values by metric."""
    rest, columns = [], {}
    for i, row in enumerate(rows):
        rest.append({k: v for k, v in row.items() if k not in ("values", "values_status", "status")})
        for key in ("values", "values_status", "status"):
            cells = row.get(key)
            for metric, cell in (cells.items() if isinstance(cells, dict) else ()):
                columns.setdefault(metric, []).append((i, key, cell))
    found = {f"{section}/{metric}": digest(compact(cells)) for metric, cells in columns.items()}
    found[section] = digest(compact(rest))
    return found


def of_json(content):
    document = json.loads(without_place(content.decode()))
    for key in ("timing", "command"):
        document.pop(key, None)
    found = {"order of keys": digest(compact(list(document)))}
    for key, value in document.items():
        if key in ("modules", "module_calls", "nodes", "tensors"):
            found.update(columns_of(key, value))
        elif key == "metrics":
            found.update({f"metrics/{m['id']}": digest(compact(m)) for m in value})
            found["order of metrics"] = digest(compact([m["id"] for m in value]))
        elif key in ("totals", "totals_status", "config"):
            found.update({f"{key}/{k}": digest(compact(v)) for k, v in value.items()})
        else:
            found[key] = digest(compact(value))
    return found


def of_html(content):
    found = {"page": digest(BLOCK.sub(b"", content))}
    for name, block in BLOCK.findall(content):
        data = json.loads(without_place(zlib.decompress(base64.b64decode(block), -15).decode()))
        if name == b"tmeter-summary":
            for key in ("seconds", "command"):
                data["run"].pop(key, None)
        found[name.decode()] = digest(compact(data))
    return found


READERS = {"text": of_text, "json": of_json, "csv": of_csv, "html": of_html}


def formats_of(binary):
    """The formats of this build; HTML is missing without Node.js."""
    listed = subprocess.run([binary, "plugin", "list"], capture_output=True, text=True, check=True).stdout
    lines = [line for line in listed.splitlines() if "[not available]" not in line]
    return [f for f in FORMATS if any(re.match(rf"{f}\b", line) for line in lines)]


def report(binary, name, threads, formats, keep):
    """{format/place: digest} of one run."""
    with tempfile.TemporaryDirectory(prefix="tmeter-freeze-") as temporary:
        folder = pathlib.Path(temporary)
        if keep:
            folder = pathlib.Path(keep) / name / str(threads)
            folder.mkdir(parents=True, exist_ok=True)
        files = {f: folder / f"report.{FORMATS[f]}" for f in formats}
        targets = [a for f, file in files.items() for a in ("--report", f"{f}={file}")]
        done = subprocess.run(
            [binary, "--plugins=all", "--threads", str(threads), *targets, FIXTURES / name],
            capture_output=True, text=True, timeout=600,
            env={**os.environ, "TMETER_PLUGIN_PATH": "", "XDG_DATA_HOME": "/nonexistent", "COLUMNS": "120"})
        found = {"status": done.returncode, "messages": digest(without_place(done.stderr))}
        for f, file in files.items():
            if file.exists():
                found.update({f"{f}/{place}".rstrip("/"): d for place, d in READERS[f](file.read_bytes()).items()})
        return found


def everything(options):
    names, formats = models(options.only), formats_of(options.binary)
    jobs = [(n, t) for n in names for t in THREADS]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(lambda job: report(options.binary, *job, formats, options.keep), jobs)
        reports = {f"{n} --threads {t}": r for (n, t), r in zip(jobs, found)}
    return {"formats": formats, "reports": reports}


def differing(before, after):
    """Places at which two reports differ, and the kind of difference."""
    for place in sorted(before.keys() | after.keys()):
        if before.get(place) != after.get(place):
            yield place, "gone" if place not in after else "new" if place not in before else "changed"


def changes(before, after, ignored):
    """{(place, kind of difference): reports}"""
    found = {}
    for run in sorted(before.keys() | after.keys()):
        if run not in before or run not in after:
            found.setdefault(("the report", "new" if run in after else "gone"), []).append(run)
            continue
        for change in differing(before[run], after[run]):
            if not any(fnmatch.fnmatch(change[0], pattern) for pattern in ignored):
                found.setdefault(change, []).append(run)
    return found


def by_threads(reports):
    """Compares each report with that of the first number of threads."""
    first, others = {}, {}
    for run, found in reports.items():
        name, _, threads = run.rpartition(" --threads ")
        if int(threads) != THREADS[0]:
            others[run] = found
            first[run] = reports[f"{name} --threads {THREADS[0]}"]
    return changes(first, others, ["json/config/*"])


def print_places(found):
    for (place, kind), runs in sorted(found.items()):
        print(f"{place}: {kind} in {len(runs)} of the reports")
        for run in runs[:3]:
            print(f"    {run}")
        if len(runs) > 3:
            print("    …")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--record", metavar="FILE")
    mode.add_argument("--compare", metavar="FILE")
    parser.add_argument("--binary", default=str(SOURCE / "build/release/bin/tmeter"))
    parser.add_argument("--only", default="*", metavar="PATTERN", help="the fixtures to analyse, such as 'checkpoints/*'")
    parser.add_argument("--ignore", action="append", default=[], metavar="PLACE", help="a place to ignore, such as 'json/tensors/mean'; may be repeated")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the reports there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    found = everything(options)
    unequal = by_threads(found["reports"])
    if unequal:
        print("the number of threads changes reports:")
        print_places(unequal)
    found["reports"] = {run: r for run, r in found["reports"].items() if run.endswith(f" --threads {THREADS[0]}")}
    if options.record:
        pathlib.Path(options.record).write_text(json.dumps(found, indent=0, sort_keys=True))
        print(f"{len(found['reports'])} runs recorded ({', '.join(found['formats'])})")
        return 1 if unequal else 0
    before = json.loads(pathlib.Path(options.compare).read_text())
    both = set(before["formats"]) & set(found["formats"])
    if set(before["formats"]) != set(found["formats"]):
        print("note: compared are " + ", ".join(sorted(both)) + "; the builds differ in formats")
    skipped = [f"{f}*" for f in FORMATS if f not in both]
    old = {run: r for run, r in before["reports"].items() if fnmatch.fnmatch(run.rpartition(" --threads ")[0], options.only)}
    changed = changes(old, found["reports"], [*options.ignore, *skipped])
    print_places(changed)
    print(f"{len(found['reports'])} runs compared: " + ("no difference" if not changed else f"{len(changed)} places differ"))
    return 1 if changed or unequal else 0


if __name__ == "__main__":
    sys.exit(main())
