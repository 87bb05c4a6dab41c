#!/usr/bin/env python3
"""Errors of predictions compared with runs: time by the roofline, memory by the graph.

usage: predicted.py --tmeter TMETER [--hardware auto] [--threads N] [--run-for 10s] [--memory] [MODEL.pt2 …]

Each model is run once by `tmeter --inference` (random weights where the file lacks them), which reports
predictions and measurements side by side. Prints a row for each model, and the medians. The default
models are those of tests/fixtures/models that are exported from well-known networks. --memory: only the peak of memory,
from one run of each; other work on the machine does not change it.
"""
import argparse
import json
import pathlib
import statistics
import subprocess

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/models"
ALLOWED = 0.10  # of the peak of memory


def run(options, model):
    command = [options.tmeter, model, "--inference", "--threads", options.threads, "--report", "json"]
    if options.memory:
        command += ["--run-for", "0.5s", "--plugins=memory,allocations,-latency"]
    else:
        command += ["--run-for", options.run_for, "--hardware", options.hardware, "--plugins=params,flops,memory,roofline"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout), ""


def row(model, report):
    totals = report["totals"]
    measured, predicted = totals["infer_time"], totals["predicted_time"]
    peak, predicted_peak = totals["measured_peak_bytes"], totals["predicted_peak_bytes"]
    operators = totals["op_time"] / measured - 1
    return {"model": pathlib.Path(model).name, "operators": len(report["nodes"]), "measured": measured,
            "predicted": predicted, "error": predicted / measured - 1, "sum": operators,
            "peak": peak, "memory": predicted_peak / peak - 1 if peak else 0.0}


def compare_memory(options, models):
    print("| model | peak, measured | predicted | off by |\n|---|--:|--:|--:|")
    errors = []
    for model in models:
        report, why = run(options, model)
        name = pathlib.Path(model).name
        totals = report["totals"] if report else {}
        if not totals.get("measured_peak_bytes") or totals.get("predicted_peak_bytes") is None:
            print(f"| {name} | {why or 'not known'} | | |")
            continue
        measured, predicted = totals["measured_peak_bytes"], totals["predicted_peak_bytes"]
        errors.append(predicted / measured - 1)
        print(f"| {name} | {measured:,} | {predicted:,} | {errors[-1]:+.2%} |", flush=True)
    within = sum(abs(e) <= ALLOWED for e in errors)
    print(f"\n{within} of {len(errors)} within {ALLOWED:.0%}, {sum(abs(e) <= 0.001 for e in errors)} within 0.1%")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tmeter", required=True)
    parser.add_argument("--hardware", default="auto")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--run-for", default="10s")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    models = options.models or sorted(str(p) for p in FIXTURES.glob("*.pt2"))
    if options.memory:
        return compare_memory(options, models)
    rows = []
    print("| model | operators | measured | predicted | off by | operators' times, off the whole | peak, measured | predicted, off by |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for model in models:
        report, why = run(options, model)
        if report is None:
            print(f"| {pathlib.Path(model).name} | – | {why} | | | | | |")
            continue
        rows.append(r := row(model, report))
        print(f"| {r['model']} | {r['operators']} | {1e3 * r['measured']:.3g} ms | {1e3 * r['predicted']:.3g} ms | {r['error']:+.0%} | "
              f"{r['sum']:+.1%} | {r['peak'] / 2**20:.2f} MiB | {r['memory']:+.1%} |", flush=True)
    if not rows:
        raise SystemExit("no model could be run")
    print(f"\n{len(rows)} models: the predicted time is off by {statistics.median(abs(r['error']) for r in rows):.0%} (median); "
          f"operators' times add up to within {statistics.median(abs(r['sum']) for r in rows):.1%} of the whole (median); the predicted peak of memory "
          f"is within {ALLOWED:.0%} of the measured one for {sum(abs(r['memory']) <= ALLOWED for r in rows)} of {len(rows)}")


if __name__ == "__main__":
    main()
