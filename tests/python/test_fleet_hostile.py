"""A fleet with odd files, clocks that are set back, workers that are stopped, and folders that are removed during a run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from served import Server
from shards import cut, write

import tmeter
from tmeter import fleet
from tmeter.fleet import files, merging, shards, sources, units
from tmeter.fleet.analysis import run_fleet
from tmeter.fleet.identity import Identity
from tmeter.fleet.ledger import Ledger, Writer, next_run
from tmeter.fleet.output import Remote, output_of
from tmeter.fleet.schedule import Event
from tmeter.fleet.work import run_batch

FIXTURES = Path(os.environ["FIXTURES"])
ONE, TWO = {"a.weight": ([1], [1.0])}, {"a.weight": ([2], [1.0, 2.0])}


def run(models, output, **options):
    return fleet.analyze(models, output, engine="local", **{"workers": 2, **options})


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program that runs a piece of shell first: `$1` and so on are the program's arguments."""
    real = tmeter.program.program_path()
    script = tmp_path / "program"

    def that(first):
        script.write_text(f'#!/bin/sh\n{first}\nexec "{real}" "$@"\n')
        script.chmod(0o755)
        monkeypatch.setenv("TMETER_PROGRAM", str(script))
        tmeter.program.program_path.cache_clear()

    yield that
    tmeter.program.program_path.cache_clear()


# ── files ──


def test_circular_links(tmp_path, monkeypatch):
    """With two such links Python's `**` finds 2^40 paths."""
    for name in ("a/deep", "b", ".hidden"):
        (tmp_path / name).mkdir(parents=True)
        write(tmp_path / name / "m.safetensors", ONE)
    (tmp_path / "a/up").symlink_to("..")
    (tmp_path / "b/up").symlink_to("..")
    (tmp_path / "[odd]").mkdir()
    write(tmp_path / "[odd]/m.safetensors", ONE)
    monkeypatch.chdir(tmp_path)
    all_ = ["[odd]/m.safetensors", "a/deep/m.safetensors", "b/m.safetensors"]
    assert list(sources.find(["**/*.safetensors"], []).sources) == all_
    assert list(sources.find(["**/**/m.*"], []).sources) == all_
    assert list(sources.find(["a/**/deep/**/*.safetensors", "?/**"], []).sources) == all_[1:]
    assert list(sources.find([f"{tmp_path}/**/*.safetensors"], []).sources) == [f"{tmp_path}/{f}" for f in all_]
    assert len(sources.find(["."], []).sources) == 4
    with pytest.raises(tmeter.UsageError, match="no file matches"):
        sources.find(["none/**/*.safetensors"], [])


def test_pipes_devices_and_folders_among_the_files(tmp_path, monkeypatch):
    """Opening a pipe would wait for a writer forever."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("f.safetensors")
    os.mkfifo("f.safetensors.index.json")
    os.mkdir("d.index.json")
    os.symlink("/dev/zero", "z.safetensors.index.json")
    os.symlink("round.safetensors", "round.safetensors")
    write(Path("m.safetensors"), ONE)
    archives = [f"{kind}://m.pt2::f.safetensors" for kind in ("zip", "tar")]
    begin = time.monotonic()
    found = run([*sorted(os.listdir()), *archives], tmp_path / "out", retries=0)
    assert time.monotonic() - begin < 30
    assert {row["model"]: row["error_kind"] for row in found.models} == {
        **{row["model"]: "ModelError" for row in found.models},
        "m.safetensors": None,
    }
    assert "not a file" in found.row("f.safetensors.index.json")["error"]


def test_a_list_of_missing_files(tmp_path, program):
    """A thousand missing files become rows without starting a program."""
    program(f'case "$*" in *probe*|plugin*) ;; *) echo x >>"{tmp_path}/calls";; esac')
    models = {f"m{i}": f"{tmp_path}/none/m{i}.pt2" for i in range(1000)} | {"nul": "a\0b", "dangling": tmp_path / "link.pt2"}
    (tmp_path / "link.pt2").symlink_to("none")
    found = run(models, tmp_path / "out")
    assert {row["error_kind"] for row in found.models} == {"ModelError"} and not (tmp_path / "calls").exists()
    assert found.row("m7")["error"] == f"{tmp_path}/none/m7.pt2: no such file" and "null byte" in found.row("nul")["error"]
    assert {row["tries"] for row in found.models} == {1}


def test_files_with_one_name_in_many_folders(tmp_path):
    models = []
    for name, tensors in (("a", ONE), ("b", TWO), ("a b", ONE), ("a_b", TWO), ("new\nline", TWO), (os.fsdecode(b"\xff"), ONE)):
        (tmp_path / name).mkdir()
        models.append(write(tmp_path / name / "model.safetensors", tensors))
    found = run(models, tmp_path / "out")
    assert [row["params"] for row in found.models] == [1, 2, 1, 2, 2, 1] == [found.result(str(m)).params for m in models]
    assert len(list((tmp_path / "out/reports").iterdir())) == 6


def test_a_file_that_grows_while_it_is_read(tmp_path, program):
    """A download in progress: no value of its first part is kept."""
    model = write(tmp_path / "m.safetensors", ONE)
    program(f'case "$*" in *m.safetensors*) printf x >>"{model}";; esac')
    (row,) = run([model], tmp_path / "out", retries=0).models
    assert row["error_kind"] == "OSError" and "was replaced while it was read" in row["error"]


# ── clocks and versions ──


@pytest.mark.parametrize("ahead", [0.0, 3600.0])
def test_a_file_changed_at_this_moment_by_any_clock(tmp_path, monkeypatch, ahead):
    """Waits until any change must alter the file's times, even if the file's clock is ahead or its time was set."""
    model = write(tmp_path / "m.safetensors", ONE)
    os.utime(model, (2e9, 2e9))
    changed = model.stat().st_ctime
    now, slept = [changed + 0.005 - ahead], []
    monkeypatch.setattr(files.time, "time", lambda: now[0])
    monkeypatch.setattr(files.time, "sleep", slept.append)
    files.wait_for_next_tick(str(model))
    assert slept == [pytest.approx(0.015 if not ahead else 0.02, abs=1e-4)]
    now[0] = changed + 0.03
    files.wait_for_next_tick(str(model))
    assert len(slept) == 1


def test_the_line_of_the_later_run_counts(tmp_path):
    """Runs are ordered by number, because clocks of machines differ and may be set back."""
    place = output_of(str(tmp_path))
    for run_number, mark in ((9, "old"), (10, "new"), (1_000_000, "newest")):
        writer = Writer(place, run_number)
        writer.add(json.dumps({"key": "m", "mark": mark}).encode() + b"\n")
        writer.close()
        ledger = Ledger(place)
        ledger.load()
        assert ledger.entry(*ledger.find("m"))["mark"] == mark
        ledger.close()
    assert next_run(place) == 1_000_001 and next_run(output_of(str(tmp_path / "none"))) == 1


def test_a_file_that_changes_from_run_to_run(tmp_path):
    model = tmp_path / "m.safetensors"
    for number, tensors in enumerate((ONE, TWO, ONE), 1):
        write(model, tensors)
        rows = [run([model], tmp_path / "out").models[0] for _ in range(2)]
        assert rows[0] == rows[1] and rows[0]["params"] == len(tensors["a.weight"][1])
        assert sorted(p.name[:7] for p in (tmp_path / "out/ledger").iterdir())[-1] == f"{number:06}-"  # runs that wrote a line


def test_a_file_without_a_version_of_the_server_is_fetched_every_time(tmp_path):
    """The size alone does not identify a file's content."""
    with Server() as server:
        server.etags = False
        for value in (1.0, 2.0):
            server.put("m.safetensors", write(tmp_path / "m", {"a.weight": ([1], [value])}).read_bytes())
            (row,) = run([server.url("m.safetensors")], tmp_path / "out", plugins="params,param-stats").models
            assert (row["status"], row["max"]) == ("ok", value)


def test_many_files_are_requested_at_a_time(tmp_path):
    """One worker, and 8 files in one batch."""
    with Server() as server:
        server.silent = 0.2
        for i in range(64):
            server.put(f"m{i}.safetensors", write(tmp_path / "m", ONE).read_bytes())
        found = run([server.url(f"m{i}.safetensors") for i in range(64)], tmp_path / "out", workers=1, plugins="params,param-stats")
    assert not found.failed and server.most >= 8


class Here:
    """An engine in this process that represents a machine with a folder that the driver does not see."""

    sees_all, capacity = False, 1

    def __init__(self, folder):
        self.folder, self.away = folder, folder.with_name("away")
        folder.rename(self.away)

    def start(self, number, batch):
        self.away.rename(self.folder)
        self.events = [Event(number, tuple(run_batch(batch)), True)]
        self.folder.rename(self.away)

    def wait(self):
        return self.events

    def close(self):
        if self.away.exists():
            self.away.rename(self.folder)


def test_files_that_the_driver_does_not_see_are_identified_by_the_worker(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    model = write(folder / "m.safetensors", ONE)

    def values():
        (row,) = run_fleet({"m": str(model)}, str(tmp_path / "out"), [], lambda: Here(folder), progress=lambda _: None).models
        return row["params"], row["seconds"]

    first = values()
    assert first[0] == 1 and values() == first  # unchanged, including the seconds
    write(model, TWO)
    assert values()[0] == 2


def test_the_clock_of_a_lock_s_owner_was_ahead(tmp_path):
    pytest.importorskip("fsspec")
    place = Remote(f"file://{tmp_path}/out")
    owner = {"token": "x", "pid": 1, "host": "there", "since": "then"}
    place.write("lock", json.dumps({**owner, "beat": time.time() + 3600}).encode())
    with place.locked():
        assert place.has_lock()
    place.write("lock", json.dumps({**owner, "beat": time.time() + 5}).encode())
    with pytest.raises(tmeter.UsageError, match="is being written by process 1 on there since then"), place.locked():
        pass


# ── time limits ──


def test_merging_has_a_time_limit(tmp_path, program, monkeypatch):
    index = cut(FIXTURES / "trained/model.safetensors", tmp_path / "shards", 2)
    found = run({"c": index}, tmp_path / "out")
    reports = {n: str(next((tmp_path / "out/shards").rglob(f"{n}*"))) for n in shards.read_checkpoint(str(index)).shards}
    unit = units.Unit("c", str(index), "c.json", tuple((n, "mark", r) for n, r in reports.items()))
    place = output_of(str(tmp_path / "out"))

    def merged(timeout):
        return merging.merged(unit, units.Job((), place.root, "", Identity("", ()), timeout=timeout), place)

    assert json.loads(merged(60)[0])["totals"]["params"] == 94_801 == found.row("c")["params"]
    with pytest.raises(tmeter.ModelError, match=r"did not finish within 0.001 s \(--timeout\)"):
        merged(0.001)
    monkeypatch.setattr(units, "GRACE", 0.5)
    program('[ "$1" != merge ] || exec sleep 600')  # a program that ignores its time limit
    begin = time.monotonic()
    with pytest.raises(tmeter.CrashError, match="gave no answer within 1 s"):
        merged(0.5)
    assert time.monotonic() - begin < 20


def test_a_stopped_program_is_ended(tmp_path, program):
    program('case "$*" in *m.safetensors*) kill -STOP $$;; esac')
    begin = time.monotonic()
    with pytest.raises(tmeter.CrashError, match="gave no answer within 1 s"):
        tmeter.program.run([str(write(tmp_path / "m.safetensors", ONE))], limit=1)
    assert time.monotonic() - begin < 20


def test_a_stopped_worker_counts_as_lost(tmp_path, program, monkeypatch):
    monkeypatch.setattr(units, "GRACE", 0.0)
    program(f'case "$*" in *m.safetensors*) mkdir "{tmp_path}/once" && kill -STOP $PPID;; esac')
    seen = []
    (row,) = run([write(tmp_path / "m.safetensors", ONE)], tmp_path / "out", timeout=1, progress=seen.append).models
    assert (row["params"], row["tries"], seen[-1].retried) == (1, 2, 1)


# ── the output folder ──


@pytest.mark.parametrize("is_taken", [False, True])
def test_an_output_folder_that_goes_away_during_a_run(tmp_path, is_taken):
    models = [write(tmp_path / f"m{i}.safetensors", ONE) for i in range(6)]
    out = tmp_path / "out"

    def remove(progress):
        if progress.done == 2:
            out.rename(tmp_path / "gone")
            if is_taken:
                out.mkdir()
                (out / "lock").write_text("of another run")

    with pytest.raises(fleet.OutputError, match="out was removed, moved or taken by another run during this one"):
        run(models, out, progress=remove)
    if is_taken:
        assert (out / "lock").read_text() == "of another run"
        shutil.rmtree(out)
    assert [row["params"] for row in run(models, out).models] == [1] * 6


class Mover:
    """An engine whose worker cannot write, because it has moved the output folder away."""

    sees_all, capacity = True, 1

    def __init__(self, output):
        self.output = output

    def start(self, number, batch):
        self.output.rename(self.output.with_name("gone"))
        failed = units.Done(False, fatal=True, error="a file cannot be written", kind="OutputError")
        self.events = [Event(number, (failed,), True)]

    def wait(self):
        return self.events

    def close(self):
        pass


def test_a_worker_that_cannot_write_because_the_output_folder_is_gone(tmp_path):
    model, out = write(tmp_path / "m.safetensors", ONE), tmp_path / "out"
    with pytest.raises(fleet.OutputError, match="out was removed, moved or taken by another run during this one"):
        run_fleet({"m": str(model)}, str(out), [], lambda: Mover(out), progress=lambda _: None)


# ── the terminal ──


def test_names_cannot_control_the_terminal(tmp_path):
    odd = os.fsdecode(b"\xff\x1b[31m\xe2\x80\xae")
    (tmp_path / f"bad{odd}.pt2").write_bytes(b"no model")
    for more in ([], ["--dry-run"]):
        words = [sys.executable, "-m", "tmeter", "fleet", f"bad{odd}.pt2", "gone", "-o", f"out{odd}", *more]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True)
        assert done.returncode == (0 if more else 4) and b"Traceback" not in done.stderr
        assert not {0x1B, 0xFF} & set(done.stdout + done.stderr) and b"\\udcff\\u001b[31m\\u202e" in done.stdout


@pytest.mark.parametrize("native", [True, False])
def test_ctrl_c_at_any_moment_of_a_start_leaves_no_traceback(tmp_path, native):
    model = write(tmp_path / "m.safetensors", ONE)
    start = [Path(sys.prefix) / "bin/tmeter"] if native else [sys.executable, "-m", "tmeter"]
    for step in range(12):
        words = [*start, "fleet", model, "-o", tmp_path / f"out{step}", "-q"]
        python = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        # Python's own start takes less time than the first step of `-m`.
        time.sleep(0.06 * step + (0.0 if native else 0.6))
        python.send_signal(signal.SIGINT)
        if step % 2:
            python.send_signal(signal.SIGINT)
        error = python.communicate()[1]
        assert python.returncode in (0, 130, -signal.SIGINT) and "Traceback" not in error and len(error.splitlines()) <= 1, error


def test_a_run_in_the_background_ignores_ctrl_c_if_its_shell_does(tmp_path):
    model = write(tmp_path / "m.safetensors", ONE)
    words = [sys.executable, "-m", "tmeter", "fleet", str(model), "-o", str(tmp_path / "out"), "-q"]
    done = subprocess.run(["sh", "-c", 'trap "" INT; "$@" & p=$!; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; kill -INT $p; done; wait $p', "sh", *words])
    assert done.returncode == 0 and fleet.load(tmp_path / "out").models[0]["params"] == 1
