"""quantization-advice on files: PyTorch's results for the same weights (tests/fixtures/trained), a plan within its
budget, and no values for weights that are NaN or infinite."""
import json
import math
import struct
import unittest
from array import array
from random import Random

from support import FIXTURES, CliTest, main, report, tmeter

TRAINED = FIXTURES / "trained"
MODEL = TRAINED / "model.safetensors"
EXPECTED = json.loads((TRAINED / "expected.json").read_text())
ADVICE = "--plugins=quantization-advice"
# A file without module types does not state that dim 1 of `up` has the outputs.
AMBIGUOUS = "up.weight"


def safetensors(tensors):
    """{name: (shape, float32 values)} as bytes of a file."""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def by_name(document):
    return {t["name"]: t for t in document["tensors"]}


def finding(document, rule):
    return next((f for f in document["findings"] if f["rule"] == rule), None)


def targets(found):
    return [t.get("tensor") for t in found["targets"]]


class Sqnr(unittest.TestCase):
    def test_every_value_is_within_a_hundredth_of_a_decibel_of_pytorch(self):
        tensors = by_name(report(MODEL, ADVICE))
        checked = 0
        for name, recorded in EXPECTED["tensors"].items():
            if name == AMBIGUOUS:
                continue
            for scheme, sqnr in recorded["sqnr"].items():
                found = tensors[name]["values"].get(f"sqnr_{scheme}")
                if sqnr is None:  # no error: the SQNR has no finite value
                    self.assertIsNone(found, f"{name} {scheme}")
                else:
                    self.assertAlmostEqual(found, sqnr, delta=0.01, msg=f"{name} {scheme}")
                checked += 1
        self.assertEqual(checked, 12 * 28)

    def test_a_file_with_operators_gives_equal_values_and_detects_transposed_convolutions(self):
        """model.pt2 is entirely in float32; its module types show that dim 1 of `up` has the outputs."""
        alone, exported = by_name(report(MODEL, ADVICE)), by_name(report(TRAINED / "model.pt2", ADVICE))
        for name, recorded in EXPECTED["tensors"].items():
            values = exported[name]["values"]
            if name == AMBIGUOUS:
                for scheme, sqnr in recorded["sqnr"].items():
                    self.assertAlmostEqual(values[f"sqnr_{scheme}"], sqnr, delta=0.01, msg=scheme)
            elif exported[name]["dtype"] == alone[name]["dtype"]:
                for scheme in recorded["sqnr"]:
                    metric = f"sqnr_{scheme}"
                    self.assertEqual(values[metric], alone[name]["values"][metric], f"{name} {scheme}")

    def test_values_do_not_depend_on_the_number_of_threads(self):
        one, four = (report(MODEL, ADVICE, f"--threads={n}") for n in (1, 4))
        self.assertEqual(one["tensors"], four["tensors"])


class LongRows(CliTest):
    def test_rows_above_four_mebibytes_are_grouped_like_short_ones(self):
        """The host cuts such rows anywhere. With 128 elements in a row or 8,193 times as many the groups are the same. A tensor
        with one scale, and casts, do not depend on rows."""
        random = Random(8)
        values = array("f", (random.random() - 0.3 for _ in range(2 * 8193 * 128)))
        results = []
        for shape in ([2, 8193 * 128], [2 * 8193, 128]):
            path = self.file(f"{shape[0]}.safetensors", safetensors({"w": (shape, values)}))
            results.append(by_name(report(path, ADVICE))["w"]["values"])
        same = [k for k in results[0] if k.startswith("sqnr_") and "channel" not in k]
        self.assertEqual(len(same), 28 - 4)
        for metric in same:
            if metric not in ("sqnr_fp8_e4m3", "sqnr_fp8_e5m2"):  # per channel
                self.assertAlmostEqual(results[0][metric], results[1][metric], delta=1e-3, msg=metric)
        # elements between -0.3 and 0.7: one scale for a row equals one for the tensor
        self.assertAlmostEqual(results[0]["sqnr_int8_channel"], results[0]["sqnr_int8_tensor"], delta=1e-3)


class Plan(unittest.TestCase):
    def test_every_quantized_weight_keeps_the_budget_in_the_fewest_bytes(self):
        """By the expected SQNR: int8 per channel takes rows · row length + 4 · rows bytes."""
        for budget in (20, 30, 45, 60, 150):
            document = report(MODEL, ADVICE, f"--set=quantization-advice.min-sqnr={budget}",
                              "--set=quantization-advice.schemes=int8_channel",
                              "--set=quantization-advice.protect=false")
            for name, t in by_name(document).items():
                if name == AMBIGUOUS or t["kind"] != "parameter":
                    continue
                numel, width = t["numel"], {"float32": 4, "float16": 2, "bfloat16": 2}[t["dtype"]]
                recorded = EXPECTED["tensors"].get(name)
                small = recorded and recorded["sqnr"]["int8_channel"] >= budget
                size = numel + 4 * t["shape"][0] if small else numel * width
                self.assertEqual(t["values"]["quantized_bytes"], min(size, numel * width), f"{name} at {budget}")

    def test_small_groups_are_for_matrices_alone(self):
        """No library has int4 kernels for convolutions, so they stay float32 if no other scheme is allowed."""
        document = report(MODEL, ADVICE, "--set=quantization-advice.schemes=int4_group32_asym",
                          "--set=quantization-advice.min-sqnr=10")
        tensors = by_name(document)
        self.assertEqual(tensors["conv.weight"]["values"]["quantized_bits"], 32)
        # 96 · 48 bytes of elements, 96 · 3 groups with 16 bits of scale and 4 of zero point
        self.assertEqual(tensors["q_proj.weight"]["values"]["quantized_bytes"], 96 * 48 + 96 * 3 * 20 // 8)

    def test_the_total_equals_the_finding(self):
        document = report(MODEL, ADVICE)
        change = finding(document, "quantization-plan")["changes"][0]
        self.assertEqual(change["metric"], "param_bytes")
        self.assertEqual(change["to"], document["totals"]["quantized_bytes"])
        widths = {"float32": 4, "float16": 2, "bfloat16": 2}
        self.assertEqual(change["from"], sum(t["numel"] * widths[t["dtype"]] for t in document["tensors"]
                                              if t["kind"] == "parameter"))

    def test_a_tighter_budget_never_makes_the_model_smaller(self):
        series = next(s for s in report(MODEL, ADVICE)["series"] if s["id"] == "quantized_size")
        sizes = [y for _, y in series["points"]]
        self.assertEqual(sizes, sorted(sizes))

    def test_output_layer_and_first_convolution_get_eight_bits_by_default(self):
        found = finding(report(MODEL, ADVICE), "keep-precision-by-rule")
        self.assertIn("head.weight (output layer)", found["evidence"])
        self.assertIn("stem.weight (first convolution)", found["evidence"])
        free = by_name(report(MODEL, ADVICE, "--set=quantization-advice.protect=false"))
        self.assertGreater(by_name(report(MODEL, ADVICE))["head.weight"]["values"]["quantized_bits"], 8)
        self.assertLess(free["head.weight"]["values"]["quantized_bits"], 5)

    def test_weights_out_of_budget_are_named_with_their_sqnr(self):
        found = finding(report(MODEL, ADVICE, "--set=quantization-advice.schemes=int8_channel",
                               "--set=quantization-advice.min-sqnr=40"), "keep-precision")
        self.assertEqual(targets(found), ["fc1.weight"])  # 36.1 dB by PyTorch
        self.assertIn("36.1 dB", found["evidence"])


class Findings(CliTest):
    def test_the_input_channel_that_carries_outliers_is_named(self):
        """The fixture's script makes input channel 7 of fc1 ten times as large."""
        found = finding(report(MODEL, ADVICE), "outlier-channels")
        self.assertIn("fc1.weight", found["text"])
        self.assertIn("input channels 7 (", found["evidence"])

    def test_nan_and_infinity_are_an_error_and_have_no_values(self):
        path = self.file("broken.safetensors", safetensors({
            "a.weight": ([2, 2], [1, 2, math.nan, 4]), "b.weight": ([2, 2], [1, math.inf, 3, 4]),
            "c.weight": ([2, 2], [1, 2, 3, 4])}))
        document = report(path, ADVICE)
        found = finding(document, "not-finite")
        self.assertEqual(found["severity"], "error")
        self.assertEqual(targets(found), ["a.weight", "b.weight"])
        tensors = by_name(document)
        for name in ("a.weight", "b.weight"):
            numbers = {k: v for k, v in tensors[name]["values"].items() if k.startswith("sqnr_") and v is not None}
            self.assertEqual(numbers, {})
        self.assertIsNotNone(tensors["c.weight"]["values"]["sqnr_int8_channel"])

    def test_zeros_and_empty_tensors_are_accepted(self):
        path = self.file("zeros.safetensors", safetensors({
            "zero.weight": ([2, 3], [0] * 6), "empty.weight": ([0, 3], []), "bias": ([3], [1, 2, 3])}))
        document = report(path, ADVICE)
        self.assertEqual(document["totals"]["quantized_bytes"], 36)
        self.assertIsNone(finding(document, "not-finite"))

    def test_weights_beyond_the_range_of_float16_are_named(self):
        path = self.file("large.safetensors", safetensors({"a.weight": ([1, 4], [70000, 1, 2, 3])}))
        self.assertEqual(targets(finding(report(path, ADVICE), "beyond-float16")), ["a.weight"])

    def test_a_hardware_profile_turns_bytes_into_joules_and_seconds(self):
        """nvidia-a100: 155.28 pJ/B and 1,555 GB/s; without --hardware there is no finding."""
        self.assertIsNone(finding(report(MODEL, ADVICE), "quantization-savings"))
        document = report(MODEL, ADVICE, "--hardware=nvidia-a100")
        change = finding(document, "quantization-plan")["changes"][0]
        found = finding(document, "quantization-savings")
        self.assertIn(f"{change['from'] / 1555e9 * 1e9:.2f} ns", found["evidence"])
        self.assertIn(f"{change['from'] * 155.28e-12 * 1e6:.2f} uJ", found["evidence"])

    def test_a_file_with_operators_has_int8_savings_by_the_profile(self):
        """All weights except the embedding's table are in int8: products of 7 convolutions and linear layers. By hand for 2
        images of 16 · 16 and 2 · 12 tokens; horowitz' energies for float32 are 20 times those for int8."""
        macs = 2 * (256 * 16 * 27 + 256 * 16 * 9 + 256 * 40 * 16 + 64 * 32 * 40 * 9 + 64 * 32 * 24 * 4)
        macs += 2 * 12 * (4 * 96 * 96 + 2 * 9600) + 2 * 15840
        profile = (FIXTURES / "../../plugins/metrics/energy/hardware/horowitz-45nm.toml").read_text()
        path = self.file("mine.toml", profile.replace("horowitz-45nm", "mine"))
        document = report(TRAINED / "model.pt2", ADVICE, f"--hardware={path}",
                          "--set=quantization-advice.schemes=int8_channel")
        evidence = finding(document, "quantization-savings")["evidence"]
        self.assertIn(f"{macs / 1e6:.2f} MMAC", evidence)
        self.assertIn(f"energy {macs * 4.6e-12 * 1e6:.2f} uJ → {macs * 0.23e-12 * 1e9:.2f} nJ", evidence)
        self.assertNotIn("time", evidence)  # the profile has no clock

    def test_values_of_an_operator_class_precede_general_ones(self):
        """nvidia-a100: convolutions in TF32 at 78e12 MAC/s, matrix products in float32 at 9.75e12, int8 at 312e12."""
        convolutions = 2 * (256 * 16 * 27 + 256 * 16 * 9 + 256 * 40 * 16 + 64 * 32 * 40 * 9 + 64 * 32 * 24 * 4)
        matrices = 2 * 12 * (4 * 96 * 96 + 2 * 9600) + 2 * 15840
        document = report(TRAINED / "model.pt2", ADVICE, "--hardware=nvidia-a100",
                          "--set=quantization-advice.schemes=int8_channel")
        now, then = convolutions / 78e12 + matrices / 9.75e12, (convolutions + matrices) / 312e12
        self.assertIn(f"time at peak {now * 1e9:.2f} ns → {then * 1e9:.2f} ns",
                      finding(document, "quantization-savings")["evidence"])

    def test_a_profile_without_bandwidth_gives_no_time(self):
        found = finding(report(MODEL, ADVICE, "--hardware=jouppi-7nm"), "quantization-savings")
        self.assertIn("energy", found["evidence"])
        self.assertNotIn("bandwidth", found["evidence"])

    def test_an_unknown_scheme_is_refused_with_the_known_ones(self):
        self.assert_refused(2, ["int5", "int4_group128"], MODEL, ADVICE, "--set=quantization-advice.schemes=int5")

    def test_a_model_without_weights_has_no_advice(self):
        done = tmeter(FIXTURES / "models" / "lstm.pt2", ADVICE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("the parameters fit", done.stdout)


if __name__ == "__main__":
    main()
