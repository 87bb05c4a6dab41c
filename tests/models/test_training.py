"""The plugin training, compared with torch (FlopCounterMode forward and backward) and with hand calculations.

tests/fixtures/record_training.py documents the recording of training.json.
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, MODELS, report, tmeter  # noqa: E402

DOCUMENT = json.loads((FIXTURES / "training.json").read_text())
RECORDED = DOCUMENT["models"]

# Models whose FLOPs differ from FlopCounterMode's, and the reasons.
FLOPS_DIFFER = {
    ("ops_zoo", "train"): "lstm with projections runs as products; an einsum of three with one operand that is trained",
    ("ops_zoo", "eval"): "as in training mode",
}
# Attention with dropout runs as products on the CPU; a file recorded in eval mode has neither its rate nor its noise.
ATTENTION_DROPOUT = {"transformer", "detr_like", "zoo/transformers-bert", "zoo/transformers-t5", "zoo/transformers-gpt2"}

# Models whose saved bytes differ from those of saved_tensors_hooks, and the reasons.
STOCHASTIC_DEPTH = {  # in training mode; absent from a file recorded in eval mode
    "convnext_tiny", "efficientnet_b0", "swin_t", "zoo/timm-focalnet_tiny_srf", "zoo/timm-swinv2_tiny_window8_256",
    "zoo/torchvision-efficientnet_b0", "zoo/torchvision-maxvit_t", "zoo/torchvision-mvit_v2_s", "zoo/torchvision-swin3d_t",
    "zoo/transformers-segformer"}
# Workspaces of kernels, and Fourier transforms: they are listed, and the total is a lower bound.
UNKNOWN = {"gru", "lstm", "lstm_bidirectional", "ops_zoo", "zoo/timm-sequencer2d_s"}
# Eager mode omits the attention mask that torch.export records.
EXPORTED_MASK = {"zoo/transformers-albert", "zoo/transformers-bart", "zoo/transformers-clip", "zoo/transformers-t5",
                 "zoo/transformers-vit", "zoo/transformers-wav2vec2"}
NO_GRAD = {"zoo/transformers-layoutlmv3"}  # the file does not mark the region


def file_of(name):
    return FIXTURES / f"{name}.pt2" if name.startswith("zoo/") else MODELS / f"{name}.pt2"


def trained(name, form, *options):
    mode = "train" if form == "train" else "recorded"
    math = ["--set", "training.attention=math"] if form == "train" and name in ATTENTION_DROPOUT else []
    return report(file_of(name), "--plugins=training", "--columns=all", "--set", f"training.mode={mode}", *math, *options)


def step(*names, **options):
    settings = [x for key, value in options.items() for x in ("--set", f"training.{key.replace('_', '-')}={value}")]
    return report(*names, "--plugins=training", "--columns=all", *settings)


class FlopCounterMode(unittest.TestCase):
    def test_forward_and_backward_are_equal(self):
        differ = []
        compared = 0
        for name, forms in RECORDED.items():
            for form, expected in forms.items():
                compared += 1
                totals = trained(name, form, "--set", "training.convention=torch")["totals"]
                both = expected["forward_flops"] + expected["backward_flops"]
                if (totals["training_flops"], totals["backward_flops"]) != (both, expected["backward_flops"]):
                    differ.append((name, form))
        self.assertEqual(sorted(differ), sorted(FLOPS_DIFFER))
        self.assertGreaterEqual(1 - len(differ) / compared, 0.95)

    def test_exact_is_equal_without_groups_and_recurrent_layers(self):
        for name in ("resnet50", "vit_b_16", "swin_t", "densenet121", "bert_like", "llama_like"):
            with self.subTest(name):
                expected = RECORDED[name]["train"]
                totals = trained(name, "train")["totals"]
                self.assertEqual(totals["training_flops"], expected["forward_flops"] + expected["backward_flops"])


class SavedTensors(unittest.TestCase):
    def test_equal_to_the_byte(self):
        differ = {"train": set(), "eval": set()}
        compared = 0
        for name, forms in RECORDED.items():
            for form, expected in forms.items():
                compared += 1
                if trained(name, form)["totals"].get("saved_bytes") != expected["saved_bytes"]:
                    differ[form].add(name)
        everywhere = UNKNOWN | EXPORTED_MASK | NO_GRAD
        in_training = everywhere | ATTENTION_DROPOUT | STOCHASTIC_DEPTH
        for form, named in (("eval", everywhere), ("train", in_training)):
            self.assertEqual(differ[form], {n for n in named if form in RECORDED[n]})
        self.assertGreater(compared - len(differ["eval"]) - len(differ["train"]), 100)

    def test_modules(self):
        """Each storage belongs to the module that keeps it first."""
        for name in ("resnet50", "vit_b_16", "densenet121", "llama_like", "mobilenet_v3_large"):
            kept = {}
            for node in trained(name, "train")["nodes"]:
                bytes_ = node["values"].get("saved_bytes", 0)
                kept[node["module"]] = kept.get(node["module"], 0) + bytes_
            with self.subTest(name):
                self.assertEqual({m: b for m, b in kept.items() if b}, RECORDED[name]["train"]["saved_by_module"])

    def test_frozen_trunk_keeps_the_last_input_alone(self):
        totals = step(MODELS / "resnet50.pt2", frozen="conv1,bn1,layer*")["totals"]
        self.assertEqual(totals["saved_bytes"], 2048 * 4)

    def test_dropout_on_cuda_keeps_bytes(self):
        """mobilenet_v2: noise of 1280 elements, float32 on the CPU, a mask on CUDA."""
        kept = [step(MODELS / "mobilenet_v2.pt2", device=d)["totals"]["saved_bytes"] for d in ("cpu", "cuda")]
        self.assertEqual(kept[0] - kept[1], 1280 * 3)

    def test_operators_without_a_rule_are_reported(self):
        report_ = step(MODELS / "lstm.pt2")
        self.assertEqual(report_["totals_status"]["saved_bytes"], "lower_bound")
        self.assertTrue(any("aten::lstm" in w for w in report_["warnings"]), report_["warnings"])


class Exact(unittest.TestCase):
    def test_grouped_convolution(self):
        """MobileNetV2: twice the forward without the first layer's input, not 19.4 times."""
        totals = step(MODELS / "mobilenet_v2.pt2")["totals"]
        first = 112 * 112 * 32 * 27
        self.assertEqual(totals["backward_macs"], 2 * 300_774_272 - first)
        self.assertEqual(totals["training_flops"], 2 * (totals["macs"] + totals["backward_macs"]))

    def test_recurrent_layers(self):
        """GRU: each matrix has two gradients, but the first state none (steps × batch − batch products)."""
        expected = RECORDED["gru"]["train"]
        self.assertEqual(step(MODELS / "gru.pt2")["totals"]["backward_flops"], expected["backward_flops"])

    def test_frozen_parts(self):
        """A frozen trunk needs no backward. The last layer needs only that of its weight, 2048 × 1000."""
        totals = step(MODELS / "resnet50.pt2", frozen="conv1,bn1,layer*")["totals"]
        self.assertEqual(totals["backward_macs"], 2048 * 1000)

    def test_frozen_without_a_match_is_refused(self):
        done = tmeter(MODELS / "resnet50.pt2", "--plugins=training", "--set", "training.frozen=layr1")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("'layr1' matches no parameter", done.stderr)

    def test_a_model_without_trainable_parameters_is_reported(self):
        report_ = step(MODELS / "resnet50.pt2", frozen="*")
        self.assertEqual(report_["totals"]["backward_macs"], 0)
        self.assertTrue(any("no parameter is trainable" in w for w in report_["warnings"]), report_["warnings"])


class Step(unittest.TestCase):
    PARAMETERS, TENSORS, BUFFERS = 25_557_032, 161, 212_904

    def test_optimizers_as_torch_keeps_their_states(self):
        for optimizer, expected in DOCUMENT["optimizers"].items():
            with self.subTest(optimizer):
                totals = step(MODELS / "resnet50.pt2", optimizer=optimizer)["totals"]
                self.assertEqual(totals.get("optimizer_bytes") or 0, expected)

    def test_mixed_precision_is_18_bytes(self):
        """Megatron-LM: 2 for the weight, 4 for the gradient, 12 for Adam's states and the master weight."""
        totals = step(MODELS / "resnet50.pt2", precision="bf16-mixed")["totals"]
        self.assertEqual(totals["gradient_bytes"], 4 * self.PARAMETERS)
        self.assertEqual(totals["optimizer_bytes"], 12 * self.PARAMETERS + 4 * self.TENSORS)

    def test_half_precision_halves_the_saved_tensors(self):
        """ViT-B/16: all in bfloat16 except the statistics of 25 norms and the log-sum-exp of 12 × 12 heads, 197 rows each."""
        statistics = 197 * 4 * (25 * 2 + 12 * 12)
        whole, half = [step(MODELS / "vit_b_16.pt2", precision=p)["totals"] for p in ("fp32", "bf16")]
        self.assertEqual(whole["saved_bytes"] - statistics, 2 * (half["saved_bytes"] - statistics))

    def test_work_of_optimizers(self):
        """Muon as FlopCounterMode counts a step: five times 4m²n + 2m³; with 12 per element, and AdamW's 14 for the rest."""
        m, n = 1000, 2048
        muon = 5 * (4 * m * m * n + 2 * m**3) + 12 * m * n + 14 * (self.PARAMETERS - m * n)
        for optimizer, flops in {"sgd": 2 * self.PARAMETERS, "adamw": 14 * self.PARAMETERS, "muon": muon}.items():
            with self.subTest(optimizer):
                self.assertEqual(step(MODELS / "resnet50.pt2", optimizer=optimizer)["totals"]["optimizer_flops"], flops)

    def test_frozen_parameters_have_no_state(self):
        totals = step(MODELS / "resnet50.pt2", frozen="conv1,bn1,layer*")["totals"]
        self.assertEqual(totals["gradient_bytes"], 4 * (2048 * 1000 + 1000))

    def test_weights_alone(self):
        """Gradients and optimizer states are reported; all other values are unavailable."""
        report_ = step(FIXTURES / "checkpoints" / "net.safetensors")
        totals = report_["totals"]
        trained_ = sum(t["numel"] for t in report_["tensors"] if t["trainable"])
        self.assertEqual(totals["gradient_bytes"], 4 * trained_)
        self.assertIsNone(totals["saved_bytes"])
        self.assertIn("at least", report_["findings"][0]["text"])


class LanguageModels(unittest.TestCase):
    def test_conventions(self):
        """gpt2_like: 3,448,320 parameters, 128 × 256 of them positions; the token table is also the head."""
        tokens, parameters = 2 * 32, 3_448_320 - 128 * 256
        attention = 4 * tokens * 32 * 2 * 256  # layers × tokens × length × (scores, values) × width
        products = tokens * (4 * 12 * 256 * 256 + 256 * 1000)
        path = MODELS / "gpt2_like.pt2"
        for convention, flops in {"6n": 6 * parameters * tokens, "palm": 6 * (parameters * tokens + attention),
                                  "megatron": 6 * products + 3 * attention}.items():
            with self.subTest(convention):
                totals = step(path, convention=convention)["totals"]
                self.assertEqual(totals["training_flops"], flops)
                self.assertEqual(totals["backward_flops"] * 3, flops * 2)

    def test_without_tokens(self):
        totals = step(MODELS / "resnet50.pt2", convention="6n")
        self.assertNotIn("training_flops", {k for k, v in totals["totals"].items() if v is not None})
        self.assertTrue(any("no token ids" in w for w in totals["warnings"]), totals["warnings"])


if __name__ == "__main__":
    unittest.main()
