"""A fleet that ends, is interrupted, or cannot continue keeps its results and prints one clear line."""

import io
import os
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import pytest
from served import Server
from shards import large, write

import tmeter
from tmeter import fleet

FIXTURES = Path(os.environ["FIXTURES"])
ONE = {"a.weight": ([1], [1.0])}


def run(models, output, **options):
    return fleet.analyze(models, output, engine="local", workers=2, **options)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Sets the folder of temporary files for all processes of a test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def command(*words, **options):
    return [sys.executable, "-m", "tmeter", "fleet", *map(str, words)]


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def processes_with(word):
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.fsencode(word) in (entry / "cmdline").read_bytes() and "State:\tZ" not in (entry / "status").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A program that takes a minute for files whose name contains "slow"."""
    real = tmeter.program.program_path()
    script = tmp_path / "program"
    script.write_text(f'#!/bin/sh\ncase "$*" in *slow*) touch "{tmp_path}/begun"; exec sleep 61.{os.getpid()};; esac\nexec "{real}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("TMETER_PROGRAM", str(script))
    return f"61.{os.getpid()}"


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_an_ended_run_leaves_table_and_page_of_finished_models(tmp_path, temporary, slow, number, status):
    models = tmp_path / "models"
    models.mkdir()
    write(models / "a.safetensors", ONE)
    with Server() as server:
        server.put("slow.safetensors", write(tmp_path / "s", ONE).read_bytes())
        words = command(models, server.url("slow.safetensors"), "-o", tmp_path / "out", "--cache", tmp_path / "cache", "--workers", 1)
        python = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: (tmp_path / "begun").exists())
        python.send_signal(number)
        error = python.communicate(timeout=30)[1]
    assert python.returncode == status and "Traceback" not in error
    assert "the table is of the models done by then" in error.splitlines()[-1]
    found = fleet.load(tmp_path / "out")
    assert [(row["model"], row["params"]) for row in found.models] == [(str(models / "a.safetensors"), 1)]
    assert found.total == 2 and not found.is_complete
    assert "1 model, 1 not done" in (tmp_path / "out/index.html").read_text()
    wait_for(lambda: not processes_with(slow))
    assert not list(temporary.iterdir()) and not list((tmp_path / "cache").iterdir())
    assert not (tmp_path / "out/lock").exists() and not (tmp_path / "out/.part").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("victim", ["driver", "worker"])
def test_files_of_a_killed_process_are_removed(tmp_path, temporary, slow, number, victim):
    with Server() as server:
        server.put("slow.safetensors", write(tmp_path / "s", ONE).read_bytes())
        words = [server.url("slow.safetensors"), "-o", tmp_path / "out", "--cache", tmp_path / "cache", "--workers", 1, "--retries", 0]
        python = subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True)
        wait_for(lambda: (tmp_path / "begun").exists())
        (worker,) = [p for p in processes_with(b"tmeter.fleet.worker") if f"\0{python.pid}\0" in Path(f"/proc/{p}/cmdline").read_text()]
        os.kill(python.pid if victim == "driver" else worker, number)
        python.communicate(timeout=30)
        wait_for(lambda: not processes_with(slow) and not Path(f"/proc/{worker}").exists())
        (tmp_path / "program").write_text(f'#!/bin/sh\nexec "{tmeter.program.program_path()}" "$@"\n')
        done = subprocess.run(command(*words), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert fleet.load(tmp_path / "out").models[0]["params"] == 1
    assert not list(temporary.iterdir()) and not list((tmp_path / "cache").iterdir())
    assert not (tmp_path / "out/lock").exists()


def test_a_lost_cluster_leaves_the_table_of_finished_models(tmp_path):
    """Like the death of Ray's node on this machine: no further model is tried, and the next run continues."""
    from tmeter.fleet.analysis import run_fleet
    from tmeter.fleet.in_processes import Processes
    from tmeter.fleet.schedule import EngineLost

    class Dying(Processes):
        def wait(self):
            if seen:
                raise EngineLost("the node died")
            return super().wait()

    seen = []
    models = {f"m{i}": str(write(tmp_path / f"m{i}.safetensors", ONE)) for i in range(3)}
    with pytest.raises(tmeter.Error, match="the node died"):
        run_fleet(models, str(tmp_path / "out"), [], lambda: Dying(1), progress=seen.append)
    found = fleet.load(tmp_path / "out")
    assert 1 <= len(found.models) == len(seen) and not found.is_complete and not (tmp_path / "out/lock").exists()
    assert [row["status"] for row in run(models, tmp_path / "out").models] == ["ok"] * 3


def test_folders_of_running_processes_are_not_removed(tmp_path):
    from tmeter.fleet.scratch import scratch, sweep

    code = "import sys, time; from tmeter.fleet.scratch import scratch\nwith scratch(sys.argv[1]) as f: print(f, flush=True); time.sleep(60)"
    other = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True)
    folder = Path(other.stdout.readline().strip())
    with scratch(str(tmp_path)) as own:
        sweep(str(tmp_path))
        assert folder.is_dir() and own.is_dir()
        other.kill()
        other.wait()
        (tmp_path / "mine").mkdir()
        sweep(str(tmp_path))
        assert not folder.exists() and own.is_dir()
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_two_drivers_on_one_folder(tmp_path, slow):
    model = write(tmp_path / "slow.safetensors", ONE)
    python = subprocess.Popen(command(model, "-o", tmp_path / "out", "-q"))
    wait_for(lambda: (tmp_path / "begun").exists())
    with pytest.raises(tmeter.UsageError, match=f"is being written by process {python.pid} on {socket.gethostname()} since 20"):
        run([model], tmp_path / "out")
    python.send_signal(signal.SIGINT)
    assert python.wait(30) == 130


@pytest.mark.parametrize("name, content", [("ledger.jsonl", "{}\n"), ("fleet.json", '{"format": 99}'), ("fleet.json", "x")])
def test_results_of_another_version_stay(tmp_path, name, content):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(content)
    for call in (lambda: run([FIXTURES / "models/resnet50.pt2"], tmp_path / "out"), lambda: fleet.load(tmp_path / "out")):
        with pytest.raises(tmeter.UsageError, match="results of another version of tmeter") as raised:
            call()
        assert "\n" not in str(raised.value)
    assert [p.name for p in (tmp_path / "out").iterdir()] == [name]


def test_wrong_arguments_are_reported_before_the_first_file(tmp_path):
    model = tmp_path / "is never read"
    for options, words in (
        ({"workers": -3}, "workers=-3"),
        ({"workers": 0}, "workers=0"),
        ({"threads": 0}, "threads=0"),
        ({"retries": -1}, "retries=-1"),
        ({"timeout": 0}, "timeout=0"),
        ({"plugins": "nonesuch"}, "unknown plugin 'nonesuch'"),
        ({"options": {"flops.nonesuch": 1}}, "nonesuch"),
        ({"hardware": "nonesuch"}, "nonesuch"),
        ({"max_memory": "much"}, "much"),
    ):
        with pytest.raises(tmeter.UsageError, match=words):
            fleet.analyze([model], tmp_path / "out", **{"engine": "local", **options})
        assert not (tmp_path / "out").exists()


# ── networks ──


def test_a_refused_connection_is_tried_again(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    seen = []
    (row,) = run([f"http://127.0.0.1:{port}/m.safetensors"], tmp_path / "out", progress=seen.append).models
    assert (row["error_kind"], row["tries"]) == ("OSError", 3) and "refused" in row["error"] and seen[-1].retried == 2
    (row,) = run([f"http://127.0.0.1:{port}/m.safetensors.index.json"], tmp_path / "out2", retries=1).models
    assert row["error_kind"] == "OSError" and "refused" in row["error"]


def test_a_server_that_fails_now_and_then(tmp_path):
    with Server() as server:
        server.put("m.safetensors", write(tmp_path / "m", ONE).read_bytes())
        server.failures = 2
        assert run([server.url("m.safetensors")], tmp_path / "out").models[0]["params"] == 1


@pytest.mark.parametrize("status, kind", [(404, "ModelError"), (403, "ModelError"), (500, "OSError")])
def test_statuses_of_servers(tmp_path, status, kind):
    with Server() as server:
        server.broken = status
        (row,) = run([server.url("m.safetensors")], tmp_path / "out", retries=0).models
    assert row["error_kind"] == kind and "\n" not in row["error"] and server.url("m.safetensors") in row["error"]


def test_a_silent_server_is_not_waited_for(tmp_path):
    with Server() as server:
        server.put("m.safetensors", write(tmp_path / "m", ONE).read_bytes())
        server.silent = 60
        begin = time.monotonic()
        (row,) = run([server.url("m.safetensors")], tmp_path / "out", retries=0, timeout=1).models
        assert row["error_kind"] == "OSError" and time.monotonic() - begin < 20


def test_a_server_that_stops_in_the_middle(tmp_path):
    """A server that announces a megabyte and sends a few bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            while True:
                try:
                    client = listening.accept()[0]
                except OSError:
                    return
                client.recv(65536)
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nPK")
                clients.append(client)

        clients = []
        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/m.pt2"
        begin = time.monotonic()
        (row,) = run([url], tmp_path / "out", retries=0, timeout=1).models
        assert row["status"] == "failed" and time.monotonic() - begin < 20


def test_only_the_header_of_a_large_file_is_fetched(tmp_path):
    """2 GB by HTTP; 2 % of this are 40 MB."""
    with Server() as server:
        head, size = large(2_000_000_000)
        server.put("m.safetensors", (head, size))
        (row,) = run([server.url("m.safetensors")], tmp_path / "out").models
        assert (row["params"], row["bytes"]) == (500_000_000, size) and server.sent < 1_000_000
        server.ranges = False  # the server offers the whole file, and the fleet does not read it
        (row,) = run([server.url("m.safetensors")], tmp_path / "out2").models
        assert row["params"] == 500_000_000 and server.sent < 0.02 * size


def test_weights_are_fetched_where_a_plugin_reads_them(tmp_path):
    with Server() as server:
        content = write(tmp_path / "m", {"a.weight": ([2], [1.0, 3.0])}).read_bytes()
        server.put("m.safetensors", content)
        (row,) = run([server.url("m.safetensors")], tmp_path / "out", plugins="params,param-stats").models
        assert row["max"] == 3.0 and row["params"] == 2


class Holes(io.FileIO):
    """Writes a sparse file: zeros become holes."""

    def write(self, content):
        if content != bytes(len(content)):
            return super().write(content)
        self.seek(len(content), os.SEEK_CUR)
        return len(content)


def archive(kind, path, head, size):
    """Writes a file of 2 GB into an archive, almost all of it a hole."""
    if kind == "tar":
        member = tarfile.TarInfo("sub/m.safetensors")
        member.size = size
        path.write_bytes(member.tobuf(tarfile.GNU_FORMAT) + head)
        os.truncate(path, 512 + -(-size // 512) * 512 + 1024)
        return
    with Holes(path, "w+") as file, zipfile.ZipFile(file, "w") as made, made.open("sub/m.safetensors", "w") as member:
        member.write(head)
        zeros = bytes(1 << 24)
        for begin in range(len(head), size, len(zeros)):
            member.write(zeros[: size - begin])


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_only_the_header_of_an_archived_file_behind_http_is_fetched(tmp_path, kind):
    """2 GB: 2 % are 40 MB."""
    head, size = large(2_000_000_000)
    file = tmp_path / f"a.{kind}"
    archive(kind, file, head, size)
    with Server() as server:
        server.put(file.name, file)
        local, remote = (f"{kind}://sub/m.safetensors::{where}" for where in (file, server.url(file.name)))
        found = run([local, remote, f"{kind}://gone.pt2::{file}"], tmp_path / "out")
        assert [row["params"] for row in found.models[:2]] == [500_000_000] * 2
        assert len(head) < server.sent < 0.02 * size
        assert found.models[2]["error_kind"] == "ModelError"
        again = run([local, remote], tmp_path / "out")
        assert [row["seconds"] for row in again.models] == [row["seconds"] for row in found.models[:2]]  # kept


def test_a_cache_without_room(tmp_path):
    with Server() as server:
        server.put("m.pt2", (b"PK", 1 << 60))
        server.put("ok.safetensors", write(tmp_path / "m", ONE).read_bytes())
        with pytest.raises(fleet.OutputError, match="do not fit into"):
            run([server.url("m.pt2"), server.url("ok.safetensors")], tmp_path / "out", cache=tmp_path / "cache")
        assert [row["status"] for row in fleet.load(tmp_path / "out").models] == ["failed", "ok"]
        assert not list((tmp_path / "cache").iterdir())


def test_torchscript_without_torch_is_one_short_line(tmp_path):
    """Like a venv with tmeter alone."""
    (wheel,) = (Path(os.environ["BUILD"]) / "python").glob("tmeter-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = tmp_path / "bare/bin/python"
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", wheel], check=True)
    code = "import sys; from tmeter import fleet; r = fleet.analyze([sys.argv[1]], sys.argv[2]).models[0]; print(r['error_kind'], r['error'], sep='|')"
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    if "PYTHONPATH" in os.environ:  # the sources in place of the wheel
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    words = [python, "-c", code, FIXTURES / "torchscript/acme.pt", tmp_path / "out"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    kind, _, error = done.stdout.strip().partition("|")
    assert kind == "PluginError" and "pip install torch==" in error and "\n" not in error and len(error) < 300, done


def test_a_full_folder_of_temporary_files(tmp_path, temporary):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", temporary], capture_output=True).returncode:
        pytest.skip("no right to mount a file system")
    try:
        (temporary / "filler").write_bytes(bytes(8192))
        with pytest.raises(fleet.OutputError, match="temporary files cannot be written: No space left"):
            run([FIXTURES / "models/resnet50.pt2"], tmp_path / "out")
    finally:
        subprocess.run(["umount", "-l", temporary], check=True)
