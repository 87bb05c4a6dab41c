#!/usr/bin/env python3
"""Compares the heaviest operators in tmeter's table of a run with torch.profiler's, and the sums of all operators.

usage: operator_ranking.py --tmeter TMETER [--threads N] [--rounds N] [--run-for 10s] [--op-library FILE] FOLDER [MODEL …]

FOLDER has the TorchScript files and inputs of make_runnable.py; needs torch (and torchvision) of LibTorch's version. Each
round runs `tmeter --inference` once, then the same file under torch.profiler, on as many threads and the same input.
An operator of torch.profiler is a call of the program itself; inner calls belong to it. Times of equal operators are
summed, as in torch.profiler's table. A round's times are medians of its runs. For each operator the fastest round is
printed, because other work on the machine only adds time; for the sum the fastest and the median round. Pairs of the ten
heaviest operators in different order are listed with both times.
"""
import argparse
import collections
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HEAVIEST = 10
WARM_UP, PROFILED = 3, 9
ALLOWED = 0.05  # of the whole, for the sum of operators
IMAGE = "faster_rcnn"  # both sides generate the same list of images: random, seed 0


def tmeter_times(options, model):
    file = pathlib.Path(options.folder) / f"{model}.pt"
    inputs = ["--input=[3x320x320]", "--op-library", options.op_library] if model == IMAGE else ["--input-file", f"{file.with_suffix('')}.input.pt"]
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [options.tmeter, file, "--inference", "--threads", options.threads, "--run-for", options.run_for,
                   "--plugins=latency", *inputs, "--report", f"json={out.name}"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{model}: {done.stderr.strip()}")
        report = json.load(open(out.name))
    times = collections.Counter()
    for node in report["nodes"]:
        times[node["op"]] += node["values"]["op_time"] or 0
    totals = report["totals"]
    return times, totals["infer_time"], totals["op_time"] / totals["infer_time"] - 1


def is_operator(event):
    return event.name.startswith(("aten::", "torchvision::"))


def called_by_program(event):
    parent = event.cpu_parent
    while parent is not None:
        if is_operator(parent):
            return False
        parent = parent.cpu_parent
    return True


def profiled_times(folder, model, threads):
    import torch
    if model == IMAGE:
        import torchvision  # noqa: F401  its operators
    torch.set_num_threads(threads)
    module = torch.jit.load(f"{folder}/{model}.pt").eval()
    torch.manual_seed(0)
    inputs = [torch.rand(3, 320, 320)] if model == IMAGE else torch.load(f"{folder}/{model}.input.pt")
    runs = []
    with torch.inference_mode():
        for _ in range(WARM_UP):
            module(inputs)
        for _ in range(PROFILED):
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
                module(inputs)
            calls = collections.defaultdict(list)
            for event in profile.events():
                if is_operator(event) and called_by_program(event):
                    calls[event.name].append(event.cpu_time_total * 1e-6)
            runs.append(calls)
    # For each call the median of its runs, as in tmeter. Programs that depend on data make the same calls.
    return {name: sum(statistics.median(same) for same in zip(*(run[name] for run in runs))) for name in runs[0]}


def of_each(rounds, choose):
    names = set(itertools.chain.from_iterable(rounds))
    return {name: choose(r.get(name, 0.0) for r in rounds) for name in names}


def heaviest(times):
    return [name for name, _ in sorted(times.items(), key=lambda item: -item[1])[:HEAVIEST]]


def out_of_order(ours, theirs):
    """Pairs of the ten heaviest in different order, and the ratio of their times."""
    common = [name for name in heaviest(theirs) if name in heaviest(ours)]
    for a, b in itertools.combinations(common, 2):
        if ours[a] < ours[b]:
            yield a, b, theirs[a] / theirs[b], ours[b] / ours[a]


def compare(options, model):
    ours, sums, theirs = [], [], []
    for _ in range(options.rounds):
        times, whole, off = tmeter_times(options, model)
        ours.append(times)
        sums.append((whole, off))
        # Separate processes, so that neither warms the other's allocator.
        done = subprocess.run([sys.executable, __file__, "--profile", model, "--threads", str(options.threads), options.folder],
                              capture_output=True, text=True, check=True)
        theirs.append(json.loads(done.stdout.strip().splitlines()[-1]))
    return of_each(ours, min), (min(sums)[1], statistics.median(off for _, off in sums)), of_each(theirs, min)


def print_comparison(model, ours, off, theirs):
    expected, found = heaviest(theirs), heaviest(ours)
    print(f"\n### {model}: operators add up to the whole {off[0]:+.1%} (median round {off[1]:+.1%})\n")
    print("| torch.profiler | ms | tmeter | ms |\n|---|--:|---|--:|")
    for a, b in itertools.zip_longest(expected, found):
        left = f"{a} | {1e3 * theirs[a]:.3g}" if a else " | "
        right = f"{b} | {1e3 * ours[b]:.3g}" if b else " | "
        print(f"| {left} | {right} |")
    pairs = list(out_of_order(ours, theirs))
    print(f"\n{len(set(expected) & set(found))} of {len(expected)} in both, {sum(a == b for a, b in zip(expected, found))} at the same place; "
          f"out of order: " + (", ".join(f"{a} and {b} (torch.profiler {x:.2f} : 1, tmeter 1 : {y:.2f})" for a, b, x, y in pairs) or "none"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tmeter")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--run-for", default="10s")
    parser.add_argument("--op-library", default="", help="torchvision's operators, for faster_rcnn (torchvision/_C*.so)")
    parser.add_argument("--profile", help=argparse.SUPPRESS)
    parser.add_argument("folder")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    if options.profile:
        print(json.dumps(profiled_times(options.folder, options.profile, options.threads)))
        return
    models = options.models or sorted(p.stem for p in pathlib.Path(options.folder).glob("*.pt") if not p.stem.endswith(".input"))
    within = 0
    for model in models:
        ours, off, theirs = compare(options, model)
        within += abs(off[0]) <= ALLOWED
        print_comparison(model, ours, off, theirs)
    print(f"\noperators add up to within {ALLOWED:.0%} of the whole for {within} of {len(models)}")


if __name__ == "__main__":
    main()
