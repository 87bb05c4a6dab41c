"""Sharded checkpoints for tests, and the comparison of their merged reports with one run over the whole."""

import json
import struct

#: Metrics of modules and the model that may differ in the last digits. All others are equal.
ROUNDED = {"mean", "std", "skewness", "kurtosis", "l1_norm", "l2_norm"}


def _file(path, entries, data):
    text = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def write(path, tensors):
    """{name: (shape, float32 elements)} as a safetensors file."""
    entries, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        packed = struct.pack(f"<{len(numbers)}f", *numbers)
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    return _file(path, entries, data)


def large(size):
    """The header of a safetensors file with one tensor of `size` bytes, a hole, and the file's size."""
    header = json.dumps({"a.weight": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    return len(header).to_bytes(8, "little") + header, 8 + len(header) + size


def cut(model, folder, count):
    """Distributes the tensors of a safetensors file over `count` shards; returns their index."""
    raw = model.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header, body = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    header.pop("__metadata__", None)
    folder.mkdir()
    names, where = list(header), {}
    for i in range(count):
        file = f"model-{i + 1:05}-of-{count:05}.safetensors"
        entries, data = {}, b""
        for name in names[i::count]:
            begin, end = header[name]["data_offsets"]
            entries[name] = {**header[name], "data_offsets": [len(data), len(data) + end - begin]}
            data += body[begin:end]
            where[name] = file
        _file(folder / file, entries, data)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": where}))
    return index


def assert_same_values(whole, merged):
    """Compares all tensors, all modules and the model to the precision of merging."""
    compared = 0
    for table, key in (("tensors", "name"), ("modules", "path")):
        assert [row[key] for row in whole[table]] == [row[key] for row in merged[table]]
        for a, b in zip(whole[table], merged[table]):
            compared += _compare(a["values"], b["values"], table == "tensors", a[key], len(whole["tensors"]))
    compared += _compare(whole["totals"], merged["totals"], False, "totals", len(whole["tensors"]))
    assert whole["totals_status"] == merged["totals_status"]
    assert compared > 500


def _compare(a, b, exact, where, tensors):
    assert set(a) == set(b), where
    for metric, x in a.items():
        y = b[metric]
        if exact or None in (x, y) or metric not in {*ROUNDED, "coded_bytes", "coded_ratio"}:
            assert x == y, (where, metric)
        elif metric in ROUNDED:
            assert abs(x - y) <= 1e-12 * max(abs(x), 1e-3), (where, metric, x, y)
        elif metric == "coded_bytes":  # rounded up for each tensor
            assert x <= y <= x + tensors, (where, metric, x, y)
    return len(a)
