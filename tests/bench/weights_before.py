"""The cost of weight statistics and of advice on weights, before and after a change, in one run.

    /usr/bin/python3 tests/bench/weights_before.py --before OLD/bin/tmeter \\
        --tmeter build/release/bin/tmeter --work FOLDER

Runs of both alternate with ``cat`` and ``dd`` of the same file. The files are read from disk first, so the page cache
holds them in large folios, which are mapped at once. It holds files marked "just written" in single pages; mapping these
costs the kernel several times as much. Prints a table for an entry of docs/dev/weights.md with wall time and processor
seconds; on a busy machine the latter are more reliable.
"""

import argparse
import datetime
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import machine
from measure import Case, measure
from weights import settle

HERE = Path(__file__).parent
GB, MB = 1e9, 1e6
HEADING = "## Weights, before and now"
NO_SPECTRAL = ["--set", "param-stats.spectral=false"]  # older builds compute them in every run
SPECTRAL = ["--columns=spectral_norm,stable_rank,effective_rank"]
STATS, ALL = "--plugins=param-stats", "--plugins=param-stats,quantization-advice,pruning-advice"

JUST_WRITTEN = ", just written"
#: File: options of make_weights.py.
FILES = {
    "bf16": ["--gb", "1"],
    "bf16, nine in ten 0": ["--gb", "1", "--zeros", "0.9"],
    "bf16, all 0": ["--gb", "2.6", "--sparse"],
    "float32": ["--gb", "1", "--dtype", "f32"],
    "float32" + JUST_WRITTEN: ["--gb", "1", "--dtype", "f32"],
    "float32, nine in ten 0": ["--gb", "1", "--dtype", "f32", "--zeros", "0.9"],
    "float32, hidden size 768": ["--gb", "0.4", "--dtype", "f32", "--small"],
}
#: The runs: name, file, options of tmeter, number of runs.
WORK = (
    ("statistics", "bf16", [STATS, *NO_SPECTRAL], 5),
    ("statistics", "bf16, nine in ten 0", [STATS, *NO_SPECTRAL], 5),
    ("statistics", "bf16, all 0", [STATS, *NO_SPECTRAL], 5),
    ("statistics", "float32", [STATS, *NO_SPECTRAL], 5),
    ("statistics", "float32" + JUST_WRITTEN, [STATS, *NO_SPECTRAL], 5),
    ("statistics", "float32, nine in ten 0", [STATS, *NO_SPECTRAL], 3),
    ("statistics with spectral norms", "bf16", [STATS, *SPECTRAL], 3),
    ("statistics", "float32, hidden size 768", [STATS, *NO_SPECTRAL], 3),
    ("statistics with spectral norms", "float32, hidden size 768", [STATS, *SPECTRAL], 2),
    ("statistics with spectral norms", "float32", [STATS, *SPECTRAL], 3),
    ("… and effective ranks up to a side of 1,024", "float32, hidden size 768", [STATS, *SPECTRAL, "--set", "param-stats.effective-rank=1024"], 2),
    ("… to 1e-6", "bf16", [STATS, *SPECTRAL, "--set", "param-stats.spectral-tolerance=1e-6"], 2),
    ("statistics, quantization-advice, pruning-advice", "bf16", [ALL, *NO_SPECTRAL], 2),
    ("statistics, 64 threads", "bf16", [STATS, *NO_SPECTRAL, "--threads", "64"], 3),
)


def make_files(folder: Path) -> dict[str, Path]:
    made = {}
    for name, arguments in FILES.items():
        made[name] = folder / (re.sub(r"\W+", "_", name) + ".safetensors")
        if not made[name].exists() or name.endswith(JUST_WRITTEN):
            command = [sys.executable, str(HERE / "make_weights.py"), str(made[name]), *arguments]
            subprocess.run(command, check=True, stdout=sys.stderr)
        settle(made[name], again=not name.endswith(JUST_WRITTEN))
    return made


def cases_of(binary: Path, files: dict[str, Path]) -> list[Case]:
    return [Case(name, [str(binary), *arguments, str(files[file])], runs) for name, file, arguments, runs in WORK]


def row(file: str, path: Path, before: Case, now: Case) -> str:
    size = path.stat().st_size / GB

    def cells(case: Case) -> str:
        if case.failure:
            return "– | – | – | –"
        processor = min(case.processor)
        return (f"{case.median:.2f} ({case.fastest:.2f}) s | {processor:.2f} s | {size / processor:.1f} GB "
                f"| {case.memory / MB:,.0f} MB")

    ratio = "–" if before.failure or now.failure else f"{min(before.processor) / min(now.processor):.1f}"
    return f"| {now.label} | {file}, {size:.2f} GB | {cells(before)} | {cells(now)} | {ratio} |"


def copied(case: Case) -> str:
    return f"`{case.label}` of the first file {case.median:.2f} ({case.fastest:.2f}) s, processor {min(case.processor):.2f} s"


def section(options: argparse.Namespace) -> str:
    files = make_files(options.work)
    load = os.getloadavg()
    before, now = cases_of(options.before, files), cases_of(options.tmeter, files)
    copies = [Case(" ".join(words), [*words, str(files[file]) if words[0] == "/bin/cat" else f"if={files[file]}"], 3)
              for file in ("bf16",) for words in (["/bin/cat"], ["/bin/dd", "bs=1M"])]
    for pair in zip(before, now):
        measure(list(pair))
    measure(copies)
    lines = [
        HEADING,
        "",
        f"`tests/bench/weights_before.py`: {options.note} and now, alternating runs, 2 threads by default, page cache warm from reading, {machine()}, "
        f"{datetime.date.today()}, load average {load[0]:.1f} at the start, {os.getloadavg()[0]:.1f} at the end. Wall: median (fastest). "
        "Processor: the smallest time of the runs, and the part of the file that one processor second covers. Two idle cores cover twice "
        "as much. On a busy machine the wall time depends on the other work.",
        "",
        "| work | file | before: wall | processor | a second | peak memory | now: wall | processor | a second | peak memory | processor, ratio |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(row(w[1], files[w[1]], b, n) for w, b, n in zip(WORK, before, now)),
        "",
        "Beside them, one thread: " + "; ".join(copied(c) for c in copies) + ".",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, required=True, help="the older tmeter")
    parser.add_argument("--note", default="before", help="a name for the older one")
    parser.add_argument("--tmeter", type=Path, default=Path("build/release/bin/tmeter"))
    parser.add_argument("--work", type=Path, help="folder that keeps the files (5 GB)")
    options = parser.parse_args()
    options.before, options.tmeter = options.before.absolute(), options.tmeter.absolute()
    with tempfile.TemporaryDirectory() as scratch:
        options.work = options.work or Path(scratch)
        options.work.mkdir(parents=True, exist_ok=True)
        text = section(options)
    print(text)


if __name__ == "__main__":
    main()
