"""A GGUF file of one type's blocks: `make_blocks.py TYPE FILE`. Eight matrices 4,096 × 4,096 with random codes and finite scales."""
import pathlib
import random
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from gguf_writer import model  # noqa: E402

SIDE, MATRICES = 4096, 8
SCALE = struct.pack("<e", 0.01)
# Type → its number, elements of a block, the parts of a block: fixed bytes, or a number of random ones.
TYPES = {"Q4_K": (12, 256, (SCALE, SCALE, 12, 128)), "Q6_K": (14, 256, (128, 64, 16, SCALE)), "Q8_0": (8, 32, (SCALE, 32))}


def matrix(elements, parts):
    source = random.Random(1)
    part = [p if isinstance(p, bytes) else None for p in parts]
    return b"".join(p or source.randbytes(n) for _ in range(SIDE * SIDE // elements) for p, n in zip(part, parts))


if __name__ == "__main__":
    kind, elements, parts = TYPES[sys.argv[1]]
    content = matrix(elements, parts)
    pathlib.Path(sys.argv[2]).write_bytes(model({f"blk.{i}.ffn_up.weight": ((SIDE, SIDE), kind, content) for i in range(MATRICES)}))
