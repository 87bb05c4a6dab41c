"""Only headers of remote files are fetched, and the report equals that of the whole file."""

import json
import os
import struct
import zipfile
from pathlib import Path

import pytest
from served import Server

import tmeter
from tmeter import fleet
from tmeter.fleet import files, headers

FIXTURES = Path(os.environ["FIXTURES"])
FILES = sorted(
    str(path.relative_to(FIXTURES))
    for pattern in ("gguf/[a-r]*.gguf", "gguf/unpacked.gguf", "checkpoints/*.pt", "models/[gt]*.pt2", "trained/*", "torchscript/acme.pt")
    for path in FIXTURES.glob(pattern)
    if path.suffix != ".json"
)
#: Files whose elements can be left out.
LEFT_OUT = {
    *(f"checkpoints/{n}.pt" for n in ("keep_vars", "module", "protocol1", "protocol5", "state_dict", "training", "types")),
    *(f"gguf/{n}.gguf" for n in ("all_types", "big_endian", "unpacked")),
    "models/tied.pt2",
    "trained/model.pt2",
    "trained/model.safetensors",
}


def report(path):
    made = json.loads(tmeter.program.run([str(path), "--report", "json"], accept=(0, 5)).output)
    for key in ("timing", "command"):
        del made[key]
    made["model"].pop("file", None)
    return made


def fetched(server, path):
    server.put(path.name, path.read_bytes())
    with files.local(server.url(path.name), None, None, True) as local:
        return local.read_bytes(), report(local)


@pytest.mark.parametrize("file", FILES)
def test_the_report_is_that_of_the_whole_file(file, monkeypatch):
    """Leaves out every possible run of elements, even short ones."""
    monkeypatch.setattr(headers, "WORTH", 1)
    monkeypatch.setattr(headers, "_SLACK", 160)
    path = FIXTURES / file
    with Server() as server:
        content, found = fetched(server, path)
        assert len(content) == path.stat().st_size
        assert (content != path.read_bytes()) == (file in LEFT_OUT)
        assert found == report(path)


def gguf(tensors, order="<", words=0):
    """A header by the specification (ggml's docs/gguf.md): a list of texts, a list of lists, and float32 tensors."""
    text = lambda s: struct.pack(order + "Q", len(s)) + s.encode()  # noqa: E731
    pairs = [
        text("general.architecture") + struct.pack(order + "I", 8) + text("llama"),
        text("tokens") + struct.pack(order + "IIQ", 9, 8, words) + b"".join(text(f"word{i}") for i in range(words)),
        text("nested") + struct.pack(order + "IIQ", 9, 9, 2) + struct.pack(order + "IQ3H", 2, 3, 1, 2, 3) + struct.pack(order + "IQ", 4, 0),
    ]
    head = b"GGUF" + struct.pack(order + "IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs)
    offset = 0
    for name, shape in tensors.items():
        head += text(name) + struct.pack(f"{order}I{len(shape)}Q", len(shape), *shape) + struct.pack(order + "IQ", 0, offset)
        count = 4
        for n in shape:
            count *= n
        offset += count
    return head, -(-len(head) // 32) * 32 + offset


@pytest.mark.parametrize("order", ["<", ">"])
def test_only_the_header_of_a_gguf_file_of_2_gb_is_fetched(tmp_path, order):
    """2 %: 40 MB."""
    head, size = gguf({"a.weight": (100_000, 5_000)}, order, words=50_000)
    with Server() as server:
        server.put("m.gguf", (head, size))
        (row,) = fleet.analyze([server.url("m.gguf")], tmp_path / "out", engine="local", plugins="params").models
        assert (row["status"], row["params"], row["bytes"]) == ("ok", 500_000_000, size), row["error"]
        assert len(head) <= server.sent < 0.02 * size


def test_elements_of_a_checkpoint_are_not_fetched(tmp_path):
    """200 MB written by torch.save; 2 % of this are 4 MB."""
    import torch

    torch.save({"a": torch.zeros(25_000_000), "b": torch.zeros(3), "c": torch.zeros(25_000_000)}, tmp_path / "m.pt")
    with Server() as server:
        server.put("m.pt", tmp_path / "m.pt")
        url, options = server.url("m.pt"), {"engine": "local", "workers": 1}
        (row,) = fleet.analyze([url], tmp_path / "out", plugins="params", **options).models
        size = (tmp_path / "m.pt").stat().st_size
        assert (row["status"], row["params"], row["bytes"]) == ("ok", 50_000_003, size), row["error"]
        assert server.sent < 0.02 * size
        server.sent, server.ranges = 0, False  # without ranges, a seek to the end would read the file twice
        (row,) = fleet.analyze([url], tmp_path / "out2", plugins="params", **options).models
        assert row["params"] == 50_000_003 and server.sent < 1.05 * size
        server.sent, server.ranges = 0, True
        (row,) = fleet.analyze([url], tmp_path / "out3", plugins="params,param-stats", **options).models
        assert row["max"] == 0 and server.sent >= size


def parts(content, name="m.gguf"):
    import io

    return headers.parts_of(io.BytesIO(content), len(content), name, lambda: True)


def test_damaged_and_hostile_headers_are_left_to_their_readers(monkeypatch):
    monkeypatch.setattr(headers, "WORTH", 1)
    head, size = gguf({"a": (4,)}, words=10)
    whole = head.ljust(size, b"\0")
    assert parts(whole) == [(0, len(head))]
    for damage in (
        whole[:4] + struct.pack("<I", 9) + whole[8:],  # an unknown version
        whole[:8] + struct.pack("<QQ", 2**63, 3) + whole[24:],
        whole[:8] + struct.pack("<QQ", 1, 2**63) + whole[24:],
        whole[:24] + struct.pack("<Q", 2**64 - 1) + whole[32:],
        whole.replace(struct.pack("<IIQ", 9, 8, 10), struct.pack("<IIQ", 9, 8, 2**60)),
        whole.replace(struct.pack("<IIQ", 9, 8, 10), struct.pack("<IIQ", 9, 77, 10)),
        whole[: len(head) - 5],
        b"GGUF" + bytes(60),
        b"PK\x03\x04" + bytes(60),
        b"anything",
    ):
        assert parts(damage) is None


def test_errors_name_the_file_and_not_its_copy(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with Server() as server:
        for name in ("m.gguf", "m.pt2"):
            server.put(name, b"GGUF")
        urls = [server.url("m.gguf"), server.url("m.pt2"), f"file://{tmp_path}/m.gguf"]
        for row in fleet.analyze(urls, tmp_path / "out", engine="local").models:
            assert row["error"].startswith(f"{row['source']}: ") and "tmeter-fleet" not in row["error"], row["error"]


def test_members_that_overlap_are_not_left_out(tmp_path, monkeypatch):
    """A directory in which a member's elements overlap the next member."""
    monkeypatch.setattr(headers, "WORTH", 1)
    monkeypatch.setattr(headers, "_SLACK", 64)
    with zipfile.ZipFile(tmp_path / "m.pt", "w") as archive:
        archive.writestr("m/data/0", bytes(1000))
        archive.writestr("m/data.pkl", b"what must be read")
    content = (tmp_path / "m.pt").read_bytes()
    assert parts(content, "m.pt") == [(0, 64), (1030, len(content))]
    at = content.rindex(b"PK\x01\x02", 0, content.rindex(b"PK\x01\x02"))
    longer = content[: at + 20] + struct.pack("<II", 1100, 1100) + content[at + 28 :]
    assert parts(longer, "m.pt") is None
