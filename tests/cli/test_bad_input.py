"""Every damaged, hostile or foreign file gets one clear line, status 4, and nothing half-written."""
import io
import json
import os
import struct
import unittest
import zipfile

from support import FIXTURES, HAVE_TORCH, MODELS, CliTest, main, tmeter


def repack(path, change):
    """The bytes of a .pt2 with `change(document)` applied to its models/*.json."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as target:
        for name in source.namelist():
            data = source.read(name)
            if "/models/" in name and name.endswith(".json"):
                document = json.loads(data)
                result = change(document)
                data = result if isinstance(result, bytes) else json.dumps(result or document).encode()
            target.writestr(name, data)
    return out.getvalue()


def graph_of(document):
    return document["graph_module"]["graph"]


class Files(CliTest):
    def test_missing(self):
        self.assert_refused(4, ["nosuch.pt2", "no such file"], self.folder / "nosuch.pt2")

    def test_directory(self):
        self.assert_refused(4, ["no model file"], self.folder)

    def test_empty(self):
        self.assert_refused(4, ["empty"], self.file("e.pt2"))

    def test_text(self):
        self.assert_refused(4, ["not a PyTorch model"], self.file("t.pt", "hello, world\n" * 10))

    def test_fifo_does_not_hang(self):
        path = self.folder / "fifo"
        os.mkfifo(path)
        self.assert_refused(4, ["not a regular file"], path, timeout=20)

    def test_the_name_does_not_decide_the_format(self):
        path = self.file("model.bin", (MODELS / "resnet50.pt2").read_bytes())
        self.assertEqual(tmeter(path).returncode, 0)

    def test_checkpoint_and_foreign_formats_are_named(self):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as z:
            z.writestr("m/data.pkl", b"\x80\x02}q\x00.")
        self.assert_refused(4, ["checkpoint"], self.file("c.pt", data.getvalue()))
        self.assert_refused(4, ["GGUF"], self.file("m.gguf", b"GGUF" + bytes(100)))


class Archives(CliTest):
    def setUp(self):
        super().setUp()
        self.good = (MODELS / "dynamic_mlp.pt2").read_bytes()

    def test_truncated_anywhere(self):
        for share in (0.01, 0.3, 0.6, 0.9, 0.999):
            with self.subTest(share=share):
                self.assert_refused(4, ["damaged"], self.file("t.pt2", self.good[:int(len(self.good) * share)]))

    def test_wrong_entry_sizes_are_refused(self):
        bomb = io.BytesIO()
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("m/models/model.json", b"0" * 10_000_000)
        data = bytearray(bomb.getvalue())
        at = data.rfind(b"PK\x01\x02")
        data[at + 24:at + 28] = struct.pack("<I", 0x7FFFFFF0)  # claims 2 GiB
        self.assert_refused(4, ["claims to inflate"], self.file("bomb.pt2", bytes(data)))

    def test_every_flipped_byte_of_the_directory_is_survived(self):
        at = self.good.rfind(b"PK\x01\x02")
        for offset in range(at, min(at + 120, len(self.good))):
            data = bytearray(self.good)
            data[offset] ^= 0xFF
            done = tmeter(self.file("f.pt2", bytes(data)), "-q")
            self.assertIn(done.returncode, (0, 4), f"offset {offset}: {done.stderr}")


class Documents(CliTest):
    def refuse(self, words, change):
        path = self.file("m.pt2", repack(MODELS / "dynamic_mlp.pt2", change))
        return self.assert_refused(4, ["m.pt2", *words], path)

    def test_not_json(self):
        self.refuse([], lambda d: b"{ not json")

    def test_deep_nesting(self):
        self.refuse([], lambda d: b"[" * 100_000 + b"]" * 100_000)

    def test_unknown_major_schema(self):
        def change(d):
            d["schema_version"] = {"major": 99, "minor": 1}
        self.refuse(["99"], change)

    def test_wrong_types_everywhere(self):
        for key in ("graph_module", "schema_version", "range_constraints", "opset_version"):
            for wrong in (7, "text", [], None):
                def change(d, key=key, wrong=wrong):
                    d[key] = wrong
                path = self.file("m.pt2", repack(MODELS / "dynamic_mlp.pt2", change))
                with self.subTest(key=key, wrong=wrong):
                    self.assertIn(tmeter(path).returncode, (0, 4))

        def nodes(d):
            graph_of(d)["nodes"] = {"a": 1}
        self.refuse(["nodes"], nodes)

    def test_dangling_reference(self):
        def change(d):
            for node in graph_of(d)["nodes"]:
                for argument in node["inputs"]:
                    if "as_tensor" in argument["arg"]:
                        argument["arg"]["as_tensor"]["name"] = "nowhere"
                        return
        self.refuse(["nowhere"], change)

    def test_cycle(self):
        def change(d):
            nodes = graph_of(d)["nodes"]
            nodes.insert(0, nodes.pop())
        self.refuse([], change)

    def test_absurd_shape(self):
        def change(d):
            for meta in graph_of(d)["tensor_values"].values():
                meta["sizes"] = [{"as_int": 2**40}, {"as_int": 2**40}]
        self.refuse(["1099511627776"], change)

    def test_negative_size(self):
        def change(d):
            for meta in graph_of(d)["tensor_values"].values():
                meta["sizes"] = [{"as_int": -5}]
        self.refuse(["-5"], change)

    def test_reports_are_not_half_written(self):
        target = self.folder / "r.json"
        path = self.file("m.pt2", repack(MODELS / "dynamic_mlp.pt2", lambda d: b"{"))
        self.assert_refused(4, [], path, "--report", f"json={target}")
        self.assertFalse(target.exists())
        self.assertEqual(sorted(os.listdir(self.folder)), ["m.pt2"])


@unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
class TorchScript(CliTest):
    def evil(self):
        files = sorted((FIXTURES / "evil").glob("*.pt"))
        self.assertTrue(files, "tests/fixtures/evil has no files")
        return files

    def test_executable_code_is_refused_by_name_and_does_not_run(self):
        for path in self.evil():
            if "loop" in path.name:
                continue
            with self.subTest(file=path.name):
                done = self.assert_refused(4, [path.name, "--trust"], path.resolve(), "--input", "2", cwd=self.folder)
                self.assertEqual(os.listdir(self.folder), [], done.stderr)

    def test_setstate_is_named_with_its_class(self):
        path = next(p for p in self.evil() if "setstate" in p.name)
        self.assert_refused(4, ["__setstate__", "class SavesOnLoad", "--trust"], path.resolve(), "--input", "2", cwd=self.folder)

    def test_an_endless_loop_is_ended(self):
        for path in (p for p in self.evil() if "loop" in p.name):
            with self.subTest(file=path.name):
                self.assert_refused(6, [], path, "--input", "2", "--set", "torch-backend.timeout=2", timeout=60)

    def test_truncated(self):
        data = (MODELS / "resnet50.scripted.pt").read_bytes()
        self.assert_refused(4, ["damaged"], self.file("t.pt", data[: len(data) // 2]))

    def test_a_wrong_input_names_the_operator_and_the_reason(self):
        self.assert_refused(4, ["conv1", "3", "4"], MODELS / "resnet50.scripted.pt", "--input", "1x4x224x224")


@unittest.skipIf(HAVE_TORCH, "this build has LibTorch")
class WithoutTorch(CliTest):
    def test_torchscript_names_the_missing_library(self):
        self.assert_refused(4, ["TorchScript", "LibTorch"], MODELS / "resnet50.scripted.pt")


if __name__ == "__main__":
    main()
