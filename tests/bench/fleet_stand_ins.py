"""The driver's cost for any number of tasks. Stand-ins for analyses sleep and write a row of real size.

    VENV/bin/python fleet_stand_ins.py [--tasks N] [--sleep SECONDS] [--ray] [--output DIR] [--checks]

Prints the driver's processor time and memory for each task, and the time to open the results. `--checks` exits 1
unless a task costs the driver at most 1 ms, the driver holds at most 1 GB, and results open within 2 s.
"""

import argparse
import functools
import json
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

REPORT = Path(__file__).parents[1] / "fixtures/models/resnet50.pt2"


@functools.cache
def template():
    """A real report without its lists, so that a row has the size of a real one."""
    from tmeter.program import run

    report = json.loads(run([str(REPORT), "--report", "json"]).output)
    for key in ("nodes", "tensors", "module_calls", "findings"):
        report[key] = []
    report["modules"] = report["modules"][:1]
    return json.dumps(report)


def pretend(source, job):
    """Replaces `tmeter.fleet.work:report_of`; the file's name has the seconds to sleep."""
    from tmeter.fleet import identity
    from tmeter.fleet.work import MadeReport

    identity._MOMENT = 1.0  # plugins are checked only once a second, because the driver is measured, not the workers
    if seconds := float(source.rsplit("/", 1)[-1].split("-")[0]):
        time.sleep(seconds)
    return MadeReport(template(), 1_000_000)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--sleep", type=float, default=0.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--checks", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))

    from tmeter import fleet
    from tmeter.fleet.analysis import _engine, run_fleet

    folder = options.output or Path(tempfile.mkdtemp(prefix="tmeter-bench-"))
    names = (f"models/family-{i // 1000:04}/{options.sleep}-checkpoint-{i:07}.pt2" for i in range(options.tasks))
    named = {name: name for name in names}
    start, cpu = time.monotonic(), time.process_time()
    run_fleet(
        named,
        str(folder / "out"),
        ["--threads=1"],
        lambda: _engine("ray" if options.ray else "local", None, None, options.workers),
        reports=False,
        progress=lambda _: None,
        report_function="fleet_stand_ins:pretend",
    )
    seconds, cpu = time.monotonic() - start, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{options.tasks:,} tasks in {seconds:,.0f} s: the driver took {1e3 * cpu / options.tasks:.3f} ms of processor time each, "
          f"{memory / 1e6:,.0f} MB at most")
    start = time.monotonic()
    found = fleet.load(folder / "out")
    row = found.models[len(found.models) // 2]
    opened = time.monotonic() - start
    page = (folder / "out/index.html").stat().st_size
    print(f"{len(found.models):,} rows open in {opened:.2f} s ({row['model']}); index.html has {page / 1e6:.1f} MB")
    if not options.output:
        shutil.rmtree(folder)
    if options.checks and (cpu / options.tasks > 1e-3 or memory > 1e9 or opened > 2):
        sys.exit(1)


if __name__ == "__main__":
    main()
