"""tmeter diff: the values of weights. Expected results are calculated by hand at each case."""
import json
import math
import struct

from hostile import safetensors
from support import MODELS, CliTest, main, tmeter


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def file_of(**tensors):
    """A safetensors file of name=(dtype, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name.replace("__", ".")] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    return safetensors(header, data)


class Weights(CliTest):
    def diff(self, before, after, *arguments):
        one, two = self.file("before.safetensors", before), self.file("after.safetensors", after)
        done = tmeter("diff", one, two, "--report", "json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        document = json.loads(done.stdout)
        return document, [note for note in document["notes"] if note.startswith("weights: ")]

    def test_equal_values_are_counted(self):
        content = file_of(conv__weight=("F32", [2, 2], floats(1, 2, 3, 4)), conv__bias=("F32", [2], floats(0, math.nan)))
        document, notes = self.diff(content, content)
        self.assertEqual(notes, ["weights: 2 tensors have equal values"])
        self.assertEqual(document["counts"]["changed"], 0)

    def test_a_shifted_weight_is_a_difference(self):
        # Shifted by 0.5: signal 1 + 4 + 9 + 16 = 30, noise 4 · 0.25 = 1, 10 · log10(30) = 14.77 dB.
        bias = ("F32", [2], floats(1, 1))
        document, notes = self.diff(file_of(conv__weight=("F32", [2, 2], floats(1, 2, 3, 4)), conv__bias=bias),
                                    file_of(conv__weight=("F32", [2, 2], floats(1.5, 2.5, 3.5, 4.5)), conv__bias=bias))
        self.assertEqual(notes, ["weights: the values of 1 tensor differ, those of 1 are equal",
                                 "weights: conv.weight: 4 of 4 elements differ, by at most 0.5, SQNR 14.77 dB"])
        self.assertEqual([row["after"]["path"] for row in document["modules"] if "figures" in row["differs"]], ["conv"])

    def test_tensors_of_only_one_model_are_named(self):
        one = ("F32", [2, 2], floats(1, 2, 3, 4))
        before = file_of(a__weight=one, b__weight=one, b__bias=("F32", [2], floats(0, 0)))
        after = file_of(a__weight=("F32", [4], floats(1, 2, 3, 4)), b__weight=one, c__weight=one)
        _, notes = self.diff(before, after)
        self.assertEqual(notes, ["weights: 1 tensor has another shape: a.weight [2, 2] → [4]",
                                 "weights: 1 tensor is only in the model before: b.bias",
                                 "weights: 1 tensor is only in the model after: c.weight",
                                 "weights: 1 tensor has equal values"])

    def test_files_of_weights_have_no_columns_of_operators(self):
        before, after = file_of(w=("F32", [2], floats(1, 2))), file_of(w=("F32", [2], floats(1, 4)))
        document, _ = self.diff(before, after)
        self.assertEqual([metric["id"] for metric in document["metrics"]], ["params", "param_bytes"])
        # Means 1.5 and 2.5, standard deviations 0.5 and 1.5; no element is 0.
        document, _ = self.diff(before, after, "-p", "param-stats")
        self.assertEqual([metric["id"] for metric in document["metrics"]], ["mean", "std", "min", "max", "sparsity"])
        text = tmeter("diff", self.folder / "before.safetensors", self.folder / "after.safetensors", "-p", "param-stats").stdout
        self.assertRegex(text, r"mean +1\.50 +2\.50 +\+1 ")
        self.assertRegex(text, r"max +2 +4 +\+2 ")
        self.assertRegex(self.diff(before, after, "--columns", "macs")[0]["metrics"][0]["id"], "macs")

    def test_nan_comes_first(self):
        before = file_of(a__weight=("F32", [2], floats(1, 2)), b__weight=("F32", [2], floats(3, 4)))
        after = file_of(a__weight=("F32", [2], floats(-9, 2)), b__weight=("F32", [2], floats(math.nan, 4)))
        _, notes = self.diff(before, after)
        self.assertEqual(notes[1], "weights: b.weight: 1 of 2 elements differ, NaN or infinite: 0 before, 1 after")
        self.assertTrue(notes[2].startswith("weights: a.weight: 1 of 2 elements differ, by at most 10, SQNR"), notes)

    def test_the_same_numbers_in_another_type_are_equal(self):
        # 1.0 and -2.0 are exact in bfloat16: the upper halves of the float32 patterns. 1 + 2^-10 is not: 1.0 remains.
        exact = floats(1, -2)
        bf16 = b"".join(exact[i + 2:i + 4] for i in (0, 4))
        _, notes = self.diff(file_of(w=("F32", [2], exact)), file_of(w=("BF16", [2], bf16)))
        self.assertEqual(notes, ["weights: 1 tensor has equal values"])
        _, notes = self.diff(file_of(w=("F32", [2], floats(1 + 2**-10, -2))), file_of(w=("BF16", [2], bf16)))
        self.assertIn("1 of 2 elements differ, by at most 0.0009766", notes[1])

    def test_other_shapes_are_not_compared(self):
        _, notes = self.diff(file_of(w=("F32", [2], floats(1, 2))), file_of(w=("F32", [3], floats(1, 2, 3))))
        self.assertEqual(notes, ["weights: 1 tensor has another shape: w [2] → [3]"])

    def test_files_without_weights_and_saved_reports_are_noted(self):
        done = tmeter("diff", MODELS / "resnet50.pt2", MODELS / "resnet50.pt2")
        self.assertRegex(done.stdout, r"note: weights: the values of \d+ tensors are not compared: .*without weights")
        saved = self.file("saved.json", tmeter(MODELS / "resnet50.pt2", "--report", "json").stdout)
        done = tmeter("diff", saved, saved)
        self.assertIn("note: weights: values are not compared: a saved report has none", done.stdout)

    def test_build_servers(self):
        one = self.file("before.safetensors", file_of(w=("F32", [2], floats(1, 2))))
        two = self.file("after.safetensors", file_of(w=("F32", [3], floats(1, 2, 4))))
        done = tmeter("diff", one, two, "--report", "github", "--assert", "diff.params<=0", "--assert", "diff.params<=100%")
        self.assertEqual(done.returncode, 3)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "::error title=tmeter after.safetensors::diff.params<=0 does not hold: diff.params is +1")
        self.assertEqual(lines[1], "::notice title=tmeter after.safetensors::diff.params<=100%25 holds: diff.params is +50.00 %25")
        self.assertIn("::notice title=tmeter after.safetensors::params 2 → 3 (+50.0 %25)", lines)
        done = tmeter("diff", one, two, "--report", "junit", "--assert", "diff.params<=0")
        self.assertEqual(done.returncode, 3)
        self.assertIn('<testsuite name="tmeter after.safetensors" tests="1" failures="1"', done.stdout)
        self.assertIn('message="diff.params is +1"', done.stdout)

    def test_many_names_are_cut_short(self):
        before = file_of(**{f"m{i}__weight": ("F32", [1], floats(1)) for i in range(9)})
        after = file_of(**{f"m{i}__weight": ("F32", [1], floats(2 + i)) for i in range(9)})
        _, notes = self.diff(before, after)
        self.assertEqual(len(notes), 7)
        self.assertEqual(notes[1], "weights: m8.weight: 1 of 1 element differs, by at most 9, SQNR -19.08 dB")  # 10 · log10(1 / 81)
        self.assertEqual(notes[-1], "weights: 4 more tensors differ")


if __name__ == "__main__":
    main()
