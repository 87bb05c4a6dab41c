"""The memory of a training step over time, compared with torch's MemTracker.

tests/fixtures/record_step_memory.py documents the recording of step_memory.json.
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, MODELS, report  # noqa: E402

RECORDED = json.loads((FIXTURES / "step_memory.json").read_text())["models"]
TOLERANCE = 0.05

# Models with larger differences, and the reasons.
DIFFER = {}


def step(path, *columns, **options):
    settings = [x for key, value in options.items() for x in ("--set", f"training.{key.replace('_', '-')}={value}")]
    return report(path, "--plugins=training", "--columns=all", *settings)


def file_of(name):
    return FIXTURES / f"{name}.pt2" if name.startswith("zoo/") else MODELS / f"{name}.pt2"


def peak_of(report_):
    return next(f for f in report_["findings"] if f["rule"] == "training-step")


class MemTracker(unittest.TestCase):
    def test_peaks(self):
        differ, compared = set(), 0
        for name, optimizers in RECORDED.items():
            for optimizer, expected in optimizers.items():
                compared += 1
                peak = step(file_of(name), optimizer=optimizer)["totals"]["step_peak_bytes"]
                if abs(peak / expected["peak"] - 1) > TOLERANCE:
                    differ.add(name)
        self.assertEqual(differ, set(DIFFER))
        self.assertGreaterEqual(compared - len(differ), 20)

    def test_resnet50_to_a_few_bytes(self):
        """The tracker includes the loss and its gradient, 8 bytes."""
        for optimizer, expected in RECORDED["resnet50"].items():
            peak = step(MODELS / "resnet50.pt2", optimizer=optimizer)["totals"]["step_peak_bytes"]
            self.assertEqual(expected["peak"] - peak, 8)


class Report(unittest.TestCase):
    def test_where_the_peak_is(self):
        finding = peak_of(step(MODELS / "resnet50.pt2", optimizer="sgd"))
        self.assertIn("peaks at 256.13 MiB in the backward of aten::conv2d in layer3.0.conv1, with sgd", finding["text"])
        for part in ("weights", "optimizer", "gradients", "activations", "temporaries"):
            self.assertIn(part, finding["evidence"])

    def test_largest_kept_tensors(self):
        """saved_tensors_hooks see 212 storages of a ResNet-50; the stem's are among the largest: 64 × 112 × 112 float32."""
        report_ = step(MODELS / "resnet50.pt2")
        finding = next(f for f in report_["findings"] if f["rule"] == "training-kept")
        self.assertIn("3.06 MiB of aten::conv2d in conv1, kept by aten::batch_norm in bn1", finding["evidence"])
        self.assertEqual(finding["text"], "212 tensors are kept for the backward")

    def test_curve(self):
        report_ = step(MODELS / "resnet50.pt2")
        curve = next(s for s in report_["series"] if s["id"] == "step-memory")
        self.assertEqual(max(y for _, y in curve["points"]), report_["totals"]["step_peak_bytes"])
        self.assertLessEqual(len(curve["points"]), 1000)

    def test_cuda_rounds_each_block(self):
        """If all tensors of a model are below 512 bytes or not a multiple of it, the peak grows."""
        cpu, cuda = [step(MODELS / "tied.pt2", device=d, optimizer="sgd")["totals"]["step_peak_bytes"] for d in ("cpu", "cuda")]
        self.assertGreater(cuda, cpu)


class Sharding(unittest.TestCase):
    """ResNet-50, AdamW: weights, gradients, states and kept tensors of one replica, by hand."""
    PARAMETERS, TENSORS, BUFFERS, LARGEST = 25_557_032, 161, 212_904, 4 * 512 * 512 * 9

    def rows(self, **options):
        report_ = step(MODELS / "resnet50.pt2", **options)
        found = [f["text"] for f in report_["findings"] if f["rule"] == "training-sharding"]
        return report_, {text.split(" on ")[0]: text for text in found}

    @staticmethod
    def mebibytes(text):
        """The two numbers of "each holds at most 12.25 MiB and sends 32.93 MiB a step"."""
        words = text.split()
        return [float(words[i - 1]) for i, word in enumerate(words) if word == "MiB"]

    def test_data_parallel(self):
        n = 8
        report_, rows = self.rows(devices=n)
        w, g, o = 4 * self.PARAMETERS + self.BUFFERS, 4 * self.PARAMETERS, 8 * self.PARAMETERS + 4 * self.TENSORS
        a = report_["totals"]["saved_bytes"]
        expected = {
            "ddp": (w + g + o + a, 2 * g * (n - 1) / n),
            "zero-1": (w + g + o / n + a, 2 * g * (n - 1) / n),
            "zero-2": (w + (g + o) / n + a, 2 * g * (n - 1) / n),
            "zero-3 (fsdp)": ((2 * g + o) / n + self.BUFFERS + a + self.LARGEST, 3 * g * (n - 1) / n),
        }
        for name, sizes in expected.items():
            with self.subTest(name):
                for shown, exact in zip(self.mebibytes(rows[name]), sizes, strict=True):
                    self.assertAlmostEqual(shown, exact / 2**20, delta=0.006)

    def test_frozen_weights_are_not_gathered(self):
        """Only the last layer of ResNet-50 is trained."""
        _, rows = self.rows(devices=8, frozen="conv1,bn1,layer*")
        trained = 4 * (2048 * 1000 + 1000)
        self.assertAlmostEqual(self.mebibytes(rows["zero-1"])[1], 2 * trained * 7 / 8 / 2**20, delta=0.006)

    def test_one_device_sends_nothing(self):
        _, rows = self.rows(devices=1)
        for name, text in rows.items():
            with self.subTest(name):
                self.assertTrue("sends 0 B" in text or name == "tensor", text)

    def test_tensor_parallel_needs_attention(self):
        """Four all-reduces of 2 × 32 × 256 float32 for each of four layers, on 8 devices."""
        text = next(f["text"] for f in step(MODELS / "llama_like.pt2", devices=8)["findings"]
                    if f["rule"] == "training-sharding" and f["text"].startswith("tensor"))
        self.assertAlmostEqual(self.mebibytes(text)[1], 4 * 4 * 2 * 7 / 8 * (2 * 32 * 256 * 4) / 2**20, delta=0.006)
        _, rows = self.rows(devices=8)
        self.assertNotIn("sends", rows["tensor"])

    def test_pipeline_of_many_stages(self):
        _, rows = self.rows(devices=1_000_000)
        self.assertIn("pipeline", rows)


class Utilization(unittest.TestCase):
    def of(self, *columns, **options):
        settings = [x for key, value in options.items() for x in ("--set", f"training.{key.replace('_', '-')}={value}")]
        return report(MODELS / "resnet50.pt2", "--plugins=training", "--columns=all", *columns, *settings)

    def test_share_of_the_peak(self):
        """NVIDIA A100: 19.5 TFLOP/s of float32 (data sheet); a step of 1 ms."""
        totals = self.of("--hardware=nvidia-a100", step_time=0.001, checkpoint="Bottleneck")["totals"]
        whole, again = totals["training_flops"], totals["recomputed_flops"]
        self.assertAlmostEqual(totals["hfu"], whole / 1e-3 / 19.5e12, places=6)
        self.assertAlmostEqual(totals["mfu"], (whole - again) / 1e-3 / 19.5e12, places=6)

    def test_a_rate_beyond_the_peak_is_reported(self):
        warnings = self.of("--hardware=nvidia-a100", step_time=1e-6)["warnings"]
        self.assertTrue(any("more than the peak of 'nvidia-a100'" in w for w in warnings), warnings)

    def test_without_a_time_there_is_no_utilization(self):
        self.assertIsNone(self.of("--hardware=nvidia-a100")["totals"].get("mfu"))


if __name__ == "__main__":
    unittest.main()
