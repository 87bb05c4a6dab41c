"""TorchScript with packed quantized weights: read without running the code that would pack them.
The values are FlopCounterMode's and PyTorch's for the floating-point network (tests/fixtures/make_quantized.py)."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from archives import Archive, Tensors, integer, name, tuple_of  # noqa: E402
from support import FIXTURES, HAVE_TORCH, CliTest, main, report, tmeter  # noqa: E402
from test_torchscript import repacked  # noqa: E402

FOLDER = FIXTURES / "quantized"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())["models"]


def input_option(shape):
    return "--input", "x".join(map(str, shape))


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class Values(unittest.TestCase):
    def test_parameters_and_macs_are_those_of_the_network(self):
        for model, expected in EXPECTED.items():
            with self.subTest(model=model):
                document = report(FOLDER / f"{model}.pt", *input_option(expected["input"]))
                totals = document["totals"]
                self.assertEqual((totals["params"], totals["macs"]), (expected["params"], expected["macs"]))
                self.assertEqual(document["coverage"]["unknown_ops"], [])

    def test_weights_are_a_byte_each(self):
        # Linears: 16·32 + 32·8 weights of one byte, 32 biases of four: by hand.
        document = report(FOLDER / "dynamic.pt", "--plugins=params,memory", *input_option((2, 16)))
        self.assertEqual(document["totals"]["param_bytes"], 16 * 32 + 32 * 8 + 4 * 32)

    def test_activations_are_a_byte_each(self):
        # The first layer of Convolutions returns 2 × 8 × 8 × 8 bytes: by hand.
        document = report(FOLDER / "static.pt", "--plugins=params,memory", *input_option((2, 3, 8, 8)))
        first = next(m for m in document["modules"] if m["path"] == "first")
        self.assertEqual(first["values"]["output_bytes"], 2 * 8 * 8 * 8)


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class Hostile(CliTest):
    def refused(self, path, *words, options=()):
        result = tmeter(path, *options)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_a_weight_beyond_its_record(self):
        def longer(entry, data):
            # (32, 16) → (255, 16) of a record of 512 bytes.
            return data.replace(b"(K K\x10t", b"(K\xffK\x10t").replace(b"K K\x10\x86", b"K\xffK\x10\x86") \
                if entry.endswith("data.pkl") else data
        self.refused(repacked(FOLDER / "dynamic.pt", self.folder / "longer.pt", longer))

    def test_scales_beyond_their_record(self):
        # LibTorch reads the scales while it makes the tensor: 2^30 floats of a record of one.
        tensors = Tensors()
        values = tensors.add("B", [0] * 4)
        scales = tensors.add("f", [1.0], sizes=[1 << 30], strides=[1])
        zeros = tensors.add("q", [0], sizes=[1 << 30], strides=[0])
        channels = tuple_of(name("torch", "per_channel_affine"), scales, zeros, integer(0))
        place = values[:values.index(b"Q") + 1].replace(b"ByteStorage", b"QInt8Storage")
        wide = tuple_of(integer(1 << 30), integer(1)), tuple_of(integer(0), integer(1))
        place = place[place.index(b"_rebuild_tensor_v2\n") + len("_rebuild_tensor_v2\n") + 1:]
        quantized = name("torch._utils", "_rebuild_qtensor") + tuple_of(
            place, integer(0), *wide, channels, b"\x89", name("collections", "OrderedDict") + b")R") + b"R"
        path = Archive(members="  q : Tensor\n", attributes={"q": quantized}, tensors=tensors).write(
            self.folder / "scales.pt")
        result = tmeter(path, "--input", "2x3")
        self.assertIn(result.returncode, (0, 4, 6), result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)

    def test_other_state_than_the_class_has(self):
        def other(entry, data):
            return data.replace(b"LinearPackedParamsBase", b"Conv2dPackedParamsBase") \
                if entry.endswith("data.pkl") else data
        self.refused(repacked(FOLDER / "dynamic.pt", self.folder / "other.pt", other), "Conv2dPackedParamsBase")


if __name__ == "__main__":
    main()
