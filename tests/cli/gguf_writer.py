"""Valid and damaged GGUF files for tests, after the format's description (docs/gguf.md of ggml)."""
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, ARRAY, U64, I64, F64 = range(13)
CODES = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", I64: "q", F64: "d"}
Q8_0, Q4_K = 8, 12
SIZES = {0: (1, 4), 1: (1, 2), 2: (32, 18), 8: (32, 34), 12: (256, 144), 14: (256, 210)}  # type → elements, bytes of a block


def padded(size, alignment=32):
    return -(-size // alignment) * alignment


def bytes_of(shape, kind):
    elements, size = SIZES[kind]
    for dim in shape:
        size *= dim
    return size // elements


class Writer:
    def __init__(self, version=3, order="<"):
        self.version, self.order = version, order
        self.count = "I" if version == 1 else "Q"

    def pack(self, code, value):
        return struct.pack(self.order + code, value)

    def text(self, text):
        raw = text if isinstance(text, bytes) else text.encode()
        return self.pack(self.count, len(raw)) + raw

    def value(self, kind, value):
        """`value` of an array: (kind of its items, items)."""
        if kind == TEXT:
            return self.text(value)
        if kind == ARRAY:
            items, values = value
            return self.pack("i", items) + self.pack(self.count, len(values)) + b"".join(self.value(items, v) for v in values)
        return self.pack(CODES[kind], value)

    def tensor(self, name, shape, kind, offset):
        dims = b"".join(self.pack(self.count, d) for d in reversed(shape))
        return self.text(name) + self.pack("I", len(shape)) + dims + self.pack("i", kind) + self.pack("Q", offset)

    def header(self, pairs, tensors, counts=None):
        """`pairs`: (key, kind, value); `tensors`: (name, shape, kind, offset)."""
        n_tensors, n_pairs = counts or (len(tensors), len(pairs))
        out = b"GGUF" + self.pack("I", self.version) + self.pack(self.count, n_tensors) + self.pack(self.count, n_pairs)
        out += b"".join(self.text(key) + self.pack("i", kind) + self.value(kind, value) for key, kind, value in pairs)
        return out + b"".join(self.tensor(*t) for t in tensors)


def model(tensors, pairs=(), alignment=32, **form):
    """A file of tensors, name → (shape, kind, bytes or None for zeros), one after the other."""
    at, table, data = 0, [], b""
    for name, (shape, kind, content) in tensors.items():
        size = bytes_of(shape, kind)
        table.append((name, shape, kind, at))
        data += (content or bytes(size)).ljust(padded(size, alignment), b"\0")
        at += padded(size, alignment)
    header = Writer(**form).header(list(pairs), table)
    return header.ljust(padded(len(header), alignment), b"\0") + data


def split_pairs(number, count, tensors):
    return [("split.no", U16, number), ("split.count", U16, count), ("split.tensors.count", I32, tensors)]
