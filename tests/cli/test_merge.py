"""tmeter merge: the reports of a checkpoint's shards as one report, and an index of many models.

The merged report must equal the report of one run over the whole checkpoint, whose values test_param_stats.py compares
with NumPy. The small case is calculated by hand. The models of the index are written here, as in test_diff.py."""
import json
import math
import struct
import unittest

from support import FIXTURES, MODELS, CliTest, tmeter
from test_diff import HOSTILE, linear, network, relu

SHARDED = FIXTURES / "checkpoints"
PLUGINS = "--plugins=params,memory,flops,param-stats"
#: Metrics of modules and the model that may differ in the last digits. All others must be equal.
ROUNDED = {"mean", "std", "skewness", "kurtosis", "l1_norm", "l2_norm"}


def safetensors(tensors, dtype="F32", code="f"):
    """{name: (shape, numbers)} as a file."""
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        packed = struct.pack(f"<{len(numbers)}{code}", *numbers)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class MergeTest(CliTest):
    def analysed(self, model, name, *arguments):
        saved = self.folder / f"{name}.json"
        done = tmeter(model, *arguments, f"--report=json={saved}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return saved

    def merged(self, *arguments):
        done = tmeter("merge", "--report=json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def checkpoint(self, shards):
        """Files of a checkpoint, with their index: [{name: (shape, numbers)}]"""
        of, names, where = len(shards), [], {}
        for i, tensors in enumerate(shards, 1):
            names.append(f"model-{i:05}-of-{of:05}.safetensors")
            self.file(names[-1], safetensors(tensors))
            where |= dict.fromkeys(tensors, names[-1])
        index = self.file("model.safetensors.index.json", json.dumps({"weight_map": where}))
        return index, [self.folder / n for n in names]

    def assert_same_values(self, whole, merged, rounded=1e-12):
        """Compares the values of all tensors, all modules and the model."""
        whole = json.loads(whole.read_text())
        for table, key in (("tensors", "name"), ("modules", "path")):
            self.assertEqual([r[key] for r in whole[table]], [r[key] for r in merged[table]])
        rows = lambda r: [t | {"exact": True} for t in r["tensors"]] + r["modules"] + [
            {"path": "totals", "values": {k: v for k, v in r["totals"].items() if v is not None}, "unavailable": r["totals_status"]}]
        compared = 0
        for a, b in zip(rows(whole), rows(merged)):
            where = a.get("name") or a.get("path")
            self.assertEqual(a.get("unavailable"), b.get("unavailable"), where)
            self.assertEqual(set(a.get("values", {})), set(b.get("values", {})), where)
            for metric, x in a.get("values", {}).items():
                y = b["values"][metric]
                compared += 1
                if None in (x, y) or "exact" in a or metric not in ROUNDED | {"coded_bytes", "coded_ratio"}:
                    self.assertEqual(x, y, f"{metric} of {where}")
                elif metric in ROUNDED:  # around a mean of nearly 0, the size of the elements counts
                    size = max(abs(x), abs(a["values"].get("l2_norm", 0)) * 1e-3, 1e-3)
                    self.assertLess(abs(x - y) / size, rounded, f"{metric} of {where}")
                elif metric == "coded_bytes":  # rounded up tensor by tensor
                    self.assertTrue(x <= y <= x + len(whole["tensors"]), f"{metric} of {where}: {x}, {y}")
        self.assertGreater(compared, 100)


class Shards(MergeTest):
    def test_merged_shards_equal_one_run(self):
        for stem, index in (("model-0000{}-of-00002.safetensors", "model.safetensors.index.json"),
                            ("pytorch_model-0000{}-of-00002.bin", "pytorch_model.bin.index.json")):
            with self.subTest(index=index):
                parts = [self.analysed(SHARDED / stem.format(i), f"part{i}", PLUGINS) for i in (1, 2)]
                whole = self.analysed(SHARDED / index, "whole", PLUGINS)
                for order in (parts, parts[::-1]):
                    self.assert_same_values(whole, self.merged(*order))

    def test_a_trained_model_cut_into_five(self):
        raw = (FIXTURES / "trained/model.safetensors").read_bytes()
        length = struct.unpack("<Q", raw[:8])[0]
        header, body = json.loads(raw[8:8 + length]), raw[8 + length:]
        header.pop("__metadata__", None)
        shards, where = [{} for _ in range(5)], {}
        for i, (name, t) in enumerate(header.items()):
            shards[i * 7 % 5][name] = t
        parts = []
        for i, tensors in enumerate(shards, 1):
            data, entries = b"", {}
            for name, t in tensors.items():
                begin, end = t["data_offsets"]
                entries[name] = t | {"data_offsets": [len(data), len(data) + end - begin]}
                data += body[begin:end]
                where[name] = f"model-{i:05}-of-00005.safetensors"
            text = json.dumps(entries).encode()
            parts.append(self.file(f"model-{i:05}-of-00005.safetensors", struct.pack("<Q", len(text)) + text + data))
        index = self.file("model.safetensors.index.json", json.dumps({"weight_map": where}))
        plugins = "--plugins=params,memory,flops,param-stats,quantization-advice,pruning-advice"
        whole = json.loads(self.analysed(index, "whole", plugins).read_text())
        reports = [self.analysed(p, f"r{i}", plugins) for i, p in enumerate(parts)]
        merged = self.merged(*reports)
        self.assertEqual(whole["totals"]["params"], merged["totals"]["params"])
        self.assertEqual(len(whole["distributions"]), len(merged["distributions"]))
        finding = next(f for f in merged["findings"] if f["rule"] == "merged")
        # The totals that the merged report lacks are named; nothing else is missing.
        for metric, value in whole["totals"].items():
            if value is not None and merged["totals"][metric] is None:
                self.assertEqual(merged["totals_status"][metric], "unavailable")
                self.assertIn(metric, finding["evidence"])
        for f in merged["findings"]:
            self.assertRegex(f["text"] if f["rule"] != "merged" else "in 5 files: ", r"^(model-0000\d|in [2-5] files: )")
        # Without changes, a message of several shards appears once.
        self.assertEqual(len({f["text"] for f in merged["findings"] if not f["changes"]}), len([f for f in merged["findings"] if not f["changes"]]))
        names = {t["name"] for t in merged["tensors"]}
        self.assertTrue(all(t.get("tensor", "conv.weight") in names for f in merged["findings"] for t in f["targets"]))

    def test_by_hand(self):
        """1, 2, 3 in one shard and 4, 6 in the other: mean 3.2, squared deviations 4.84 + 1.44 + 0.04 + 0.64 + 7.84 =
        14.8, so the variance is 2.96; the third powers are -10.648 - 1.728 - 0.008 + 0.512 + 21.952 = 10.08."""
        _, files = self.checkpoint([{"a.weight": ([3], [1, 2, 3])}, {"b.weight": ([2], [4, 6])}])
        total = self.merged(*[self.analysed(f, f.stem, PLUGINS) for f in files])["totals"]
        self.assertEqual([total[m] for m in ("params", "param_bytes", "min", "max", "finite", "l1_norm")], [5, 20, 1, 6, 5, 16])
        for metric, value in {"mean": 3.2, "std": math.sqrt(2.96), "skewness": 10.08 / 5 / 2.96 ** 1.5, "l2_norm": math.sqrt(66)}.items():
            self.assertAlmostEqual(total[metric], value, delta=1e-12)

    def test_hard_numbers(self):
        nan, inf = math.nan, math.inf
        index, files = self.checkpoint([
            {"m.0.weight": ([4], [nan, inf, -inf, nan]), "m.2.weight": ([2, 3], [0, 0, 0, 1e-30, 2, -2]), "m.10.bias": ([3], [0, 0, 0])},
            {"m.1.weight": ([5], [1e6, 1e6 + 1, 1e6 + 2, 1e6, 1e6]), "empty": ([0], []), "m.3.weight": ([2], [7, 7])},
            {"m.3.bias": ([2], [7, nan]), "n.0.inner.weight": ([1], [3e38])}])
        whole = self.analysed(index, "whole", PLUGINS)
        self.assert_same_values(whole, self.merged(*[self.analysed(f, f.stem, PLUGINS) for f in files]), 1e-9)

    def test_types_without_numbers_are_unavailable(self):
        parts = []
        for i, (dtype, code) in enumerate((("F32", "f"), ("I64", "q"), ("F8_E4M3", "b")), 1):
            file = self.file(f"x-{i}-of-3.safetensors", safetensors({f"l{i}.weight": ([2], [1, 2])}, dtype, code))
            parts.append(self.analysed(file, f"p{i}", PLUGINS))
        merged = self.merged(*parts)
        self.assertEqual((merged["totals"]["params"], merged["totals"]["buffers"]), (4, 2))
        self.assertEqual(merged["model"]["file"], "x.safetensors")

    def test_show_is_the_same_report(self):
        _, files = self.checkpoint([{"a.weight": ([3], [1, 2, 3])}, {"b.weight": ([2], [4, 6])}])
        parts = [self.analysed(f, f.stem, PLUGINS) for f in files]
        formats = ["json", "text", "csv", "xml", "markdown", "full-text"]
        done = tmeter("merge", *parts, *[f"--report={f}={self.folder / f}" for f in formats])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for f in formats:
            shown = tmeter("show", self.folder / "json", "--report", f)
            self.assertEqual(shown.stdout, (self.folder / f).read_text(), f)

    def test_merging_merged_reports(self):
        """A tree of merges, as on a cluster: the first step drops names, but no values."""
        shards = [{f"l.{i}.weight": ([4], [i, 1, 2, 3.5])} for i in range(4)]
        files = [self.file(f"part{i}.safetensors", safetensors(t)) for i, t in enumerate(shards)]
        parts = [self.analysed(f, f.stem, PLUGINS) for f in files]
        halves = []
        for i in (0, 2):
            halves.append(self.file(f"half{i}.json", json.dumps(self.merged(*parts[i:i + 2]))))
        tree, flat = self.merged(*halves), self.merged(*parts)
        self.assertEqual(tree["totals"]["params"], 16)
        for metric in ("mean", "std", "l2_norm"):
            self.assertAlmostEqual(tree["totals"][metric], flat["totals"][metric], delta=1e-12)
        self.assertEqual(tree["totals"]["coded_bytes"], flat["totals"]["coded_bytes"])

    def test_assert_and_outputs(self):
        _, files = self.checkpoint([{"a.weight": ([3], [1, 2, 3])}, {"b.weight": ([2], [4, 6])}])
        parts = [self.analysed(f, f.stem) for f in files]
        self.assertEqual(tmeter("merge", *parts, "--assert=params==5").returncode, 0)
        done = tmeter("merge", *parts, "--assert=params<5")
        self.assertEqual(done.returncode, 3)
        self.assertIn("params is 5", done.stderr)


class Index(MergeTest):
    def models(self):
        """{file: report}: 4·3 + 3 + 3·2 + 2 = 23 and 2·2 + 2 = 6 parameters."""
        return {"small": network({"a": linear(2, 2)}, "Small"), "large": network({"a": linear(4, 3), "act": relu(), "b": linear(3, 2)}, "Large")}

    def saved(self, models):
        folder = self.folder / "reports"
        folder.mkdir(exist_ok=True)
        for name, report in models.items():
            (folder / f"{name}.json").write_text(json.dumps(report))
        return folder

    def test_a_row_for_each_model(self):
        index = self.merged("--index", self.saved(self.models()))
        rows = [(m["path"], m["type"], m.get("values", {}).get("params"), m["values"]["macs"]) for m in index["modules"]]
        self.assertEqual(rows, [("", "models", 29, 22), ("large", "Large", 23, 18), ("small", "Small", 6, 4)])
        self.assertEqual(index["totals"], {"params": 29, "macs": 22})
        self.assertEqual(index["model"]["format"], "index of 2 models")

    def test_real_models_in_every_view(self):
        parts = [self.analysed(MODELS / f"{m}.pt2", m) for m in ("gpt2_like", "dynamic_bert")]
        parts.append(self.analysed(FIXTURES / "trained/model.safetensors", "weights"))
        done = tmeter("merge", "--index", *parts, "--sort=params", "--columns=params,macs,flops", "--raw")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # Parameters as in the fixtures' own tables (tests/fixtures/expected); weights alone have no MACs.
        lines = [line for line in done.stdout.splitlines() if "─" in line]
        self.assertEqual([next(n for n in ("dynamic_bert", "gpt2_like", "weights") if n in line) for line in lines],
                         ["dynamic_bert", "gpt2_like", "weights"])
        self.assertIn("94801", lines[2])
        self.assertNotIn(" 0 ", lines[2])  # a missing value is not printed as 0
        index = self.merged("--index", *parts)
        self.assertEqual(index["totals_status"]["macs"], "lower_bound")  # one model has none
        again = self.file("index.json", json.dumps(index))
        self.assertEqual(tmeter("show", again, "--assert", 'module("weights").params==94801').returncode, 0)

    def test_hostile_and_equal_names(self):
        models = self.models()
        folder = self.saved({HOSTILE.replace("/", "∕"): models["small"], "a.b": models["large"]})
        other = self.folder / "again"
        other.mkdir()
        (other / "a.b.json").write_text(json.dumps(models["small"]))
        page = self.folder / "index.html"
        done = tmeter("merge", "--index", folder, other, f"--report=json={self.folder / 'i.json'}", "--report=markdown", "--report", f"xml={page}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = [m["path"] for m in json.loads((self.folder / "i.json").read_text())["modules"]]
        self.assertIn("a.b (2)", names)
        self.assertNotIn("<script>", page.read_text())
        self.assertNotIn("\x1b", done.stdout)

    def test_another_convention_is_left_out_with_a_warning(self):
        models = self.models()
        models["small"]["metrics"][1]["convention"] = "twice by hand"
        index = self.merged("--index", self.saved(models))
        small = next(m for m in index["modules"] if m["path"] == "small")
        self.assertNotIn("macs", small.get("values", {}))
        self.assertEqual(index["totals"]["macs"], 18)
        self.assertEqual(index["totals_status"]["macs"], "lower_bound")
        self.assertIn("twice by hand", index["warnings"][0])

    def test_a_sum_beyond_63_bits(self):
        models = self.models()
        for report in models.values():
            report["totals"]["macs"] = 2 ** 62
        self.assert_refused(4, ["exceeds 2^63"], "merge", "--index", self.saved(models))

    def test_an_index_among_its_reports_is_not_a_model(self):
        folder = self.saved(self.models())
        for _ in range(2):
            done = tmeter("merge", "--index", folder, f"--report=json={folder / 'index.json'}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(json.loads((folder / "index.json").read_text())["modules"]), 3)


class BadInput(MergeTest):
    def setUp(self):
        super().setUp()
        _, files = self.checkpoint([{"a.weight": ([3], [1, 2, 3])}, {"b.weight": ([2], [4, 6])}, {"c.weight": ([1], [0])}])
        self.parts = [self.analysed(f, f.stem) for f in files]

    def test_missing_shards(self):
        self.assert_refused(4, ["1 is not among the reports: number 2"], "merge", self.parts[0], self.parts[2])

    def test_shards_of_two_checkpoints(self):
        other = self.analysed(self.file("x-1-of-2.safetensors", safetensors({"z": ([1], [1])})), "other")
        self.assert_refused(4, ["different checkpoints"], "merge", *self.parts, other)

    def test_a_tensor_in_two_shards(self):
        twin = self.analysed(self.file("twin.safetensors", safetensors({"a.weight": ([3], [1, 2, 3])})), "twin")
        self.assert_refused(4, ["'a.weight' is in"], "merge", *self.parts, twin)

    def test_shards_analysed_with_different_options(self):
        stats = self.analysed(self.folder / "model-00003-of-00003.safetensors", "s", PLUGINS)
        self.assert_refused(4, ["same --plugins"], "merge", *self.parts[:2], stats)
        a = self.analysed(self.folder / "model-00001-of-00003.safetensors", "a", "--plugins=param-stats", "--set=param-stats.threshold=0.5")
        rest = [self.analysed(self.folder / f"model-0000{i}-of-00003.safetensors", f"b{i}", "--plugins=param-stats") for i in (2, 3)]
        self.assert_refused(4, ["param-stats.threshold"], "merge", a, *rest)

    def test_models_are_not_shards(self):
        self.assert_refused(4, ["--index"], "merge", self.analysed(MODELS / "gpt2_like.pt2", "m"), *self.parts)

    def test_files(self):
        self.assert_refused(4, ["no such file"], "merge", self.folder / "nothing.json")
        self.assert_refused(4, ["no .json file"], "merge", "--index", self.empty_folder())
        self.assert_refused(4, ["not a tmeter report"], "merge", self.file("x.json", '{"a": 1}'))
        cut = self.file("cut.json", self.parts[0].read_bytes()[:2000])
        self.assert_refused(4, ["cut.json"], "merge", cut, *self.parts[1:])

    def empty_folder(self):
        folder = self.folder / "empty"
        folder.mkdir()
        return folder

    def test_reports_with_impossible_values(self):
        """Values beyond all limits, and a finding about a module call that the merged report lacks."""
        file = self.file("x.safetensors", safetensors({f"l{i}.weight": ([2], [1, 2]) for i in range(3)}))
        report = json.loads(self.analysed(file, "x", PLUGINS).read_text())
        for t in report["tensors"]:
            t["values"] |= {"finite": 2 ** 62, "nan": 2 ** 62, "coded_bytes": 2 ** 63 - 1, "std": 1e300, "sparsity": 1e308}
        hostile = self.file("hostile.json", json.dumps(report))
        self.assert_refused(4, ["more elements than any file"], "merge", hostile)
        report = json.loads((self.folder / "x.json").read_text())
        report["modules"][1]["calls"], report["module_calls"] = 3, [{"module": 0}, *[{"module": 1, "parent": 0}] * 3]
        finding = {"severity": "info", "rule": "r", "text": "t", "targets": [{"module": "l0", "module_call": 3}, {"tensor": "l1.weight"}], "changes": []}
        report["modules"][0]["calls"], report["findings"] = 1, [finding]
        merged = self.merged(self.file("calls.json", json.dumps(report)))
        self.assertEqual([f["targets"] for f in merged["findings"] if f["rule"] == "r"], [[{"tensor": "l1.weight"}]])
        huge = self.file("model-1-of-99999999999999.json", json.dumps(report | {"model": report["model"] | {"file": "m-1-of-99999999999999.bin"}}))
        self.assert_refused(4, ["99999999999998 are not among the reports: number 2, 3, 4, 5, 6, …"], "merge", huge)

    def test_usage(self):
        self.assert_refused(2, ["no saved report"], "merge")
        self.assert_refused(2, ["needs the model"], "merge", "--plugins=params", *self.parts)
        self.assert_refused(2, ["--index goes with"], "--index", MODELS / "gpt2_like.pt2")
        self.assert_refused(2, [""], "merge", *self.parts, f"--report=json={self.parts[1]}")  # onto an input

    def test_a_full_disk(self):
        self.assert_refused(4, ["No space left"], "merge", *self.parts, "--report=json=/dev/full")


if __name__ == "__main__":
    unittest.main(verbosity=2)
