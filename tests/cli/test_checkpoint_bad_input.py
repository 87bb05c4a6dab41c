"""Damaged and hostile checkpoints and safetensors files: one clear line, status 4, nothing run, nothing written."""
import io
import json
import os
import pathlib
import pickle
import random
import struct
import zipfile

from support import FIXTURES, CliTest, main, tmeter

HERE = FIXTURES / "checkpoints"
MAGIC = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."


class Command:
    """Runs a command when Python loads it, like attacks on model files."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def archive(records, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, content in records.items():
            z.writestr(name, content)
    return out.getvalue()


def repack(path, change):
    """The archive with its records (name without folder → bytes) modified by `change`."""
    with zipfile.ZipFile(path) as z:
        records = {name.split("/", 1)[1]: z.read(name) for name in z.namelist()}
    change(records)
    return archive({"m/" + name: content for name, content in records.items()})


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


class Hostile(CliTest):
    def setUp(self):
        super().setUp()
        self.marker = self.folder / "it-ran"
        self.attack = pickle.dumps({"weight": Command(f"touch {self.marker}")}, 2)

    def refuse_attack(self, name, content):
        """Refused with its name and place; no command ran."""
        self.assert_refused(4, [name, "byte ", "refers to posix.system", "tmeter ran nothing"],
                            self.file(name, content), "--report", f"json={self.folder / 'r.json'}")
        self.assertFalse(self.marker.exists())
        self.assertFalse((self.folder / "r.json").exists())

    def test_python_runs_the_attack(self):
        pickle.loads(self.attack)
        self.assertTrue(self.marker.exists())

    def test_a_zip_checkpoint_that_would_run_a_command(self):
        self.refuse_attack("evil.pt", archive({"m/data.pkl": self.attack, "m/version": "3"}))
        self.refuse_attack("deflated.pt", archive({"m/data.pkl": self.attack}, zipfile.ZIP_DEFLATED))

    def test_a_legacy_checkpoint_that_would_run_a_command(self):
        info = pickle.dumps({"little_endian": True}, 2)
        self.refuse_attack("evil.pth", MAGIC + pickle.dumps(1001, 2) + info + self.attack + pickle.dumps([], 2))

    def test_a_plain_pickle_that_would_run_a_command(self):
        self.refuse_attack("evil.pkl", self.attack)

    def test_every_protocol(self):
        for protocol in (2, 3, 4, 5):
            attack = pickle.dumps({"weight": Command(f"touch {self.marker}")}, protocol)
            self.refuse_attack(f"evil{protocol}.pt", archive({"m/data.pkl": attack}))

    def test_an_attack_inside_a_real_checkpoint(self):
        def change(records):
            records["data.pkl"] = records["data.pkl"][:-1] + b"cposix\nsystem\nX\x04\x00\x00\x00true\x85R0."
        self.assert_refused(4, ["posix.system"], self.file("m.pt", repack(HERE / "state_dict.pt", change)))

    def test_an_unknown_function_is_not_called(self):
        content = b"\x80\x02cmy.helpers\nbuild\n)R."
        self.assert_refused(4, ["data.pkl byte 2", "calls my.helpers.build"],
                            self.file("m.pt", archive({"m/data.pkl": content})))


class Pickles(CliTest):
    def refuse(self, words, content):
        self.assert_refused(4, ["m.pt", *words], self.file("m.pt", archive({"m/data.pkl": content})), timeout=30)

    def test_a_bomb_of_lists_is_read_in_no_time(self):
        bomb = b"\x80\x02]q\x00"
        for level in range(1, 30):
            bomb += b"](" + b"h" + bytes([level - 1]) + (b"h" + bytes([level - 1])) * 20 + b"eq" + bytes([level])
        self.refuse(["no tensors"], bomb + b".")

    def test_a_dict_that_contains_itself(self):
        self.refuse(["no tensors"], b"\x80\x02}q\x00X\x05\x00\x00\x00modelh\x00s.")

    def test_a_million_nested_lists(self):
        self.refuse(["no tensors"], b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999 + b".")

    def test_huge_memo_numbers_are_refused(self):
        self.refuse(["memo entry", "out of order"], b"\x80\x02Nr\xff\xff\xff\x7f.")

    def test_setitem_on_a_list_is_refused(self):
        self.refuse(["SETITEM"], b"\x80\x02]K\x01K\x02s.")

    def test_opcodes_torch_never_writes(self):
        self.refuse(["byte 3", "INST"], b"\x80\x02(imy\nclass\n.")
        self.refuse(["byte 2", "EXT1"], b"\x80\x02\x82\x01.")
        self.refuse(["no pickle opcode"], b"\x80\x02\xff.")

    def test_not_a_pickle(self):
        self.refuse(["data.pkl byte 0"], b"hello")
        self.refuse(["data.pkl byte 0", "truncated"], b"")

    def test_a_module_that_contains_itself(self):
        modules = b"X\x08\x00\x00\x00_modules}X\x01\x00\x00\x00ah\x00s"
        content = b"\x80\x02cmy\nNet\n)\x81q\x00}(" + modules + b"X\x0b\x00\x00\x00_parameters}ub."
        done = tmeter(self.file("m.pt", archive({"m/data.pkl": content})), "--plugins=params", timeout=30)
        self.assertIn(done.returncode, (0, 4), done.stderr)


class Storages(CliTest):
    """A state_dict of one tensor with a false description."""

    def checkpoint(self, numel=4, offset=0, size=(4,), stride=(1,), kind="FloatStorage", record=16, key="0", name=b"w"):
        def number(n):
            return b"\x8a\x08" + struct.pack("<q", n)

        def numbers(values):
            return b"(" + b"".join(map(number, values)) + b"t"

        def text(s):
            return b"X" + struct.pack("<I", len(s)) + s
        storage = (b"(" + text(b"storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key.encode()) + text(b"cpu") +
                   number(numel) + b"tQ")
        call = (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset) + numbers(size) + numbers(stride) +
                b"\x89ccollections\nOrderedDict\n)RtR")
        return archive({"m/data.pkl": b"\x80\x02}" + text(name) + call + b"s.", "m/data/0": bytes(record)})

    def refuse(self, words, **lie):
        self.assert_refused(4, ["m.pt", *words], self.file("m.pt", self.checkpoint(**lie)))

    def test_a_valid_storage_is_accepted(self):
        done = tmeter(self.file("m.pt", self.checkpoint()), "--plugins=params")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_storage_larger_than_its_record(self):
        self.refuse(["storage '0'", "16"], numel=5)
        self.refuse(["claims 4611686018427387904"], numel=1 << 62)
        self.refuse(["claims"], numel=-1)

    def test_tensor_beyond_its_storage(self):
        for lie in ({"size": (5,)}, {"offset": 1}, {"stride": (2,)}, {"stride": (1 << 62,)}, {"offset": 1 << 62}):
            self.refuse(["tensor 'w'", "reach beyond its storage"], **lie)
        self.refuse(["negative"], offset=-1)
        self.refuse(["negative"], size=(-4,))
        self.refuse(["negative"], stride=(-1,))
        self.refuse(["different number"], size=(2, 2))

    def test_a_shape_with_an_overflowing_product(self):
        self.refuse(["w"], size=(1 << 40, 1 << 40), stride=(0, 0))

    def test_rank_beyond_reason(self):
        self.refuse(["rank 65"], size=(1,) * 65, stride=(0,) * 65)

    def test_missing_record(self):
        self.refuse(["no record", "data/7"], key="7")

    def test_a_storage_of_an_unknown_type(self):
        self.refuse(["unknown type", "NopeStorage"], kind="NopeStorage")

    def test_names_that_are_not_utf8(self):
        self.refuse(["UTF-8"], name=b"\xff\xfe")

    def test_big_endian_files_are_refused(self):
        def change(records):
            records["byteorder"] = b"big"
        self.assert_refused(4, ["big-endian"], self.file("m.pt", repack(HERE / "state_dict.pt", change)))
        legacy = (HERE / "legacy.pt").read_bytes().replace(b"little_endianq\x02\x88", b"little_endianq\x02\x89")
        self.assert_refused(4, ["big-endian"], self.file("l.pt", legacy))


class Safetensors(CliTest):
    def refuse(self, words, content):
        self.assert_refused(4, ["m.safetensors", *words], self.file("m.safetensors", content))

    def test_wrong_header_lengths(self):
        good = {"w": tensor()}
        for length in (1 << 63, 100_000_001, 10_000, 0, 5):
            with self.subTest(length=length):
                self.refuse([], safetensors(good, bytes(8), length))
        self.refuse(["header"], b"\x05\x00")
        self.refuse(["'{'"], safetensors(b"[1, 2]"))

    def test_headers_that_are_not_tables(self):
        self.refuse(["not valid JSON"], safetensors(b'{"w": '))
        self.refuse(["UTF-8"], safetensors(b'{"\xff": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}', bytes(4)))
        self.refuse(["1,024"], safetensors(b'{"w": ' + b"[" * 5_000 + b"]" * 5_000 + b"}"))
        for wrong in (7, "text", [], None, {}, {"dtype": 1, "shape": [], "data_offsets": [0, 4]}):
            self.refuse(["tensor 'w'"], safetensors({"w": wrong}, bytes(4)))

    def test_wrong_offsets_shapes_and_types_of_tensors(self):
        self.refuse(["not in the file"], safetensors({"w": tensor(offsets=(0, 16), shape=(4,))}, bytes(8)))
        self.refuse(["needs 12 bytes"], safetensors({"w": tensor(shape=(3,))}, bytes(8)))
        self.refuse(["more elements"], safetensors({"w": tensor(shape=(1 << 40, 1 << 40))}, bytes(8)))
        self.refuse(["negative"], safetensors({"w": tensor(shape=(-2,))}, bytes(8)))
        self.refuse(["'F99'"], safetensors({"w": tensor("F99")}, bytes(8)))
        self.refuse([], safetensors({"w": tensor(offsets=(8, 0))}, bytes(8)))
        self.refuse([], safetensors({"w": tensor(offsets=(1 << 63, (1 << 63) + 8))}, bytes(8)))

    def test_overlaps_gaps_and_leftovers(self):
        two = {"a": tensor(), "b": tensor(offsets=(4, 12))}
        self.refuse(["'b' overlaps"], safetensors(two, bytes(12)))
        self.refuse(["'w'", "gap of 4"], safetensors({"w": tensor(offsets=(4, 12))}, bytes(12)))
        self.refuse(["4 bytes after the last tensor"], safetensors({"w": tensor()}, bytes(12)))

    def test_a_header_length_of_123_is_not_a_bracket(self):
        """123 is '{', with which an index begins."""
        header = json.dumps({"w": tensor()}).encode().ljust(123)
        done = tmeter(self.file("m.safetensors", safetensors(header, bytes(8))), "--plugins=params")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_names_that_occur_twice(self):
        entry = json.dumps(tensor())
        other = json.dumps(tensor(offsets=(8, 16)))
        self.refuse(["'w' occurs twice"], safetensors(f'{{"w": {entry}, "w": {other}}}'.encode(), bytes(16)))

    def test_truncated_anywhere(self):
        good = (HERE / "net.safetensors").read_bytes()
        for share in (0.001, 0.1, 0.3, 0.6, 0.9, 0.9999):
            with self.subTest(share=share):
                self.refuse([], good[:int(len(good) * share)])


class Shards(CliTest):
    def index(self, weight_map, name="model.safetensors.index.json"):
        text = weight_map if isinstance(weight_map, bytes) else json.dumps({"weight_map": weight_map}).encode()
        return self.file(name, text)

    def test_missing_shard_is_named(self):
        self.assert_refused(4, ["model-1.safetensors"], self.index({"w": "model-1.safetensors"}))

    def test_shard_outside_the_folder(self):
        for name in ("../m.safetensors", "/etc/passwd", "a/b.safetensors", "..", ""):
            self.assert_refused(4, ["index.json"], self.index({"w": name}))

    def test_tensor_that_is_not_in_its_shard(self):
        self.file("a.safetensors", safetensors({"v": tensor()}, bytes(8)))
        self.assert_refused(4, ["'a.safetensors'", "'w'"], self.index({"w": "a.safetensors"}))

    def test_tensor_in_two_shards(self):
        for name in ("a", "b"):
            self.file(f"{name}.safetensors", safetensors({"w": tensor(), name: tensor(offsets=(8, 16))}, bytes(16)))
        self.assert_refused(4, ["'w' occurs twice"], self.index({"a": "a.safetensors", "b": "b.safetensors"}))

    def test_damaged_shard_is_named(self):
        self.file("a.safetensors", safetensors({"w": tensor()}, bytes(8)))
        self.file("b.safetensors", safetensors({"x": tensor()}, bytes(4)))
        self.assert_refused(4, ["shard 'b.safetensors'"], self.index({"w": "a.safetensors", "x": "b.safetensors"}))

    def test_invalid_indexes(self):
        self.assert_refused(4, ["not valid JSON"], self.index(b'{"weight_map": '))
        self.assert_refused(4, ["no weight_map"], self.index(b'{"other": {}}'))
        self.assert_refused(4, ["names no tensor"], self.index({}))
        self.assert_refused(4, ["a string"], self.index({"w": 7}))

    def test_hostile_shard_is_refused_like_a_hostile_file(self):
        attack = pickle.dumps({"w": Command("true")}, 2)
        self.file("a.bin", archive({"m/data.pkl": attack}))
        path = self.index({"w": "a.bin"}, "pytorch_model.bin.index.json")
        self.assert_refused(4, ["shard 'a.bin'", "posix.system"], path)


class Legacy(CliTest):
    def setUp(self):
        super().setUp()
        self.good = (HERE / "legacy.pt").read_bytes()

    def test_truncated_anywhere(self):
        for share in (0.001, 0.01, 0.1, 0.3, 0.6, 0.9, 0.9999):
            with self.subTest(share=share):
                self.assert_refused(4, ["byte", "truncated"] if share < 0.3 else ["truncated"],
                                    self.file("t.pt", self.good[:int(len(self.good) * share)]))

    def test_other_pickles_are_recognised(self):
        self.assert_refused(4, ["not one that torch.save wrote"], self.file("p.pkl", pickle.dumps([1, 2])))

    def test_tar_files_of_the_first_versions_are_named(self):
        self.assert_refused(4, ["tar archive"], self.file("t.pt", bytes(257) + b"ustar" + bytes(1000)))


class Mutations(CliTest):
    """Random damage from a fixed seed: the file is either read or refused with one line."""

    ROUNDS = int(os.environ.get("TMETER_MUTATIONS", "60"))

    def damage(self, content, chance):
        data = bytearray(content)
        kind = chance.randrange(4)
        if kind == 0:
            return bytes(data[:chance.randrange(1, len(data))])
        if kind == 1:  # a piece repeated or lost
            a, b = sorted(chance.randrange(len(data)) for _ in range(2))
            return bytes(data[:b] + data[a:]) if chance.random() < 0.5 else bytes(data[:a] + data[b:]) or b"x"
        for _ in range(chance.choice((1, 1, 2, 8))):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        return bytes(data)

    def survive(self, path, about):
        done = tmeter(path, "-q", "--plugins=params", timeout=60)
        self.assertIn(done.returncode, (0, 4), f"{about}: {done.stderr[-2000:]}")
        if done.returncode == 4:
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_damaged_files(self):
        chance = random.Random(20261121)
        for source in sorted(HERE.glob("*.pt")) + sorted(HERE.glob("net.safetensors")):
            content = source.read_bytes()
            for i in range(self.ROUNDS // 4):
                self.survive(self.file("m" + source.suffix, self.damage(content, chance)), f"{source.name} {i}")

    def test_damaged_pickles_in_sound_archives(self):
        chance = random.Random(7)
        for source in sorted(HERE.glob("*.pt")):
            if not zipfile.is_zipfile(source):
                continue
            for i in range(self.ROUNDS):
                def change(records):
                    records["data.pkl"] = self.damage(records["data.pkl"], chance)
                self.survive(self.file("m.pt", repack(source, change)), f"{source.name} {i}")

    def test_damaged_headers(self):
        chance = random.Random(8)
        good = (HERE / "net.safetensors").read_bytes()
        end = 8 + struct.unpack("<Q", good[:8])[0]
        for i in range(self.ROUNDS * 2):
            header = self.damage(good[8:end], chance)
            self.survive(self.file("m.safetensors", struct.pack("<Q", len(header)) + header + good[end:]), i)


if __name__ == "__main__":
    main()
