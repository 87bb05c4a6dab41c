"""Kills a fleet's processes at random moments: resumed results equal those of an undisturbed run, and no process or file is left.

    VENV/bin/python fleet_kills.py [--times N] [--ray] [--seed N]

Each time a run of 40 files (paths and URLs, one sharded checkpoint) starts on an empty folder; the driver, a worker, its
program or (with --ray) the raylet is killed by SIGKILL or SIGTERM at a random moment, and runs follow until one is complete.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures"
sys.path.insert(0, str(HERE.parent / "python"))
from shards import cut  # noqa: E402

#: Facts of the run, not of its models.
PASSING = {"seconds", "fetch_seconds", "tries", "nodes"}


#: Patterns of command lines. Ray ends a node with its agents, so these represent the raylet.
KINDS = (
    ("raylet", lambda name: "/raylet " in name or (name.startswith("ray::") and "Agent" in name)),
    ("worker", lambda name: "fleet.worker" in name or name.startswith("ray::")),
    ("program", lambda name: "bin/tmeter " in name and "python" not in name),
)
#: Seconds in which all processes end. Ray's agents look for a killed GCS for a minute.
TO_END, TO_END_OF_RAY = 5.0, 100.0


def rows_of(output):
    from tmeter import fleet

    return [{k: v for k, v in row.items() if k not in PASSING} for row in fleet.load(output).models]


def reports_of(output, rows):
    """The report without the time of the analysis and the path of the fetched file."""
    out = {}
    for row in rows:
        report = json.loads((output / row["report"]).read_text())
        del report["timing"], report["command"]
        out[row["model"]] = report
    return out


def differences(rows, quiet, reports, quiet_reports):
    for one, other in zip(rows, quiet):
        yield from (f"     {one['model']}: {k} {one.get(k)!r} instead of {v!r}" for k, v in other.items() if one.get(k) != v)
    for name, report in quiet_reports.items():
        found = reports.get(name, {})
        yield from (f"     report of {name}: {k}" for k, v in report.items() if found.get(k) != v)


def family(pid):
    """A process and all its descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                name = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                parents[int(entry.name)] = int(stat[1]), name
            except OSError:
                pass
    found = {pid: parents.get(pid, (0, ""))[1]}
    grown = True
    while grown:
        new = {p: name for p, (parent, name) in parents.items() if parent in found and p not in found}
        found |= new
        grown = bool(new)
    return found


def family_alive(processes):
    for pid, name in processes.items():
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes():  # empty: a zombie
                yield pid, name.strip()
        except OSError:
            pass


def victims(processes, driver):
    """Kind → pids."""
    out = {"driver": [driver]}
    for pid, name in processes.items():
        kind = next((kind for kind, is_it in KINDS if is_it(name)), None)
        if kind:
            out.setdefault(kind, []).append(pid)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ray", action="store_true")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    root = Path(tempfile.mkdtemp(prefix="kills-"))
    models, temporary, cache = root / "models", root / "temporary", root / "cache"
    for folder in (models, temporary, cache):
        folder.mkdir()
    kinds = [FIXTURES / "models" / f"{n}.pt2" for n in ("resnet50", "gpt2_like", "dynamic_bert")]
    sources = []
    for i in range(20 if options.ray else 38):
        path = models / f"m{i}.pt2"
        shutil.copy(kinds[i % 3], path)
        sources.append(str(path) if i % 2 else f"file://{path}")
    index = cut(FIXTURES / "trained/model.safetensors", models / "shards", 9)
    sources += [str(index), f"file://{index}"]
    (root / "list").write_text("\n".join(sources))
    os.environ["TMPDIR"] = str(temporary)
    tempfile.tempdir = str(temporary)
    most = TO_END_OF_RAY if options.ray else TO_END
    words = [sys.executable, "-m", "tmeter", "fleet", "--list", str(root / "list"), "--cache", str(cache), "-p", "params,flops,memory,param-stats", "-q"]
    if options.ray:
        words += ["--ray", "local"]
        os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(root / "ray")}

    begin = time.monotonic()
    subprocess.run([*words, "-o", str(root / "quiet")], check=True)
    quiet_seconds = time.monotonic() - begin
    quiet = rows_of(root / "quiet")
    quiet_reports = reports_of(root / "quiet", quiet)
    failures = 0
    for number in range(options.times):
        output = root / f"out{number}"
        driver = subprocess.Popen([*words, "-o", str(output)], stderr=subprocess.PIPE, text=True)
        time.sleep(chance.uniform(0.1, quiet_seconds * 0.8))
        processes = family(driver.pid)
        candidates = victims(processes, driver.pid)
        kind = chance.choice(sorted(candidates))
        signal_number = chance.choice((signal.SIGKILL, signal.SIGTERM))
        try:
            os.kill(chance.choice(candidates[kind]), signal_number)
        except ProcessLookupError:
            pass
        message = driver.communicate()[1]
        runs = 1
        while True:
            done = subprocess.run([*words, "-o", str(output)], capture_output=True, text=True)
            runs += 1
            if done.returncode == 0 or runs > 4:
                break
        rows = rows_of(output)
        same = rows == quiet and reports_of(output, rows) == quiet_reports
        if not same:
            print(*differences(rows, quiet, reports_of(output, rows), quiet_reports), sep="\n")
        begin = time.monotonic()
        while (alive := {p: name for p, name in family_alive(processes)}) and time.monotonic() - begin < most:
            time.sleep(0.5)
        waited = time.monotonic() - begin
        left = [*temporary.iterdir(), *cache.iterdir(), *output.glob(".part"), *output.glob("lock")]
        good = same and not alive and not left and done.returncode == 0
        failures += not good
        print(f"{number + 1:3}: {signal_number.name} to the {kind}, status {driver.returncode}; {runs} runs; "
              + (f"equal, nothing left after {waited:.1f} s; {message.strip()[-200:]}" if good else f"same={same} alive={alive} left={left} {done.stderr} {message}"), flush=True)
        shutil.rmtree(output)
    shutil.rmtree(root, ignore_errors=True)
    print(f"{options.times - failures} of {options.times} equal a quiet run and leave nothing")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
