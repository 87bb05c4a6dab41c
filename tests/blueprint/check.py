"""Compares `tmeter FOLDER` with transformers' own values for the same model: `check.py TRUTH.json [TYPE…]`.

A type is "said" if tmeter refuses the folder or its report names an unknown part. Otherwise it is exact if parameters, products
at each size and the bytes of the cache equal the library's, and WRONG if they do not. Every type of the recorded file must be
exact, with its module's names and with those of its checkpoints.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from folders import rows_of, tensors_of, write_folder

TMETER = os.environ.get("TMETER", "build/release/bin/tmeter")
NAMES = {"decoder": ("batch", "sequence"), "encoder": ("batch", "sequence"), "base": ("batch", "sequence"), "towers": ("batch", "sequence"),
         "pair": ("batch", "sequence", "encoder_sequence"), "image": ("batch",), "speech": ("batch", "sequence"), "audio": ("batch", "samples")}  # fmt: skip


def run(folder, bindings):
    binds = [x for name, value in bindings for x in ("--bind", f"{name}={value}")]
    done = subprocess.run([TMETER, folder, "--plugins=params,flops,language-model", "--report", "json", *binds], capture_output=True, text=True,
                          timeout=60, env={**os.environ, "TMETER_PLUGIN_PATH": ""})  # fmt: skip
    if done.returncode not in (0, 5):
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"
    return json.loads(done.stdout), None


def total(report, metric):
    return report["totals"].get(metric)


def check(row, rows):
    folder = tempfile.mkdtemp(prefix="tmeter-blueprint-")
    try:
        write_folder(folder, row["config"], tensors_of(rows))
        wrong = []
        for r in row["runs"] if rows is row["tensors"] else row["runs"][:1]:
            size = r["size"] if isinstance(r["size"], list) else [r["size"]]
            report, refused = run(folder, list(zip(NAMES.get(row["kind"], ("batch",)), size)))
            if refused:
                # A folder reported as weights alone has no symbols to bind.
                return "said", refused
            unknown_part = unknown_part_of(report)
            if unknown_part:
                return "said", unknown_part
            got = {"params": total(report, "params"), "macs": total(report, "macs")}
            expected = {"params": row["params"], "macs": r["flops"] / 2}
            if row["kind"] in ("decoder", "pair", "speech") or r.get("cache"):
                got["kv"], got["state"] = total(report, "kv_cache_bytes") or 0, total(report, "state_bytes") or 0
                expected["kv"], expected["state"] = (r.get("cache") or [0, 0])[:2]
            wrong += [f"{size} {k}: {got[k]} instead of {expected[k]}" for k in expected if got[k] != expected[k]]
        return ("WRONG", "; ".join(wrong[:3])) if wrong else ("exact", "")
    except unittest.SkipTest as reason:
        return "skipped", str(reason)
    finally:
        shutil.rmtree(folder)


def unknown_part_of(report):
    if not report["nodes"]:
        return "weights alone: " + " ".join(map(str, report["warnings"]))
    if report["coverage"]["unknown"]:
        return f"unknown operators: {report['coverage']['unknown_ops']}"
    return None


def main():
    types = sys.argv[2:]
    counts = {}
    for row in rows_of(sys.argv[1]):
        if "runs" not in row or types and row["type"] not in types:
            continue
        for key in ("tensors", "saved_tensors"):
            if key in row:
                result, why = check(row, row[key])
                label = result + (" saved" if key == "saved_tensors" else "")
                counts.setdefault(label, []).append(row["type"])
                print(f"{label:12} {row['kind']:8} {row['type']:24} {why[:230]}", flush=True)
    print({k: len(v) for k, v in counts.items()})
    not_so = {t for k, v in counts.items() if not k.startswith(("exact", "skipped")) for t in v}
    with open(os.environ.get("CHECKED", "/dev/null"), "w") as f:
        json.dump(counts, f)
    return 1 if not_so and not types else 0


if __name__ == "__main__":
    sys.exit(main())
