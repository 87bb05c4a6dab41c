#!/usr/bin/env python3
"""Makes a large .safetensors of language-model-like weights, without torch or numpy.

    python3 tests/bench/make_weights.py weights.safetensors                 2.6 GB of bfloat16
    python3 tests/bench/make_weights.py w.safetensors --gb 1 --dtype f32
    python3 tests/bench/make_weights.py p.safetensors --zeros 0.9           nine in ten are 0
    python3 tests/bench/make_weights.py s.safetensors --small     hidden size 768
    python3 tests/bench/make_weights.py big.safetensors --gb 20 --sparse    holes: zeros, no disk

A decoder with hidden size 2,048 and feed-forward size 5,632 (like TinyLlama); the number of layers
follows from the size. Values are normal with a different scale for every tensor, and every 512th input
column is 20 times as large. The seed is fixed, so the file is always the same. Blocks of 64 rows are
made once and repeated, so it takes seconds.
"""
import argparse
import array
import json
import math
import pathlib
import random
import struct

HIDDEN, FEED_FORWARD, KEY_VALUE, VOCABULARY = 2048, 5632, 256, 32000
OUTLIER_EVERY = 512
BLOCK_ROWS = 64
BYTES = {"bf16": 2, "f32": 4}


def small():
    """Hidden size 768, like BERT: all singular values are computed, from Gram matrices."""
    global HIDDEN, FEED_FORWARD, KEY_VALUE
    HIDDEN, FEED_FORWARD, KEY_VALUE = 768, 3072, 768


def layer(i):
    p = f"model.layers.{i}."
    return [
        (p + "input_layernorm.weight", [HIDDEN]),
        (p + "self_attn.q_proj.weight", [HIDDEN, HIDDEN]),
        (p + "self_attn.k_proj.weight", [KEY_VALUE, HIDDEN]),
        (p + "self_attn.v_proj.weight", [KEY_VALUE, HIDDEN]),
        (p + "self_attn.o_proj.weight", [HIDDEN, HIDDEN]),
        (p + "post_attention_layernorm.weight", [HIDDEN]),
        (p + "mlp.gate_proj.weight", [FEED_FORWARD, HIDDEN]),
        (p + "mlp.up_proj.weight", [FEED_FORWARD, HIDDEN]),
        (p + "mlp.down_proj.weight", [HIDDEN, FEED_FORWARD]),
    ]


def shapes(target_bytes, itemsize):
    out = [("model.embed_tokens.weight", [VOCABULARY, HIDDEN])]
    ends = [("model.norm.weight", [HIDDEN]), ("lm_head.weight", [VOCABULARY, HIDDEN])]
    size = lambda tensors: sum(math.prod(s) * itemsize for _, s in tensors)
    layers = max(1, round((target_bytes - size(out + ends)) / size(layer(0))))
    for i in range(layers):
        out += layer(i)
    return out + ends


def words(values, dtype):
    """Bit patterns: float32, or its upper half rounded to nearest even."""
    bits = array.array("I", struct.pack(f"<{len(values)}f", *values))
    if dtype == "f32":
        return bits
    return array.array("H", ((b + 0x7FFF + (b >> 16 & 1)) >> 16 for b in bits))


def block(columns, scale, dtype, seed, zeros):
    """Random rows with outlier columns, as bytes; the share `zeros` of the elements is 0."""
    rng = random.Random(seed)
    values = [rng.gauss(0, scale) for _ in range(BLOCK_ROWS * columns)]
    for i in range(0, len(values), OUTLIER_EVERY):
        values[i] *= 20
    if zeros:
        values = [0.0 if rng.random() < zeros else v for v in values]
    return words(values, dtype).tobytes()


def write(path, tensors, dtype, sparse, zeros):
    itemsize = BYTES[dtype]
    header, at = {}, 0
    for name, shape in tensors:
        end = at + math.prod(shape) * itemsize
        header[name] = {"dtype": dtype.upper(), "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        if sparse:
            out.truncate(8 + len(text) + at)
            return at
        blocks = {}
        for i, (_, shape) in enumerate(tensors):
            # Twelve scales for each length of row; blocks are reused.
            scale = 0.005 * 1.4 ** (i % 12)
            key = (shape[-1], i % 12)
            if key not in blocks:
                blocks[key] = memoryview(block(shape[-1], scale, dtype, i, zeros))
            left = math.prod(shape) * itemsize
            while left:
                left -= out.write(blocks[key][:left])
    return at


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--gb", type=float, default=2.6, help="10^9 bytes, roughly (default 2.6)")
    parser.add_argument("--dtype", choices=BYTES, default="bf16")
    parser.add_argument("--sparse", action="store_true", help="a hole instead of elements")
    parser.add_argument("--zeros", type=float, default=0, help="share of the elements that are 0, at random places")
    parser.add_argument("--small", action="store_true", help=small.__doc__)
    options = parser.parse_args()
    if options.small:
        small()
    tensors = shapes(options.gb * 1e9, BYTES[options.dtype])
    size = write(options.output, tensors, options.dtype, options.sparse, options.zeros)
    print(f"{options.output}: {len(tensors)} tensors, {size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
