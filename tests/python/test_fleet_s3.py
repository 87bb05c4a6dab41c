"""tmeter.fleet on S3, by moto's server.

s3fs and moto are installed from PyPI (s3.txt) into the cache, once: 120 MB, 46 s. Without a network these tests are skipped.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from beside import installed
from shards import cut, large, write

import tmeter
from tmeter import fleet

folder, why = installed("s3")
if folder is None:
    pytest.skip(f"s3fs and moto cannot be installed: {why}", allow_module_level=True)
sys.path.append(str(folder))

import boto3  # noqa: E402
import s3fs  # noqa: E402

FIXTURES = Path(os.environ["FIXTURES"])
ONE, TWO = {"a.weight": ([1], [1.0])}, {"a.weight": ([2], [1.0, 2.0])}


@pytest.fixture
def s3(monkeypatch, tmp_path):
    """A separate server for each test, with the bucket `models`; sent: bytes of bodies."""
    from moto.server import ThreadedMotoServer
    from werkzeug.serving import WSGIRequestHandler

    sent = [0]
    write_to = WSGIRequestHandler.send_header

    def counted(self, name, value):
        if name.lower() == "content-length" and self.command == "GET":
            sent[0] += int(value)
        write_to(self, name, value)

    monkeypatch.setattr(WSGIRequestHandler, "send_header", counted)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(key, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = boto3.client("s3")
    client.create_bucket(Bucket="models")
    client.sent = sent
    s3fs.S3FileSystem.clear_instance_cache()  # left over from the preceding server
    yield client
    server.stop()


def run(models, output, **options):
    return fleet.analyze(models, output, engine="local", workers=2, **options)


def put(s3, name, content):
    s3.put_object(Bucket="models", Key=name, Body=content)
    return f"s3://models/{name}"


def test_files_by_their_etag(tmp_path, s3):
    url = put(s3, "m.safetensors", write(tmp_path / "m", ONE).read_bytes())
    assert run([url], tmp_path / "out").models[0]["params"] == 1
    first = run([url], tmp_path / "out").models[0]
    assert first == run([url], tmp_path / "out").models[0]  # unchanged, including the seconds
    put(s3, "m.safetensors", write(tmp_path / "m", TWO).read_bytes())
    assert run([url], tmp_path / "out").models[0]["params"] == 2


class Holed:
    """A body with zeros after its first bytes; moto uses it both as a file and as bytes."""

    def __init__(self, head, size):
        self.head, self.size = head, size

    def seek(self, place):
        pass

    def read(self):
        return self

    def __len__(self):
        return self.size

    def __getitem__(self, part):
        begin, end, _ = part.indices(self.size)
        return self if end - begin == self.size else self.head[begin:end].ljust(end - begin, b"\0")


def test_the_header_of_a_large_file(tmp_path, s3):
    """2 GB: 2 % are 40 MB."""
    from moto.s3.models import s3_backends

    head, size = large(2_000_000_000)
    url = put(s3, "big.safetensors", head)
    ((_, backend),) = [(k, b["aws"]) for k, b in s3_backends.items() if "models" in b["aws"].buckets]
    stored = backend.buckets["models"].keys["big.safetensors"]
    stored._value_buffer, stored.contentsize = Holed(head, size), size
    (row,) = run([url], tmp_path / "out").models
    assert (row["status"], row["params"], row["bytes"]) == ("ok", 500_000_000, size)
    assert len(head) < s3.sent[0] < 0.02 * size


def test_shards_and_the_output_in_s3(tmp_path, s3):
    index = cut(FIXTURES / "trained/model.safetensors", tmp_path / "shards", 3)
    for file in index.parent.iterdir():
        put(s3, f"c/{file.name}", file.read_bytes())
    models = {"c": "s3://models/c/model.safetensors.index.json", "r": FIXTURES / "models/resnet50.pt2", "gone": "s3://models/no.pt2"}
    found = run(models, "s3://models/out", plugins="params,flops,param-stats")
    assert [row["status"] for row in found.models] == ["ok", "ok", "failed"]
    assert found.row("c")["params"] == 94_801 and found.row("r")["macs"] == 4_089_184_256
    names = {entry["Key"] for entry in s3.list_objects_v2(Bucket="models")["Contents"]}
    assert {"out/models.parquet", "out/index.html", "out/index.json", "out/reports/c.json"} <= names and "out/lock" not in names
    loaded = fleet.load("s3://models/out")
    assert list(loaded.models) == list(found.models) and loaded.result("r").macs == 4_089_184_256
    assert list(run(models, "s3://models/out", plugins="params,flops,param-stats").models)[:2] == list(found.models)[:2]  # kept
    s3.delete_object(Bucket="models", Key="out/reports/r.json")
    with pytest.raises(tmeter.Error, match="s3://models/out/reports/r.json: no such file"):
        loaded.result("r")
    assert run(models, "s3://models/out", plugins="params,flops,param-stats").result("r").macs == 4_089_184_256  # made again


def test_a_missing_or_foreign_bucket(tmp_path, s3, monkeypatch):
    (row,) = run(["s3://not-ours/m.pt2"], tmp_path / "out").models
    assert row["error_kind"] == "ModelError" and "\n" not in row["error"]
    with pytest.raises(tmeter.Error) as raised:
        run([FIXTURES / "models/resnet50.pt2"], "s3://not-ours/out")
    assert "s3://not-ours/out" in str(raised.value) and "\n" not in str(raised.value)


def test_a_bucket_without_rights(tmp_path, s3, monkeypatch):
    """One line each: a row for a model, an error for the output and for a glob."""
    urls = [put(s3, "m.safetensors", write(tmp_path / "m", ONE).read_bytes()), "s3://models/m.safetensors.index.json"]
    monkeypatch.setattr("moto.settings.INITIAL_NO_AUTH_ACTION_COUNT", 0)  # access keys are checked from here on
    model = FIXTURES / "models/resnet50.pt2"
    rows = run([*urls, model], tmp_path / "out").models
    assert [row["error_kind"] for row in rows] == ["ModelError", "ModelError", None]
    assert all(url in row["error"] and "\n" not in row["error"] for url, row in zip(urls, rows))
    words = [sys.executable, "-m", "tmeter", "fleet"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for more in ([model, "-o", "s3://models/out"], ["s3://models/**/*.safetensors", "-o", tmp_path / "new"]):
        done = subprocess.run([*words, *more], capture_output=True, text=True, env=environment)
        assert (done.returncode, done.stdout) == (2, "") and len(done.stderr.splitlines()) == 1, done.stderr
        assert done.stderr.startswith("tmeter: s3://models/")


def test_globs(tmp_path, s3):
    for name in ("d/a.safetensors", "d/e/b.safetensors", "d/c.txt"):
        put(s3, name, write(tmp_path / "m", ONE).read_bytes())
    from tmeter.fleet.sources import find

    assert list(find(["s3://models/d/**/*.safetensors"], []).sources) == ["s3://models/d/a.safetensors", "s3://models/d/e/b.safetensors"]
    with pytest.raises(tmeter.UsageError, match="no file matches"):
        find(["s3://models/x/*.pt2"], [])
