"""TorchScript archives written by hand: code as text, objects as pickles, no torch needed.

    Archive(code, forward=…).write(path)

torch.jit.save writes a ZIP archive with `constants.pkl` (the CONSTANTS of the code), `data.pkl` (the module), `code/__torch__.py`
and `version`; tensors of `data.pkl` are in `data/`, those of `constants.pkl` in `constants/`.
"""
import struct
import zipfile

VERSION = b"3\n"


def text(value):
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def integer(value):
    if -2**31 <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(8, "little", signed=True)
    return b"\x8a\x08" + data


def name(module, attribute):
    return b"c" + f"{module}\n{attribute}\n".encode()


def tuple_of(*items):
    return b"(" + b"".join(items) + b"t"


def list_of(*items):
    return b"](" + b"".join(items) + b"e"


def dict_of(*pairs):
    return b"}(" + b"".join(k + v for k, v in pairs) + b"u"


class Tensors:
    """The tensors of one pickle, and their records."""

    TYPES = {"q": ("LongStorage", 8), "f": ("FloatStorage", 4), "B": ("ByteStorage", 1), "?": ("BoolStorage", 1)}

    def __init__(self):
        self.records = []

    def add(self, kind, values, sizes=None, strides=None):
        """A tensor of these values; other sizes and strides make it a view of them."""
        storage, _ = self.TYPES[kind]
        sizes = [len(values)] if sizes is None else sizes
        if strides is None:
            strides = [1] * len(sizes)
            for i in range(len(sizes) - 1, 0, -1):
                strides[i - 1] = strides[i] * sizes[i]
        key = str(len(self.records))
        self.records.append(struct.pack(f"<{len(values)}{kind}", *values))
        return self.tensor(storage, key, len(values), sizes, strides)

    @staticmethod
    def tensor(storage, key, numel, sizes, strides, offset=0):
        place = tuple_of(text("storage"), name("torch", storage), text(key), text("cpu"), integer(numel)) + b"Q"
        ints = [tuple_of(*map(integer, dims)) for dims in (sizes, strides)]
        return (name("torch._utils", "_rebuild_tensor_v2") +
                tuple_of(place, integer(offset), *ints, b"\x89", name("collections", "OrderedDict") + b")R") + b"R")


def pickle(value):
    return b"\x80\x02" + value + b"."


def object_of(cls, attributes):
    module, _, attribute = cls.rpartition(".")
    return name(module, attribute) + b")\x81" + dict_of(*((text(k), v) for k, v in attributes.items())) + b"b"


class Archive:
    def __init__(self, forward="return x", *, arguments="x: Tensor", result="Tensor", functions="", members="",
                 attributes=None, constants=(), tensors=None, constant_tensors=None, code=None, state=None):
        """`forward`: the body's lines. `attributes`: name → pickled value, declared in `members`."""
        body = "\n".join("    " + line for line in forward.splitlines())
        self.code = code if code is not None else (
            f"class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n{members}"
            f"  def forward(self: __torch__.M{', ' if arguments else ''}{arguments}) -> {result}:\n{body}\n{functions}")
        self.data = pickle(state or object_of("__torch__.M", {"training": b"\x89", **(attributes or {})}))
        self.constants = pickle(tuple_of(*constants))
        self.records = {"data": tensors.records if tensors else [],
                        "constants": constant_tensors.records if constant_tensors else []}

    def write(self, path, compression=zipfile.ZIP_STORED, extra=()):
        with zipfile.ZipFile(path, "w", compression) as archive:
            archive.writestr("m/version", VERSION)
            archive.writestr("m/constants.pkl", self.constants)
            archive.writestr("m/data.pkl", self.data)
            code = self.code if isinstance(self.code, dict) else {"__torch__.py": self.code}
            for entry, content in code.items():
                archive.writestr(f"m/code/{entry}", content)
            for folder, records in self.records.items():
                for key, content in enumerate(records):
                    archive.writestr(f"m/{folder}/{key}", content)
            for entry, content in extra:
                archive.writestr(f"m/{entry}", content)
        return path
