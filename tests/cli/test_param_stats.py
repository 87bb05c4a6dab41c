"""param-stats as users run it: every value in the report is compared with NumPy's.

Tensors and expected values: tests/fixtures/make_tensor_stats.py.
"""
import json
import math
import struct
import unittest
from random import Random

from support import FIXTURES, CliTest, main, report, tmeter

FOLDER = FIXTURES / "tensor_stats"
TENSORS = FOLDER / "tensors.safetensors"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
# float64 tensors with squares that overflow or underflow: values derived from squares must be absent.
WITHOUT_SQUARES = {"denormal.f64", "extreme.f64", "matrix.huge", "matrix.tiny"}
FROM_SQUARES = ["std", "l2_norm", "near_zero", "stable_rank"]
NOT_METRICS = {"coded_bits", "counts", "edges"}
ON_REQUEST = ["spectral_norm", "stable_rank", "effective_rank"]
SPECTRAL = "--columns=" + ",".join(ON_REQUEST)


def stats(file, *arguments):
    return report("--plugins=param-stats", file, *arguments)


def by_name(done):
    return {t["name"]: t for t in done["tensors"]}


class Values(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = stats(TENSORS, SPECTRAL)
        cls.tensors = by_name(cls.report)

    def close(self, actual, expected, scale=0.0):
        self.assertIsNotNone(actual)
        self.assertLessEqual(abs(actual - expected), 1e-6 * max(abs(expected), scale), f"{actual} is not {expected}")

    def check(self, values, expected, name):
        for metric, recorded in expected.items():
            if metric in NOT_METRICS or (name in WITHOUT_SQUARES and metric in FROM_SQUARES):
                continue
            with self.subTest(of=name, metric=metric):
                rms = (expected.get("l2_norm") or 0) / math.sqrt(max(expected["finite"], 1))
                # A mean of 0, and the skewness of a symmetric distribution, are sums of rounding errors.
                scale = {"mean": 1e-9 * rms, "skewness": 1e-6, "kurtosis": 1e-6}.get(metric, 0)
                self.close(values.get(metric), recorded, scale)
        if "coded_bits" in expected:
            self.assertEqual(values["coded_bytes"], math.ceil(round(expected["coded_bits"] / 8, 6)), name)

    def test_every_value_of_every_tensor_equals_numpys(self):
        self.assertGreater(len(EXPECTED["tensors"]), 60)
        for name, expected in EXPECTED["tensors"].items():
            if expected["finite"] + expected["nan"] + expected["inf"]:
                self.check(self.tensors[name]["values"], expected, name)

    def test_values_of_a_module_are_those_of_its_joined_tensors(self):
        modules = {m["path"]: m["values"] for m in self.report["modules"]}
        for name, expected in EXPECTED["modules"].items():
            if name != "tied":
                self.check(modules[name], expected, name)

    def test_tied_tensors_count_once(self):
        done = stats(FOLDER / "tied.pt", SPECTRAL)
        self.assertEqual(len(done["tensors"]), 3)
        self.check(done["totals"], EXPECTED["modules"]["tied"], "tied")

    def test_histograms_have_numpys_edges_and_counts(self):
        shown = {d["of"]["tensor"]: d for d in self.report["distributions"]}
        for name, expected in EXPECTED["tensors"].items():
            self.assertEqual(name in shown, "counts" in expected, name)
            if name in shown:
                self.assertEqual(shown[name]["edges"], expected["edges"], name)
                self.assertEqual(shown[name]["counts"], expected["counts"], name)

    def test_unknown_values_are_never_0(self):
        def lacks(name, *metrics):
            tensor = self.tensors[name]
            for metric in metrics:
                self.assertIsNone(tensor["values"].get(metric), f"{name} {metric}")

        lacks("empty.f32", "mean", "std", "sparsity", "finite", "median", "entropy")
        lacks("only_nan.f32", "mean", "std", "min", "max", "median", "l2_norm", "entropy")
        lacks("only_nan_few.f32", "mean", "std", "min", "max", "median", "l2_norm", "entropy")
        lacks("equal.f32", "skewness", "kurtosis")
        lacks("one.f32", "skewness", "kurtosis", "spectral_norm")
        lacks("normal.f32", "spectral_norm", "effective_rank")  # not a matrix
        lacks("wide.i32", "spectral_norm")
        for name in WITHOUT_SQUARES:
            lacks(name, "std", "l2_norm")
        self.assertEqual(self.tensors["equal.f32"]["values"]["std"], 0)
        self.assertEqual(self.tensors["equal.f32"]["values"]["entropy"], 0)

    def test_alignment_is_that_of_the_file(self):
        with open(TENSORS, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
        for name, tensor in header.items():
            at = 8 + length + tensor["data_offsets"][0] if name != "__metadata__" else 0
            if name in self.tensors and self.tensors[name]["numel"]:
                self.assertEqual(self.tensors[name]["values"]["alignment"], min(at & -at, 4096), name)
                shape = tensor["shape"]
                use = self.tensors[name]["values"].get("cache_line_use")
                if len(shape) < 2:
                    self.assertIsNone(use)
                    continue
                row = (tensor["data_offsets"][1] - tensor["data_offsets"][0]) // shape[0]
                begins = [at + i * row for i in range(shape[0])]
                lines = sum((b + row - 1) // 64 - b // 64 + 1 for b in begins)
                # The plugin reads 64 rows at most; further rows repeat their positions.
                self.assertAlmostEqual(use, shape[0] * row / (64 * lines), delta=0.02, msg=name)

    def test_the_number_of_threads_does_not_change_a_value(self):
        one, three = (stats(TENSORS, SPECTRAL, "--threads", n) for n in (1, 3))
        self.assertEqual(one["tensors"], three["tensors"])
        self.assertEqual(one["modules"], three["modules"])


class Options(CliTest):
    def test_spectral_norms_can_be_left_out(self):
        done = by_name(stats(TENSORS, SPECTRAL, "--set", "param-stats.spectral=false"))
        values = done["matrix.wide"]["values"]
        for metric in ON_REQUEST:
            self.assertIsNone(values.get(metric))
        self.assertIsNotNone(values["l2_norm"])

    def test_the_default_tolerance_of_spectral_norms_is_1e_6(self):
        # Diagonal: its largest singular value is its largest element, 1; the next is 1 % smaller.
        side = 1100
        rows = [struct.pack("<f", 0) * i + struct.pack("<f", 1 / (1 + i / 100)) + struct.pack("<f", 0) * (side - 1 - i)
                for i in range(side)]
        header = json.dumps({"a.weight": {"dtype": "F32", "shape": [side, side], "data_offsets": [0, 4 * side * side]}})
        header = header.encode() + b" " * (-len(header) % 8)
        file = self.file("diagonal.safetensors", struct.pack("<Q", len(header)) + header + b"".join(rows))

        def norm(*options):
            done = stats(file, SPECTRAL, *options)
            return by_name(done)["a.weight"]["values"]["spectral_norm"]

        self.assertAlmostEqual(norm(), 1, delta=1e-6)
        self.assertAlmostEqual(norm("--set", "param-stats.spectral-tolerance=1e-3"), 1, delta=1e-3)
        self.assertAlmostEqual(norm("--set", "param-stats.spectral-tolerance=1e-8"), 1, delta=1e-8)
        self.assert_refused(2, ["spectral-tolerance"], "--plugins=param-stats", file, "--set", "param-stats.spectral-tolerance=0")
        self.assert_refused(2, ["spectral-tolerance"], "--plugins=param-stats", file, "--set", "param-stats.spectral-tolerance=1")

    def test_effective_ranks_are_limited_to_small_matrices_by_default(self):
        # Rows with a single 1 each: all singular values are 1, as many as the shorter side.
        sides = {"small.weight": 50, "large.weight": 100, "wide.weight": 64}
        header, data = {}, b""
        for name, side in sides.items():
            columns = side + 60
            block = b"".join(struct.pack("<f", 0) * i + struct.pack("<f", 1) + struct.pack("<f", 0) * (columns - 1 - i)
                             for i in range(side))
            header[name] = {"dtype": "F32", "shape": [side, columns], "data_offsets": [len(data), len(data) + len(block)]}
            data += block
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        file = self.file("ranks.safetensors", struct.pack("<Q", len(text)) + text + data)

        def ranks(*options):
            done = by_name(stats(file, SPECTRAL, *options))
            for name, side in sides.items():
                self.assertAlmostEqual(done[name]["values"]["spectral_norm"], 1, delta=1e-6)
                self.assertAlmostEqual(done[name]["values"]["stable_rank"], side, delta=2e-6 * side)
            return [done[name]["values"].get("effective_rank") for name in sides]

        small, large, wide = ranks()
        self.assertAlmostEqual(small, 50, delta=1e-4)
        self.assertIsNone(large)
        self.assertAlmostEqual(wide, 64, delta=1e-4)
        self.assertAlmostEqual(ranks("--set", "param-stats.effective-rank=100")[1], 100, delta=1e-4)
        self.assertEqual(ranks("--set", "param-stats.effective-rank=0"), [None, None, None])
        self.assert_refused(2, ["effective-rank"], "--plugins=param-stats", file, "--set", "param-stats.effective-rank=-1")
        # A user who requests it gets the reason for its absence and the remedy.
        shown = tmeter("--plugins=param-stats", "--columns", "effective_rank", "--by", "tensor", file)
        self.assertIn("n/a", shown.stdout)
        self.assertIn("param-stats.effective-rank=N", shown.stdout)

    def test_the_threshold_decides_which_elements_are_near_zero(self):
        def near(threshold):
            done = by_name(stats(TENSORS, "--set", f"param-stats.threshold={threshold}"))
            return [done[n]["values"]["near_zero"] for n in ("normal.f32", "normal.bf16", "two.f32")]

        # two.f32 is (1, 4): the root mean square is sqrt(8.5) = 2.915…, so 1 is within 0.35 of it, but not within 0.34.
        self.assertEqual(near(0.35)[2], 0.5)
        self.assertEqual(near(0.34)[2], 0)
        self.assertLess(near(0.001)[0], near(0.1)[0])
        self.assertLess(near(0.001)[1], near(0.1)[1])


class OnRequest(CliTest):
    """Spectral norms and ranks take longer than all other values, so they are computed on request only."""

    def ids(self, *arguments):
        return {m["id"] for m in stats(TENSORS, *arguments)["metrics"]}

    def test_spectral_values_are_absent_without_a_request(self):
        done = stats(TENSORS)
        self.assertFalse(set(ON_REQUEST) & {m["id"] for m in done["metrics"]})
        for row in [*done["tensors"], *done["modules"], done["totals"]]:
            self.assertFalse(set(ON_REQUEST) & set(row.get("values", row)))
        for form in ("csv", "text", "markdown", "xml"):
            written = tmeter("--plugins=param-stats", TENSORS, "--report", form)
            self.assertEqual(written.returncode, 0, written.stderr)
            self.assertNotIn("spectral_norm", written.stdout)
        self.assertEqual(done["warnings"], [])

    def test_a_request_does_not_change_other_values(self):
        with_them, without = stats(TENSORS, SPECTRAL), stats(TENSORS)
        for row, other in zip(with_them["tensors"], without["tensors"]):
            values = {k: v for k, v in row["values"].items() if k not in ON_REQUEST}
            self.assertEqual(values, other["values"], row["name"])

    def test_columns_a_sort_and_an_assertion_request_spectral_values(self):
        for metric, arguments in {
            "spectral_norm": ["--columns", "mean,spectral_norm"],
            "effective_rank": ["--by", "tensor", "--sort", "effective_rank"],
            "stable_rank": ["--columns", "stable_rank"],
        }.items():
            self.assertEqual(self.ids(*arguments) & set(ON_REQUEST), {metric}, arguments)
        done = stats(TENSORS, "--assert", "spectral_norm > 0")
        self.assertIsNotNone(done["totals"]["spectral_norm"])
        self.assertEqual(self.ids("--columns", "all") & set(ON_REQUEST), set(ON_REQUEST))

    def test_a_saved_report_has_the_requested_values_of_its_run(self):
        path = self.folder / "r.json"
        self.assertEqual(tmeter("--plugins=param-stats", TENSORS, SPECTRAL, "--report", f"json={path}").returncode, 0)
        shown = tmeter("show", path, "--columns", "spectral_norm", "--by", "tensor")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("spectral", shown.stdout)
        self.assertEqual(tmeter("--plugins=param-stats", TENSORS, "--report", f"json={path}").returncode, 0)
        self.assert_refused(2, ["spectral_norm"], "show", path, "--columns", "spectral_norm")


class Threads(CliTest):
    """More threads than cores and than parts of tensors."""

    def model(self):
        """Two tensors of two parts, and small ones. Lanczos' method computes the norm of one of the two."""
        random = Random(1)
        bfloat16, float32 = bytearray(), bytearray()
        for _ in range(20000):
            value = struct.pack("<f", random.gauss(0, 0.02) * (20 if random.random() < 0.001 else 1))
            float32 += value
            bfloat16 += value[2:]
        tensors = {"a.weight": ("BF16", [1100, 9000]), "b.weight": ("F32", [1000, 4500]), "c.weight": ("F32", [33, 65]),
                   "c.bias": ("BF16", [33])}
        header, data = {}, b""
        for name, (dtype, shape) in tensors.items():
            block = bytes(bfloat16 if dtype == "BF16" else float32)
            size = math.prod(shape) * (2 if dtype == "BF16" else 4)
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
            data += (block * (size // len(block) + 1))[:size]
        # No two elements are equal: the norm takes many steps.
        whole = struct.pack("<420000f", *(random.gauss(0, 0.02) for _ in range(420000)))
        header["d.weight"] = {"dtype": "F32", "shape": [600, 700], "data_offsets": [len(data), len(data) + len(whole)]}
        data += whole
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return self.file("m.safetensors", struct.pack("<Q", len(text)) + text + data)

    def test_no_number_of_threads_changes_a_value(self):
        model = self.model()

        def results(threads):
            done = report("--plugins=param-stats,quantization-advice,pruning-advice", SPECTRAL, "--threads", threads, model)
            return {k: done[k] for k in ("totals", "modules", "tensors", "findings", "series", "distributions", "warnings")}

        two = results(2)
        self.assertIsNotNone(two["tensors"][0]["values"]["spectral_norm"])
        for threads in (4, 8, 64):
            self.assertEqual(results(threads), two, threads)


class Words(CliTest):
    def findings(self, done):
        return {f["rule"]: f for f in done["findings"]}

    def names(self, finding):
        return {t["tensor"] for t in finding["targets"]}

    def test_findings_name_their_tensors(self):
        found = self.findings(stats(TENSORS))
        bad = {n for n, e in EXPECTED["tensors"].items() if e["nan"] + e["inf"]}
        self.assertEqual(self.names(found["not-finite"]), bad)
        self.assertEqual(found["not-finite"]["severity"], "error")
        self.assertIn("1 more", found["not-finite"]["evidence"])
        self.assertEqual(self.names(found["constant-weights"]), {"equal.f32", "zeros.f32"})
        self.assertIn("extreme.f64", self.names(found["beyond-float16"]))
        self.assertEqual(self.names(found["zero-vectors"]), {"zeros_many.f32"})

    def test_a_finding_of_three_plugins_is_reported_once(self):
        document = report("--plugins=param-stats,quantization-advice,pruning-advice", TENSORS)
        broken = [f for f in document["findings"] if f["rule"] == "not-finite"]
        named = [name for f in broken for name in self.names(f)]
        self.assertEqual(len(named), len(set(named)), broken)
        self.assertLessEqual({"not_finite.f32", "only_nan.f32"}, self.names(broken[0]))

    def test_a_dtype_wider_than_its_values_is_reported(self):
        found = self.findings(stats(TENSORS))["wide-dtype"]
        named = self.names(found)
        self.assertLessEqual({"halves.f32", "bfloat16s.f32", "singles.f64"}, named)
        self.assertFalse({n for n in named if n.startswith("normal.")})

    def test_bytes_of_parameters_are_listed_by_dtype(self):
        header = json.dumps({
            "a.weight": {"dtype": "BF16", "shape": [2048], "data_offsets": [0, 4096]},
            "b.weight": {"dtype": "F32", "shape": [256], "data_offsets": [4096, 5120]},
        }).encode()
        header += b" " * (-len(header) % 8)
        file = self.file("mixed.safetensors", struct.pack("<Q", len(header)) + header + bytes(5120))
        found = self.findings(report("--plugins=params", file))["bytes-by-dtype"]
        self.assertEqual(found["evidence"], "bfloat16 4.00 KiB, float32 1.00 KiB")

    def test_misaligned_tensors_are_reported(self):
        header = json.dumps({"a.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        header += b" " * ((1 - len(header)) % 4)  # an odd offset of the data
        file = self.file("odd.safetensors", struct.pack("<Q", len(header)) + header + struct.pack("<2f", 1, 2))
        self.assertEqual(self.names(self.findings(stats(file))["misaligned"]), {"a.weight"})

    def test_statistics_of_a_type_without_order_are_unavailable_with_a_reason(self):
        header = json.dumps({"a.weight": {"dtype": "C64", "shape": [2], "data_offsets": [0, 16]}}).encode()
        file = self.file("complex.safetensors", struct.pack("<Q", len(header)) + header + bytes(16))
        done = stats(file)
        self.assertIsNone(by_name(done)["a.weight"]["values"].get("mean"))
        self.assertIsNone(done["totals"]["mean"])
        self.assertTrue(any("complex64" in json.dumps(w) for w in done["warnings"]), done["warnings"])

    def test_a_file_saved_without_weights_gives_no_values(self):
        done = stats(FIXTURES / "models" / "resnet50.pt2")
        self.assertIsNone(done["totals"]["mean"])
        self.assertEqual(done["findings"], [])

    def test_an_invalid_threshold_is_refused(self):
        self.assert_refused(2, ["threshold"], "--plugins=param-stats", TENSORS, "--set", "param-stats.threshold=2")

    def test_the_terminal_shows_the_values(self):
        done = tmeter("--plugins=param-stats", TENSORS)
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("mean", "std", "sparsity", "normal.f32", "NaN or infinite"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    main()
