"""tmeter.fleet on this machine: many models, sharded checkpoints, workers that die, and bad files."""

import html.parser
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shards import assert_same_values, cut, write

import tmeter
from tmeter import fleet

FIXTURES = Path(os.environ["FIXTURES"])
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e|`\"'"
STATS = "params,memory,flops,param-stats"


@pytest.fixture
def resnet50():
    return FIXTURES / "models/resnet50.pt2"


@pytest.fixture
def trained():
    return FIXTURES / "trained/model.safetensors"


def run(models, output, **options):
    return fleet.analyze(models, output, engine="local", workers=2, **options)


def program_that(folder, monkeypatch, first_time):
    """A program that runs `first_time` at its first analysis, and records each analysis."""
    real = tmeter.program.program_path()
    calls, script = folder / "calls", folder / "program"
    script.write_text(
        f'#!/bin/sh\n[ "$1" = merge ] || {{ echo x >>"{calls}"; if mkdir "{folder}/once" 2>/dev/null; then {first_time}; fi; }}\n'
        f'exec "{real}" "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("TMETER_PROGRAM", str(script))
    return lambda: len(calls.read_text().split()) if calls.exists() else 0


def ledger(output):
    """The keys of its lines, without definitions of metrics."""
    lines = [json.loads(line) for file in sorted((output / "ledger").iterdir()) for line in file.read_text().splitlines()]
    return [line["key"] for line in lines if "key" in line]


def test_metrics_on_request(tmp_path, trained):
    default = run({"weights": trained}, tmp_path / "out", plugins=STATS)
    assert "spectral_norm" not in default.result("weights").metrics
    requested = run({"weights": trained}, tmp_path / "asked", plugins=STATS, request=["spectral_norm"])
    alone = tmeter.analyze(trained, plugins=STATS, request="spectral_norm")
    of = lambda result: result.tensors["spectral_norm"].dropna().to_dict()  # noqa: E731
    assert of(requested.result("weights")) == of(alone) != {}


def test_many_models(tmp_path, resnet50, trained):
    seen = []
    found = run({"resnet": resnet50, "weights": trained}, tmp_path / "out", progress=seen.append)
    rows = {row["model"]: row for row in found.models}
    # torchvision's own counts; the weights are counted in tests/fixtures/make_trained_model.py
    assert (rows["resnet"]["params"], rows["resnet"]["macs"]) == (25_557_032, 4_089_184_256)
    assert (rows["weights"]["params"], rows["weights"]["macs"]) == (94_801, None)
    assert rows["weights"]["macs_status"] == "unavailable"
    assert rows["resnet"]["bytes"] == resnet50.stat().st_size
    assert not found.failed and [p.done for p in seen] == [1, 2] and seen[-1].total == 2
    assert found.result("resnet").total("macs") == 4_089_184_256
    frame = found.frame()
    assert list(frame.index) == ["resnet", "weights"] and frame["macs"].isna().tolist() == [False, True]


def test_parquet_and_index(tmp_path, resnet50, trained):
    import pyarrow.parquet

    run({"resnet": resnet50, "weights": trained, "gone": tmp_path / "gone.pt2"}, tmp_path / "out")
    table = pyarrow.parquet.read_table(tmp_path / "out/models.parquet")
    rows = {row["model"]: row for row in table.to_pylist()}
    assert rows["resnet"]["macs"] == 4_089_184_256 and rows["weights"]["macs"] is None
    assert rows["gone"]["status"] == "failed" and "no such file" in rows["gone"]["error"]
    assert table.schema.field("macs").type == "int64"
    assert b"MAC" in table.schema.field("macs").metadata[b"tmeter"]
    index = tmeter.Result.load(tmp_path / "out/index.json")
    assert index.total("params") == 25_557_032 + 94_801


def test_models_by_name(tmp_path, resnet50):
    """The workers build and export the models; the counts are from torchvision's and timm's own pages and docs/dev/zoo.md."""
    models = {"file": resnet50, "squeeze": "torchvision:squeezenet1_1", "resnet": "timm:resnet18", "none": "timm:no_such"}
    found = run(models, tmp_path / "out")
    rows = {row["model"]: row for row in found.models}
    assert (rows["squeeze"]["params"], rows["squeeze"]["macs"]) == (1_235_496, 349_151_936)
    assert (rows["resnet"]["params"], rows["resnet"]["macs"]) == (11_689_512, 1_814_073_344)
    assert rows["squeeze"]["bytes"] is None and rows["file"]["status"] == "ok"
    assert rows["none"]["error_kind"] == "UsageError" and "timm has no model 'no_such'" in rows["none"]["error"]
    first = ledger(tmp_path / "out")
    del models["none"]
    assert not run(models, tmp_path / "out").failed
    assert ledger(tmp_path / "out") == first  # no report was made again


def test_a_file_with_the_name_of_a_library_s_model(tmp_path, resnet50, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("timm:resnet18").write_bytes(resnet50.read_bytes())
    assert run(["timm:resnet18"], tmp_path / "out").models[0]["macs"] == 4_089_184_256


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.policy = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes)["content"]
        assert not [a for a, _ in attributes if a.startswith("on")]


def test_hostile_names(tmp_path, resnet50):
    odd = tmp_path / "odd\udcff\n<b>.pt2"
    odd.write_bytes(resnet50.read_bytes())
    names = {HOSTILE: resnet50, "../../etc/passwd": resnet50, "a": odd, "A": resnet50, "a/b": tmp_path / HOSTILE.replace("/", "")}
    found = run(names, tmp_path / "out")
    assert [row["status"] for row in found.models] == ["ok"] * 4 + ["failed"]
    files = sorted((tmp_path / "out/reports").iterdir())
    assert len(files) == 4 and all(f.name.isascii() and f.name.replace("-", "").replace("_", "").replace(".", "").isalnum() for f in files)
    page = Page((tmp_path / "out/index.html").read_text())
    assert page.tags.count("script") == 1 and "img" not in page.tags and "b" not in page.tags
    assert "default-src 'none'" in page.policy and "unsafe" not in page.policy
    assert "\u202e" not in (tmp_path / "out/index.html").read_text()
    import pyarrow.parquet

    assert pyarrow.parquet.read_table(tmp_path / "out/models.parquet").column("model")[0].as_py() == HOSTILE


@pytest.mark.parametrize("count", [1, 5])
def test_merged_equals_single(tmp_path, trained, count):
    index = cut(trained, tmp_path / "shards", count)
    found = run({"trained": index}, tmp_path / "out", plugins=STATS)
    found.require_all()
    row = found.row("trained")
    assert (row["shards"], row["params"], row["min"]) == (count, 94_801, pytest.approx(-3.2151429653167725, abs=0))
    whole = tmeter.analyze(index, plugins=STATS).to_dict()
    assert_same_values(whole, found.result("trained").to_dict())


def test_merged_reports_keep_their_hardware_and_join_equal_findings(tmp_path, trained):
    index = cut(trained, tmp_path / "shards", 3)
    found = run({"trained": index}, tmp_path / "out", plugins="params,quantization-advice", hardware="nvidia-a100")
    shards = [json.loads(f.read_text()) for f in (tmp_path / "out/shards").rglob("*.json")]
    merged = found.result("trained").to_dict()
    assert len(shards) == 3 and {r["hardware"] for r in (*shards, merged)} == {"nvidia-a100"}
    texts = [[f["text"] for f in r["findings"]] for r in shards]
    common = set.intersection(*map(set, texts))
    merged_texts = [f["text"] for f in merged["findings"]]
    assert common and all(merged_texts.count(f"in 3 files: {text}") == 1 for text in common)
    assert not [text for text in common for s in merged_texts if s.endswith(text) and not s.startswith("in 3 files: ")]


def test_a_killed_worker_loses_nothing(tmp_path, trained, monkeypatch):
    calls = program_that(tmp_path, monkeypatch, "kill -9 $PPID; exit 1")
    index = cut(trained, tmp_path / "shards", 6)
    seen = []
    found = run({"trained": index}, tmp_path / "out", plugins=STATS, progress=seen.append)
    found.require_all()
    assert calls() == 7 and seen[-1].retried == 1 and found.row("trained")["tries"] == 7
    assert_same_values(tmeter.analyze(index, plugins=STATS).to_dict(), found.result("trained").to_dict())


def processes_of(path):
    """Native programs that have this file as an argument."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            # Without zombies, which wait for their parent to reap them.
            if os.fsencode(path) in words and not os.path.basename(words[0]).startswith(b"python") and "State:\tZ" not in (entry / "status").read_text():
                found.append(int(entry.name))
        except OSError:
            pass  # the process has ended meanwhile
    return found


def wait_for(condition):
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def much_work(path):
    """A checkpoint of 1 TB that occupies no disk space: one hole."""
    numbers = 1 << 38
    header = json.dumps({"a": {"dtype": "F32", "shape": [numbers], "data_offsets": [0, 4 * numbers]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    os.truncate(path, 8 + len(header) + 4 * numbers)
    return path


@pytest.mark.parametrize(
    "script",
    [
        "import sys, tmeter; tmeter.analyze(sys.argv[1], plugins='param-stats')",
        "import sys; from tmeter import fleet; fleet.analyze([sys.argv[1]], sys.argv[2], plugins='param-stats', engine='local')",
    ],
    ids=["analyze", "fleet"],
)
def test_a_killed_run_leaves_no_program_running(tmp_path, script):
    model = much_work(tmp_path / "hole.safetensors")
    python = subprocess.Popen([sys.executable, "-c", script, model, tmp_path / "out"])
    try:
        wait_for(lambda: len(processes_of(model)) == 2)  # the supervisor and its worker
    finally:
        python.kill()
        python.wait()
    wait_for(lambda: not processes_of(model))


def test_a_program_whose_caller_has_ended():
    caller = subprocess.Popen(["true"])
    caller.wait()
    program = tmeter.program.program_path()
    done = subprocess.run([program, "--version"], env={**os.environ, "TMETER_PARENT": str(caller.pid)})
    assert done.returncode == -15
    for other in ("", "x", "-1", "99999999999999999999", str(os.getppid())):
        subprocess.run([program, "--version"], env={**os.environ, "TMETER_PARENT": other}, check=True, stdout=subprocess.DEVNULL)


def test_a_file_that_kills_every_worker_fails_alone(tmp_path, resnet50, trained, monkeypatch):
    real = tmeter.program.program_path()
    script = tmp_path / "program"
    script.write_text(f'#!/bin/sh\ncase "$*" in *poison*) kill -9 $PPID;; esac\nexec "{real}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("TMETER_PROGRAM", str(script))
    poison = tmp_path / "poison.pt2"
    poison.write_bytes(resnet50.read_bytes())
    found = run({"poison": poison, "a": resnet50, "b": trained}, tmp_path / "out", retries=1)
    assert [row["status"] for row in found.models] == ["failed", "ok", "ok"]
    assert found.row("poison")["error_kind"] == "WorkerLostError" and found.row("poison")["tries"] == 2
    assert "ended with -9" in found.row("poison")["error"]


def test_a_run_that_was_cut_off_goes_on(tmp_path, resnet50, trained, monkeypatch):
    calls = program_that(tmp_path, monkeypatch, ":")

    def stop(progress):
        raise KeyboardInterrupt

    models = {"a": resnet50, "b": trained}
    with pytest.raises(KeyboardInterrupt):
        fleet.analyze(models, tmp_path / "out", engine="local", workers=1, progress=stop)
    assert ledger(tmp_path / "out") == ["a"]
    (file,) = (tmp_path / "out/ledger").iterdir()
    file.write_text(file.read_text() + '{"key": "b", "mar')  # cut by the crash
    before = calls()
    assert not run(models, tmp_path / "out").failed and calls() == before + 1
    assert not run(models, tmp_path / "out").failed and calls() == before + 1
    run(models, tmp_path / "out", plugins="params")
    assert calls() == before + 3  # with other options
    run(models, tmp_path / "out", plugins="params", resume=False)
    assert calls() == before + 5


def test_a_changed_file_is_analysed_again(tmp_path):
    model = write(tmp_path / "m.safetensors", {"a.weight": ([2], [1.0, 2.0])})
    assert run([model], tmp_path / "out").models[0]["params"] == 2
    write(model, {"a.weight": ([3], [1.0, 2.0, 3.0])})
    assert run([model], tmp_path / "out").models[0]["params"] == 3


def test_a_crash_of_the_program_is_tried_again(tmp_path, resnet50, monkeypatch):
    calls = program_that(tmp_path, monkeypatch, "kill -SEGV $$")
    found = run([resnet50], tmp_path / "out")
    assert not found.failed and calls() == 2


# ── bad files ──


def test_damaged_files_fail_alone_and_once(tmp_path, resnet50, monkeypatch):
    calls = program_that(tmp_path, monkeypatch, ":")
    cut_off = tmp_path / "cut.pt2"
    cut_off.write_bytes(resnet50.read_bytes()[:5000])
    (tmp_path / "empty.pt2").touch()
    models = {"cut": cut_off, "empty": tmp_path / "empty.pt2", "folder": tmp_path, "ok": resnet50}
    found = run(models, tmp_path / "out")
    assert [row["error_kind"] for row in found.models] == ["ModelError"] * 3 + [None]
    assert calls() == 4
    with pytest.raises(tmeter.Error, match="3 of 4 models failed:\n  cut: "):
        found.require_all()
    with pytest.raises(tmeter.Error, match="^cut: "):
        found.result("cut")


def test_a_run_of_damaged_files_alone(tmp_path):
    found = run({"x": tmp_path / "no", "y": tmp_path / "not"}, tmp_path / "out")
    assert len(found.failed) == 2 and "2 failed" in (tmp_path / "out/index.html").read_text()


def with_index(folder, weights, **files):
    folder.mkdir(exist_ok=True)
    for name, tensors in files.items():
        write(folder / f"{name}.safetensors", tensors)
    index = folder / "model.safetensors.index.json"
    index.write_text(weights if isinstance(weights, str) else json.dumps({"weight_map": weights}))
    return index


A, B = {"a": ([2], [1.0, 2.0])}, {"b": ([1], [3.0])}
BAD_INDEXES = {
    "missing": (({"a": "a.safetensors", "b": "gone.safetensors", "c": "lost.safetensors"}), "2 shards are not there: gone.safetensors, lost"),
    "no JSON": ("{", "not JSON"),
    "deep": ("[" * 100_000, "not JSON"),
    "no map": ('{"metadata": 1}', "no 'weight_map'"),
    "a list": ("[]", "no 'weight_map'"),
    "elsewhere": ({"a": "../a.safetensors"}, "not a plain file name"),
    "absolute": ({"a": "/etc/passwd"}, "not a plain file name"),
    "a number": ({"a": 3}, "not a plain file name"),
    "not in it": ({"a": "a.safetensors", "c": "b.safetensors"}, "shard b.safetensors: according to the index it holds c"),
}


@pytest.mark.parametrize("case", BAD_INDEXES)
def test_bad_indexes(tmp_path, case):
    weights, message = BAD_INDEXES[case]
    index = with_index(tmp_path / "in", weights, a=A, b=B)
    (row,) = run([index], tmp_path / "out").models
    assert (row["status"], row["error_kind"]) == ("failed", "ModelError")
    assert message in row["error"]


def test_a_tensor_in_two_shards(tmp_path):
    index = with_index(tmp_path / "in", {"a": "a.safetensors", "b": "b.safetensors"}, a=A, b={**B, **A})
    (row,) = run([index], tmp_path / "out").models
    assert "the tensor 'a' is in" in row["error"]


def test_a_corrupt_shard_names_itself_and_the_others_are_kept(tmp_path, monkeypatch):
    calls = program_that(tmp_path, monkeypatch, ":")
    index = with_index(tmp_path / "in", {"a": "a.safetensors", "b": "b.safetensors"}, a=A, b=B)
    whole = (tmp_path / "in/b.safetensors").read_bytes()
    (tmp_path / "in/b.safetensors").write_bytes(whole[:-2])
    (row,) = run([index], tmp_path / "out").models
    assert row["error"].startswith("shard b.safetensors: ") and "truncated" in row["error"]
    (tmp_path / "in/b.safetensors").write_bytes(whole)
    (row,) = run([index], tmp_path / "out").models
    assert (row["status"], row["params"], calls()) == ("ok", 3, 3)


def test_urls(tmp_path, trained, resnet50):
    cache = tmp_path / "cache"
    index = cut(trained, tmp_path / "shards", 3)
    models = {"a": f"file://{resnet50}", "b": f"file://{index}", "c": "file:///gone.pt2", "d": "nonesuch://x/y.pt2"}
    found = run(models, tmp_path / "out", cache=cache)
    assert [row["status"] for row in found.models] == ["ok", "ok", "failed", "failed"]
    assert found.row("b")["params"] == 94_801 and found.row("a")["macs"] == 4_089_184_256
    assert found.row("c")["error_kind"] == "ModelError" and "nonesuch" in found.row("d")["error"]
    assert not list(cache.iterdir())  # fetched files are removed


def test_missing_shards_behind_a_url(tmp_path):
    index = with_index(tmp_path / "in", {"a": "a.safetensors", "b": "gone.safetensors"}, a=A)
    (row,) = run([f"file://{index}"], tmp_path / "out").models
    assert "1 shard is not there: gone.safetensors (of 2 that it names)" in row["error"]


def test_ending_a_run_ends_its_programs(tmp_path, resnet50, trained, monkeypatch):
    """Ctrl-C while a program works ends the program."""
    pids = tmp_path / "pids"
    real = tmeter.program.program_path()
    script = tmp_path / "program"
    script.write_text(f'#!/bin/sh\ncase "$*" in *safetensors*) echo $$ >"{pids}"; exec sleep 600;; esac\nexec "{real}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("TMETER_PROGRAM", str(script))

    def stop(progress):
        while not (pids.exists() and pids.read_text().strip()):
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run({"slow": trained, "quick": resnet50}, tmp_path / "out", progress=stop)
    pid = int(pids.read_text())
    while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        time.sleep(0.01)  # the test's own time limit ends it if the program stays


def test_a_network_that_fails_is_tried_again(tmp_path, monkeypatch, resnet50):
    import fsspec
    from fsspec.implementations.local import LocalFileSystem
    from tmeter.fleet import schedule, work
    from tmeter.fleet.identity import Identity
    from tmeter.fleet.schedule import Event
    from tmeter.fleet.units import Batch, Job, Unit

    failures = [ConnectionError("reset by peer"), TimeoutError("slow")]

    class Flaky(LocalFileSystem):
        protocol = "flaky"
        cachable = False

        def get_file(self, *arguments, **options):
            if failures:
                raise failures.pop()
            return super().get_file(*arguments, **options)

    fsspec.register_implementation("flaky", Flaky, clobber=True)
    monkeypatch.setattr(schedule, "_LONGEST_PAUSE", 0)

    class Here:
        capacity = 1

        def start(self, number, batch):
            self.work = number, batch

        def wait(self):
            return [Event(self.work[0], tuple(work.run_batch(self.work[1])), True)]

    ends = []
    retried = []
    job = Job((), str(tmp_path), "no lock of ours", Identity("", ()))
    batch = Batch((Unit("m", f"flaky://{resnet50}", "m.json"),), job)
    schedule.Schedule([batch], Here(), 2, lambda *end: ends.append(end) or [], lambda u, d: retried.append(d.error)).run()
    assert ends[0][1].ok and ends[0][0].tries == 3
    assert "slow" in retried[0] and "reset by peer" in retried[1]


def test_usage(tmp_path, resnet50):
    for models, words in (([], "no models"), ([resnet50, resnet50], "given twice")):
        with pytest.raises(tmeter.UsageError, match=words):
            run(models, tmp_path / "out")
    with pytest.raises(tmeter.UsageError, match="nonesuch"):
        run([resnet50], tmp_path / "out", plugins="nonesuch")
    with pytest.raises(tmeter.UsageError, match="one of 'auto'"):
        fleet.analyze([resnet50], tmp_path / "out", engine="spark")
    (tmp_path / "file").touch()
    with pytest.raises(tmeter.UsageError, match="file"):
        run([resnet50], tmp_path / "file/out")


def test_without_ray_and_fsspec_and_pyarrow(tmp_path, resnet50):
    code = f"""
import sys
for name in ("ray", "fsspec", "pyarrow", "torch", "pandas"): sys.modules[name] = None
import tmeter
from tmeter import fleet
found = fleet.analyze([{str(resnet50)!r}, "s3://bucket/x.pt2"], {str(tmp_path / "out")!r}, workers=1)
print(found.models[0]["macs"], found.models[1]["error"], found.warnings)
try: fleet.analyze([{str(resnet50)!r}], {str(tmp_path / "out2")!r}, engine="ray")
except tmeter.UsageError as e: print(e)
"""
    environment = {**os.environ, "RAY_ADDRESS": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "4089184256" in done.stdout and "models.parquet was not written" in done.stdout
    assert "engine='ray' needs Ray: pip install 'tmeter[fleet]'" in done.stdout
    assert (tmp_path / "out/models.jsonl").exists() and not (tmp_path / "out/models.parquet").exists()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 600 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("no right to mount a file system")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def fill(disk, left):
    with open(disk / "filler", "wb") as file:
        file.write(bytes(os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize - left))


@pytest.mark.parametrize("left", [0, 4096, 8192, 24576, 49152, 65536, 131072])
def test_a_full_disk(small_disk, resnet50, trained, left):
    """The disk is full at the lock, the ledger, a report or the table. Each case is one clear error, and the next run continues."""
    out = small_disk / "out"
    fill(small_disk, left)
    try:
        quiet = run([resnet50, trained], out).models
    except tmeter.Error as error:
        assert isinstance(error, OSError) and "No space left on device" in str(error), error
    else:
        assert left >= 131072 and not [row for row in quiet if row["status"] != "ok"]
    assert not [f for f in small_disk.rglob("*") if ".part" in str(f) and f.is_file()]
    (small_disk / "filler").unlink()
    found = run([resnet50, trained], out)  # there is room again
    assert [row["macs"] for row in found.models] == [4_089_184_256, None]
    assert [row["params"] for row in found.models] == [25_557_032, 94_801]
    assert not (out / "lock").exists() and not (out / ".part").exists()


def test_broken_files_in_the_output_folder_are_made_again(tmp_path, trained):
    run({"a": trained}, tmp_path / "out")
    (tmp_path / "out/reports/a.json").unlink()
    assert run({"a": trained}, tmp_path / "out").row("a")["params"] == 94_801
