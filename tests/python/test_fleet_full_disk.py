"""A full disk at any stage of a fleet is one clear error. With room again the rows equal those of an undisturbed run."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from served import Server
from shards import cut, write

import tmeter
from tmeter import fleet

FIXTURES = Path(os.environ["FIXTURES"])
#: Facts of the run, not of its models.
PASSING = {"seconds", "fetch_seconds", "tries", "nodes"}
PLUGINS = "params,flops,memory,param-stats"


@pytest.fixture
def disk(tmp_path):
    """A file system of 4 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no right to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def models(tmp_path):
    """A file, a sharded checkpoint of two files behind a server without sizes, and a refused file."""
    with Server() as server:
        server.lengths = False
        (tmp_path / "bad.safetensors").write_bytes(b"no model")
        for name in ("models/resnet50.pt2", "models/gpt2_like.pt2"):
            server.put(Path(name).name, (FIXTURES / name).read_bytes())
        yield {
            "r": FIXTURES / "models/resnet50.pt2",
            "c": cut(FIXTURES / "trained/model.safetensors", tmp_path / "shards", 3),
            "s": write(tmp_path / "s.safetensors", {"a.weight": ([1], [1.0])}),
            "u": server.url("resnet50.pt2"),
            "v": server.url("gpt2_like.pt2"),
            "bad": tmp_path / "bad.safetensors",
        }


def run(models, output, **options):
    found = fleet.analyze(models, output, engine="local", workers=2, plugins=PLUGINS, retries=0, **options)
    return [{k: v for k, v in row.items() if k not in PASSING} for row in found.models]


def free(disk):
    return os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize


def fill(disk, left):
    with open(disk / "filler", "wb") as file:
        file.write(bytes(free(disk) - left))


@pytest.mark.parametrize("stage", ["output", "cache", "temporary files"])
def test_a_full_disk_at_each_stage(tmp_path, disk, models, stage, monkeypatch):
    places = {"output": tmp_path / "out", "cache": tmp_path / "cache", "temporary files": tmp_path / "temporary"}
    places[stage] = disk / "here"
    for place in places.values():
        place.mkdir()
    monkeypatch.setenv("TMPDIR", str(places["temporary files"]))
    monkeypatch.setattr(tempfile, "tempdir", str(places["temporary files"]))
    output, cache = places["output"], None if stage == "temporary files" else places["cache"]
    quiet = run(models, tmp_path / "quiet", cache=cache)
    assert [row["status"] for row in quiet] == ["ok"] * 5 + ["failed"]
    used = sum(f.stat().st_size for f in (tmp_path / "quiet").rglob("*") if f.is_file()) if stage == "output" else 1_000_000
    refused = 0
    for step in range(8):
        fill(disk, used * step // 8 // 4096 * 4096)
        try:
            rows = run(models, output, cache=cache, resume=False)
            assert rows == quiet
        except tmeter.Error as error:
            refused += 1
            assert isinstance(error, fleet.OutputError) and "\n" not in str(error), repr(error)
        left = [p for place in (places["cache"], places["temporary files"]) for p in place.iterdir()]
        assert not left and not (output / "lock").exists() and not (output / ".part").exists(), (step, left)
        (disk / "filler").unlink()
        assert run(models, output, cache=cache) == quiet, step
    assert refused >= 3
