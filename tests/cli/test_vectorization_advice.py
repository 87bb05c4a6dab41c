"""vectorization-advice by hand. dynamic_mlp.pt2, float32, has 64 → 256 and 256 → 10 features: on 8 lanes 10 fill 10 of 16."""
import unittest

from support import FIXTURES, HAVE_TORCH, MODELS, CliTest, main, report

MLP = MODELS / "dynamic_mlp.pt2"
PLUGINS = "--plugins=vectorization-advice"
RULES = {"vector-features", "vector-strides", "vector-broadcast"}


class VectorizationAdvice(CliTest):
    def findings(self, model, *arguments):
        document = report(model, PLUGINS, *arguments)
        return document, {f["rule"]: f for f in document["findings"] if f["rule"] in RULES}

    def use(self, document):
        return [n["values"].get("vector_use") for n in document["nodes"]]

    def test_the_share_of_lanes(self):
        document, found = self.findings(MLP)
        self.assertEqual(self.use(document), [1.0, 1.0, 0.625])
        self.assertEqual(set(found), {"vector-features"})
        # 2 · 4·256·10 for MACs + 4·10 for the bias, of 2 · (4·64·256 + 4·256·10) + 4·266 and the operations of gelu
        whole = sum(2 * n["values"]["macs"] + n["values"]["other_flops"] for n in document["nodes"])
        text = found["vector-features"]["text"]
        self.assertIn(f"1 operator with {100 * (20_480 + 40) / whole:.1f} % of the arithmetic fills 62.5 % of vectors of 32 bytes", text)
        self.assertIn("down (aten::linear): 10 float32 in a row on 8 lanes, 62.5 %", found["vector-features"]["evidence"])

    def test_the_width_is_the_given_one_the_profiles_or_that_of_avx2(self):
        document, _ = self.findings(MLP, "--set", "vectorization-advice.width=64")
        self.assertEqual(self.use(document)[2], 0.625)  # 10 of 16
        document, _ = self.findings(MLP, "--set", "vectorization-advice.width=16")
        self.assertAlmostEqual(self.use(document)[2], 10 / 12)
        profile = self.file("wide.toml", 'name = "wide"\ntitle = "Wide"\n[vector.width]\nvalue = 128\nunit = "B"\nsource = "this test"\n')
        document, found = self.findings(MLP, "--hardware", profile)
        self.assertEqual(self.use(document)[2], 10 / 32)
        self.assertIn("hardware profile wide", found["vector-features"]["evidence"])
        self.assert_refused(2, ["vectorization-advice.width"], MLP, PLUGINS, "--set", "vectorization-advice.width=-1")

    def test_operands_in_different_orders(self):
        """Chains (make_advice.py): [8, 16] of strides (1, 8) and of strides (16, 1) are added."""
        document, found = self.findings(FIXTURES / "advice" / "chains.pt2")
        self.assertIn("1 operator", found["vector-strides"]["text"])
        self.assertIn("aten::add: 1 float32 in a row on 8 lanes, 12.5 %", found["vector-strides"]["evidence"])
        self.assertIn(".contiguous()", found["vector-strides"]["action"])

    def test_operands_that_repeat(self):
        _, found = self.findings(FIXTURES / "advice" / "scales.pt2")
        self.assertIn("aten::mul: 4 float32 in a row on 8 lanes, 50.0 %", found["vector-broadcast"]["evidence"])

    def test_models_of_whole_vectors_get_no_advice(self):
        for model in ("resnet50", "vit_b_16", "swin_t", "convnext_tiny", "lstm", "gpt2_like"):
            self.assertEqual(self.findings(MODELS / f"{model}.pt2")[1], {}, model)

    @unittest.skipUnless(HAVE_TORCH, "no LibTorch")
    def test_the_evidence_has_the_achieved_and_the_attainable_rate(self):
        profile = self.file("fast.toml", 'name = "fast"\ntitle = "Fast"\n' + "".join(
            f'[{key}]\nvalue = {v}\nunit = "1/s"\nsource = "this test"\n' for key, v in
            {"peak.mac.float32": 1e12, "peak.op.float32": 1e12, "peak.dram": 1e12}.items()))
        document = report(MLP, "--plugins=vectorization-advice,roofline", "--profile", "--run-for=1s", "--hardware", profile)
        [finding] = [f for f in document["findings"] if f["rule"] == "vector-features"]
        self.assertRegex(finding["evidence"], r"62\.5 %, [\d.]+ [KMG]FLOP/s of attainable [\d.]+ TFLOP/s when measured")


if __name__ == "__main__":
    main()
