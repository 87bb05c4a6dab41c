"""`tmeter MODEL.gguf` of files that llama.cpp's own converter writes: their costs equal those of transformers' models.

tests/blueprint/gguf.jsonl has metadata, names and shapes (tests/blueprint/gguf_truth.py); parameters, FLOPs of FlopCounterMode and bytes of the
cache are those of tests/blueprint/transformers.jsonl.
"""
import json
import os
import re
import sys
from collections import defaultdict
from functools import cache
from math import prod

from gguf_writer import ARRAY, TEXT, Writer, padded
from support import SOURCE, CliTest, main, report

BLUEPRINT = SOURCE / "tests" / "blueprint"
sys.path.insert(0, str(BLUEPRINT))
from folders import rows_of, tensors_of  # noqa: E402

PLUGINS = "--plugins=params,flops,language-model"
ARCHITECTURES = os.environ.get("GGUF_ARCHITECTURES", "").split()

# Parameters that the converter leaves out: two of each layer's activation curve, which become metadata; the two rows before the first position.
LEFT_OUT = {"apertus": 64, "roberta": 2 * 256, "xlm-roberta": 2 * 256}


@cache
def truth():
    rows = defaultdict(list)
    for row in rows_of(BLUEPRINT / "transformers.jsonl")[1:]:
        rows[row["type"]].append(row)
    return rows


def pairs_of(row):
    pairs = [(key, kind, tuple(value) if kind == ARRAY else value) for key, kind, value in row["metadata"]]
    return [("general.architecture", TEXT, row["arch"]), *pairs]


def params_of(row, whole):
    """The number in transformers; if the file has one tower of several, the number in the file."""
    if "runs" in row or "text_config" not in whole["config"]:
        return whole["params"] - LEFT_OUT.get(row["type"], 0)
    return sum(prod(shape) for _, shape in tensors_of(row["tensors"]).values())


class Converted(CliTest):
    def write(self, row):
        """A float32 file whose elements are holes."""
        table, at = [], 0
        for name, (_, shape) in tensors_of(row["tensors"]).items():
            table.append((name, shape, 0, at))
            at += padded(4 * prod(shape))
        header = Writer().header(pairs_of(row), table)
        return self.file_with_hole("model.gguf", header, padded(len(header)) + at)

    def test_as_transformers_counts(self):
        for row in rows_of(BLUEPRINT / "gguf.jsonl")[1:]:
            if ARCHITECTURES and row["arch"] not in ARCHITECTURES:
                continue
            with self.subTest(row["arch"], type=row["type"], row=row.get("row", row.get("model"))):
                self.assert_counts(row, row if "runs" in row else truth()[row["type"]][row["row"]])

    def assert_counts(self, row, whole):
        path, params = self.write(row), params_of(row, whole)
        for run in whole["runs"]:
            bindings = dict(zip(("batch", "sequence", "encoder_sequence"), run["size"]))
            with self.subTest(size=run["size"]):
                done = report(path, PLUGINS, *(x for name, value in bindings.items() for x in ("--bind", f"{name}={value}")))
                totals = done["totals"]
                found = {"params": totals["params"], "macs": totals["macs"], "unknown": done["coverage"]["unknown"],
                         "cache": [totals.get("kv_cache_bytes") or 0, totals.get("state_bytes") or 0]}  # fmt: skip
                self.assertEqual(found, {"params": params, "macs": run["flops"] / 2, "unknown": 0, "cache": run.get("cache") or [0, 0]}, done["warnings"])
        path.unlink()

    def test_an_inexact_architecture_is_marked(self):
        """Small files of Llama's tensors; docs/blueprint.md names the exact architectures."""
        listed = re.search(r"^\| (`.*) \| exact \|$\n^\| (`.*) \| a lower bound", (SOURCE / "docs" / "blueprint.md").read_text(), re.M)
        exact, inexact = (re.findall(r"`(.*?)`", part) for part in listed.groups())
        head, *rows = rows_of(BLUEPRINT / "gguf.jsonl")
        self.assertEqual(sorted(exact + inexact), head["architectures"])
        self.assertEqual({row["arch"] for row in rows} - set(exact), set())
        llama = next(row for row in rows if row["type"] == "xverse" or row.get("model") == "xverse")
        for arch in inexact:
            row = {**llama, "arch": arch, "metadata": [[key.replace("xverse.", f"{arch}."), *rest] for key, *rest in llama["metadata"]]}
            with self.subTest(arch):
                done = report(self.write(row), PLUGINS)
                self.assertTrue(not done["nodes"] or (done["coverage"]["unknown"] and done["totals_status"]["macs"] == "lower_bound"), done["coverage"])
                self.assertTrue(done["warnings"])


if __name__ == "__main__":
    main()
