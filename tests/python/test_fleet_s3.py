"""tmeter.fleet on S3, by moto's server. Runs where s3fs and moto are installed (they are not in requirements.txt)."""

import json
import os
from pathlib import Path

import pytest
from shards import cut, write

import tmeter
from tmeter import fleet

s3fs = pytest.importorskip("s3fs")
pytest.importorskip("moto.server")
boto3 = pytest.importorskip("boto3")

FIXTURES = Path(os.environ["FIXTURES"])
ONE, TWO = {"a.weight": ([1], [1.0])}, {"a.weight": ([2], [1.0, 2.0])}


@pytest.fixture
def s3(monkeypatch, tmp_path):
    """A server of its own for each test, with the bucket `models`; sent: bytes of bodies."""
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
    s3fs.S3FileSystem.clear_instance_cache()  # of the server before
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
    assert first == run([url], tmp_path / "out").models[0]  # kept, seconds and all
    put(s3, "m.safetensors", write(tmp_path / "m", TWO).read_bytes())
    assert run([url], tmp_path / "out").models[0]["params"] == 2


def test_the_header_of_a_large_file(tmp_path, s3):
    size = 200_000_000
    header = json.dumps({"a.weight": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    head = len(header).to_bytes(8, "little") + header
    url = put(s3, "big.safetensors", head + bytes(size))
    (row,) = run([url], tmp_path / "out").models
    assert (row["params"], row["bytes"]) == (size // 4, len(head) + size)
    assert s3.sent[0] < 0.02 * size


def test_shards_and_the_output_there(tmp_path, s3):
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


def test_a_bucket_that_is_not_there_or_not_ours(tmp_path, s3, monkeypatch):
    (row,) = run(["s3://not-ours/m.pt2"], tmp_path / "out").models
    assert row["error_kind"] == "ModelError" and "\n" not in row["error"]
    with pytest.raises(tmeter.Error) as raised:
        run([FIXTURES / "models/resnet50.pt2"], "s3://not-ours/out")
    assert "s3://not-ours/out" in str(raised.value) and "\n" not in str(raised.value)


def test_globs(tmp_path, s3):
    for name in ("d/a.safetensors", "d/e/b.safetensors", "d/c.txt"):
        put(s3, name, write(tmp_path / "m", ONE).read_bytes())
    from tmeter.fleet.sources import find

    assert list(find(["s3://models/d/**/*.safetensors"], []).sources) == ["s3://models/d/a.safetensors", "s3://models/d/e/b.safetensors"]
    with pytest.raises(tmeter.UsageError, match="no file matches"):
        find(["s3://models/x/*.pt2"], [])


def test_two_drivers_on_one_place(tmp_path, s3):
    import time

    model = write(tmp_path / "m.safetensors", ONE)
    owner = {"host": "h", "pid": 7, "since": "noon", "token": "t", "beat": time.time()}
    put(s3, "out/lock", json.dumps(owner).encode())
    with pytest.raises(tmeter.UsageError, match="is being written by process 7 on h since noon"):
        run([model], "s3://models/out")
    put(s3, "out/lock", json.dumps({**owner, "beat": time.time() - 1000}).encode())  # its owner is gone
    assert run([model], "s3://models/out").models[0]["params"] == 1
