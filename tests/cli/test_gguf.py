"""GGUF files: tmeter's report agrees with the package gguf and with NumPy (fixtures/make_gguf.py); damaged files get one clear
line."""
import json
import math
import random
import re
import shlex
import shutil
import struct

from gguf_writer import ARRAY, Q4_K, Q8_0, TEXT, U32, Writer, model, padded, split_pairs
from support import FIXTURES, CliTest, main, report, tmeter

HERE = FIXTURES / "gguf"
EXPECTED = json.loads((HERE / "expected.json").read_text())["files"]
STATISTICS = ("mean", "std", "min", "max", "l2_norm")


def names(document):
    return {t["name"] for t in document["tensors"]}


class Reading(CliTest):
    def assert_tensors(self, path, tensors):
        document = report(path, "--plugins=params,memory,param-stats")
        found = {t["name"]: t for t in document["tensors"]}
        self.assertEqual(set(found), set(tensors))
        for name, w in tensors.items():
            with self.subTest(tensor=name):
                t, values = found[name], found[name]["values"]
                self.assertEqual((t["shape"], t["numel"]), (w["shape"], w["shape"][0] * (w["shape"] + [1])[1]))
                for key in STATISTICS:
                    expected = w["l2" if key == "l2_norm" else key]
                    self.assertAlmostEqual(values[key], expected, delta=1e-6 * max(abs(expected), w["std"]), msg=key)
                self.assertAlmostEqual(values["sparsity"], w["zeros"] / t["numel"], places=12)
        return document

    def test_every_type_decodes_as_by_gguf_and_numpy(self):
        document = self.assert_tensors(HERE / "all_types.gguf", EXPECTED["all_types.gguf"]["tensors"])
        integers = {"i8", "i16", "i32", "i64"}
        expected = [t for t in EXPECTED["all_types.gguf"]["tensors"].values() if t["type"] not in integers]
        self.assertEqual(document["totals"]["params"], 768 * len(expected))
        self.assertEqual(document["totals"]["buffers"], 768 * 4)
        self.assertEqual(document["totals"]["param_bytes"], sum(t["bytes"] for t in expected))

    def test_big_endian_files_are_read(self):
        document = self.assert_tensors(HERE / "big_endian.gguf", EXPECTED["big_endian.gguf"]["tensors"])
        self.assertEqual(document["model"]["format"], "GGUF v3, big-endian")
        self.assertEqual(document["totals"]["param_bytes"], sum(t["bytes"] for t in EXPECTED["big_endian.gguf"]["tensors"].values()))

    def test_every_part_of_a_split_model_gives_the_whole_model(self):
        expected = EXPECTED["split-00001-of-00003.gguf"]["tensors"]
        for number in (1, 2, 3):
            document = self.assert_tensors(HERE / f"split-0000{number}-of-00003.gguf", expected)
            self.assertEqual(document["model"]["format"], "GGUF v3 (3 files)")

    def test_factors_of_rotary_embeddings_are_buffers(self):
        document = report(HERE / "split-00001-of-00003.gguf", "--plugins=params")
        kinds = {t["name"]: t["kind"] for t in document["tensors"]}
        self.assertEqual([n for n, kind in kinds.items() if kind == "buffer"], ["rope_freqs.weight"])

    def test_modules_are_named_as_in_transformers(self):
        document = report(HERE / "split-00001-of-00003.gguf", "--plugins=params")
        owners = {t["name"]: t["owner"] for t in document["tensors"]}
        self.assertEqual(owners["blk.0.attn_q.weight"], "model.layers.0.self_attn.q_proj")
        self.assertEqual(owners["blk.0.ffn_down.weight"], "model.layers.0.mlp.down_proj")
        self.assertEqual((owners["token_embd.weight"], owners["output_norm.weight"]), ("model.embed_tokens", "model.norm"))

    def test_a_model_is_compared_with_its_safetensors_module_by_module(self):
        shapes = {"model.embed_tokens": [80, 64], "model.norm": [64], "model.layers.0.self_attn.q_proj": [64, 64],
                  "model.layers.0.self_attn.k_proj": [32, 64], "model.layers.0.self_attn.v_proj": [32, 64],
                  "model.layers.0.self_attn.o_proj": [64, 64], "model.layers.0.mlp.gate_proj": [96, 64],
                  "model.layers.0.mlp.up_proj": [96, 64], "model.layers.0.mlp.down_proj": [64, 96],
                  "model.layers.0.input_layernorm": [64], "model.layers.0.post_attention_layernorm": [64]}
        header, at = {}, 0
        for name, shape in shapes.items():
            size = 4 * shape[0] * (shape + [1])[1]
            header[name + ".weight"] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
            at += size
        text = json.dumps(header).encode()
        path = self.file("m.safetensors", struct.pack("<Q", len(text)) + text + bytes(at))
        done = tmeter("diff", path, HERE / "split-00001-of-00003.gguf", "--plugins=params,memory", "--report", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        counts = json.loads(done.stdout)["counts"]
        # Added: the factors of rotary embeddings, and the head, which is the embedding. Safetensors without a configuration have no program.
        self.assertEqual((counts["removed"], counts["added"], counts["renamed"]), (0, 2, 0))
        totals = json.loads(done.stdout)["totals"]
        self.assertEqual(totals["params"]["difference"], 0)
        self.assertEqual(totals["param_bytes"]["after"], (36032 - 192) // 32 * 34 + 192 * 4)

    def test_every_version_and_byte_order(self):
        for version in (1, 2, 3):
            for order in "<>":
                content = struct.pack(order + "2f", 0.5, -2)
                path = self.file("m.gguf", model({"a.weight": ([2, 1], 0, content), "b": ([], 0, struct.pack(order + "f", 3))},
                                                 [("general.name", TEXT, "x")], version=version, order=order))
                document = report(path, "--plugins=params,param-stats")
                self.assertEqual([(t["shape"], t["values"]["min"], t["values"]["max"]) for t in document["tensors"]],
                                 [([2, 1], -2, 0.5), ([], 3, 3)], (version, order))

    def test_an_unknown_type_keeps_its_name_shape_and_bytes(self):
        header = Writer().header([], [("a.weight", [4, 8], 99, 0), ("b", [2], 0, 64)])
        path = self.file("m.gguf", header.ljust(padded(len(header)), b"\0") + bytes(72))
        document = report(path, "--plugins=params,memory,param-stats")
        a = document["tensors"][0]
        self.assertEqual((a["shape"], document["totals"]["params"], document["totals"]["param_bytes"]), ([4, 8], 34, 72))
        self.assertIn("no plugin decodes 'ggml.type-99'", json.dumps(document))
        self.assertIsNone(a["values"]["mean"])

    def test_the_first_block_with_a_non_finite_scale_is_named(self):
        blocks = [struct.pack("<e", 1) + bytes(32) for _ in range(40)]
        blocks[17] = struct.pack("<e", float("nan")) + bytes(32)
        blocks[29] = struct.pack("<e", float("inf")) + b"\1" * 32
        path = self.file("m.gguf", model({"a.weight": ([40, 32], Q8_0, b"".join(blocks))}))
        for threads in (1, 4):
            document = report(path, "--plugins=param-stats", "--threads", threads)
            self.assertEqual([w for w in document["warnings"] if "scale" in w],
                             ["tensor 'a.weight' (ggml.q8_0): the scale of block 17 is NaN or infinite; llama.cpp --check-tensors "
                              "refuses such a file"])
            self.assertEqual((document["totals"]["nan"], document["totals"]["inf"]), (32, 32))

    def test_quantiles_of_packed_weights_are_computed_on_request(self):
        """Codes times 0.5; the quantiles by sorting, linear between neighbours, and near zero by the root mean square."""
        numbers = random.Random(7)
        codes = [numbers.randrange(-127, 128) for _ in range(64 * 32)]
        blocks = b"".join(struct.pack("<e32b", 0.5, *codes[i:i + 32]) for i in range(0, len(codes), 32))
        path = self.file("m.gguf", model({"a.weight": ([64, 32], Q8_0, blocks)}))
        values = sorted(c / 2 for c in codes)
        root = math.sqrt(sum(v * v for v in values) / len(values))

        def quantile(q):
            place = q * (len(values) - 1)
            low = int(place)
            return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (place - low)
        expected = {"q01": quantile(.01), "q25": quantile(.25), "median": quantile(.5), "q99": quantile(.99),
                    "near_zero": sum(abs(v) <= .01 * root for v in values) / len(values)}
        (without,) = report(path, "--plugins=param-stats")["tensors"]
        (requested,) = report(path, "--plugins=param-stats", "--set", "param-stats.packed-quantiles=true")["tensors"]
        for key, value in requested["values"].items():
            if key in expected or key in ("q05", "q75", "q95", "entropy"):
                self.assertIsNone(without["values"][key], key)
            else:
                self.assertEqual(without["values"][key], value, key)
        for key, value in expected.items():
            self.assertAlmostEqual(requested["values"][key], value, places=12, msg=key)
        done = tmeter(path, "--plugins=param-stats", "-v")
        self.assertIn("param-stats.packed-quantiles=true", done.stdout + done.stderr)

    def test_no_weight_is_read_unless_a_plugin_requests_it(self):
        """More than a terabyte in sparse parts."""
        rows = 100_000
        for i in range(100):
            name = f"blk.{i}.ffn_up.weight"
            header = Writer().header(split_pairs(i, 100, 100), [(name, [rows, 256 * 900], Q4_K, 0)])
            self.file_with_hole(f"m-{i + 1:05}-of-00100.gguf", header, padded(len(header)) + rows * 900 * 144)
        document = report(self.folder / "m-00001-of-00100.gguf", "--plugins=params,memory")
        self.assertEqual(document["totals"]["params"], 100 * rows * 256 * 900)
        self.assertEqual(document["totals"]["param_bytes"], 100 * rows * 900 * 144)  # 1.3 TB


class Parts(CliTest):
    def parts(self):
        for part in HERE.glob("split-*.gguf"):
            shutil.copy(part, self.folder)
        return [self.folder / f"split-0000{i}-of-00003.gguf" for i in (1, 2, 3)]

    def test_all_missing_parts_are_named_at_once(self):
        parts = self.parts()
        parts[0].unlink()
        parts[1].unlink()
        self.assert_refused(4, ["of the 3 files of this model, 2 cannot be opened", "'split-00001-of-00003.gguf', 'split-00002-of-00003.gguf'"],
                            parts[2])

    def test_a_part_with_another_name(self):
        parts = self.parts()
        self.assert_refused(4, ["it is part 2 of 3, but its name does not end in '-00002-of-00003.gguf'"],
                            parts[1].rename(self.folder / "m.gguf"))

    def test_a_part_in_the_place_of_another(self):
        parts = self.parts()
        shutil.copy(parts[0], parts[1])
        self.assert_refused(4, ["part 'split-00002-of-00003.gguf'", "say that it is part 1 of 3"], parts[0])

    def test_parts_of_different_models_are_refused(self):
        def write(name, pairs, tensor):
            return self.file(name, model({tensor: ([1], 0, None)}, pairs))
        first = write("m-00001-of-00002.gguf", split_pairs(0, 2, 3), "a")
        write("m-00002-of-00002.gguf", split_pairs(1, 2, 3), "b")
        self.assert_refused(4, ["split.tensors.count is 3, but the 2 files have 2 tensors"], first)
        write("m-00002-of-00002.gguf", split_pairs(1, 2, 3), "a")
        self.assert_refused(4, ["the tensor 'a' is in two files"], first)
        write("m-00002-of-00002.gguf", split_pairs(5, 2, 3), "a")
        self.assert_refused(4, ["split.no is 5 of 2 files"], first)
        self.file("m-00002-of-00002.gguf", b"version https://git-lfs.github.com/spec/v1\n")
        self.assert_refused(4, ["part 'm-00002-of-00002.gguf'", "does not begin with 'GGUF'"], first)

    def test_an_impossible_count_of_parts_is_refused(self):
        self.assert_refused(4, ["65535", "10,000 files"], self.file("m.gguf", model({}, split_pairs(0, 65535, 1))))


def safetensors(tensors):
    """Name → (shape, floats)."""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        content = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def q8_0(values):
    """Blocks as ggml's quantize_row_q8_0_ref, and their decoded elements."""
    out, decoded = b"", []
    for at in range(0, len(values), 32):
        block = values[at:at + 32]
        d = max(map(abs, block)) / 127
        codes = [round(x / d) if d else 0 for x in block]
        scale = struct.pack("<e", d)
        out += scale + struct.pack("<32b", *codes)
        decoded += [c * struct.unpack("<e", scale)[0] for c in codes]
    return out, decoded


class Errors(CliTest):
    """tmeter diff --columns sqnr, compared with the same sums in Python."""

    ROWS, COLUMNS, HEADS = 64, 64, 4

    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        self.q = [struct.unpack("<f", struct.pack("<f", rng.gauss(0, 0.05)))[0] for _ in range(self.ROWS * self.COLUMNS)]
        self.up = [struct.unpack("<f", struct.pack("<f", rng.gauss(0, 0.2)))[0] for _ in range(self.ROWS * self.COLUMNS)]
        shape = [self.ROWS, self.COLUMNS]
        self.before = self.file("m.safetensors", safetensors({"model.layers.0.self_attn.q_proj.weight": (shape, self.q),
                                                              "model.layers.0.mlp.up_proj.weight": (shape, self.up)}))

    def permuted(self, values):
        """LlamaModel.permute of convert_hf_to_gguf.py: reshape(heads, 2, rows / heads / 2, …).swapaxes(1, 2)."""
        half, rows = self.ROWS // self.HEADS // 2, []
        for head in range(self.HEADS):
            for i in range(half):
                for part in range(2):
                    row = (head * 2 + part) * half + i
                    rows += values[row * self.COLUMNS:(row + 1) * self.COLUMNS]
        return rows

    def sums(self, values):
        decoded = q8_0(values)[1]
        return sum(x * x for x in values), sum((x - y) ** 2 for x, y in zip(values, decoded))

    def gguf(self, q):
        shape = [self.ROWS, self.COLUMNS]
        return self.file("m-Q8_0.gguf", model({"blk.0.attn_q.weight": (shape, Q8_0, q8_0(q)[0]), "blk.0.ffn_up.weight": (shape, Q8_0, q8_0(self.up)[0])},
                                              [("general.architecture", TEXT, "llama"), ("llama.attention.head_count", U32, self.HEADS)]))

    def assert_errors(self, before, after):
        done = tmeter("diff", before, after, "--plugins=params", "--columns", "params,sqnr", "--report", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        found = {m["after"]["path"]: m["values"].get("sqnr", {}).get("after") for m in document["modules"] if m["after"]}
        (p1, e1), (p2, e2) = self.sums(self.q), self.sums(self.up)
        for path, power, error in (("model.layers.0.self_attn.q_proj", p1, e1), ("model.layers.0.mlp.up_proj", p2, e2), ("", p1 + p2, e1 + e2)):
            self.assertAlmostEqual(found[path], 10 * math.log10(power / error), delta=1e-6, msg=path)

    def test_errors_of_each_module_and_the_model(self):
        self.assert_errors(self.before, self.gguf(self.permuted(self.q)))

    def test_a_file_without_permuted_rows(self):
        self.assert_errors(self.before, self.gguf(self.q))

    def test_notes_use_the_closer_order_of_rows(self):
        """Of the two orders of rows the closer one counts; the column uses it, too."""
        for after in (self.gguf(self.permuted(self.q)), self.gguf(self.q)):
            done = tmeter("diff", self.before, after, "--plugins=params")
            for name, values in (("blk.0.attn_q", self.q), ("blk.0.ffn_up", self.up)):
                power, error = self.sums(values)
                note = next(line for line in done.stdout.splitlines() if f"weights: {name}.weight:" in line)
                self.assertIn(f"SQNR {10 * math.log10(power / error):.4g} dB", note)

    def test_equal_weights_have_no_error_and_assertions_bound_it(self):
        done = tmeter("diff", self.before, self.before, "--plugins=params", "--columns", "sqnr", "--report", "json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["totals"]["sqnr"]["after"]), (0, None), done.stderr)
        path = self.gguf(self.permuted(self.q))
        for least, status in ((30, 0), (60, 3)):
            done = tmeter("diff", self.before, path, "--plugins=params", "--assert", f"sqnr >= {least}")
            self.assertEqual(done.returncode, status, done.stderr)

    def test_experts_joined_in_one_tensor(self):
        rng = random.Random(9)
        single = [[struct.unpack("<f", struct.pack("<f", rng.gauss(0, 0.1)))[0] for _ in range(4 * 32)] for _ in range(3)]
        after = self.file("e.gguf", model({"blk.0.ffn_gate_exps.weight": ([3, 4, 32], Q8_0, q8_0(sum(single, []))[0])},
                                          [("general.architecture", TEXT, "llama")]))
        power, error = self.sums(sum(single, []))
        for name in ("mlp.experts.{}.gate_proj", "block_sparse_moe.experts.{}.w1"):
            before = self.file("e.safetensors", safetensors({f"model.layers.0.{name.format(e)}.weight": ([4, 32], x) for e, x in enumerate(single)}))
            done = tmeter("diff", before, after, "--plugins=params", "--columns", "sqnr", "--report", "json")
            self.assertAlmostEqual(json.loads(done.stdout)["totals"]["sqnr"]["after"], 10 * math.log10(power / error), delta=1e-6, msg=done.stderr)

    def test_a_folder_is_compared_with_a_file(self):
        folder = self.folder / "m"
        folder.mkdir()
        self.before = self.before.rename(folder / "model.safetensors")
        self.assert_errors(folder, self.gguf(self.permuted(self.q)))

    def test_without_a_request_no_weight_is_read(self):
        done = tmeter("diff", self.before, self.gguf(self.q), "--plugins=params", "--report", "json")
        self.assertNotIn("sqnr", done.stdout)


class Plan(CliTest):
    """quantization-advice of a GGUF file: arguments of llama-quantize, with the resulting bytes."""

    WEIGHTS = EXPECTED["unpacked.gguf"]["tensors"]
    SIZES = {"q4_K": (256, 144), "q5_K": (256, 176), "q6_K": (256, 210), "q8_0": (32, 34), "q4_0": (32, 18), "q5_0": (32, 22), "q5_1": (32, 24),
             "f32": (1, 4)}

    def plan(self, path, *options):
        document = report(path, "--plugins=quantization-advice", *options)
        return [f for f in document["findings"] if f["rule"] == "gguf-plan"], document

    def types(self, findings):
        """llama-quantize's reading of the arguments: the first pattern found in a name decides."""
        words = shlex.split(" ".join(f["action"] for f in findings))
        arguments = [words[i + 1].rsplit("=", 1) for i, word in enumerate(words) if word == "--tensor-type"]
        return {name: next((kind for pattern, kind in arguments if re.search(pattern, name)), "f32") for name in self.WEIGHTS}

    def bytes_of(self, types):
        total = 0
        for name, w in self.WEIGHTS.items():
            elements, size = self.SIZES[types[name]]
            numel = w["shape"][0] * (w["shape"] + [1])[1]
            self.assertEqual(w["shape"][-1] % elements, 0)
            total += padded(numel // elements * size)
        return total

    def test_the_bytes_follow_from_the_types(self):
        for least in (0, 15, 22, 30, 40, 60):
            findings, _ = self.plan(HERE / "unpacked.gguf", "--set", f"quantization-advice.min-sqnr={least}")
            if least == 60:
                self.assertEqual(findings, [])
                continue
            types = self.types(findings)
            self.assertEqual(int(findings[0]["evidence"].split()[0]), self.bytes_of(types), least)
            self.assertEqual(types["blk.0.attn_norm.weight"], "f32")

    def test_the_error_is_near_that_of_the_real_quantizers(self):
        _, document = self.plan(HERE / "unpacked.gguf")
        found = {t["name"]: t["values"] for t in document["tensors"]}
        for name, w in self.WEIGHTS.items():
            for kind, scheme, gain in (("q8_0", "int8_group32", 0), ("q4_0", "int4_group32", 0), ("q5_0", "int4_group32", 6.3),
                                       ("q5_1", "int4_group32_asym", 6.3)):
                if kind in w:
                    self.assertAlmostEqual(found[name][f"sqnr_{scheme}"] + gain, w[kind], delta=1.5, msg=(name, kind))

    def test_a_size_is_held_by_the_types_with_the_least_error(self):
        sizes = []
        for most in (10_000, 12_000, 16_000, 30_000):
            findings, _ = self.plan(HERE / "unpacked.gguf", "--set", f"quantization-advice.gguf-bytes={most}")
            sizes.append(self.bytes_of(self.types(findings)))
            self.assertLessEqual(sizes[-1], most)
        self.assertEqual(sizes, sorted(sizes))
        findings, _ = self.plan(HERE / "unpacked.gguf", "--set", "quantization-advice.gguf-bytes=100")
        self.assertIn("above gguf-bytes (100): these types are the smallest", findings[0]["text"])

    def test_embeddings_keep_six_bits_by_default(self):
        low = ("--set", "quantization-advice.min-sqnr=5")
        self.assertEqual(self.types(self.plan(HERE / "unpacked.gguf", *low)[0])["token_embd.weight"], "q6_K")
        free = self.plan(HERE / "unpacked.gguf", *low, "--set", "quantization-advice.protect=false")[0]
        self.assertEqual(self.types(free)["token_embd.weight"], "q4_K")

    def test_a_packed_file_has_no_plan(self):
        self.assertEqual(self.plan(HERE / "split-00001-of-00003.gguf")[0], [])

    def test_the_plan_omits_tensors_that_llama_quantize_keeps(self):
        """tensor_allows_quantization in llama-quant.cpp of llama.cpp, commit 007dbbf."""
        unquantized = ["blk.0.time_mix_w1.weight", "blk.0.time_mix_lerp_fused.weight", "blk.0.indexer.k_proj.weight", "v.patch_embd.weight", "a.rvq.codebook.0.weight"]
        quantized = ["blk.0.time_mix_key.weight", "blk.0.time_mix_output.weight", "blk.0.indexer.attn_q_b.weight"]
        row = struct.pack("<256f", *[((i * 37) % 101 - 50) / 50 for i in range(256)])
        path = self.file("m.gguf", model({name: ([1, 256], 0, row) for name in unquantized + quantized}, [("general.architecture", TEXT, "rwkv7")]))
        patterns = [words.split("=")[0] for f in self.plan(path)[0] for words in shlex.split(f["action"]) if "=" in words]
        self.assertEqual({name for name in unquantized + quantized for p in patterns if re.search(p, name)}, set(quantized))

    def test_many_blocks_fit_into_several_findings(self):
        rows = struct.pack("<256f", *[((i * 37) % 101 - 50) / 50 for i in range(256)])
        odd = struct.pack("<256f", *[1.0 if i == 3 else 0.001 * ((i * 37) % 101) for i in range(256)])
        tensors = {f"blk.{b}.{kind}.weight": ([1, 256], 0, odd if (b + len(kind)) % 2 else rows)
                   for b in range(300) for kind in ("attn_q", "attn_k", "attn_output", "ffn_up", "ffn_down", "ffn_gate")}
        path = self.file("m.gguf", model(tensors, [("general.architecture", TEXT, "llama")]))
        findings, _ = self.plan(path, "--set", "quantization-advice.min-sqnr=24")
        text = " ".join(f["action"] for f in findings)
        self.assertNotIn("…", text)
        words = shlex.split(text)
        patterns = [words[i + 1].rsplit("=", 1)[0] for i, word in enumerate(words) if word == "--tensor-type"]
        for name in tensors:
            self.assertEqual(sum(bool(re.search(p, name)) for p in patterns), 1, name)


class BadInput(CliTest):
    """More of these are in tests/unit/gguf/header_test.cpp."""

    def refuse(self, words, content, size=None):
        path = self.file_with_hole("m.gguf", content, size or len(content))
        return self.assert_refused(4, ["m.gguf: ", *words], path, timeout=30)

    def test_claims_beyond_the_file(self):
        writer = Writer()
        self.refuse(["claims 1000000000 tensors"], writer.header([], [], (10**9, 0)))
        self.refuse(["1152921504606846976 bytes"], writer.header([], [], (0, 1)) + struct.pack("<Q", 1 << 60) + bytes(50))
        self.refuse(["key 'k'", "1000000000 items"], writer.header([("k", ARRAY, (TEXT, []))], [])[:-8] + struct.pack("<Q", 10**9))

    def test_claims_beyond_a_file_of_a_terabyte(self):
        """Holes have room for all claimed sizes."""
        writer, size = Writer(), 1 << 40
        self.refuse(["claims 1000000000 tensors"], writer.header([], [], (10**9, 0)), size)
        self.refuse(["1152921504606846976 bytes"], writer.header([], [], (0, 1)) + struct.pack("<Q", 1 << 60), size)
        self.refuse(["key 'k'", "items"], writer.header([("k", ARRAY, (TEXT, []))], [])[:-8] + struct.pack("<Q", 10**9), size)
        self.refuse(["has no key"], writer.header([], [], (0, 10**5)), size)
        self.refuse(["tensor 0 has no name"], writer.header([], [], (10**6, 0)), size)

    def test_alignment(self):
        for alignment in (0, 3, 33):
            content = model({"a": ([1], 0, None)}, [("general.alignment", U32, alignment)])
            self.refuse([f"general.alignment is {alignment}, not a power of two"], content)

    def test_rows_of_incomplete_blocks_are_refused(self):
        header = Writer().header([], [("blk.0.attn_q.weight", [256, 100], Q4_K, 0)])
        self.refuse(["tensor 'blk.0.attn_q.weight'", "rows of 100 elements are not a multiple of the 256 in a block of ggml.q4_k"],
                    header + bytes(20_000))

    def test_offsets(self):
        def two(first, second, data):
            header = Writer().header([], [("a", [9], 0, first), ("b", [1], 0, second)])
            return header.ljust(padded(len(header)), b"\0") + bytes(data)
        self.refuse(["tensor 'a'", "overlaps 'b'"], two(0, 32, 100))
        self.refuse(["tensor 'b'", "are not in the file", "truncated"], two(0, 64, 60))
        self.refuse(["tensor 'b'", "gap of 64 bytes"], two(0, 128, 200))

    def test_arrays_in_arrays(self):
        nested = (U32, [1])
        for _ in range(200):
            nested = (ARRAY, [nested])
        self.refuse(["key 'k'", "nested more than 8 deep"], Writer().header([("k", ARRAY, nested)], []))

    def test_every_beginning_of_a_file(self):
        content = (HERE / "split-00003-of-00003.gguf").read_bytes()
        for size in range(4, len(content) - 32, 7):
            path = self.file("split-00003-of-00003.gguf", content[:size])
            done = tmeter(path, "--plugins=params")
            self.assertEqual(done.returncode, 4, (size, done.stderr))
            self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    main()
