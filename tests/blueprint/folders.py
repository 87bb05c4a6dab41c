"""Weightless folders from recorded names and shapes: config.json and safetensors files whose elements are holes.

    folders.py TRUTH.json TYPE FOLDER [--saved]
"""

import itertools
import json
import os
import re
import struct
import sys
import unittest

BITS = {"float32": ("F32", 4), "bfloat16": ("BF16", 2), "float16": ("F16", 2), "int64": ("I64", 8), "bool": ("BOOL", 1),
        "int32": ("I32", 4), "uint8": ("U8", 1), "complex64": ("C64", 8), "float64": ("F64", 8), "float8_e4m3fn": ("F8_E4M3", 1)}  # fmt: skip

# The thread sanitizer leaves a process 1.5 TB of addresses, where a file of this size may find no gap.
MAX_BYTES = 1 << 39 if "thread" in os.environ.get("SANITIZE", "") else 1 << 62


def names_of(pattern, numbers):
    """The names that a row of truth.py represents."""
    if not numbers:
        return [pattern]

    def values(runs):
        out = []
        for run in runs.split(","):
            first, _, last = run.partition("-")
            out += range(int(first), int(last or first) + 1)
        return out

    if ";" in numbers or "-" not in numbers and "," not in numbers:
        combinations = [tuple(map(int, n.split("."))) for n in numbers.split(";")]
    else:
        combinations = itertools.product(*(values(p) for p in numbers.split(".")))
    names = []
    for combination in combinations:
        parts = iter(combination)
        names.append(re.sub(r"(?<=\.)#(?=\.)|^#(?=\.)", lambda _: str(next(parts)), pattern))
    return names


def tensors_of(rows):
    return {name: (dtype, shape) for pattern, dtype, shape, numbers in rows for name in names_of(pattern, numbers)}


def require_mappable(size):
    if size > MAX_BYTES:
        raise unittest.SkipTest(f"a file of {size:,} bytes cannot be mapped")


def write_safetensors(path, tensors):
    header, at = {}, 0
    for name, (dtype, shape) in sorted(tensors.items()):
        code, size = BITS[dtype]
        for n in shape:
            size *= n
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    require_mappable(at)
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.truncate(8 + len(text) + at)  # a hole


def write_folder(folder, config, tensors, shards=1):
    os.makedirs(folder, exist_ok=True)
    if config is not None:
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump(config, f)
    if shards == 1:
        return write_safetensors(os.path.join(folder, "model.safetensors"), tensors)
    weight_map, names = {}, sorted(tensors)
    for i in range(shards):
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        part = names[i::shards]
        weight_map.update(dict.fromkeys(part, file))
        write_safetensors(os.path.join(folder, file), {n: tensors[n] for n in part})
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
        json.dump({"metadata": {}, "weight_map": weight_map}, f)


def rows_of(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def main():
    truth, model_type, folder = sys.argv[1:4]
    row = next(r for r in rows_of(truth) if r.get("type") == model_type)
    rows = row.get("saved_tensors", row["tensors"]) if "--saved" in sys.argv else row["tensors"]
    write_folder(folder, row["config"], tensors_of(rows))


if __name__ == "__main__":
    main()
