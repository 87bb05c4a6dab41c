"""Compares the time and memory of tmeter with those of other tools.

    /usr/bin/python3 bench.py --tmeter build/release/bin/tmeter --python VENV/bin/python \\
        --output docs/benchmarks.md

Needs only the standard library. ``--python`` is an interpreter with ``requirements.txt`` installed;
without it the other tools are left out. Writes a Markdown page and prints it.
"""

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import budget
from measure import Case, empty_process, measure
from weights import weights_section

HERE = Path(__file__).parent
PEERS = ("torchinfo", "fvcore", "flop_counter", "thop", "ptflops", "calflops", "torchmeter")
PEER_PACKAGES = ("torch", "torchvision", "torchinfo", "fvcore", "thop", "ptflops", "calflops",
                 "torchmeter")
PLUGINS = "--plugins=params,flops,memory"
RUNNING = ("resnet50.pt2", "mobilenet_v2.pt2", "vit_b_16.pt2")
MB = 1e6

#: The forms of a ResNet-50: a file below models/.
RESNETS = ("resnet50.pt2", "resnet50.scripted.pt", "resnet50.traced.pt")
LARGE_NODES = (1_000, 10_000, 100_000)


def tmeter_case(options, label: str, model: Path, repeat: int | None = None) -> Case:
    return Case(label, [str(options.tmeter), PLUGINS, str(model)], repeat or options.repeat)


def tools_section(options) -> list[str]:
    """tmeter on each form of a ResNet-50, and the Python tools, one process each."""
    models = options.fixtures / "models"
    ours = [tmeter_case(options, f"tmeter, {f}", models / f) for f in RESNETS]
    theirs = []
    if options.python:
        python = str(options.python)
        bare = [python, "-c", "import torch, torchvision"]
        theirs = [Case("`import torch, torchvision`", bare, options.peer_repeat)] + [
            Case(tool, [python, str(HERE / "peers.py"), tool, "resnet50"], options.peer_repeat)
            for tool in PEERS
        ]
    measure(ours + theirs)
    lines = [
        "## A ResNet-50, 1 × 3 × 224 × 224",
        "",
        "| process | median | fastest | × tmeter | peak memory | × tmeter | params | MACs |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    base = ours[0]
    if base.failure:
        sys.exit(f"bench: {' '.join(base.command)}: {base.failure}")
    for case in measured(ours + theirs):
        params, macs = answer_of(options, case)
        lines.append(
            f"| {case.label} | {ms(case.median)} | {ms(case.fastest)} "
            f"| {case.median / base.median:,.1f} | {megabytes(case, options.floor)} "
            f"| {case.memory / base.memory:,.1f} | {params} | {macs} |"
        )
    lines += [
        "",
        "The Python tools build the model from its source with random weights and run it; tmeter "
        "reads a file. Their values are printed as the tools print them.",
    ]
    if options.python:
        lines.append(f"Versions: {peer_versions(options.python)}.")
    return lines + failures(ours + theirs)


def budget_section(options) -> list[str]:
    """The table of `./dev budget`, including a million operators."""
    lines = ["## Budgets", "",
             "`./dev budget --all`: the best of several runs counts, as other work on a machine only adds time; throughput is 2 × size / "
             "processor time. The tests check the same limits.", "", *budget.HEAD]
    return lines + [budget.row(one, budget.run(one, options.tmeter, options.work)) for one in budget.BUDGETS]


def scaling_section(options) -> list[str]:
    """Synthetic ``.pt2`` files of growing size: time should grow linearly with the operators."""
    lines = [
        "## Large graphs",
        "",
        "Chained GPT-2 blocks (`tests/bench/make_large.py`).",
        "",
        "| operators | file | median | fastest | per operator | peak memory |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    files = [large_file(options.work, nodes) for nodes in LARGE_NODES]
    cases = [
        tmeter_case(options, f"{nodes:,}", file, max(3, options.repeat * 1_000 // nodes))
        for nodes, file in zip(LARGE_NODES, files)
    ]
    measure(cases)
    lines += [
        f"| {case.label} | {file.stat().st_size / MB:,.1f} MB | {ms(case.median)} | {ms(case.fastest)} "
        f"| {case.median / nodes * 1e6:.2f} µs | {megabytes(case, options.floor)} |"
        for case, file, nodes in zip(cases, files, LARGE_NODES) if not case.failure
    ]
    return lines + failures(cases)


def running_section(options) -> list[str]:
    """Times of a run from tmeter's report; executor_bench.cpp times LibTorch's own forward."""
    lines = ["## Running", "",
             "`--inference` with random weights: the median of whole runs, beside the prediction of `--hardware auto`.", "",
             "| model | operators | measured | predicted |", "|---|--:|--:|--:|"]
    for file in RUNNING:
        command = [str(options.tmeter), "--inference", "--plugins=roofline,latency", "--hardware=auto", "--run-for=3s", "--report=json",
                   str(options.fixtures / "models" / file)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if done.returncode:
            lines += ["", f"- Not measured: {file}: {done.stderr.strip()[-300:]}"]
            continue
        report = json.loads(done.stdout)
        totals = report["totals"]
        lines.append(f"| {file} | {len(report['nodes'])} | {ms(totals['infer_time'])} | {ms(totals['predicted_time'])} |")
    return lines


REPEAT = """## How to repeat

`./dev bench` measures this page (ten minutes with the Python tools; `TMETER_BENCH_PYTHON` names an environment that has them),
`./dev budget` the budgets alone, `./dev build-time` the build ([dev/build.md](dev/build.md)). Leave the machine alone meanwhile.
`tests/bench/README.md` lists the other programs. Experiments and their decisions: [dev/](dev/README.md)."""


def repeat_section(_) -> list[str]:
    return REPEAT.splitlines()


def measured(cases: list[Case]) -> list[Case]:
    return [case for case in cases if not case.failure]


def failures(cases: list[Case]) -> list[str]:
    """Failures are listed below the table, never silently left out."""
    failed = [f"- Not measured: {case.label}: {case.failure}" for case in cases if case.failure]
    return ["", *failed] if failed else []


def large_file(folder: Path, nodes: int) -> Path:
    """Made by another process, because this process would keep the gigabyte that it takes."""
    path = folder / f"large_{nodes}.pt2"
    if not path.exists():
        script = str(HERE / "make_large.py")
        subprocess.run([sys.executable, script, str(nodes), str(path)], check=True,
                       stdout=sys.stderr)
    return path


def answer_of(options, case: Case) -> tuple[str, str]:
    """Parameters and multiply-adds as the tool itself states them. tmeter needs a separate run for them,
    because the measured run prints a report for people."""
    if match := re.search(r"params=(\d+) macs=(\d+)", case.output):
        return f"{int(match[1]):,}", f"{int(match[2]):,}"
    if case.command[0] != str(options.tmeter):
        return "–", "–"
    command = [case.command[0], "--report=json", *case.command[1:]]
    report = subprocess.run(command, capture_output=True, text=True, errors="replace").stdout
    try:
        totals = json.loads(report)["totals"]
        return f"{int(totals['params']):,}", f"{int(totals['macs']):,}"
    except (ValueError, KeyError, TypeError):
        return "–", "–"


def peer_versions(python: Path) -> str:
    code = (
        "from importlib.metadata import version\n"
        f"print(', '.join(n + ' ' + version(n) for n in {PEER_PACKAGES!r}))"
    )
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def machine() -> str:
    cpu = next(
        (line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
         if line.startswith("model name")),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} × {cpu}, {memory:.0f} GiB, Linux {platform.release()}"


def header(options, empty: Case) -> list[str]:
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return [
        "# Benchmarks",
        "",
        "Written by `./dev bench` (`tests/bench/bench.py`); do not edit.",
        "",
        f"Whole processes, warm page cache, {options.repeat} runs (the Python tools "
        f"{options.peer_repeat}), interleaved, on {machine()}, {datetime.date.today()}. "
        f"Load average at the start: {load}. "
        f"An empty process takes {ms(empty.median)} and {empty.memory / MB:.1f} MB by this measurement.",
    ]


def ms(seconds: float) -> str:
    value = seconds * 1e3
    return f"{value:,.1f} ms" if value < 100 else f"{value:,.0f} ms"


def megabytes(case: Case, floor: float) -> str:
    at_floor = "≤ " if case.memory <= floor * 1.05 else ""
    return f"{at_floor}{case.memory / MB:,.1f} MB"


SECTIONS = {"tools": tools_section, "budget": budget_section, "graphs": scaling_section, "weights": weights_section,
            "running": running_section, "repeat": repeat_section}


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tmeter", type=Path, default=Path("build/release/bin/tmeter"))
    parser.add_argument("--python", type=Path, help="interpreter that has the other tools")
    parser.add_argument("--fixtures", type=Path, default=HERE.parent / "fixtures")
    parser.add_argument("--output", type=Path, help="Markdown file to write")
    parser.add_argument("--work", type=Path, help="folder that keeps the large models")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="this section alone")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--peer-repeat", type=int, default=5)
    options = parser.parse_args()
    options.tmeter = options.tmeter.absolute()
    if options.python:
        options.python = options.python.absolute()  # resolve() would leave the environment
    return options


def main() -> None:
    options = parse_options()
    with tempfile.TemporaryDirectory() as scratch:
        options.work = options.work or Path(scratch)
        options.work.mkdir(parents=True, exist_ok=True)
        empty = empty_process()
        options.floor = empty.memory
        parts = [header(options, empty)]
        chosen = [s for s in SECTIONS if not options.only or s in options.only]
        for section in (SECTIONS[name] for name in chosen):
            print(f"{section.__name__} …", file=sys.stderr, flush=True)
            parts.append(section(options))
    page = "\n\n".join("\n".join(lines) for lines in parts) + "\n"
    print(page)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(page)


if __name__ == "__main__":
    main()
