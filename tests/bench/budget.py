"""Budgets of tmeter: time, memory and throughput of whole processes, one table row each.

    python3 tests/bench/budget.py --tmeter build/release/bin/tmeter [--all]

Prints the table and exits with 1 if a budget is exceeded. `--all` adds the rows that take minutes (a million operators).
The best run of a row counts, because other work on the machine only adds time. Runs stop as soon as the budget holds. If the machine
is slower than the reference machine, limits of time grow in proportion (`slowness` measures two fixed tasks).
"""
import argparse
import random
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from build_time import REFERENCE_SECONDS, reference as compile_fixed_file
from measure import run_once

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "predictions"))
from served import write_llama  # noqa: E402

MODELS = HERE.parent / "fixtures" / "models"
GRAPH = ("--plugins=params,flops,memory",)
STATISTICS = ("--plugins=param-stats", "--threads=2")
JSON = "{work}/report.json"
EVERYTHING = ("--full", "--inference", *(f"--report={{work}}/all.{kind}" for kind in ("txt", "html", "xml", "json")))
SIZE = 0.5  # GB of weights
COMPRESSION_SECONDS = 0.045  # on an idle AMD EPYC (Zen 4)
FEWEST, MOST = 3, 15  # runs of a row


@dataclass(frozen=True)
class Budget:
    name: str
    # A file of tests/fixtures/models, "N operators", "N tensors", "TYPE weights", "TYPE blocks" or "LAYERS layers": a folder of Llama 3.1 405B.
    model: str
    arguments: tuple = GRAPH
    seconds: float = 0  # 0: no limit
    megabytes: float = 0
    rate: float = 0  # GB/s on two processors: 2 x size / processor time
    slow: bool = False  # of --all


BUDGETS = (
    Budget("ResNet-50, `.pt2`", "resnet50.pt2", seconds=0.015, megabytes=30),
    Budget("ResNet-50, TorchScript, scripted", "resnet50.scripted.pt", seconds=0.3, megabytes=180),
    Budget("ResNet-50, TorchScript, traced", "resnet50.traced.pt", seconds=0.3, megabytes=180),
    Budget("ResNet-50, scripted: everything, with runs", "resnet50.scripted.pt", EVERYTHING, seconds=40, slow=True),
    Budget("1,000 operators", "1000 operators", seconds=0.014),
    Budget("100,000 operators, text and JSON", "100000 operators", (*GRAPH, "--report=text", f"--report=json={JSON}"), seconds=0.7),
    Budget("a million operators, text and JSON", "1000000 operators", (*GRAPH, "--report=text", f"--report=json={JSON}"), seconds=9, megabytes=2500,
           slow=True),
    Budget("an index of 500,000 tensors", "500000 tensors", (), seconds=1.5, megabytes=1000, slow=True),
    Budget("Llama 3.1 405B without weights, serving and fit", "126 layers", ("--plugins=serving,fit", "--hardware=nvidia-h100-sxm"), seconds=0.1),
    Budget("statistics of bfloat16", "bf16 weights", STATISTICS, megabytes=200, rate=6),
    Budget("statistics of float32", "f32 weights", STATISTICS, megabytes=200, rate=3),
    *(Budget(f"statistics of {kind}, GGUF", f"{kind} blocks", STATISTICS, megabytes=200, rate=1.5) for kind in ("Q4_K", "Q6_K", "Q8_0")),
)


@dataclass
class Measured:
    seconds: float
    megabytes: float
    rate: float
    slowness: float
    missed: list  # descriptions of the exceeded limits


def slowness():
    """How much slower than the reference machine this one is at the moment; at least 1.

    Compression uses only the first caches. A compiler waits for memory, faults pages in and starts processes, like tmeter.
    A machine may be slow at the second task alone: docs/dev/large-graphs.md, "the speed of a machine".
    """
    with tempfile.TemporaryDirectory() as folder:
        compilation = compile_fixed_file(Path(folder))
    return max(1.0, compression_seconds() / COMPRESSION_SECONDS, compilation / REFERENCE_SECONDS)


def compression_seconds():
    text = random.Random(1).randbytes(1 << 20).translate(bytes(i & 15 for i in range(256)))
    best = float("inf")
    with ThreadPoolExecutor(2) as threads:
        for _ in range(3):
            begin = time.perf_counter()
            list(threads.map(lambda _: zlib.compress(text, 6), range(2)))  # zlib releases Python's lock
            best = min(best, time.perf_counter() - begin)
    return best


def model(budget, work):
    """The file, made on the first call."""
    prefix, _, kind = budget.model.partition(" ")
    if not kind:
        return MODELS / prefix
    if kind == "layers":
        path = work / f"llama_{prefix}"
        if not path.exists():
            path.mkdir()
            shape = {"layers": int(prefix), "hidden": 16384, "feed-forward": 53248, "key-heads": 8, "vocabulary": 128256}
            write_llama(path, shape, "bfloat16")
        return path
    if kind == "operators":
        path, command = work / f"large_{prefix}.pt2", [str(HERE / "make_large.py"), prefix]
    elif kind == "tensors":
        path, command = work / f"index_{prefix}" / "model.safetensors.index.json", [str(HERE / "make_index.py"), prefix]
    elif kind == "blocks":
        path, command = work / f"{prefix}.gguf", [str(HERE / "make_blocks.py"), prefix]
    else:
        path, command = work / f"weights_{prefix}.safetensors", [str(HERE / "make_weights.py"), "--gb", str(SIZE), "--dtype", prefix]
    if not path.exists():
        subprocess.run([sys.executable, *command, str(path)], check=True, stdout=subprocess.DEVNULL)
    return path


def misses(budget, best, factor):
    found = []
    if budget.seconds and best.seconds > budget.seconds * factor:
        found.append(f"{best.seconds * 1e3:.1f} ms, {budget.seconds * factor * 1e3:.1f} ms allowed")
    if budget.megabytes and best.megabytes > budget.megabytes:
        found.append(f"{best.megabytes:.0f} MB, {budget.megabytes:.0f} MB allowed")
    if budget.rate and best.rate < budget.rate / factor:
        found.append(f"{best.rate:.2f} GB/s, {budget.rate / factor:.2f} GB/s required")
    return found


def run(budget, tmeter, work, fewest=FEWEST):
    """The best of `fewest` runs, and of more while a limit does not hold."""
    path = model(budget, work)
    command = [str(tmeter), *(argument.format(work=work) for argument in budget.arguments), str(path)]
    run_once(command)  # fills the page cache
    best = Measured(float("inf"), float("inf"), 0, slowness(), ["not run"])
    count = 0
    most = MOST if not budget.slow else fewest
    while count < fewest or (best.missed and count < most):
        seconds, peak, processor, _ = run_once(command)
        count += 1
        best.seconds, best.megabytes = min(best.seconds, seconds), min(best.megabytes, peak / 1e6)
        best.rate = max(best.rate, 2 * path.stat().st_size / 1e9 / processor if budget.rate else 0)
        best.missed = misses(budget, best, best.slowness)
        if best.missed:
            best.slowness = max(best.slowness, slowness())
            best.missed = misses(budget, best, best.slowness)
    return best


def milliseconds(seconds):
    return f"{seconds * 1e3:,.1f} ms" if seconds < 0.1 else f"{seconds * 1e3:,.0f} ms" if seconds < 1 else f"{seconds:,.2f} s"


HEAD = ["| work | time | budget | peak memory | budget | throughput | budget | holds |", "|---|--:|--:|--:|--:|--:|--:|---|"]


def row(budget, best):
    cells = [budget.name,
             milliseconds(best.seconds), f"≤ {milliseconds(budget.seconds)}" if budget.seconds else "",
             f"{best.megabytes:,.0f} MB", f"≤ {budget.megabytes:,.0f} MB" if budget.megabytes else "",
             f"{best.rate:.1f} GB/s" if budget.rate else "", f"≥ {budget.rate:g} GB/s" if budget.rate else "",
             "**no**: " + "; ".join(best.missed) if best.missed else "yes" if best.slowness < 1.05 else f"yes, machine {best.slowness:.1f} × slower"]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tmeter", type=Path, default=Path("build/release/bin/tmeter"))
    parser.add_argument("--work", type=Path, help="folder that keeps the files (1.2 GB, with --all 2.8 GB)")
    parser.add_argument("--all", action="store_true", help="also a million operators, 500,000 tensors and a full report with runs")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        print("\n".join(HEAD), flush=True)
        for budget in BUDGETS:
            if options.all or not budget.slow:
                best = run(budget, options.tmeter.absolute(), work)
                failed = failed or bool(best.missed)
                print(row(budget, best), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
