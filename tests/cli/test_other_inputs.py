"""`--input` on .pt2 files with the fixed sizes of the export: tmeter recomputes all of them.

The expected values were recorded from runs of the networks themselves on those inputs
(tests/fixtures/record_other_inputs.py).
"""
import json
import unittest

from support import FIXTURES, HAVE_TORCH, MODELS, CliTest, main, report, tmeter

CASES = json.loads((FIXTURES / "other_inputs.json").read_text())["cases"]
RESNET, VIT, SWIN = (MODELS / f"{n}.pt2" for n in ("resnet50", "vit_b_16", "swin_t"))

# Inputs that such a file does not support, and the words of the refusal: by model and first input.
REFUSED = {
    ("vit_b_16", "1x3x256x256"): ["encoder (aten::add)", "257", "197"],  # the network itself also refuses it
    ("detr_like", "1x3x192x128"): ["aten::add", "96", "64"],  # for the same reason
}


def options(inputs):
    return [o for shape in inputs for o in ("--input", "x".join(map(str, shape)))]


def name_of(case):
    return case["model"], "x".join(map(str, case["inputs"][0]))


@unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
class EqualsTheNetworkItself(CliTest):
    def test_macs_of_every_module_equal_flop_counter(self):
        for case in CASES:
            if name_of(case) in REFUSED:
                continue
            with self.subTest(case=name_of(case)):
                document = report(MODELS / f"{case['model']}.pt2", *options(case["inputs"]))
                self.assertEqual([i["shape"] for i in document["inputs"]], case["inputs"])
                self.assertEqual({i["origin"] for i in document["inputs"]}, {"given"})
                self.assertEqual(document["coverage"]["unknown_ops"], [])
                self.assertEqual(2 * document["totals"]["macs"], case["flops"])
                modules = {m["path"]: m["values"].get("macs") or 0 for m in document["modules"]}
                differing = {p: (modules[p], f / 2) for p, f in case["flops_by_module"].items()
                             if p in modules and modules[p] != f / 2}
                self.assertEqual(differing, {})

    def test_unsupported_sizes_are_refused_with_operator_place_and_advice(self):
        for case in CASES:
            if words := REFUSED.get(name_of(case)):
                with self.subTest(case=name_of(case)):
                    self.assertIn("error", case)
                    self.assert_refused(6, [*words, "dynamic_shapes"],
                                        MODELS / f"{case['model']}.pt2", *options(case["inputs"]))

    def test_every_recorded_case_is_here(self):
        refused = {name_of(c) for c in CASES if "error" in c}
        self.assertEqual(refused, set(REFUSED))


@unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
class WhatTheReportSays(CliTest):
    def test_without_replaced_sizes_there_is_no_warning(self):
        self.assertEqual(report(RESNET, "--input", "8x3x224x224")["warnings"], [])

    def test_replaced_sizes_are_listed_and_counted(self):
        warnings = report(VIT, "--input", "8x3x224x224")["warnings"]
        self.assertEqual(len(warnings), 1, warnings)
        for word in ("fixes sizes", "84 × aten::view", "1 × aten::expand"):
            self.assertIn(word, warnings[0])

    def test_parameters_ties_and_structure_stay(self):
        recorded = report(MODELS / "gpt2_like.pt2")
        other = report(MODELS / "gpt2_like.pt2", "--input", "8x64")
        for total in ("params", "params_trainable", "param_bytes", "buffers", "buffer_bytes"):
            self.assertEqual(other["totals"][total], recorded["totals"][total])
        self.assertEqual([(m["path"], m["type"], m["calls"]) for m in other["modules"]],
                         [(m["path"], m["type"], m["calls"]) for m in recorded["modules"]])
        self.assertEqual(len(other["nodes"]), len(recorded["nodes"]))

    def test_the_resizing_plugin_is_named(self):
        plugins = [p["id"] for p in report(RESNET, "--input", "8x3x224x224")["plugins"]]
        self.assertIn("org.tmeter.resize", plugins)
        self.assertNotIn("org.tmeter.torch-backend", plugins)

    def test_resizing_works_in_one_process_with_the_loader_of_torchscript(self):
        """Both plugins register meta kernels with LibTorch, and each must call its own."""
        script, exported = MODELS / "resnet50.traced.pt", VIT
        alone = [report(model, "--input", "8x3x224x224")["totals"] for model in (script, exported)]
        for before, after, totals in ((script, exported, alone), (exported, script, alone[::-1])):
            done = tmeter("diff", before, after, "--input", "8x3x224x224", "--report", "diff-json")
            self.assertEqual(done.returncode, 0, done.stderr)
            compared = json.loads(done.stdout)["totals"]
            for total in ("params", "macs"):
                self.assertEqual([compared[total]["before"], compared[total]["after"]], [t[total] for t in totals])

    def test_the_recorded_size_gives_the_recorded_totals(self):
        self.assertEqual(report(RESNET, "--input", "1x3x224x224")["totals"], report(RESNET)["totals"])

    def test_a_window_larger_than_its_input_is_refused(self):
        """Swin's padding to whole windows of 7 was computed at export: for 224 there is no padding."""
        self.assert_refused(6, ["attn", "64", "49", "dynamic_shapes"], SWIN, "--input", "1x3x256x256")

    def test_channels_that_the_weights_do_not_have(self):
        self.assert_refused(4, ["conv1", "3 input channels", "got 4"], RESNET, "--input", "1x4x224x224")

    def test_an_image_too_small_for_the_network(self):
        self.assert_refused(6, ["aten::"], MODELS / "densenet121.pt2", "--input", "1x3x8x8")

    def test_sizes_beyond_the_limits(self):
        self.assert_refused(4, ["input 'x'", "impossible"], RESNET,
                            "--input", "4000000000x3x4000000000x4000000000")

    def test_a_run_that_takes_too_long_is_stopped(self):
        self.assert_refused(6, ["resize.max-operators"], VIT, "--input", "8x3x224x224",
                            "--set", "resize.max-operators=10")


SAME = FIXTURES / "same_padding"
SAME_CASES = json.loads((SAME / "expected.json").read_text())["cases"]


def same_report(model, *inputs):
    return report(SAME / f"{model}.pt2", *options(inputs))


@unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
class PaddingThatFollowsTheSize(CliTest):
    """Networks that compute their padding from the size, and others; expectations as above
    (tests/fixtures/make_same_padding.py)."""

    def test_macs_of_every_module_and_the_output_equal_the_network_itself(self):
        for case in SAME_CASES:
            with self.subTest(model=case["model"], input=case["input"]):
                document = same_report(case["model"], case["input"])
                self.assertEqual(2 * document["totals"]["macs"], case["flops"])
                self.assertEqual(document["outputs"][0]["shape"], case["output"])
                modules = {m["path"]: m["values"].get("macs") or 0 for m in document["modules"]}
                differing = {p: (modules[p], f / 2) for p, f in case["flops_by_module"].items()
                             if p in modules and modules[p] != f / 2}
                self.assertEqual(differing, {})

    def warnings(self, model, *shape):
        return " | ".join(same_report(model, list(shape))["warnings"])

    def test_certain_same_padding_is_only_counted(self):
        warnings = self.warnings("tf_efficientnet_like", 1, 3, 65, 65)
        self.assertIn("× aten::pad", warnings)
        self.assertNotIn("assumed to be", warnings)

    def test_an_uncertain_padding_is_reported(self):
        self.assertIn("assumed to be 'same': 2 × aten::pad in ConvLayer", self.warnings("beside", 1, 3, 65, 65))
        self.assertIn("assumed to be fixed: 1 × aten::pad in Downsample", self.warnings("autoencoder", 1, 3, 66, 66))

    def test_readings_with_equal_results_are_not_reported(self):
        self.assertNotIn("assumed to be", self.warnings("autoencoder", 2, 3, 96, 128))

    def test_a_pad_without_an_operator_in_the_file_is_added(self):
        recorded = [n["op"] for n in report(SAME / "optional_pads.pt2")["nodes"]]
        nodes = [n["op"] for n in same_report("optional_pads", [1, 3, 65, 65])["nodes"]]
        self.assertEqual(len(nodes), len(recorded) + 1)
        self.assertEqual([n for n in nodes if "constant_pad_nd" in n], ["aten::constant_pad_nd"])


@unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
class SizesThatAreNotTheFilesAreMarked(CliTest):
    """The recomputation is stated in the header and in the provenance of every metric, in every format."""

    WORDS = ("sizes worked out for x=1x3x65x65", "the file records 1x3x64x64")
    MODEL = SAME / "tf_efficientnet_like.pt2"

    def write(self, *arguments):
        done = tmeter(self.MODEL, *options([[1, 3, 65, 65]]), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_json(self):
        document = json.loads(self.write("--plugins=params,flops,memory,energy", "--report", "json"))
        sizes = document["model"]["sizes"]
        self.assertEqual("sizes " + sizes["text"], "; ".join(self.WORDS))
        # Three convolutions of stride 2 (3 × 3, 3 × 3, 5 × 5), by hand: at 64 → 65 and 32 → 33
        # [0, 1] → [1, 1], at 16 → 17 [1, 2] → [2, 2], in height and width: two numbers each.
        self.assertEqual(sizes["literals_replaced"], 6)
        self.assertEqual(sizes["literals_kept"], 0)
        for metric in document["metrics"]:
            with self.subTest(metric=metric["id"]):
                if metric["provenance"]["kind"] == "unavailable":
                    continue
                if metric["axis"] == "tensor":
                    self.assertEqual(metric["provenance"]["text"], "")
                else:
                    for word in (*self.WORDS, "6 were computed again, 0 kept"):
                        self.assertIn(word, metric["provenance"]["text"])

    def test_text(self):
        text = " ".join(self.write().split())
        for word in self.WORDS:
            self.assertIn(word, text.split("params", 1)[0])

    def test_csv(self):
        head, *rows = self.write("--report", "csv").splitlines()
        self.assertTrue(head.endswith(",sizes,notes"))
        for row in rows:
            self.assertIn(self.WORDS[0], row)

    def test_fvcore_json(self):
        document = json.loads(self.write("--report", "fvcore-json"))
        self.assertIn(self.WORDS[0], document["sizes"])
        self.assertIn(self.WORDS[0], document["macs"]["provenance"])
        self.assertNotIn("provenance", document["params"])

    def test_the_recorded_input_has_no_marks(self):
        for inputs in ([], [[1, 3, 64, 64]]):
            document = report(self.MODEL, *options(inputs))
            self.assertIsNone(document["model"]["sizes"])
            texts = [m["provenance"]["text"] for m in document["metrics"]]
            self.assertEqual([text for text in texts if "sizes" in text or "the file records" in text], [])


class Usage(CliTest):
    def test_the_recorded_input_needs_no_resizing(self):
        document = report(RESNET, "--input", "x=1x3x224x224:f32")
        self.assertEqual(document["inputs"][0]["origin"], "given")
        self.assertNotIn("org.tmeter.resize", [p["id"] for p in document["plugins"]])

    def test_symbols_are_bound_without_a_plugin(self):
        document = report(MODELS / "dynamic_bert.pt2", *options([[8, 64]] * 3))
        self.assertNotIn("org.tmeter.resize", [p["id"] for p in document["plugins"]])
        self.assertEqual({s["value"] for s in document["symbols"]}, {8, 64})

    def test_symbols_keep_their_ranges(self):
        self.assert_refused(2, ["size 0 of input", "1 … 64"], MODELS / "dynamic_bert.pt2", *options([[65, 64]] * 3))
        self.assert_refused(2, ["needs", "of input"], MODELS / "dynamic_bert.pt2",
                            *options([[8, 64], [4, 64], [8, 64]]))

    def test_wrong_name_rank_and_type(self):
        self.assert_refused(2, ["no input of that name", "'x'"], RESNET, "--input", "y=8x3x224x224")
        self.assert_refused(2, ["input 'x' has 4 sizes, not 3"], RESNET, "--input", "8x3x224")
        self.assert_refused(2, ["input 'x' is float32", "int64"], RESNET, "--input", "8x3x224x224:i64")
        self.assert_refused(2, ["no more tensors"], RESNET, *options([[8, 3, 224, 224]] * 2))

    @unittest.skipIf(HAVE_TORCH, "with LibTorch it works")
    def test_without_libtorch_the_message_names_it(self):
        self.assert_refused(6, ["fixes input 'x' at 1x3x224x224", "'resize'", "without LibTorch",
                                "dynamic_shapes"], RESNET, "--input", "8x3x224x224")


if __name__ == "__main__":
    main()
