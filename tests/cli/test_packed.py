"""Packed safetensors: logical parameters, stored bytes and decoded elements, for every packing of fixtures/make_packed.py."""
import json
import re
import shutil
import struct
import sys
import tempfile

from hostile import safetensors
from support import FIXTURES, SOURCE, CliTest, build_plugin, main, report, tmeter

sys.path.insert(0, str(SOURCE / "tests" / "blueprint"))
from folders import write_folder  # noqa: E402

HERE = FIXTURES / "packed"
ALL = json.loads((HERE / "expected.json").read_text())
EXPECTED = {name: e for name, e in ALL.items() if not name.endswith(".pt2")}
PROGRAMS = {name: e for name, e in ALL.items() if name.endswith(".pt2")}


def is_pattern(text):
    try:
        re.compile(text)
    except re.error:
        return False
    return True


class FourBitFloats(CliTest):
    """Native F4 elements: torch's type pairs two along the last dim, which an odd size does not allow."""

    def test_pairs_and_odd_sizes(self):
        for shape, dtype, stored in (([3, 2], "float4_e2m1fn_x2", [3, 1]), ([2, 3], "unknown", [2, 3])):
            path = self.file("f4.safetensors", safetensors({"w": {"dtype": "F4", "shape": shape, "data_offsets": [0, 3]}}, bytes(3)))
            with self.subTest(shape):
                document = report(path, "--plugins=params")
                (tensor,) = document["tensors"]
                self.assertEqual((tensor["dtype"], tensor["shape"], document["totals"]["params"]), (dtype, stored, 6))
                self.assertEqual(len(document["warnings"]), dtype == "unknown")


class Int4OfTorchao(CliTest):
    """Classes that torchao 0.18 makes only on a GPU or does not write to safetensors; shapes by their documentation (workflows/int4)."""

    def stored(self, tensors, metadata=None):
        """The path of a file with these parts of `fc.weight`: name → (type, shape, bytes of an element). `metadata`: the file's entry for it."""
        header, at = {} if metadata is None else {"__metadata__": {"fc.weight": metadata if isinstance(metadata, str) else json.dumps(metadata)}}, 0
        for name, (dtype, dims, bytes_each) in tensors.items():
            count = bytes_each
            for d in dims:
                count *= d
            header["fc._weight_" + name] = {"dtype": dtype, "shape": dims, "data_offsets": [at, at + count]}
            at += count
        return self.file("model.safetensors", safetensors(header, bytes(at)))

    def assert_counted(self, tensors, shape, size, warnings=0):
        document = report(self.stored(tensors), "--plugins=params,memory")
        (tensor,) = (t for t in document["tensors"] if t["name"] == "fc.weight")
        self.assertEqual((tensor["shape"], document["totals"]["params"]), (shape, shape[0] * shape[1]))
        self.assertEqual(document["totals"]["param_bytes"] + document["totals"]["buffer_bytes"], size)
        self.assertEqual(sum("IntxUnpackedToInt8Tensor" in str(w) for w in document["warnings"]), warnings)

    def test_pairs_in_bytes(self):
        """32 × 64 in groups of 32: 1,024 bytes of pairs, 2 × 32 scales and as many zeros of 2 bytes."""
        groups = ("BF16", [2, 32], 2)
        self.assert_counted({"qdata": ("I8", [32, 32], 1), "scale": groups, "zero_point": groups}, [32, 64], 1024 + 2 * 128)
        self.assert_counted({"qdata": ("I8", [32, 32], 1), "group_scale": groups, "group_zero": groups}, [32, 64], 1024 + 2 * 128)

    def test_pairs_for_float8_activations(self):
        """32 × 512 in groups of 32: 8,192 bytes of pairs, 2 × 8 × 32 scales of 1 byte, 32 scales of rows of 4 bytes."""
        self.assert_counted({"qdata": ("I8", [32, 256], 1), "group_scale": ("F8_E4M3", [2, 8, 32], 1), "row_scale": ("F32", [32], 4)},
                            [32, 512], 8192 + 512 + 128)

    def test_one_group_for_each_row(self):
        """64 groups for 64 rows: the scales are square. Float zero points fit two classes, with a warning; integer ones fit only int8."""
        square = [64, 64]
        self.assert_counted({"qdata": ("I8", [64, 1024], 1), "scale": ("BF16", square, 2), "zero_point": ("BF16", square, 2)}, [64, 2048], 65_536 + 2 * 8_192,
                            warnings=1)
        self.assert_counted({"qdata": ("I8", [64, 1024], 1), "scale": ("BF16", square, 2), "zero_point": ("I8", square, 1)}, [64, 1024], 65_536 + 8_192 + 4_096)

    def test_tiles_of_words(self):
        """32 × 128, inner tiles of 8: 4 × 1 × 32 × 4 words of eight elements; 4 × 32 scales with zeros."""
        self.assert_counted({"qdata": ("I32", [4, 1, 32, 4], 4), "scale_and_zero": ("BF16", [4, 32, 2], 2)}, [32, 128], 2048 + 512)

    def test_bytes_for_processors(self):
        """64 × 256 in groups of 32: 8,192 bytes of pairs, 8 × 64 scales with zeros (the shapes of Int4OpaqueTensor.from_hp)."""
        self.assert_counted({"qdata": ("U8", [64, 128], 1), "scale_and_zero": ("BF16", [8, 64, 2], 2)}, [64, 256], 8192 + 2048)

    def test_unknown_forms_are_reported(self):
        """Bytes in tiles with scales in blocks: DA8W4 of Int4OpaqueTensor. Elements without scales."""
        for tensors in ({"qdata": ("U8", [2, 8, 32, 16], 1), "scale_and_zero": ("F32", [2, 8, 32], 4)}, {"qdata": ("U8", [64, 128], 1)}):
            with self.subTest(tensors):
                document = report(self.stored(tensors), "--plugins=params")
                self.assertIn("such as 'fc._weight_qdata', may be packed weights", str(document["warnings"]))

    def test_classes_that_do_not_fit_are_reported(self):
        pairs = {"qdata": ("I8", [32, 32], 1), "scale": ("BF16", [2, 32], 2), "zero_point": ("BF16", [2, 32], 2)}
        for metadata, words in (({"_type": "Int4Tensor", "_data": {"shape": [32, 65]}}, "torchao's 'Int4Tensor', which has other shapes"),
                                ({"_type": "Int4Tensor", "_data": {"shape": [-32, -64]}}, "other shapes"),
                                ({"_type": "Int4TilePackedTo4dTensor", "_data": {"shape": [32, 64]}}, "other shapes"),
                                ({"_type": "MXTensor"}, "other shapes"),
                                ({"_type": "Int3Tensor", "_data": None}, "'Int3Tensor', a class unknown to tmeter")):
            with self.subTest(metadata):
                document = report(self.stored(pairs, metadata), "--plugins=params")
                self.assertEqual(document["totals"]["params"], 32 * 32 + 2 * 64)
                (warning,) = document["warnings"]
                self.assertIn("such as 'fc._weight_qdata', may be packed weights", warning)
                self.assertIn(words, warning)
        for metadata in ("{", "[]", "{}", '{"_type": 4}', '{"_type": "Int4Tensor", "_data": {"shape": [1e9]}}', "anything", "{" * 2000):
            with self.subTest(metadata):  # metadata of another library: shapes decide
                document = report(self.stored(pairs, metadata), "--plugins=params")
                self.assertEqual((document["totals"]["params"], document["warnings"]), (32 * 64, []))

    def test_bytes_with_scales_by_rows_are_int8(self):
        self.assert_counted({"qdata": ("I8", [32, 32], 1), "scale": ("F32", [32, 1], 4), "zero_point": ("I8", [32, 1], 1)}, [32, 32], 1024 + 128 + 32)


class Traffic(CliTest):
    """Bytes that operators read of weights with scales that differ from layer to layer."""

    def test_layers_of_one_shape_and_several_sizes(self):
        """float8 of 64 × 64, with one scale of 4 bytes, or one for each of 64 rows; and the 64 bfloat16 elements of a token."""
        tensors = {"model.embed_tokens.weight": ("bfloat16", [100, 64]), "model.norm.weight": ("bfloat16", [64]), "lm_head.weight": ("bfloat16", [100, 64])}
        for i in range(4):
            shapes = {"self_attn.q_proj": [64, 64], "self_attn.k_proj": [32, 64], "self_attn.v_proj": [32, 64], "self_attn.o_proj": [64, 64],
                      "mlp.gate_proj": [128, 64], "mlp.up_proj": [128, 64], "mlp.down_proj": [64, 128]}  # fmt: skip
            at = f"model.layers.{i}."
            tensors |= {f"{at}{n}.weight": ("float8_e4m3fn", s) for n, s in shapes.items()}
            tensors |= {f"{at}{n}.weight_scale": ("float32", [s[0], 1] if i == 3 else [1]) for n, s in shapes.items()}
            tensors |= {f"{at}{n}.weight": ("bfloat16", [64]) for n in ("input_layernorm", "post_attention_layernorm")}
        write_folder(self.folder / "model", {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "vocab_size": 100,
                                             "num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": False}, tensors)  # fmt: skip
        document = report(self.folder / "model", "--plugins=params,memory,flops", "--bind", "batch=1", "--bind", "sequence=1", "--columns=all")
        read = [m["values"]["read_bytes"] for m in document["modules"] if m["path"].endswith(".self_attn.q_proj")]
        self.assertEqual(read, [64 * 64 + 4 + 64 * 2] * 3 + [64 * 64 + 64 * 4 + 64 * 2])


class Packed(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-digest-")
        cls.addClassCleanup(built.cleanup)
        cls.plugin = f"{built.name}/digest.tmeter"
        build_plugin("digest_plugin.cpp", cls.plugin)

    def read(self, path, *arguments):
        return report(path, "--plugins=params,memory,digest", "--plugin", self.plugin, "--columns=all", *arguments)

    def copy(self, name):
        """The folder of a fixture, to be changed."""
        return self.folder / shutil.copytree(HERE / name, self.folder / name)

    def alone(self, name):
        """The weights without their config.json."""
        folder = self.copy(name)
        (folder / "config.json").unlink(missing_ok=True)
        return folder / "model.safetensors"

    def assert_counted(self, document, expected):
        self.assertEqual(document["totals"]["params"], expected["params"])
        self.assertEqual(document["totals"]["param_bytes"] + document["totals"]["buffer_bytes"], expected["param_bytes"])
        found = {t["name"]: t for t in document["tensors"]}
        for name, reference in expected["weights"].items():
            t = found.get(name)
            self.assertIsNotNone(t, f"{name} is not among {sorted(found)}")
            self.assertEqual(t["shape"], reference["shape"], name)
            stored = t["encoding"]["stored_bytes"] if "encoding" in t else t["values"]["param_bytes"]
            self.assertEqual(stored, reference["bytes"], name)

    def test_every_packing(self):
        for name, expected in EXPECTED.items():
            with self.subTest(packing=name):
                document = self.read(HERE / name / "model.safetensors")
                self.assert_counted(document, expected)
                for t in document["tensors"]:
                    if "encoding" not in t:
                        continue
                    self.assertEqual(t["values"].get("digest"), expected["weights"][t["name"]]["digest"], t["name"])
                    self.assertEqual(t["values"]["bits_per_weight"], 8 * t["encoding"]["stored_bytes"] / t["numel"])

    def test_shapes_decide_without_a_configuration(self):
        for name, expected in EXPECTED.items():
            with self.subTest(packing=name):
                self.assert_counted(self.read(self.alone(name)), expected)

    def test_classes_of_torchao_leave_no_doubt(self):
        self.assertEqual(report(HERE / "torchao-classes" / "model.safetensors", "--plugins=params")["warnings"], [])

    def change_config(self, name, **changes):
        folder = self.copy(name)
        config = json.loads((folder / "config.json").read_text())
        config.get("quantization_config", config.get("quantization")).update(changes)
        (folder / "config.json").write_text(json.dumps(config))
        return folder / "model.safetensors"

    def header_of(self, path):
        content = path.read_bytes()
        length = struct.unpack("<Q", content[:8])[0]
        return json.loads(content[8:8 + length]), content[8 + length:]

    def write(self, path, header, data):
        path.write_bytes(safetensors(header, data))
        return path

    def warnings(self, document):
        return "\n".join(document["warnings"])

    def test_programs_of_torchao(self):
        self.assertEqual(len(PROGRAMS), 4)
        for name, expected in PROGRAMS.items():
            with self.subTest(program=name):
                document = report(HERE / name, "--plugins=params,memory,flops")
                self.assertEqual(document["totals"]["param_bytes"] + document["totals"]["buffer_bytes"], expected["param_bytes"])
                self.assertEqual((document["totals"]["macs"], document["coverage"]["ratio"]), (expected["macs"], 1.0))
                if "flat" not in name:
                    self.assertEqual(document["totals"]["params"], 32 * 48 + 48 + 48 * 16 + 16)
                    kinds = {t.get("encoding", {}).get("id") for t in document["tensors"]}
                    self.assertEqual(kinds, {None, f"torchao.{name.split('.')[0]}"})

    def test_a_damaged_record_of_a_subclass(self):
        content = (HERE / "int8.pt2").read_bytes()
        end = content.rfind(b"PK\5\6", 0, content.find(b"model_weights_config.json"))  # the end of a record
        for at, value in ((end, b"xxxx"), (end + 10, b"\xff\xff"), (end + 16, b"\xff\xff\xff\x7f")):
            path = self.file("damaged.pt2", content[:at] + value + content[at + len(value):])
            done = tmeter(path, "--plugins=params,memory", "--report", "json")
            self.assertIn(done.returncode, (0, 4), done.stderr)

    def test_statistics_are_those_of_the_decoded_numbers(self):
        weights = self.read(HERE / "mlx-4" / "model.safetensors", "--plugins=params,memory,param-stats")["tensors"]
        encoded = [t for t in weights if "encoding" in t]
        self.assertTrue(all(abs(t["values"]["std"] - 0.1) < 0.01 for t in encoded), encoded)  # of randn × 0.1

    def test_bits_by_type_are_reported(self):
        document = report(HERE / "gptq-4" / "model.safetensors", "--plugins=params")
        finding = next(f for f in document["findings"] if f["rule"] == "bytes-by-dtype")
        self.assertIn("gptq", finding["evidence"])
        self.assertIn("bits per weight", finding["text"])

    def test_a_contradicting_configuration(self):
        for name, changes, words in (
                ("gptq-4", {"bits": 8}, ["bits is 8", "qweight", "4 bits"]),
                ("gptq-4", {"group_size": 16}, ["group_size is 16", "scales"]),
                ("awq", {"bits": 3}, ["bits is 3", "qweight"]),
                ("mlx-4", {"bits": 8}, ["bits 8", "words"]),
                ("mlx-4", {"group_size": 128}, ["group_size 128"]),
                ("fp8-block", {"weight_block_size": [16, 16]}, ["weight_block_size is 16", "scale_inv"])):
            with self.subTest(packing=name, changes=changes):
                self.assert_refused(4, ["contradict", "config.json", *words], self.change_config(name, **changes))
                shutil.rmtree(self.folder / name)

    def test_different_layers_are_not_a_contradiction(self):
        self.assert_counted(self.read(self.change_config("gptq-4", bits=8, dynamic={"+:x": {"bits": 4}})), EXPECTED["gptq-4"])

    def test_an_invalid_configuration_gives_a_warning(self):
        for text in ("{", "[]", "{\"quantization_config\": {\"bits\": \"four\"}}", "{\"quantization_config\": {\"bits\": 1e40}}",
                     "{\"quantization_config\": {\"bits\": 4, \"group_size\": 0}}", "\0" * 100):
            with self.subTest(text=text):
                weights = self.alone("gptq-symmetric")
                (weights.parent / "config.json").write_text(text)
                document = self.read(weights)
                self.assert_counted(document, EXPECTED["gptq-symmetric"])
                self.assertIn("config.json is not used", self.warnings(document))
                shutil.rmtree(weights.parent)

    def test_an_invalid_pattern_gives_a_warning(self):
        """Judged by Python's `re`."""
        for pattern, fault in (("(", "'(' without ')'"), ("a)", "')' without '('"), ("[a-", "'[' without ']'"), ("[]a", "'[' without ']'"),
                               ("*a", "nothing to repeat"), ("a|+", "nothing to repeat"), ("(*a)", "nothing to repeat"), ("a**", "nothing to repeat"),
                               ("a\\", "a backslash at the end"), (r".*\.[0-9]+\.(q|k)_proj", ""), ("[]()*]+?", ""), ("(?:a|b)*$", ""), ("(a+)+$", ""),
                               (r"\(\[a", ""), ("(?i)a|", ""), ("", "")):  # fmt: skip
            with self.subTest(pattern):
                self.assertEqual(is_pattern(pattern), not fault)
                groups = {"a": {"targets": ["re:" + pattern], "weights": {"num_bits": 4, "group_size": 32}}}
                for key, changes in (("ignore", {"ignore": ["lm_head", "re:" + pattern]}), ("dynamic", {"dynamic": {"-:" + pattern: {}}}),
                                     ("targets", {"config_groups": groups})):  # fmt: skip
                    document = self.read(self.change_config("gptq-4", **changes))
                    self.assert_counted(document, EXPECTED["gptq-4"])
                    self.assertEqual([w for w in document["warnings"] if key in str(w) and fault in str(w)] != [], bool(fault), document["warnings"])
                    shutil.rmtree(self.folder / "gptq-4")

    def test_an_unknown_packing_is_reported(self):
        folder = self.copy("gptq-4")
        path = folder / "model.safetensors"
        header, data = self.header_of(path)
        renamed = {k.replace("qweight", "codes"): v for k, v in header.items()}
        self.write(path, renamed, data)
        (folder / "config.json").write_text("{\"quantization_config\": {\"quant_method\": \"aqlm\"}}")
        document = self.read(path)
        self.assertIn("'aqlm'", self.warnings(document))
        self.assertIn("counted as they are stored", self.warnings(document))

    def test_mlx_with_ambiguous_shapes(self):
        weights = self.alone("mlx-4")
        header, data = self.header_of(weights)
        self.write(weights, {k.replace("norm", "other"): v for k, v in header.items()}, data)
        self.assertIn("fit several bits and groups", self.warnings(self.read(weights)))

    def mlx_file(self, packed):
        """`packed`: name → rows, words and scales of a row. Norms have 128 elements."""
        header, at = {}, 0
        for name, dtype, shape, size in [("model.norm.weight", "BF16", [128], 256)] + [
            (f"{name}.{end}", dtype, [rows, n], rows * n * size) for name, (rows, words, groups) in packed.items()
            for end, dtype, n, size in (("weight", "U32", words, 4), ("scales", "BF16", groups, 2), ("biases", "BF16", groups, 2))]:  # fmt: skip
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
            at += size
        return self.file("model.safetensors", safetensors(header, bytes(at)))

    def test_mlx_of_several_bits_without_a_configuration(self):
        """128 columns of 4 bits in groups of 64 are 16 words and 2 scales; 256 of 8 bits in groups of 32, 64 and 8: the ratio is the same.
        mlx-lm 0.32 packs routers so."""
        document = self.read(self.mlx_file({"l.mlp.up_proj": (256, 16, 2), "l.mlp.down_proj": (128, 64, 8), "l.mlp.gate": (4, 32, 2)}))
        self.assertEqual({t["name"]: t["shape"] for t in document["tensors"] if "encoding" in t},
                         {"l.mlp.up_proj.weight": [256, 128], "l.mlp.down_proj.weight": [128, 256], "l.mlp.gate.weight": [4, 128]})
        self.assertEqual([w for w in document["warnings"] if "MLX" in str(w)], [])
        document = self.read(self.mlx_file({"l.mlp.up_proj": (256, 16, 2), "l.other": (8, 16, 2)}))
        self.assertIn("1 weights, such as 'l.other.weight', are assumed to have 4 bits in groups of 64, like the others of MLX", self.warnings(document))

    def test_blocks_of_compressed_tensors(self):
        """200 rows with 2 scales are blocks of 128 or of 100."""
        header = {"fc.weight": {"dtype": "F8_E4M3", "shape": [200, 96], "data_offsets": [0, 19_200]},
                  "fc.weight_scale": {"dtype": "F32", "shape": [2, 1], "data_offsets": [19_200, 19_208]}}  # fmt: skip
        path = self.file("model.safetensors", safetensors(header, bytes(19_208)))
        self.assertIn("blocks of several sizes", self.warnings(self.read(path)))
        weights = {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]}
        self.file("config.json", json.dumps({"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": weights}}}}))
        document = self.read(path)
        self.assertEqual((document["tensors"][0]["encoding"]["parameters"], document["warnings"]), ("rows=128 columns=96", []))

    def test_blocks_of_modelopt(self):
        """modelopt 0.47 writes the scales of blocks as [2, 1, 1, 1]."""
        header = {"fc.weight": {"dtype": "F8_E4M3", "shape": [256, 128], "data_offsets": [0, 32_768]},
                  "fc.weight_scale": {"dtype": "F32", "shape": [2, 1, 1, 1], "data_offsets": [32_768, 32_776]}}  # fmt: skip
        document = self.read(self.file("model.safetensors", safetensors(header, bytes(32_776))))
        self.assertEqual((document["totals"]["params"], document["tensors"][0]["encoding"]["id"]), (32_768, "fp8.block"))

    def test_weights_of_quanto_with_known_rows(self):
        """Groups of 32: 128 × 96 elements of 4 bits are 384 rows of groups. Norms of 96 give the width of q_proj and the height of o_proj."""
        header, at = {"norm.weight": {"dtype": "BF16", "shape": [96], "data_offsets": [0, 192]}}, 192
        for name in ("q_proj", "o_proj", "x"):
            for end, dtype, shape, size in (("_data._data", "U8", [192, 32], 6144), ("_scale", "BF16", [384, 1], 768), ("_shift", "BF16", [384, 1], 768)):
                header[f"{name}.weight.{end}"] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
                at += size
        document = self.read(self.file("model.safetensors", safetensors(header, bytes(at))))
        self.assertEqual([t["shape"] for t in document["tensors"]], [[96], [96, 128], [128, 96], [384, 32]])
        self.assertIn("1 weights of optimum-quanto, such as 'x.weight', are shown as rows of groups", self.warnings(document))

    def test_hostile_shapes_of_hqq(self):
        path = self.copy("hqq-4") / "model.safetensors"
        header, data = self.header_of(path)
        begin, end = next(v for k, v in header.items() if k.endswith("down_proj.shape"))["data_offsets"]
        for dims in ((-1, -6144), (0, 96), (1 << 62, 4), (64, 97), (1, 1)):
            with self.subTest(dims):
                document = self.read(self.write(path, header, data[:begin] + struct.pack("<2q", *dims) + data[end:]))
                self.assertIn("they are HQQ's, and their shape contradicts", self.warnings(document))

    def test_gptq_with_ambiguous_zero_points(self):
        document = self.read(self.alone("gptq-4"))
        self.assertIn("whether its zero points are stored minus one", self.warnings(document))
        self.assert_counted(document, EXPECTED["gptq-4"])

    def test_an_existing_name_is_not_used_twice(self):
        folder = self.copy("gptq-4")
        path = folder / "model.safetensors"
        header, data = self.header_of(path)
        last = next(k for k in header if k.endswith("down_proj.qweight"))
        header[last.replace("qweight", "weight")] = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
        names = [t["name"] for t in self.read(self.write(path, header, data))["tensors"]]
        self.assertIn(last, names)

    def test_an_order_that_names_no_group(self):
        folder = self.copy("gptq-order")
        path = folder / "model.safetensors"
        header, data = self.header_of(path)
        begin = next(v for k, v in header.items() if k.endswith("down_proj.g_idx"))["data_offsets"][0]
        for value in (b"\xff\xff\xff\xff", b"\x03\0\0\0"):  # three groups of 32
            done = self.read(self.write(path, header, data[:begin] + value + data[begin + 4:]))
            self.assertIn("its order names a group that does not exist", self.warnings(done))

    def test_hostile_states_of_bitsandbytes(self):
        for state in (b"{", b"{}", b"[1]", b'{"shape": [-1, 6144], "blocksize": 64}', b'{"shape": [1], "blocksize": 64}',
                      b'{"shape": [4294967296, 4294967296, 4294967296], "blocksize": 64}', b'{"shape": [64, 96], "blocksize": 0}',
                      b'{"shape": [64, 96], "blocksize": "x"}'):
            with self.subTest(state=state):
                path = self.copy("bnb-nf4") / "model.safetensors"
                header, data = self.header_of(path)
                at = next(v for k, v in header.items() if k.endswith("down_proj.weight.quant_state.bitsandbytes__nf4"))["data_offsets"]
                text = state.ljust(at[1] - at[0])
                self.assertEqual(len(text), at[1] - at[0])
                self.write(path, header, data[:at[0]] + text + data[at[1]:])
                self.assert_refused(4, ["quant_state"], path)
                shutil.rmtree(path.parent)

    def test_shapes_at_random(self):
        """Every dim of every tensor changed where the bytes allow it: a clear answer, and no crash."""
        for name in ("gptq-3", "awq", "compressed-asymmetric", "fp8-block", "gpt-oss", "bnb-nf4-nested", "mlx-3", "native", "hqq-3", "quanto-qint4", "modelopt-int4"):
            folder = self.copy(name)
            path = folder / "model.safetensors"
            header, data = self.header_of(path)
            for key, t in header.items():
                if key == "__metadata__" or "norm" in key or "embed" in key or len(t["shape"]) < 2:
                    continue
                elements = 1
                for d in t["shape"]:
                    elements *= d
                for shape in ([1, elements], [elements, 1], [elements], [1, 1, 1, elements], t["shape"][::-1], [2, elements // 2]):
                    with self.subTest(packing=name, tensor=key, shape=shape):
                        changed = {**header, key: {**t, "shape": shape}}
                        done = tmeter(self.write(path, changed, data), "--plugins=params,memory,param-stats", "--report", "json")
                        self.assertIn(done.returncode, (0, 4), done.stderr)
                        self.assertLessEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    main()
