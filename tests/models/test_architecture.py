"""The reported kind of network, compared with the papers that introduced each network."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import MODELS, report  # noqa: E402

KINDS = {
    "resnet50": "convolutional network; medium",
    "densenet121": "convolutional network; medium",
    "mobilenet_v3_large": "convolutional network; small",
    "convnext_tiny": "convolutional network; medium",  # most MACs are in its linear layers
    "vit_b_16": "transformer; large",
    "swin_t": "transformer; medium",  # attention as separate operators: matmul, softmax, matmul
    "bert_like": "transformer",
    "llama_like": "transformer",
    "detr_like": "hybrid network of convolutions and attention",
    "lstm": "recurrent network",
    "gru": "recurrent network",
    "dynamic_mlp": "multilayer perceptron; tiny",
}


class Architecture(unittest.TestCase):
    def finding(self, name):
        document = report(MODELS / f"{name}.pt2", "--plugins=architecture")
        return document, next(f for f in document["findings"] if f["rule"] == "architecture")

    def test_kinds(self):
        for name, kind in KINDS.items():
            with self.subTest(model=name):
                self.assertTrue(self.finding(name)[1]["text"].startswith(kind), self.finding(name)[1]["text"])

    def test_evidence_is_in_numbers(self):
        """ResNet-50: 53 convolutions and a linear layer of 2,048 x 1,000 of 4,089,184,256 MACs: 0.05 %."""
        evidence = self.finding("resnet50")[1]["evidence"]
        self.assertIn("99.9 % of the MACs in 53 × convolution", evidence)
        self.assertIn("0.1 % of the MACs in 1 × matmul", evidence)

    def test_depth(self):
        """dynamic_mlp is linear, relu, linear."""
        self.assertEqual(self.finding("dynamic_mlp")[0]["totals"]["graph_depth"], 3)


if __name__ == "__main__":
    unittest.main(verbosity=1)
