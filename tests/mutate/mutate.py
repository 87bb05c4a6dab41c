"""Puts small faults into source files and lists those that no test notices.

    ./dev mutate core/archive/zip.cpp 'plugins/metrics/flops/ops/*.cpp' --sample 50

A mutant is a copy of a file with one changed line. Mutants that do not compile are not counted, and neither are those with the
original object code. docs/dev/mutation.md has the results and their meaning.
"""

import argparse
import datetime
import fnmatch
import signal
import sys
import time
import tomllib
from pathlib import Path

from building import Build
from checks import Place
from trial import Result, Trial

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
AREAS = tomllib.loads((HERE / "areas.toml").read_text())["area"]


def area_of(file: str) -> dict:
    for area in AREAS:
        if any(fnmatch.fnmatchcase(file, pattern) for pattern in area["files"]):
            return area
    sys.exit(f"mutate: no tests are known for {file}; tests/mutate/areas.toml says which are")


def chosen(patterns: list[str]) -> list[str]:
    """Paths relative to the repository's root; without patterns all files of the table."""
    patterns = patterns or [pattern for area in AREAS for pattern in area["files"]]
    files = [p for pattern in patterns for p in sorted(ROOT.glob(pattern)) if p.suffix == ".cpp"]
    if not files:
        sys.exit(f"mutate: there is no C++ file called {' or '.join(patterns)}")
    return list(dict.fromkeys(str(p.relative_to(ROOT)) for p in files))


def try_file(file: str, options: argparse.Namespace, build: Build) -> Result:
    place = Place(ROOT, build.folder, options.python)
    folder = build.folder / "mutation"
    trial = Trial(build, place, Path(file), [place.check(row) for row in area_of(file)["tests"]])
    result = Result(file)
    steps = trial.again(Result.load(folder, file)) if options.again else trial.run(options.seed, options.sample)
    printed = 0
    for result in steps:
        for mutant in result.survivors[printed:]:
            print(f"survived: {file}:{mutant.line}\n{mutant.diff(trial.lines)}", flush=True)
        printed = len(result.survivors)
    result.save(folder)
    return result


def table(results: list[Result]) -> list[str]:
    """One row per file and per area, in Markdown."""
    lines = ["| area | file | made | do not compile | same code | counted | killed | of these stalled | percent |",
             "|---|---|--:|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    for area in AREAS:
        own = [r for r in results if area_of(r.file) is area]
        lines += [row(area["name"], r.file, [r]) for r in own]
        if len(own) > 1:
            lines.append(row(f"**{area['name']}**", "all", own))
    return lines


def row(area: str, file: str, results: list[Result]) -> str:
    made, refused, same, counted, killed, stalled = (
        sum(getattr(r, name) for r in results)
        for name in ("made", "refused", "same", "counted", "killed", "stalled")
    )
    percent = f"{100 * killed / counted:.1f}" if counted else "–"
    return f"| {area} | {file} | {made} | {refused} | {same} | {counted} | {killed} | {stalled} | {percent} |"


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="C++ files or globs (default: tests/mutate/areas.toml)")
    parser.add_argument("--sample", type=int, metavar="N", help="stop a file after N mutants that count")
    parser.add_argument("--seed", type=int, default=1, help="selects the mutants (default 1)")
    parser.add_argument("--again", action="store_true", help="try only the survivors of the last run")
    parser.add_argument("--build", type=Path, required=True, help="a build with tests")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the Python tests")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # always restores the build
    start, build = time.monotonic(), Build(options.build)
    results = [try_file(file, options, build) for file in chosen(options.files)]
    print("\n".join(table(results)))
    sample = "all mutants" if options.sample is None else f"sample {options.sample} a file"
    print(f"\n{datetime.date.today()}, {sample}, seed {options.seed}, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
