"""The memory of a training step over time, against torch's MemTracker.

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

    def test_curve(self):
        report_ = step(MODELS / "resnet50.pt2")
        curve = next(s for s in report_["series"] if s["id"] == "step-memory")
        self.assertEqual(max(y for _, y in curve["points"]), report_["totals"]["step_peak_bytes"])
        self.assertLessEqual(len(curve["points"]), 1000)

    def test_cuda_rounds_each_block(self):
        """If all tensors of a model are below 512 bytes or not a multiple of it, the peak grows."""
        cpu, cuda = [step(MODELS / "tied.pt2", device=d, optimizer="sgd")["totals"]["step_peak_bytes"] for d in ("cpu", "cuda")]
        self.assertGreater(cuda, cpu)


if __name__ == "__main__":
    unittest.main()
