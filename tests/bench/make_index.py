"""A weightless mixture of experts in 64 shards with an index, like the largest checkpoints: `make_index.py TENSORS INDEX`.

INDEX is the path of model.safetensors.index.json; its shards are in the same folder, and their elements are holes.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "blueprint"))
from folders import write_folder  # noqa: E402

EXPERTS, SHARDS = 384, 64


def names(count):
    parts = ("gate_proj", "up_proj", "down_proj")
    for i in range(count):
        expert, layer = i // len(parts) % EXPERTS, i // (len(parts) * EXPERTS)
        yield f"language_model.model.layers.{layer}.mlp.experts.{expert}.{parts[i % len(parts)]}.weight"


if __name__ == "__main__":
    index = pathlib.Path(sys.argv[2])
    write_folder(index.parent, None, {name: ("bfloat16", [64, 64]) for name in names(int(sys.argv[1]))}, shards=SHARDS)
    assert index.exists(), index
