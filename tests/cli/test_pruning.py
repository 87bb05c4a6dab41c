"""pruning-advice on files: PyTorch's sort and 2:4 sparsifier on the same weights (tests/fixtures/trained), dead
filters, and the savings of their removal."""
import json
import math
import unittest

from support import FIXTURES, CliTest, main, report
from test_quantization import AMBIGUOUS, by_name, finding, safetensors, targets

TRAINED = FIXTURES / "trained"
MODEL = TRAINED / "model.safetensors"
EXPECTED = json.loads((TRAINED / "expected.json").read_text())
ADVICE = "--plugins=pruning-advice"
TOLERANCE = 0.005  # of the loss: magnitudes are kept to 7 bits of mantissa


class Curves(unittest.TestCase):
    def setUp(self):
        self.document = report(MODEL, ADVICE)
        self.curves = {s["of"].get("tensor"): s["points"] for s in self.document["series"] if s["id"] == "pruning"}

    def assert_curve(self, points, losses, name):
        self.assertEqual([x for x, _ in points], EXPECTED["shares"])
        for (share, loss), recorded in zip(points, losses):
            self.assertAlmostEqual(loss, recorded, delta=TOLERANCE * recorded + 1e-9, msg=f"{name} {share}")

    def test_loss_of_every_weight_is_that_of_pytorchs_sort(self):
        for name, recorded in EXPECTED["tensors"].items():
            self.assert_curve(self.curves[name], recorded["pruning"]["lost_norm"], name)

    def test_loss_of_the_model_ranks_all_weights_together(self):
        whole = [points for name, points in self.curves.items() if name is None]
        self.assertEqual(len(whole), 1)
        self.assert_curve(whole[0], EXPECTED["global_lost_norm"], "model")

    def test_values_of_the_table(self):
        at = EXPECTED["shares"].index(0.5)
        tensors = by_name(self.document)
        for name, recorded in EXPECTED["tensors"].items():
            loss = recorded["pruning"]["lost_norm"][at]
            self.assertAlmostEqual(tensors[name]["values"]["loss_at_50"], loss, delta=TOLERANCE * loss)

    def test_two_of_four_keeps_the_elements_of_pytorchs_sparsifier(self):
        tensors = by_name(self.document)
        for name, recorded in EXPECTED["tensors"].items():
            if name == AMBIGUOUS:
                continue
            kept, found = recorded["pruning"]["kept_2_4"], tensors[name]["values"].get("kept_2_4")
            if kept is None:
                self.assertIsNone(found, name)
            else:
                self.assertAlmostEqual(found, kept, delta=1e-9, msg=name)

    def test_a_larger_loss_allows_more_pruning(self):
        def share(loss):
            text = finding(report(MODEL, ADVICE, f"--set=pruning-advice.max-loss={loss}"), "prunable-weights")["text"]
            return float(text.split("smallest ")[1].split(" %")[0])
        self.assertLess(share(0.01), share(0.1))
        # by PyTorch: the recorded share at which the loss exceeds 0.1
        losses = EXPECTED["global_lost_norm"]
        below = max(s for s, loss in zip(EXPECTED["shares"], losses) if loss <= 0.1)
        above = min(s for s, loss in zip(EXPECTED["shares"], losses) if loss > 0.1)
        self.assertTrue(100 * below <= share(0.1) <= 100 * above)


class Structure(CliTest):
    def test_the_dead_filter_is_named(self):
        document = report(MODEL, ADVICE)
        found = finding(document, "dead-filters")
        self.assertEqual(targets(found), ["conv.weight"])
        self.assertIn("conv.weight: 5 of 32", found["evidence"])
        # one of 32 filters of 11,520 float32 weights
        change = found["changes"][0]
        self.assertEqual((change["metric"], change["from"] - change["to"]), ("param_bytes", 11520 * 4 / 32))
        self.assertEqual(document["totals"]["dead_filters"], 1)

    def test_a_file_with_operators_gives_multiply_accumulates_too(self):
        """conv: 2 images, 32 filters of 40 · 3 · 3 at 8 · 8 positions; one of the filters is dead."""
        document = report(TRAINED / "model.pt2", ADVICE)
        changes = {c["metric"]: c for c in finding(document, "dead-filters")["changes"]}
        self.assertEqual(changes["macs"]["from"], document["totals"]["macs"])
        self.assertEqual(changes["macs"]["from"] - changes["macs"]["to"], 2 * 40 * 3 * 3 * 8 * 8)

    def test_two_of_four_halves_the_multiply_accumulates_of_the_matrices(self):
        """Linear layers with sizes that are multiples of 16, over 2 · 12 tokens: q, k, v, o (96 · 96)."""
        changes = {c["metric"]: c for c in finding(report(TRAINED / "model.pt2", ADVICE), "two-of-four")["changes"]}
        macs = 2 * 12 * 4 * 96 * 96
        self.assertEqual(changes["macs"]["from"] - changes["macs"]["to"], macs / 2)
        # float32: 2 elements and 2 · 2 bits instead of 4 elements: 68 of 128 bits
        self.assertEqual(changes["param_bytes"]["from"] - changes["param_bytes"]["to"],
                         4 * 96 * 96 * 4 * (1 - 68 / 128))

    def test_a_weak_attention_head_is_named_where_its_size_is_given(self):
        """Head 1 of 4 has a tenth of the other heads' norm."""
        size, heads = 4, 4
        n = size * heads
        scale = [0.1 if i // size == 1 else 1.0 for i in range(n)]
        path = self.file("heads.safetensors", safetensors({
            "attn.q_proj.weight": ([n, n], [scale[i] for i in range(n) for _ in range(n)]),
            "attn.o_proj.weight": ([n, n], [scale[j] for _ in range(n) for j in range(n)])}))
        self.assertIsNone(finding(report(path, ADVICE), "weak-heads"))  # the file does not contain the head size
        found = finding(report(path, ADVICE, "--set=pruning-advice.head-size=4"), "weak-heads")
        self.assertIn("1 of 4 attention heads", found["text"])
        self.assertIn("attn. head 1 (10.0 %)", found["evidence"])

    def test_rows_of_an_embedding_are_not_filters(self):
        path = self.file("table.safetensors", safetensors({
            "embed_tokens.weight": ([3, 4], [0] * 4 + [1] * 8)}))
        self.assertIsNone(finding(report(path, ADVICE), "dead-filters"))

    def test_nan_is_an_error_and_affects_no_other_value(self):
        path = self.file("broken.safetensors", safetensors({
            "a.weight": ([2, 2], [1, 2, math.nan, 4]), "b.weight": ([2, 4], [3, 4, 0, 0, 0, 0, 3, 4])}))
        document = report(path, ADVICE)
        self.assertEqual(targets(finding(document, "not-finite")), ["a.weight"])
        self.assertIsNone(by_name(document)["a.weight"]["values"].get("loss_at_50"))
        self.assertEqual(by_name(document)["b.weight"]["values"]["kept_2_4"], 1)


if __name__ == "__main__":
    main()
