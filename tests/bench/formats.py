#!/usr/bin/env python3
"""Compares a run that writes ten report formats with one that writes text alone, on a ResNet-50.

usage: formats.py --tmeter TMETER [--repeat 40] [MODEL]

Runs alternate, so that a slow minute affects both. Then each format runs alone with text, to
show its share. Prints medians and minima of wall time and of the processor time of all processes.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
RESNET = HERE.parent / "fixtures/models/resnet50.pt2"
FILES = {"json": "json", "xml": "xml", "html": "html", "csv": "csv", "markdown": "md", "dot": "dot",
         "netron": "netron.json", "full-text": "txt", "fvcore-json": "fvcore.json"}
BUDGET = 0.060  # seconds that ten formats may add


def run(command):
    """Wall seconds and processor seconds, including children."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command}: exit status {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime


def ms(values):
    return f"{1000 * statistics.median(values):.1f} ms | {1000 * min(values):.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tmeter", required=True)
    parser.add_argument("--repeat", type=int, default=40)
    parser.add_argument("model", nargs="?", default=str(RESNET))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        def command(formats):
            reports = [f"--report={name}={folder}/report.{FILES[name]}" for name in formats]
            return [options.tmeter, options.model, "--report", "text", *reports]
        cases = {"text": command([]), "all ten": command(FILES), **{f"text and {name}": command([name]) for name in FILES}}
        samples = {label: [] for label in cases}
        for _ in range(options.repeat):
            for label, case in cases.items():
                samples[label].append(run(case))
        print("| reports | wall, median | fastest | processor, median | fastest | bytes |\n|---|--:|--:|--:|--:|--:|")
        for label, pairs in samples.items():
            wall, processor = zip(*pairs)
            name = label.removeprefix("text and ")
            size = (pathlib.Path(folder) / f"report.{FILES[name]}").stat().st_size if name in FILES else None
            print(f"| {label} | {ms(wall)} | {ms(processor)} | {f'{size:,}' if size else ''} |")
    more = [b[0] - a[0] for a, b in zip(samples["text"], samples["all ten"])]
    print(f"\nTen formats take {1000 * statistics.median(more):.1f} ms more than text alone (median of "
          f"{options.repeat} pairs; fastest {1000 * min(more):.1f} ms); budget ≤ {1000 * BUDGET:.0f} ms: "
          f"{'yes' if statistics.median(more) <= BUDGET else 'no'}")


if __name__ == "__main__":
    main()
