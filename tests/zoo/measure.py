"""Runs tmeter on every file in the cache; the answers go to `measured.json` in the same folder."""

import collections
import json
import subprocess
import time
from pathlib import Path

TIMEOUT = 120
PLUGINS = "--plugins=params,flops"


def measure(tmeter: Path, cache: Path, ids: list[str]) -> dict:
    """{id: {form: answer}}; rows outside of the selection keep their earlier answers."""
    path = cache / "measured.json"
    answers = json.loads(path.read_text()) if path.exists() else {}
    for id in ids:
        record = read_record(cache, id)
        answers[id] = {}
        for form, result in record.items():
            if isinstance(result, dict) and "file" in result:
                answers[id][form] = measure_file(tmeter, cache / id / result["file"], record)
        save(path, answers)  # after each model, so that an interrupted run keeps its answers
    return answers


def save(path: Path, answers: dict) -> None:
    path.with_suffix(".new").write_text(json.dumps(answers))
    path.with_suffix(".new").replace(path)


def version(tmeter: Path) -> str:
    return subprocess.run([tmeter, "--version"], capture_output=True, text=True).stdout.split("\n")[0].strip()


def read_record(cache: Path, id: str) -> dict:
    path = cache / id / "record.json"
    return json.loads(path.read_text()) if path.exists() else {}


def measure_file(tmeter: Path, file: Path, record: dict) -> dict:
    """Scripted files do not record inputs, so they are analysed twice: with given inputs, and without."""
    if file.suffix == ".pt2":
        return answer_of(tmeter, file, [])
    answer = answer_of(tmeter, file, input_options(record))
    alone = answer_of(tmeter, file, [])
    answer["without_input"] = {
        k: alone.get(k) for k in ("status", "macs", "inputs", "message") if alone.get(k) is not None
    }
    return answer


def input_options(record: dict) -> list[str]:
    return [
        option
        for i in record.get("reference", {}).get("inputs", [])
        for option in ("--input", "x".join(map(str, i["shape"])) + ":" + i["dtype"])
    ]


def answer_of(tmeter: Path, file: Path, options: list[str]) -> dict:
    command = [str(tmeter), PLUGINS, "--report=json", *options, str(file)]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"status": None, "message": f"no answer within {TIMEOUT} s", "seconds": TIMEOUT}
    answer = {"status": done.returncode, "seconds": round(time.perf_counter() - start, 4)}
    if done.returncode != 0:
        return answer | {"message": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    report = json.loads(done.stdout)
    by_operator = collections.Counter()
    for node in report["nodes"]:
        by_operator[node["op"]] += node["values"].get("macs") or 0
    return answer | {
        "params": report["totals"]["params"],
        "macs": report["totals"]["macs"],
        "unknown": report["coverage"]["unknown_ops"],
        "warnings": report["warnings"],
        "nodes": len(report["nodes"]),
        "inputs": [{k: i.get(k) for k in ("origin", "shape", "dtype")} for i in report["inputs"]],
        "macs_by_operator": {op: macs for op, macs in sorted(by_operator.items()) if macs},
    }
