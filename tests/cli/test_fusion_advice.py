"""fusion-advice on small networks (tests/fixtures/make_advice.py), whose savings are calculated by hand. All tensors
are float32 of 4 bytes; a tensor between two operators is written once and read once: 2 × its bytes.

folds       x [1, 3, 8, 8] → conv 3→4 without bias → bn → relu → conv_transpose 4→6, stride 2 → bn; y [2, 3, 8] →
            linear 8→5 → flatten → bn. Folding saves the batch norm's traffic: its input, four vectors of C and its
            result, less a new bias of C:
              conv     4·4·8·8 = 1,024:   reads 1,024 + 4·4·4 - 4·4, writes 1,024            2,096
              up       4·6·16·16 = 6,144: reads 6,144 + 4·4·6, writes 6,144                 12,384
              linear   4·6·5 = 120:       reads   120 + 4·4·5, writes 120                      320
            and the relu, done before the result of conv and bn is written: 2 · 1,024
scales      conv 3→4 on [1, 3, 8, 8] → · [1, 4, 1, 1] → + [1, 4, 1, 1]: each reads 1,024 + 16 and writes 1,024, less a new bias of 16;
            linear on [2, 6, 8] → · [4]: reads 192 + 16, writes 192
attentions  q, k, v [1, 2, 16, 8]: 1,024; scores [1, 2, 16, 16]: 2,048
              q·0.25, q kᵀ + bias, softmax, dropout, · v:  2 · (1,024 + 3 · 2,048)          14,336
              q kᵀ / 4, masked_fill, softmax, · v:         2 · 4 · 2,048                    16,384
              bmm, softmax, bmm:                           2 · 2 · 2,048                     8,192
chains      x, y of 512: gelu by hand reads 10 and writes 8, one loop 1 and 1:              16 · 512
              sigmoid(y) · y reads 3 and writes 2, one loop 1 and 1:                         3 · 512
              relu(… + y):                                                                   2 · 512
linears     x [2, 6, 32] is read once instead of three times:                        2 · 4 · 2 · 6 · 32 = 3,072
epilogues   conv → relu [2, 4, 8, 8], linear → dropout → gelu [2, 16], linear → tanh [2, 8]:   2 · 4 · (512 + 32 + 16)
"""
import json
import pathlib
import tempfile
import unittest

from support import HAVE_TORCH, CliTest, FIXTURES, MODELS, build_plugin, main, report, tmeter

FOLDER = FIXTURES / "advice"
ALL = ("--plugins=fusion-advice", "--set=fusion-advice.min-share=0")
RULES = {"fold-batch-norm", "fold-scale", "fuse-activation", "fuse-attention", "fuse-elementwise", "merge-linear"}


def findings(model, *arguments):
    document = report(model, *(arguments or ALL))
    return document, {f["rule"]: f for f in document["findings"] if f["rule"] in RULES}


def saved(finding, *metrics):
    changes = {c["metric"]: c["from"] - c["to"] for c in finding["changes"]}
    return sum(changes.get(metric, 0) for metric in metrics or ("read_bytes", "written_bytes"))


class FusionAdvice(CliTest):
    def only(self, name, *rules):
        _, found = findings(FOLDER / f"{name}.pt2")
        self.assertEqual(set(found), set(rules))
        return found

    def test_batch_norms_are_folded(self):
        found = self.only("folds", "fold-batch-norm", "fuse-activation")
        fold = found["fold-batch-norm"]
        self.assertEqual(saved(fold), 2_096 + 12_384 + 320)
        self.assertEqual(saved(fold, "written_bytes"), 1_024 + 6_144 + 120)
        self.assertEqual(len(fold["targets"]), 6)
        self.assertIn("1 × conv_transpose2d → batch_norm in Folds 12.09 KiB", fold["evidence"])
        self.assertEqual(saved(found["fuse-activation"]), 2 * 1_024)
        self.assertIn("conv2d → batch_norm → relu", found["fuse-activation"]["evidence"])

    def test_bytes_of_all_patterns_are_a_column(self):
        for name, total in (("folds", 2_096 + 12_384 + 320 + 2 * 1_024), ("attentions", 14_336 + 16_384 + 8_192), ("quiet", 0)):
            document, found = findings(FOLDER / f"{name}.pt2")
            self.assertEqual(document["totals"]["fusable_bytes"], total)
            self.assertEqual(sum(saved(f) for f in found.values()), total)
        norms = {m["path"]: m["values"]["fusable_bytes"] for m in findings(FOLDER / "folds.pt2")[0]["modules"]}
        self.assertEqual((norms["bn"], norms["up_bn"], norms["conv"]), (2_096, 12_384, 0))

    def test_all_plugins_include_fusion_advice(self):
        document = report(FOLDER / "folds.pt2", "--plugins=all")
        self.assertLessEqual({"fold-batch-norm", "fuse-activation"}, {f["rule"] for f in document["findings"]})
        self.assertLessEqual({"fusable_bytes", "reordered_bytes", "batch_efficiency"}, set(document["totals"]))

    def test_the_error_of_folded_weights_is_that_of_pytorchs_own_folding(self):
        expected = json.loads((FOLDER / "expected.json").read_text())["folds"]
        worst = max((expected[name]["relative"], name) for name in ("conv", "up", "linear"))
        evidence = self.only("folds", "fold-batch-norm", "fuse-activation")["fold-batch-norm"]["evidence"]
        self.assertIn(f"at most {worst[0]:.2g} of the largest ({worst[1]} (aten::conv2d), {expected[worst[1]]['absolute']:.2g})", evidence)

    def test_weights_of_16_bits_are_rounded_and_must_not_overflow(self):
        expected = json.loads((FOLDER / "expected.json").read_text())["folds"]
        self.assertFalse(expected["narrow_is_finite"])  # PyTorch's folded float16 weights have infinities
        evidence = self.only("halves", "fold-batch-norm")["fold-batch-norm"]["evidence"]
        self.assertIn("1 × conv2d → batch_norm", evidence)
        self.assertIn(f"at most {expected['brain']['relative']:.2g} of the largest (brain", evidence)
        self.assertIn("1 batch norm left out because the folded weights would not be finite", evidence)

    def test_weights_that_are_not_in_the_file_have_no_error(self):
        _, found = findings(MODELS / "resnet50.pt2")
        self.assertNotIn("folded weights", found["fold-batch-norm"]["evidence"])

    def test_attention_that_is_written_out(self):
        attention = self.only("attentions", "fuse-attention")["fuse-attention"]
        self.assertEqual(saved(attention), 14_336 + 16_384 + 8_192)
        for kind in ("matmul → div → masked_fill → softmax → matmul in Attentions 16.00 KiB",
                     "mul → matmul → add → softmax → matmul in Attentions 14.00 KiB", "bmm → softmax → bmm in Attentions 8.00 KiB"):
            self.assertIn(f"1 × {kind}", attention["evidence"])

    def test_scales_are_folded(self):
        """Neither a product with an input nor a scale with one factor per row is folded. Two of the linear layers and that
        scale take the same input."""
        finding = self.only("scales", "fold-scale", "merge-linear")["fold-scale"]
        self.assertEqual(saved(finding), 2 * (2 * 1_024 + 16) - 16 + 2 * 192 + 16)
        self.assertIn("2 scales can be multiplied into the weights", finding["text"])
        self.assertIn("1 × conv2d → mul → add in Scales", finding["evidence"])

    def test_elementwise_chains(self):
        chain = self.only("chains", "fuse-elementwise")["fuse-elementwise"]
        self.assertEqual(saved(chain), (16 + 3 + 2) * 512)
        self.assertTrue(chain["text"].startswith("12 elementwise operators can be fused into 3"))
        self.assertIn("1 × 8 from mul to mul in Chains 8.00 KiB", chain["evidence"])

    def test_linear_layers_of_one_input(self):
        """A batch norm of another parent is not folded."""
        linear = self.only("linears", "merge-linear")["merge-linear"]
        self.assertEqual(saved(linear), 3_072)
        self.assertIn("1 × q, k, v in Linears", linear["evidence"])

    def test_activations_after_layers(self):
        self.assertEqual(saved(self.only("epilogues", "fuse-activation")["fuse-activation"]), 2 * 4 * (512 + 32 + 16))

    def test_near_patterns_are_not_reported(self):
        """Results used twice, weights used twice, batch norms in training mode, groups, rows instead of channels, fused
        attention, …"""
        self.only("quiet")

    def test_times_are_those_of_the_roofline(self):
        """Arithmetic takes practically no time, a byte 1 ns, a call 10 us: each fusion saves its bytes and its calls."""
        machine = self.file("made-up.toml", 'name = "made-up"\ntitle = "Made up"\n' + "".join(
            f'[{key}]\nvalue = {value}\nunit = "1/s"\nsource = "this test"\n' for key, value in
            (("peak.mac.float32", 1e18), ("peak.op.float32", 1e18), ("peak.dram", 1e9), ("overhead.operator", 1e-5))))
        for name, rule, expected in (("folds", "fold-batch-norm", (2_096 + 12_384 + 320) * 1e-9 + 3e-5),
                                     ("attentions", "fuse-attention", 38_912e-9 + 10e-5),  # 5 + 5 + 3 operators become 3
                                     ("chains", "fuse-elementwise", 21 * 512e-9 + 9e-5), ("linears", "merge-linear", 3_072e-9 + 2e-5)):
            document, found = findings(FOLDER / f"{name}.pt2", *ALL, "--hardware", machine)
            self.assertAlmostEqual(saved(found[rule], "predicted_time") / expected, 1, places=6, msg=name)
            change = next(c for c in found[rule]["changes"] if c["metric"] == "predicted_time")
            self.assertEqual(change["from"], document["totals"]["predicted_time"])
            self.assertIn("less time on made-up", found[rule]["text"])

    def test_without_rates_no_times_are_given(self):
        _, found = findings(FOLDER / "linears.pt2")
        self.assertEqual([c["metric"] for c in found["merge-linear"]["changes"]], ["read_bytes"])
        self.assertNotIn("time", found["merge-linear"]["text"])

    def test_small_savings_are_not_reported(self):
        for share, rules in (("0.2", {"fuse-elementwise"}), ("0.8", set())):  # chains saves 75 % of its traffic
            self.assertEqual(set(findings(FOLDER / "chains.pt2", "--plugins=fusion-advice", f"--set=fusion-advice.min-share={share}")[1]), rules)
        self.assert_refused(2, ["min-share"], FOLDER / "chains.pt2", "--plugins=fusion-advice", "--set=fusion-advice.min-share=2")


class Measured(CliTest):
    """With an executor whose operator i takes i + 1 us (clockwork_plugin.cpp): conv 1, bn 2, relu 3, conv_transpose 4, bn 5, linear 6,
    flatten 7, bn 8: 36 us."""

    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-advice-")
        cls.addClassCleanup(built.cleanup)
        cls.engine = pathlib.Path(built.name) / "clockwork.tmeter"
        build_plugin("clockwork_plugin.cpp", cls.engine)

    def test_savings_include_the_measured_times_of_removed_operators(self):
        document, found = findings(FOLDER / "folds.pt2", "--inference", "--plugin", self.engine, "--plugins=fusion-advice,-torch-backend")
        self.assertAlmostEqual(document["totals"]["op_time"], 36e-6, delta=1e-12)
        self.assertIn("the operators removed took 15.00 us (41.7 %) when measured here", found["fold-batch-norm"]["evidence"])
        self.assertIn("took 3.00 us (8.3 %)", found["fuse-activation"]["evidence"])

    def test_remaining_layers_do_not_count_as_removed(self):
        _, found = findings(FOLDER / "linears.pt2", "--inference", "--plugin", self.engine, "--plugins=fusion-advice,-torch-backend")
        self.assertNotIn("measured", found["merge-linear"]["evidence"])


class RealModels(CliTest):
    """Numbers of layers by the papers' tables."""

    def count(self, model, rule):
        _, found = findings(model)
        return found[rule]["text"].split()[0] if rule in found else "0"

    def test_batch_norms(self):
        """ResNet-50 has 53, each after its convolution. In a DenseNet-121 those of the 58 layers between two
        convolutions can be folded, and that of the stem: the others normalise a concatenation."""
        self.assertEqual(self.count(MODELS / "resnet50.pt2", "fold-batch-norm"), "53")
        self.assertEqual(self.count(MODELS / "densenet121.pt2", "fold-batch-norm"), str(6 + 12 + 24 + 16 + 1))

    @unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
    def test_batch_norms_after_linear_layers(self):
        """LeViT-128S: 4 convolutions, 46 linear layers whose result is flattened; TorchScript."""
        self.assertEqual(self.count(FIXTURES / "zoo" / "timm-levit_128s.scripted.pt", "fold-batch-norm"), "50")

    def test_bytes_of_all_batch_norms(self):
        """For each: its input read, its result written, three of four vectors of C, because no convolution has a bias."""
        document, found = findings(MODELS / "resnet50.pt2")
        expected = 0
        for node in document["nodes"]:
            if node["op"] == "aten::batch_norm":
                n, c, h, w = node["results"][0]["shape"]
                expected += 2 * 4 * n * c * h * w + 3 * 4 * c
        self.assertEqual(saved(found["fold-batch-norm"]), expected)

    def test_scales(self):
        """DETR's ResNet-50 has 53 batch norms that are frozen and written out; ConvNeXt's layer scale follows a permute."""
        self.assertEqual(self.count(FIXTURES / "zoo" / "transformers-detr.pt2", "fold-scale"), "53")
        self.assertEqual(self.count(FIXTURES / "zoo" / "timm-beit_base_patch16_224.pt2", "fold-scale"), "24")
        self.assertEqual(self.count(MODELS / "convnext_tiny.pt2", "fold-scale"), "0")

    def test_attention(self):
        """Swin-T has 2 + 2 + 6 + 2 blocks of attention written out; ViT's is one operator."""
        self.assertEqual(self.count(MODELS / "swin_t.pt2", "fuse-attention"), "12")
        for fused in ("vit_b_16.pt2", "gpt2_like.pt2", "llama_like.pt2", *(["vit_b_16.traced.pt"] if HAVE_TORCH else [])):
            self.assertEqual(self.count(MODELS / fused, "fuse-attention"), "0", fused)

    @unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
    def test_traced_and_scripted_models_give_equal_findings(self):
        kinds = {form: findings(MODELS / f"resnet50.{form}")[1] for form in ("pt2", "scripted.pt", "traced.pt")}
        for rule, finding in kinds["pt2"].items():
            for form in ("scripted.pt", "traced.pt"):
                self.assertEqual([saved(finding), finding["text"]], [saved(kinds[form][rule]), kinds[form][rule]["text"]], (rule, form))

    def test_files_of_weights_have_no_findings(self):
        done = tmeter(FIXTURES / "trained" / "model.safetensors", "--plugins=fusion-advice")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("could be", done.stdout)


if __name__ == "__main__":
    main()
