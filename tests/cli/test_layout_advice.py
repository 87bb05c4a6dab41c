"""layout-advice on small networks (tests/fixtures/make_advice.py), by hand:

images   conv 3→8 on [1, 3, 8, 8]: 8·64·27 = 13,824 MACs; its input and result read and written: 2·4·(3·64 + 8·64) = 5,632. The
         other convolution (32 MACs) works on a single pixel. 3 channels are an image's
uneven   float32, multiples of 4 advised: 6→10 (120 MACs, 8·12/60 - 1 = 0.6 more), 10→8 (160, 0.2 more), 12→16 (384, even);
         bfloat16, multiples of 8: 12→16 (384, a third more): 664 of 1,048 MACs, 72 + 32 + 128 more
copies   contiguous() of a transposed [2, 6, 8]: 2·384 bytes; reshape of a permuted one: 2·384, which no value includes
doubles  x [2, 4] float64 → linear → float → linear: float64 reads 64 + 160 (and 64 by float), writes 64: half is saved
casts    bfloat16 [4, 16] to float32: reads 128, writes 256; back: reads 256, writes 128
"""
import json

from support import CliTest, FIXTURES, MODELS, main, report, tmeter

FOLDER = FIXTURES / "advice"
ALL = ("--plugins=layout-advice", "--set=layout-advice.min-share=0")
RULES = {"channels-last", "align-features", "layout-copies", "float64", "lower-precision", "allow-tf32", "mixed-dtypes"}
MLP = MODELS / "dynamic_mlp.pt2"
TEN = {"align-features"}  # advised for its ten classes


def findings(model, *arguments):
    document = report(model, *(arguments or ALL))
    return document, {f["rule"]: f for f in document["findings"] if f["rule"] in RULES}


def saved(finding, metric):
    return sum(c["from"] - c["to"] for c in finding["changes"] if c["metric"] == metric)


class LayoutAdvice(CliTest):
    def only(self, name, *rules):
        _, found = findings(FOLDER / f"{name}.pt2")
        self.assertEqual(set(found), set(rules))
        return found

    def machine(self, **rates):
        """A profile with these peaks; `_` represents `.`."""
        return self.file("made-up.toml", 'name = "made-up"\ntitle = "Made up"\n' + "".join(
            f'[{key.replace("_", ".")}]\nvalue = {value}\nunit = "1/s"\nsource = "this test"\n' for key, value in rates.items()))

    def on_machine(self, model, **rates):
        return findings(model, *ALL, "--hardware", self.machine(peak_op_float32=1e18, **rates))

    def test_convolutions_on_nchw(self):
        finding = self.only("images", "channels-last")["channels-last"]
        self.assertIn("1 convolution reads and writes NCHW tensors: 99.8 % of the MACs", finding["text"])
        self.assertIn("up to 5.50 KiB", finding["evidence"])
        _, found = self.on_machine(FOLDER / "images.pt2", peak_mac_float32=1e18, peak_dram=1e9)
        self.assertIn("of the predicted time", found["channels-last"]["text"])
        self.assertIn("5.63 us on made-up", found["channels-last"]["evidence"])  # 5,632 B at 1 GB/s

    def test_weights_stored_channels_last(self):
        self.only("images_channels_last")

    def test_a_model_of_few_convolutions_gets_no_advice_about_them(self):
        """ViT-B/16: one convolution of 115,605,504 of 17,563,828,224 MACs."""
        self.assertNotIn("channels-last", findings(MODELS / "vit_b_16.pt2")[1])

    def test_features_that_are_not_multiples_of_16_bytes(self):
        finding = self.only("uneven", "align-features")["align-features"]
        self.assertIn("3 layers with 63.4 % of the MACs", finding["text"])
        self.assertIn("1 × bfloat16 12 → 16 (brain (aten::linear)), 1 × float32 10 → 8 (fc2 (aten::linear)), 1 × float32 6 → 10 (fc1 (aten::linear));", finding["evidence"])
        self.assertIn("padding them adds 22 % to the model's MACs", finding["evidence"])

    def test_even_features_and_images_get_no_advice(self):
        """ResNet-50 has three channels at the front, else multiples of 64; 1,000 classes. BERT's 30,522 words are 7,630.5 times 4."""
        self.assertNotIn("align-features", findings(MODELS / "resnet50.pt2")[1])
        grouped = findings(FIXTURES / "zoo" / "torchvision-raft_large.pt2")[1]["align-features"]["evidence"]
        self.assertIn("12 × float32 256 → 126 (such as update_block.motion_encoder.conv.0 (aten::conv2d))", grouped)
        self.assertIn("768 → 30522", findings(FIXTURES / "zoo" / "transformers-bert.pt2")[1]["align-features"]["evidence"])

    def test_copies_into_another_order(self):
        finding = self.only("copies", "layout-copies")["layout-copies"]
        self.assertEqual(findings(FOLDER / "copies.pt2")[0]["totals"]["reordered_bytes"], 4 * 384)
        self.assertIn("2 tensors are copied into another memory order: 1.50 KiB", finding["text"])
        self.assertIn("1 × transpose → contiguous in Copies 768 B, 1 × permute → reshape in Copies 768 B; 768 B of it by reshape", finding["evidence"])
        self.assertEqual((saved(finding, "read_bytes"), saved(finding, "written_bytes")), (384, 384))

    def test_copies_of_real_models_follow_pytorchs_strides(self):
        """No other copies are reported, and all of them if the model has no attention: its kernels write in another order
        than torch.export records."""
        expected = json.loads((FOLDER / "expected.json").read_text())["copies"]
        for name, recorded in expected.items():
            document, found = findings(FIXTURES / f"{name}.pt2")
            copies = [document["nodes"][t["node"]]["name"] for t in found["layout-copies"]["targets"]]
            self.assertEqual(len(copies), len(set(copies)))
            self.assertLessEqual(set(copies), set(recorded), name)
            if "aten::scaled_dot_product_attention" not in {node["op"] for node in document["nodes"]}:
                self.assertEqual(set(copies), set(recorded), name)
        self.assertEqual(len(expected["models/swin_t"]), 49)

    def test_float64(self):
        document, found = findings(FOLDER / "doubles.pt2")
        self.assertEqual(set(found), {"float64"})
        finding = found["float64"]
        self.assertEqual(saved(finding, "param_bytes"), 80)
        self.assertEqual(saved(finding, "read_bytes"), (64 + 160 + 64) / 2)
        self.assertEqual(saved(finding, "written_bytes"), 32)
        self.assertIn("160 B of 240 B of parameters are float64", finding["evidence"])

    def test_conversions_between_float_types(self):
        finding = self.only("casts", "mixed-dtypes")["mixed-dtypes"]
        self.assertEqual((saved(finding, "read_bytes"), saved(finding, "written_bytes")), (384, 384))
        self.assertIn("2 conversions", finding["text"])
        self.assertIn("1 × float32 → bfloat16 in Casts 384 B", finding["evidence"])

    def test_a_type_in_which_the_machine_is_faster(self):
        """dynamic_mlp has 65,536 + 10,240 MACs, and a parameter for each of 64·256 + 256 + 256·10 + 10. Bytes take no
        time."""
        rates = {"peak_mac_float32": 1e9, "peak_dram": 1e18}
        document, found = self.on_machine(MLP, peak_mac_bfloat16=4e9, peak_op_bfloat16=1e18, **rates)
        self.assertEqual(set(found) - TEN, {"lower-precision"})
        finding = found["lower-precision"]
        self.assertAlmostEqual(saved(finding, "predicted_time") / (0.75 * 75_776e-9), 1, places=4)
        self.assertEqual(saved(finding, "param_bytes"), 2 * (64 * 256 + 256 + 256 * 10 + 10))
        self.assertEqual(saved(finding, "read_bytes") + saved(finding, "written_bytes"), document["totals"]["traffic_bytes"] / 2)
        for slower in ({"peak_mac_bfloat16": 1.5e9}, {"peak_mac_float64": 4e9}, {}):
            self.assertEqual(set(self.on_machine(MLP, **rates, **slower)[1]) - TEN, set(), slower)

    def test_tf32(self):
        """Reported if convolutions have a rate of their own: 7/8 of the products' time is saved."""
        _, found = self.on_machine(MLP, peak_mac_float32=1e9, peak_mac_convolution_float32=8e9, peak_dram=1e18)
        self.assertEqual(set(found) - TEN, {"allow-tf32"})
        self.assertAlmostEqual(saved(found["allow-tf32"], "predicted_time") / (7 / 8 * 75_776e-9), 1, places=4)

    def test_without_rates_there_is_no_advice_about_faster_types(self):
        self.assertEqual(set(findings(MLP)[1]) - TEN, set())

    def test_files_of_weights_have_no_findings(self):
        done = tmeter(FIXTURES / "trained" / "model.safetensors", *ALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("advice", done.stdout)


if __name__ == "__main__":
    main()
