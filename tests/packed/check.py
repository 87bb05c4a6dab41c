"""Compares `tmeter FOLDER` with the libraries' own values for their packed models: `check.py FOLDER…`, folders made by quantize.py.

Per model: parameters, stored bytes, and shape and moments of each packed weight, with config.json and without. Prints the tables of docs/dev/packed.md, or
writes them with `--page`.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TMETER = os.environ.get("TMETER", "build/release/bin/tmeter")


def stored_bytes(folder):
    """The bytes of all tensors in the folder's safetensors files."""
    total = 0
    for path in folder.glob("*.safetensors"):
        with open(path, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        total += sum(t["data_offsets"][1] - t["data_offsets"][0] for k, t in header.items() if k != "__metadata__")
    return total


def run(path):
    done = subprocess.run([TMETER, path, "--plugins=params,memory,param-stats", "--columns=all", "--report", "json"], capture_output=True, text=True,
                          timeout=120, env={**os.environ, "TMETER_PLUGIN_PATH": ""})  # fmt: skip
    if done.returncode not in (0,):
        return None, done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout), None


# Relative to the largest value. These libraries give the elements before they round scales to 16 bits, or in 16 bits.
TOLERANCES = {"auto-round": 4e-3, "nvidia-modelopt": 4e-3}


def deviations(t, expected, tolerance):
    if t["values"].get("mean") is None:
        return ["no statistics"]
    scale = max(abs(expected["min"]), abs(expected["max"]), 1e-30)
    return [f"{k} {t['values'][k]:.6g}, not {expected[k]:.6g}" for k in ("mean", "std", "min", "max") if not abs(t["values"][k] - expected[k]) <= tolerance * scale]


def differences(truth, stored, path):
    """(differences, tmeter's warnings, encodings, bits per weight)"""
    report, error = run(path)
    if not report:
        return [f"refused: {error}"], [error], {}, None
    out, totals = [], report["totals"]
    if totals["params"] != truth["params"]:
        out.append(f"params {totals['params']:,}, not {truth['params']:,}" + (f" (buffers {totals['buffers']:,})" if totals["buffers"] else ""))
    if totals["param_bytes"] + totals["buffer_bytes"] != stored:
        out.append(f"bytes {totals['param_bytes'] + totals['buffer_bytes']:,}, not {stored:,}")
    found = {t["name"]: t for t in report["tensors"]}
    wrong = {}
    others = [t for t in report["tensors"] if "encoding" in t and t["name"] not in truth["weights"]]
    tolerance = TOLERANCES.get(truth["library"], 2e-6)
    for name, expected in truth["weights"].items():
        t = found.get(name)
        if t is None:  # saved under another name
            t = next((o for o in others if o["shape"] == expected["shape"] and not deviations(o, expected, tolerance)), None)
        if t is None:
            wrong.setdefault("missing", []).append(name)
        elif t["shape"] != expected["shape"]:
            wrong.setdefault(f"shape {t['shape']}, not {expected['shape']}", []).append(name)
        elif t["values"].get("mean") is None:
            wrong.setdefault("no statistics", []).append(name)
        else:
            if bad := deviations(t, expected, tolerance):
                wrong.setdefault("values", []).append(f"{name} ({bad[0]})")
    out += [f"{len(names)} × {deviation}: {names[0]}" for deviation, names in wrong.items()]
    encodings = {}
    for t in report["tensors"]:
        if "encoding" in t:
            e = t["encoding"]
            encodings[e["id"]] = encodings.get(e["id"], 0) + 1
    return out, report["warnings"], encodings, totals.get("bits_per_weight")


def check(folder):
    truth = json.loads((folder / "truth.json").read_text())
    if "error" in truth:
        return truth, None, None
    stored = stored_bytes(folder)
    with_config = differences(truth, stored, folder)
    with tempfile.TemporaryDirectory() as alone:
        for path in folder.glob("*.safetensors*"):
            shutil.copy(path, alone)
        weights = sorted(pathlib.Path(alone).iterdir())
        without = differences(truth, stored, weights[0] if len(weights) == 1 else alone)
    return truth, with_config, without


def names(found):
    """tmeter's names of the encodings."""
    return ", ".join(f"`{e}`" for e in found[2]) or "none packed"


def outcome(truth, with_config, without):
    """The verdict on a model, and the encodings."""
    if with_config is None:
        return "not made: " + truth["error"].split(". ")[0][:90].replace("|", "/"), ""
    if with_config[0]:
        difference = re.sub(r": [a-z].*", "", with_config[0][0])
        return re.sub(r"^([0-9]+) × values$", r"counts exact; numbers of \1 weights differ", difference), names(with_config)
    unlike = without[0] if without else []
    return ("exact" if not unlike else "exact; without config.json: " + re.sub(r": [a-z].*", "", unlike[0])), names(with_config)


INTRODUCTION = """# Packed weights of the libraries

`tests/packed/quantize.py` packs five small language models with each library on a processor, as its users do, and saves them. `tests/packed/check.py
--page docs/dev/packed.md FOLDER…` compares `tmeter FOLDER` with the library's own values: the parameters of the model before packing, the bytes of all
tensors in the files, and for each weight that the library unpacks its shape, mean, deviation, minimum and maximum. *Exact* means that all of them agree,
with config.json and without, within 2·10⁻⁶ of a weight's largest value. For auto-round and modelopt the tolerance is 4·10⁻³, because their values belong to
the weights before scales are rounded.

Models: `llama` (128 wide, untied), `tied`, `odd` (96 and 200 wide: groups of 64 and 128 do not divide the rows), `mixtral`, `qwen3_moe`. Where a library
refuses a model, the row has its message. When modelopt saves, it gives q, k and v one scale and folds the factors of AWQ into the weights. Its values are
taken before that, so those weights differ.

Not compared: gptqmodel 7.7.0 ends with `Tensor.item() cannot be called on meta tensors` on a processor. autoawq 0.2.7.post3 needs Triton; its packing is in
`tests/fixtures/make_packed.py`. amd-quark 0.13 has not been tried.

"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    page = INTRODUCTION
    for top in options.folders:
        rows, version = {}, None
        for path in sorted(top.glob("*/truth.json")):
            truth, with_config, without = check(path.parent)
            version = f"{truth['library']} {truth['version']}"
            text, packed = outcome(truth, with_config, without)
            rows.setdefault((truth["scheme"], text), [packed, []])[1].append(truth["model"])
        page += f"## {version}\n| scheme | encodings | models | tmeter |\n|---|---|---|---|\n"
        for (scheme, text), (packed, models) in rows.items():
            page += f"| {scheme} | {packed} | {', '.join(models)} | {text} |\n"
        page += "\n"
    if options.page:
        options.page.write_text(page.rstrip("\n") + "\n")
    else:
        print(page)


if __name__ == "__main__":
    sys.exit(main())
