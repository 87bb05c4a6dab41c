"""Files whose parts contradict each other: each is refused, and the message names both places.

Torch's own reader refuses most of these (torch/_export/verifier.py). A value that torch reads in one place must not
come from another place in a report.
"""
import io
import json
import struct
import zipfile

import hostile
from hostile import safetensors
from support import MODELS, CliTest, main, report, tmeter

TIED = MODELS / "tied.pt2"
DYNAMIC = MODELS / "dynamic_mlp.pt2"


class Parts:
    """The documents of a .pt2, for a test to change."""

    def __init__(self, path):
        self.entries = {}
        self.names = {}
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                self.entries[name] = archive.read(name)
                for key, end in (("program", "/models/model.json"), ("weights", "model_weights_config.json"),
                                 ("constants", "model_constants_config.json")):
                    if name.endswith(end):
                        self.names[key] = name
                        setattr(self, key, json.loads(self.entries[name]))
        self.config = self.weights["config"]
        self.graph = self.program["graph_module"]["graph"]
        self.signature = self.program["graph_module"]["signature"]

    def spec(self, name):
        """The specification of an input by the name of its tensor."""
        return next(s for spec in self.signature["input_specs"] for s in spec.values()
                    if name in (s.get("parameter_name"), s.get("buffer_name")))

    def meta(self, name):
        """The graph's record of the tensor."""
        return self.graph["tensor_values"][self.spec(name)["arg"]["name"]]

    def stored(self, name):
        """The config's record of the tensor."""
        return self.config[name]["tensor_meta"]

    def bytes(self, filler=0):
        """`filler`: spaces in the large lists and tables, which are split from 64 KiB on
        (plugins/loaders/pt2/document.hpp)."""
        for key, name in self.names.items():
            text = json.dumps(getattr(self, key))
            for opening in ('"inputs": [{"as_tensor"', '"input_specs": [', '"tensor_values": {', '"config": {', '"nodes": ['):
                text = text.replace(opening, opening.replace("[", "[" + " " * filler).replace(": {", ": {" + " " * filler), 1)
            self.entries[name] = text.encode()
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            for name, data in self.entries.items():
                archive.writestr(name, data)
        return out.getvalue()


def sizes(*numbers):
    return [{"as_int": n} for n in numbers]


W, V = "decoder.weight", "norm.weight"
MEAN = "norm.running_mean"
PETA = 10**15


def rename_spec(parts):
    parts.spec("norm.bias")["parameter_name"] = V


def rename_everywhere(parts):
    rename_spec(parts)
    del parts.config["norm.bias"]


def other_sizes_stored(parts):
    parts.stored(W).update(sizes=sizes(72 * PETA, 8), strides=sizes(0, 0))


def other_sizes_in_the_graph(parts):
    parts.meta(W).update(sizes=sizes(13, 8))


def transposed(parts):
    parts.stored(W).update(sizes=sizes(8, 12))


def another_rank(parts):
    parts.stored(W).update(sizes=sizes(96), strides=sizes(1))


def another_type(parts):
    parts.stored(W)["dtype"] = 4  # int32


def another_type_in_the_graph(parts):
    parts.meta(V)["dtype"] = 6  # float16


def other_strides(parts):
    parts.stored(W)["strides"] = sizes(1, 12)


def fewer_strides(parts):
    parts.stored(W)["strides"] = sizes(8)


def buffer_of_other_size(parts):
    parts.stored(MEAN).update(sizes=sizes(4))


def gone_from_the_config(parts):
    del parts.config[W]


def buffer_gone_from_the_config(parts):
    del parts.config[MEAN]


def gone_from_the_graph(parts):
    del parts.graph["tensor_values"][parts.spec("norm.bias")["arg"]["name"]]


def one_input_less(parts):
    parts.graph["inputs"].pop()


def one_input_more(parts):
    parts.graph["inputs"].append(parts.graph["inputs"][0])


def inputs_exchanged(parts):
    inputs = parts.graph["inputs"]
    inputs[1], inputs[2] = inputs[2], inputs[1]


def one_spec_less(parts):
    parts.signature["input_specs"].pop(1)


def one_argument_twice(parts):
    parts.spec("norm.bias")["arg"]["name"] = parts.spec(V)["arg"]["name"]


def one_output_more(parts):
    parts.graph["outputs"].append(parts.graph["outputs"][0])


def another_output(parts):
    parts.graph["outputs"][0]["as_tensor"]["name"] = parts.spec(V)["arg"]["name"]


def mutation_of_nothing(parts):
    name = parts.spec(V)["arg"]["name"]
    parts.signature["output_specs"].append({"buffer_mutation": {"arg": {"name": name}, "buffer_name": "norm.nothing"}})
    parts.graph["outputs"].append({"as_tensor": {"name": name}})


def no_record(parts):
    parts.config[W]["path_name"] = "weight_99"


# A change to tied.pt2, and the words of the message.
CASES = [
    (rename_spec, ["tensor 'norm.weight'", "two inputs of the graph have this name"]),
    (rename_everywhere, ["tensor 'norm.weight'", "two inputs of the graph have this name"]),
    (other_sizes_stored, [f"'{W}'", "shape is [12, 8] in the graph", "[72000000000000000, 8] in the config"]),
    (other_sizes_in_the_graph, [f"'{W}'", "shape is [13, 8] in the graph", "[12, 8] in the config"]),
    (transposed, [f"'{W}'", "[8, 12] in the config"]),
    (another_rank, [f"'{W}'", "[96] in the config"]),
    (another_type, [f"'{W}'", "type is float32 in the graph", "int32 in the config"]),
    (another_type_in_the_graph, [f"'{V}'", "type is float16 in the graph"]),
    (other_strides, [f"'{W}'", "strides are [8, 1] in the graph", "[1, 12] in the config"]),
    (fewer_strides, [f"'{W}'", "different number of sizes and strides"]),
    (buffer_of_other_size, [f"'{MEAN}'", "[4] in the config"]),
    (gone_from_the_config, [f"'{W}'", "the weights config does not have it"]),
    (buffer_gone_from_the_config, [f"'{MEAN}'", "the weights config does not have it"]),
    (gone_from_the_graph, ["records no type and sizes for"]),
    (one_input_less, ["inputs, but its signature describes"]),
    (one_input_more, ["inputs, but its signature describes"]),
    (inputs_exchanged, ["inputs[1] is", "in the signature"]),
    (one_spec_less, ["inputs[1] is", "in the signature"]),
    (one_argument_twice, ["in the signature"]),
    (one_output_more, ["outputs, but its signature describes"]),
    (another_output, ["outputs[0] is", "in the signature"]),
    (mutation_of_nothing, ["'norm.nothing' is written into, but is not an input"]),
    (no_record, [f"'{W}'", "record 'weight_99' is not in the archive"]),
]


class Pt2(CliTest):
    def test_the_unchanged_file_is_accepted(self):
        path = self.file("m.pt2", Parts(TIED).bytes())
        self.assertEqual(report(path)["totals"], report(TIED)["totals"])

    def test_contradictions_are_refused(self):
        for change, words in CASES:
            with self.subTest(change=change.__name__):
                parts = Parts(TIED)
                change(parts)
                self.assert_refused(4, ["m.pt2", *words], self.file("m.pt2", parts.bytes()))

    def test_contradictions_in_a_file_read_in_pieces_are_refused(self):
        for change, words in CASES:
            with self.subTest(change=change.__name__):
                parts = Parts(TIED)
                change(parts)
                self.assert_refused(4, ["m.pt2", *words], self.file("m.pt2", parts.bytes(filler=70_000)))
        path = self.file("m.pt2", Parts(TIED).bytes(filler=70_000))
        self.assertEqual(report(path)["totals"], report(TIED)["totals"])

    def test_sizes_that_follow_from_symbols_agree(self):
        self.assertEqual(tmeter(DYNAMIC).returncode, 0)

    def test_unused_weights_are_not_a_contradiction(self):
        # torch.export with strict=True: unused parameters stay in the state dict.
        parts = Parts(TIED)
        parts.config["unused.weight"] = parts.config[V]
        self.assertEqual(report(self.file("m.pt2", parts.bytes()))["totals"], report(TIED)["totals"])


# name → (dtype, shape, begin, end); the size of the data.
SAFETENSORS = [
    ({"a": ("F32", [2, 3], 0, 20)}, 20),  # the size does not fit the shape
    ({"a": ("F32", [2, 3], 0, 28)}, 28),
    ({"a": ("F16", [2, 3], 0, 24)}, 24),
    ({"a": ("F32", [2, 3], 0, 24)}, 20),  # data shorter than declared
    ({"a": ("F32", [2, 3], 0, 24)}, 28),  # longer
    ({"a": ("F32", [2], 0, 8), "b": ("F32", [2], 4, 12)}, 12),  # overlap
    ({"a": ("F32", [2], 0, 8), "b": ("F32", [2], 0, 8)}, 8),
    ({"a": ("F32", [2], 0, 8), "b": ("F32", [2], 12, 20)}, 20),  # gap
    ({"a": ("F32", [2], 8, 0)}, 8),
    ({"a": ("F32", [-2], 0, 8)}, 8),
    ({"a": ("F32", [2**31, 2**31, 4], 0, 0)}, 0),  # 2^64 elements
    ({"a": ("F32", [72 * PETA], 0, 4)}, 4),
    ({"a": ("F99", [2], 0, 8)}, 8),
]


class Safetensors(CliTest):
    def test_contradictions_are_refused(self):
        for tensors, size in SAFETENSORS:
            header = {name: {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
                      for name, (dtype, shape, begin, end) in tensors.items()}
            with self.subTest(header=header):
                self.assert_refused(4, ["m.safetensors"], self.file("m.safetensors", safetensors(header, bytes(size))))

    def test_duplicate_names_are_refused(self):
        one = '"a":{"dtype":"F32","shape":[1],"data_offsets":[%d,%d]}'
        header = "{" + one % (0, 4) + "," + one % (4, 8) + "}"
        data = struct.pack("<Q", len(header)) + header.encode() + bytes(8)
        self.assert_refused(4, ["m.safetensors", "twice"], self.file("m.safetensors", data))


def array(shape, data):
    """A tensor on a device whose tensors torch saves as NumPy arrays."""
    dims = b"(" + b"".join(map(hostile.number, shape)) + b"t"
    raw = b"B" + struct.pack("<I", len(data)) + data
    made = hostile.call(hostile.name("numpy.core.multiarray", "_reconstruct"), hostile.name("numpy", "ndarray"),
                        b"(" + hostile.number(0) + b"t", b"C\x01b")
    dtype = hostile.call(hostile.name("numpy", "dtype"), hostile.text("f4"), b"\x89", b"\x88")
    made += b"(" + hostile.number(1) + dims + dtype + b"\x89" + raw + b"tb"
    return hostile.call(hostile.name("torch._utils", "_rebuild_device_tensor_from_numpy"), made,
                        hostile.name("torch", "float32"), hostile.text("xla:0"), b"\x89")


def storage_of(kind, numel, size):
    """A tensor of the storage "0", declared with that kind and length."""
    storage = b"(" + hostile.text("storage") + hostile.name("torch", kind) + hostile.text("0") + hostile.text("cpu") + \
        hostile.number(numel) + b"tQ"
    shape = [b"(" + hostile.number(n) + b"t" for n in (size, 1)]
    return hostile.call(hostile.name("torch._utils", "_rebuild_tensor_v2"), storage, hostile.number(0), *shape, b"\x89",
                        hostile.call(hostile.name("collections", "OrderedDict")))


# Tensors of a state_dict, whose records have 16 bytes each; words of the message.
CHECKPOINTS = [
    ({"w": hostile.tensor(size=(5,))}, ["'w'", "reach beyond its storage"]),
    ({"w": hostile.tensor(size=(72 * PETA,))}, ["'w'", "reach beyond its storage"]),
    ({"w": hostile.tensor(size=(2, 2), stride=(3, 1))}, ["'w'", "reach beyond its storage"]),
    ({"w": hostile.tensor(offset=1)}, ["'w'", "reach beyond its storage"]),
    ({"w": hostile.tensor(numel=5)}, ["'w'", "declared with 20 bytes"]),
    ({"w": hostile.tensor(size=(2, 2), stride=(1,))}, ["'w'", "different number of sizes and strides"]),
    ({"w": hostile.tensor(size=(-4,))}, ["'w'", "negative -4"]),
    ({"w": hostile.tensor(stride=(-1,))}, ["'w'", "negative -1"]),
    ({"a": storage_of("FloatStorage", 4, 4), "b": storage_of("HalfStorage", 8, 4)},
     ["'b'", "storage '0' is declared with 4 elements of float32, and then 8 of float16"]),
    ({"a": storage_of("FloatStorage", 4, 4), "b": storage_of("FloatStorage", 3, 3)}, ["'b'", "4 elements of float32, and then 3"]),
    ({"w": hostile.tensor(key="1")}, ["'w'", "no record"]),
    ({"w": array((72 * PETA,), bytes(16))}, ["'w'", "its array 16 bytes"]),
    ({"w": array((5,), bytes(16))}, ["'w'", "its shape has 5 elements, its array 16 bytes"]),
    ({"w": array((0,), bytes(16))}, ["'w'", "its shape has 0 elements"]),
]


class Checkpoints(CliTest):
    def checkpoint(self, items):
        return self.file("m.pt", hostile.checkpoint(hostile.dict_of([(hostile.text(k), v) for k, v in items]), _0=bytes(16)))

    def test_contradictions_are_refused(self):
        for tensors, words in CHECKPOINTS:
            with self.subTest(words=words):
                self.assert_refused(4, ["m.pt", *words], self.checkpoint(tensors.items()))

    def test_duplicate_names_are_refused(self):
        self.assert_refused(4, ["m.pt", "'w' occurs twice"],
                            self.checkpoint([("w", hostile.tensor()), ("w", hostile.tensor())]))

    def test_consistent_tensors_are_read(self):
        for tensors in ({"w": hostile.tensor(), "v": hostile.tensor(size=(2,), offset=2)},
                        {"w": array((4,), bytes(16))}, {"w": array((2, 2), bytes(16))}, {"w": array((2,), bytes(16))}):
            self.assertEqual(tmeter(self.checkpoint(tensors.items())).returncode, 0)


if __name__ == "__main__":
    main()
