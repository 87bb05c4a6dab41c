"""Scripted models without information about their inputs: control flow, detection, unknown operators, decisions about data. The
expected values are FlopCounterMode's (tests/fixtures/make_torchscript.py); those marked "by hand" are calculated here.
"""
import functools
import json
import pathlib
import re
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from archives import Archive  # noqa: E402
from support import CliTest, FIXTURES, HAVE_TORCH, LIBTORCH, MODELS, SOURCE, main, report, tmeter  # noqa: E402

FOLDER = FIXTURES / "torchscript"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())["models"]


@functools.cache
def analysed(name, *options):
    return report(FOLDER / f"{name}.pt", *options)


def repacked(source, target, change):
    """A copy of an archive; each entry's bytes go through `change(name, bytes)`."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            new.writestr(info.filename, change(info.filename, old.read(info.filename)))
    return target


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class Counts(unittest.TestCase):
    def test_parameters_and_macs_equal_flop_counter(self):
        for name, expected in EXPECTED.items():
            if not expected:
                continue
            with self.subTest(model=name):
                totals = analysed(name)["totals"]
                self.assertEqual((totals["params"], totals["macs"]), (expected["params"], expected["macs"]))

    def test_only_foreign_operators_are_unknown(self):
        for name, expected in EXPECTED.items():
            if expected and name != "acme":
                with self.subTest(model=name):
                    self.assertEqual(analysed(name)["coverage"]["unknown_ops"], [])

    def test_inputs_are_inferred(self):
        for name, expected in EXPECTED.items():
            if not expected:
                continue
            with self.subTest(model=name):
                inputs = [i for i in analysed(name)["inputs"] if i["origin"] == "inferred"]
                self.assertEqual(len(inputs), len(expected["inputs"]))
                for got, reference in zip(inputs, expected["inputs"]):
                    shapes = [v["shape"] for v in got["value"]] if isinstance(reference, list) else got["shape"]
                    self.assertEqual(shapes, [v["shape"] for v in reference] if isinstance(reference, list) else reference["shape"])

    def test_the_usual_architectures_need_no_input(self):
        for name in ("bert_like", "gpt2_like", "llama_like", "detr_like", "lstm", "transformer", "vit_b_16"):
            with self.subTest(model=name):
                document = report(MODELS / f"{name}.scripted.pt")
                self.assertEqual(document["coverage"]["unknown_ops"], [])
                self.assertTrue(all(i["origin"] == "inferred" for i in document["inputs"]))

    def test_upper_bounds_are_reported_with_the_operator(self):
        warnings = " ".join(analysed("faster_rcnn")["warnings"])
        self.assertIn("torchvision::nms in rpn", warnings)
        self.assertIn("the largest possible one was used", warnings)
        self.assertIn("aten::masked_select", " ".join(analysed("bounds")["warnings"]))
        # A value that sets only the size of the pasted mask, after all counted operators.
        self.assertIn("aten::item in transform", " ".join(analysed("mask_rcnn")["warnings"]))

    def test_forked_work_belongs_to_its_module(self):
        modules = {m["path"]: m for m in analysed("control_flow")["modules"]}
        # layers.1: once in the loop over layers, three times in the while loop; 16 × 16 each, by hand.
        self.assertEqual(modules["layers.1"]["values"]["macs"], 4 * 256)
        self.assertEqual(modules["layers.0"]["values"]["macs"], 2 * 256)  # also called in the fork
        self.assertEqual(modules["step"]["values"]["macs"], 256)


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class ForeignOperators(CliTest):
    def test_listed_as_unknown_and_the_rest_counted(self):
        document = analysed("acme")
        unknown = {o["op"]: o["count"] for o in document["coverage"]["unknown_ops"]}
        self.assertEqual(unknown, {"acme::norm": 2, "acme::gated_mlp": 1, "acme::split": 1, "acme::parts": 1})
        warnings = " ".join(document["warnings"])
        self.assertIn("acme::norm belongs to a library that is not loaded", warnings)

    def test_a_guess_that_fits_is_found(self):
        """gate halves the last dim, which is not the likeliest guess."""
        def change(name, data):
            return data.replace(b"torch.linear(input, weight, bias)", b"torch.linear(ops.acme.gate(torch.cat([input, input], 1)), weight, bias)")
        path = repacked(FOLDER / "sized.pt", self.folder / "gate.pt", change)
        document = report(path)
        self.assertEqual(document["totals"]["macs"], EXPECTED["sized"]["macs"])
        self.assertIn("half the last dim", " ".join(document["warnings"]))

    def test_no_guess_fits(self):
        def change(name, data):
            return data.replace(b"torch.flatten(", b"ops.acme.pack(")
        path = repacked(FOLDER / "sized.pt", self.folder / "pack.pt", change)
        self.assert_refused(6, ["acme::pack", "no guess", "head (aten::linear)", "shape rule"], path)

    def test_missing_custom_class(self):
        def change(name, data):
            return data.replace(b"  training : bool", b"  queue : __torch__.torch.classes.acme.Queue\n  training : bool") \
                if name.endswith("code/__torch__/nets/scripted.py") else data
        path = repacked(FOLDER / "video.pt", self.folder / "queue.pt", change)
        self.assert_refused(4, ["custom class acme.Queue"], path)


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class Decisions(CliTest):
    def test_one_real_run_when_data_decides(self):
        # first returns 16 ones for any input, so wide runs: 16 × 16 + 16 × 64, by hand.
        document = analysed("branch_real")
        self.assertEqual(document["totals"]["macs"], 16 * 16 + 16 * 64)
        self.assertIn("run once with its real weights", " ".join(document["warnings"]))
        self.assertIn("aten::item", " ".join(document["warnings"]))

    def test_memory_of_a_real_run_is_bounded(self):
        self.assert_refused(6, ["takes more than 1 MiB", "max-memory"], FOLDER / "branch_real.pt",
                            "--input", "100000x16", "--set", "torch-backend.max-memory=1")

    def test_a_decision_without_weights_is_refused(self):
        self.assert_refused(6, ["aten::item", "has no weights"], MODELS / "branch.scripted.pt", "--input", "4x64")


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class Inputs(CliTest):
    def test_all_tried_inputs_are_named(self):
        self.assert_refused(2, ["forward(x: Tensor)", "1x5x224x224", "1x5x28x28", "--input"], FOLDER / "no_fit.pt")
        self.assertEqual(tmeter(FOLDER / "no_fit.pt", "--input", "1x5x77x77").returncode, 0)

    def test_lists(self):
        one = report(FOLDER / "faster_rcnn.pt", "--input", "images=[3x200x100,3x100x200]")
        other = report(FOLDER / "faster_rcnn.pt", "--input", "3x200x100,3x100x200")
        self.assertEqual(one["totals"]["macs"], other["totals"]["macs"])
        self.assertEqual([v["shape"] for v in one["inputs"][0]["value"]], [[3, 200, 100], [3, 100, 200]])

    def test_given_and_inferred_inputs(self):
        document = report(FOLDER / "masked.pt", "--input", "ids=2x7:i64")
        self.assertEqual([(i["origin"], i["shape"]) for i in document["inputs"]],
                         [("given", [2, 7]), ("inferred", [2, 7])])

    def test_none_for_an_optional(self):
        self.assertEqual(report(FOLDER / "control_flow.pt", "--input", "scale=none")["totals"]["macs"], 2240)
        self.assertEqual(report(FOLDER / "control_flow.pt", "--input", "scale=scalar")["totals"]["macs"], 2240)

    def test_forms_that_do_not_fit(self):
        self.assert_refused(2, ["'images' is List[Tensor]"], FOLDER / "faster_rcnn.pt", "--input", "images=0.5")
        self.assert_refused(2, ["'clip' is Tensor"], FOLDER / "video.pt", "--input", "clip=[1x3,1x3]")
        self.assert_refused(2, ["a bracket is not closed"], FOLDER / "video.pt", "--input", "clip=[1x3")
        self.assert_refused(2, ["1x?"], FOLDER / "video.pt", "--input", "clip=[1x?]")

    def test_wrong_rank_and_dtype_name_the_operator(self):
        self.assert_refused(4, ["stem (aten::conv3d)"], FOLDER / "video.pt", "--input", "3x16")
        self.assert_refused(4, ["words (aten::embedding)", "--input ids=1x8:f32"], FOLDER / "masked.pt",
                            "--input", "ids=1x8:f32", "--input", "mask=1x8:i64")


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class Operators(CliTest):
    """Operators without a shape rule in LibTorch, in programs written by hand; sizes and counts by hand."""

    def result(self, forward, *inputs, **kwargs):
        path = Archive(forward, **kwargs).write(self.folder / "program.pt")
        document = report(path, *[option for i in inputs for option in ("--input", i)])
        return document["outputs"][0]["shape"], document

    @unittest.skipIf(LIBTORCH < (2, 8), "LibTorch has had _grouped_mm since 2.8")
    def test_grouped_matrix_products(self):
        for offsets, a, b, shape, macs in (
                ("offs", "10x8", "4x8x16", [10, 16], 10 * 8 * 16),  # rows belong to four groups
                ("None", "4x10x8", "4x8x16", [4, 10, 16], 4 * 10 * 8 * 16),
                ("offs", "10x8", "8x16", [4, 10, 16], 10 * 8 * 16),  # columns and rows in between belong to groups
                ("offs", "4x10x8", "8x16", [10, 16], 10 * 8 * 16)):
            with self.subTest(a=a, b=b):
                found, document = self.result(f"return torch._grouped_mm(a, b, {offsets})", f"a={a}:bf16", f"b={b}:bf16", "offs=4:i32",
                                              arguments="a: Tensor, b: Tensor, offs: Tensor")
                self.assertEqual((found, document["totals"]["macs"]), (shape, macs))
                self.assertEqual(document["coverage"]["unknown_ops"], [])

    def test_triangular_systems(self):
        # By hand: 5 columns of 0 + 1 + 2 products with earlier rows; fourteen such systems; from the right, 3 rows of 0 + 1 + 2 + 3 + 4.
        for a, b, left, shape, macs in (("3x3", "3x5", "True", [3, 5], 15), ("7x1x3x3", "2x3x5", "True", [7, 2, 3, 5], 14 * 15),
                                        ("5x5", "3x5", "False", [3, 5], 30)):
            with self.subTest(a=a, b=b):
                found, document = self.result(f"return torch.linalg_solve_triangular(a, b, upper=True, left={left})", f"a={a}",
                                              f"b={b}", arguments="a: Tensor, b: Tensor")
                self.assertEqual((found, document["totals"]["macs"], document["totals_status"]), (shape, macs, {}))
        path = self.folder / "program.pt"
        Archive("return torch.linalg_solve_triangular(x, x, upper=True)").write(path)
        self.assert_refused(4, ["takes square matrices"], path, "--input", "3x4")

    def test_factorisations(self):
        for call, shape in (("torch.linalg_matrix_exp(x)", [2, 3, 3]), ("torch.linalg_eigvals(x)", [2, 3]),
                            ("torch.geqrf(x)[1]", [2, 3]), ("torch.cholesky_inverse(x)", [2, 3, 3]),
                            ("torch.resolve_conj(x)", [2, 3, 3]), ("torch.resolve_neg(x)", [2, 3, 3])):
            with self.subTest(call=call):
                self.assertEqual(self.result(f"return {call}", "2x3x3")[0], shape)

    def test_operators_without_a_shape_rule_in_libtorch(self):
        """Shapes of torch 2.15.0 in Python."""
        for call, size, shape in (
                ("torch.ormqr(x, torch.ones([2, 3]), x)", "2x3x3", [2, 3, 3]), ("torch.cholesky_solve(x, x)", "2x3x3", [2, 3, 3]),
                ("torch.cov(x)", "3x7", [3, 3]), ("torch.cov(x)", "7", []), ("torch.corrcoef(x)", "3x7", [3, 3]),
                ("torch.nanmedian(x, 1, True)[1]", "2x3x4", [2, 1, 4]),
                ("torch.nonzero_static(x, size=5)", "2x3x4", [5, 3]), ("torch.histogram(x, 6)[1]", "2x3", [7]),
                ("torch.histogram(x, torch.ones([6]))[0]", "2x3", [5]),
                ("torch.multi_margin_loss(x, torch.zeros([4], dtype=4), 1, 1.0, None, 0)", "4x3", [4]),
                ("torch.multi_margin_loss(x, torch.zeros([4], dtype=4))", "4x3", []),
                ("torch.multilabel_margin_loss(x, torch.zeros([4, 3], dtype=4), 0)", "4x3", [4]),
                ("torch.pdist(x)", "5x3", [10]), ("torch.pdist(x)", "1x3", [0]),
                ("torch.nll_loss_nd(x, torch.zeros([2, 4, 5], dtype=4))", "2x3x4x5", []),
                ("torch.nll_loss_nd(x, torch.zeros([2, 4, 5], dtype=4), None, 0)", "2x3x4x5", [2, 4, 5]),
                ("torch.istft(torch.complex(x, x), 16)", "2x9x21", [2, 80]),
                ("torch.istft(torch.complex(x, x), 16, 8, 16, torch.ones([16]), True, False, None, 100)", "9x21", [100]),
                ("torch.istft(torch.complex(x, x), 16, 5, center=False, return_complex=False)", "9x21", [116])):
            with self.subTest(call=call, size=size):
                self.assertEqual(self.result(f"return {call}", size)[0], shape)

    def test_conjugates_and_systems_meet_values(self):
        """Data decides the branch, so the whole program runs on values."""
        forward = ("y = torch.linalg_solve_triangular(torch.ones([3, 3]), torch.resolve_conj(torch.conj(x)), upper=False)\n"
                   "if bool(torch.gt(torch.sum(y), 1e30)):\n  z = x\nelse:\n  z = torch.linear(x, torch.ones([5, 3]))\nreturn z")
        shape, document = self.result(forward, "3x3")
        self.assertEqual((shape, document["totals"]["macs"]), ([3, 5], 3 * (0 + 1 + 2) + 3 * 3 * 5))


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class Versions(CliTest):
    def test_an_untested_version_is_reported(self):
        row = re.search(rf"^\| {LIBTORCH[0]}\.{LIBTORCH[1]}\.\d+ \|", (SOURCE / "docs" / "torch-versions.md").read_text(), re.M)
        is_reported = any("an untested version" in w for w in analysed("sized")["warnings"])
        self.assertEqual(is_reported, row is None)

    def test_newer_format(self):
        def change(name, data):
            return b"999\n" if name.endswith("/version") else data
        path = repacked(FOLDER / "video.pt", self.folder / "newer.pt", change)
        self.assert_refused(4, ["file format 999", "newer LibTorch"], path)

    def test_operator_of_a_newer_torch(self):
        def change(name, data):
            return data.replace(b"torch.conv3d(", b"torch.conv3d_of_tomorrow(")
        path = repacked(FOLDER / "video.pt", self.folder / "tomorrow.pt", change)
        document = report(path)
        self.assertEqual([o["op"] for o in document["coverage"]["unknown_ops"]], ["aten::conv3d_of_tomorrow"])
        self.assertGreater(document["totals"]["params"], 0)
        self.assertTrue(any("aten::conv3d_of_tomorrow" in w for w in document["warnings"]), document["warnings"])


if __name__ == "__main__":
    main()
