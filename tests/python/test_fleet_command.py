"""`tmeter fleet` in the shell, and `fleet.load`."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shards import cut, write

import tmeter
from tmeter import fleet

FIXTURES = Path(os.environ["FIXTURES"])
PROGRAM = Path(sys.prefix) / "bin/tmeter"
ONE = {"a.weight": ([1], [1.0])}


def fleet_of(*words, stdin=None, cwd="/", program=(sys.executable, "-m", "tmeter"), **environment):
    done = subprocess.run(
        [*program, "fleet", *map(str, words)], capture_output=True, input=stdin, cwd=cwd, env={**os.environ, **environment}
    )
    error = done.stderr.decode()
    assert "Traceback" not in error, error
    return done.returncode, done.stdout.decode(), [line for line in error.splitlines() if not re.match(r"[\d,]+ of [\d,]+ file", line)]


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "models"
    (folder / "deep/er").mkdir(parents=True)
    for name in ("a.safetensors", "deep/b.safetensors", "deep/er/c.safetensors"):
        write(folder / name, ONE)
    shutil.copy(FIXTURES / "models/resnet50.pt2", folder / "deep/r.pt2")
    (folder / "notes.txt").touch()
    return folder


def test_globs_and_parquet(tmp_path, models):
    import pyarrow.parquet

    status, output, messages = fleet_of("models/**/*.pt2", "models/*.safetensors", "--report", "parquet=out", cwd=tmp_path)
    assert (status, messages) == (0, []) and "2 models" in output
    rows = pyarrow.parquet.read_table(tmp_path / "out/models.parquet").to_pylist()
    # torchvision's documentation: 25,557,032 parameters.
    assert [(r["model"], r["params"]) for r in rows] == [("models/deep/r.pt2", 25_557_032), ("models/a.safetensors", 1)]
    found = fleet.load(tmp_path / "out")
    assert found.is_complete and [row["macs"] for row in found.models] == [4_089_184_256, None]
    assert found.result("models/deep/r.pt2").macs == 4_089_184_256
    assert [m["id"] for m in found.metrics][:1] == ["params"] and list(found.frame()["params"]) == [25_557_032, 1]


def test_the_program_starts_the_package(tmp_path, models):
    status, output, _ = fleet_of(models, "-o", tmp_path / "out", program=[PROGRAM])
    assert status == 0 and "4 models" in output


@pytest.mark.parametrize("path", ["", "python"])
def test_a_missing_package_gives_one_line(tmp_path, path):
    """Without Python, and with a Python without tmeter."""
    shutil.copytree(Path(os.environ["BUILD"]) / "lib/tmeter", tmp_path / "lib/tmeter", symlinks=True, ignore=lambda *_: ["plugins"])
    (tmp_path / "bin").mkdir()
    shutil.copy(PROGRAM, tmp_path / "bin/tmeter")
    os.makedirs(tmp_path / "python")
    if path:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
        (tmp_path / "python/python3").symlink_to(tmp_path / "bare/bin/python3")
    libraries = Path(sys.prefix) / "lib/tmeter/libs"
    status, output, messages = fleet_of(
        "x", "-o", "out", program=[tmp_path / "bin/tmeter"], PATH=str(tmp_path / "python"), PYTHONPATH="", LD_LIBRARY_PATH=str(libraries)
    )
    assert status == 2 and output == "" and len(messages) == 1
    assert messages[0].startswith("tmeter: `tmeter fleet` needs ") and "pip install 'tmeter[fleet]'" in messages[0]


def test_a_folder_with_a_sharded_checkpoint(tmp_path, models):
    cut(FIXTURES / "trained/model.safetensors", models / "shards", 3)
    status, _, _ = fleet_of(models, "-o", tmp_path / "out", "-q")
    rows = {Path(row["model"]).name: row for row in fleet.load(tmp_path / "out").models}
    assert status == 0 and len(rows) == 5 and rows["model.safetensors.index.json"]["params"] == 94_801


@pytest.mark.parametrize(
    "words, message",
    [
        (["nothing/**/*.pt2"], "nothing/**/*.pt2: no file matches"),
        (["empty"], "empty: no model file in this folder"),
        ([], "no models are given"),
        (["--list", "nowhere"], "nowhere: No such file"),
        (["models", "--workers", "-3"], "workers=-3"),
        (["models", "--threads", "0"], "threads=0"),
        (["models", "--plugins", "nonesuch"], "unknown plugin 'nonesuch'"),
        (["models", "--report", "pdf=x"], "--report pdf=x: FORMAT=OUT is expected, with one of parquet, jsonl, html, json"),
        (["models", "--report", "parquet=x"], "one output folder is expected, got out, x"),
        (["models", "--set", "flops"], "--set flops: NAME.KEY=VALUE is expected"),
        (["models", "--timeout", "soon"], "'soon': a time is expected"),
        (["models", "--bogus"], "unrecognized arguments: --bogus"),
        (["models", "--ray", "127.0.0.1:1"], "address='127.0.0.1:1': no Ray there (Connection refused)"),
        (["models", "--ray", "127.0.0.1:x"], "HOST:PORT"),
        (["models", "--ray", ""], "argument --ray: HOST:PORT"),
    ],
)
def test_wrong_usage_is_one_line_and_no_file(tmp_path, models, words, message):
    (tmp_path / "empty").mkdir()
    status, output, messages = fleet_of(*words, "-o", "out", cwd=tmp_path)
    assert (status, output) == (2, "") and len(messages) == 1 and messages[0].startswith("tmeter: ") and message in messages[0]
    assert not (tmp_path / "out").exists()


def test_a_missing_output_folder_is_reported(tmp_path, models):
    status, _, messages = fleet_of("models", cwd=tmp_path)
    assert status == 2 and "an output folder is missing" in messages[0]


def test_exit_statuses(tmp_path, models):
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"no model")
    status, output, messages = fleet_of(models, bad, tmp_path / "gone.pt2", "-o", tmp_path / "out")
    assert status == 4 and "6 models, 2 failed" in output
    assert [line.split(": ")[1] for line in messages] == [str(bad), str(tmp_path / "gone.pt2")]
    assert len(fleet.load(tmp_path / "out").failed) == 2
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ncase "$*" in *c.safe*) kill -SEGV $$;; esac\nexec "{PROGRAM}" "$@"\n')
    program.chmod(0o755)
    status, _, messages = fleet_of(models, bad, "-o", tmp_path / "out2", "--retries", 0, TMETER_PROGRAM=str(program))
    assert status == 1 and "SIGSEGV" in messages[0] + messages[1]


def test_a_list_of_100_000_with_damaged_lines(tmp_path, models):
    """Each damaged line is reported (the first few by number), all other lines are kept, and it takes seconds."""
    odd = models / os.fsdecode(b"odd\xff.safetensors")
    write(odd, ONE)
    lines = [os.fsencode(models / "a.safetensors")] * 99_990
    lines[17] = b"models/\0x.pt2"
    lines[4000] = b"x" * 5000
    lines[5000], lines[6000] = b"", b"# a remark"
    lines[7000] = os.fsencode(odd)
    lines[8000] = b"no/such/file.pt2"
    begin = time.process_time()
    status, output, messages = fleet_of("--list", "-", "-o", tmp_path / "out", stdin=b"\r\n".join(lines))
    assert status == 4 and "3 models, 1 failed" in output
    assert messages[0] == "tmeter: standard input:18: a control character, so not a path"
    assert messages[1] == "tmeter: standard input:4001: 5,000 bytes, more than a path has"
    assert "no/such/file.pt2: " in messages[2] and len(messages) == 3 and time.process_time() - begin < 60


def test_the_plan(tmp_path, models):
    status, output, messages = fleet_of(models, "-o", tmp_path / "out", "--dry-run")
    assert (status, messages) == (0, []) and "models: 4" in output and not (tmp_path / "out").exists()
    assert f"bytes: {sum(p.stat().st_size for p in models.rglob('*.*') if p.suffix != '.txt'):,}" in output
    fleet_of(models, "-o", tmp_path / "out")
    assert "files: 4, 4 of them analysed already" in fleet_of(models, "-o", tmp_path / "out", "--dry-run")[1]


def test_progress_has_rate_failures_and_time_left():
    from tmeter.fleet.progress_line import words

    messages = words(fleet.Progress(30, 3, 100, 60_000_000, 10.0, 2, {"ModelError": 2, "WorkerLostError": 1}, 20))
    # 20 files in 10 s are 2 a second; the remaining 70 take 35 s.
    assert messages == "30 of 100 files · 2.0 files/s, 6 MB/s · 3 failed (ModelError 2, WorkerLostError 1) · 2 retried · 35 s left"


def test_rows_without_reports(tmp_path, models):
    status, _, _ = fleet_of(models, "-o", tmp_path / "out", "--no-reports")
    found = fleet.load(tmp_path / "out")
    assert status == 0 and not (tmp_path / "out/reports").exists() and found.row(str(models / "a.safetensors"))["params"] == 1
    with pytest.raises(tmeter.Error, match="was not kept"):
        found.result(str(models / "a.safetensors"))
    assert fleet_of(models, "-o", tmp_path / "out")[0] == 0  # now whole reports are requested
    assert fleet.load(tmp_path / "out").result(str(models / "a.safetensors")).params == 1


def test_loading_a_folder_without_results(tmp_path):
    with pytest.raises(tmeter.UsageError, match="there are no results of a fleet"):
        fleet.load(tmp_path)


def test_a_large_table_is_paged_and_has_one_schema(tmp_path, monkeypatch):
    """2,300 rows: the page has 2,000, Parquet three files of one schema; rows of the table are read on request."""
    import pyarrow.parquet
    from tmeter.fleet import table

    monkeypatch.setattr(table, "ROWS_EACH", 1000)
    monkeypatch.setattr(table, "_IN_MEMORY", 100)
    write(tmp_path / "m.safetensors", ONE)
    models = {f"m{i}": tmp_path / "m.safetensors" for i in range(2300)}
    models["bad"] = tmp_path / "gone.safetensors"
    found = fleet.analyze(models, tmp_path / "out", engine="local", workers=2)
    assert len(found.models) == 2301 and found.models[2299]["params"] == 1 and found.models[-1]["status"] == "failed"
    parts = sorted((tmp_path / "out/models.parquet").iterdir())
    assert len(parts) == 3 and len({str(pyarrow.parquet.read_schema(p)) for p in parts}) == 1
    whole = pyarrow.parquet.read_table(tmp_path / "out/models.parquet")
    assert whole.num_rows == 2301 and whole.schema.field("params").type == "int64" and whole.column("params").null_count == 1
    loaded = fleet.load(tmp_path / "out")
    with monkeypatch.context() as no_scan:
        no_scan.setattr(table.Rows, "read", None)  # the offsets of rows are known
        assert list(fleet.load(tmp_path / "out").models) == list(loaded.models) == list(found.models)
    rows = list(loaded.models)
    for part in (slice(250, 520), slice(-3, None), slice(700, 10, -7), slice(5, 5), slice(0, 9999, 300)):
        assert loaded.models[part] == rows[part], part
    assert loaded.models[-2301] == rows[0] and loaded.models[255:257] == rows[255:257]
    with pytest.raises(IndexError):
        loaded.models[2301]
    with open(tmp_path / "out/models.jsonl", "ab") as file:  # the file was replaced by one that ends inside a row
        file.write(json.dumps(rows[0]).encode() + b"\n{")
    assert list(fleet.load(tmp_path / "out").models) == [*rows, rows[0]]
    page = (tmp_path / "out/index.html").read_text()
    assert page.count("<tr>") == 2001 and "2,301 models, 1 failed" in page and "read_parquet" in page
    index = json.loads((tmp_path / "out/index.json").read_text())
    assert index["totals"]["params"] == 2300 and len(index["modules"]) == 2301
    assert tmeter.Result.load(tmp_path / "out/index.json").total("params") == 2300


@pytest.mark.parametrize("each", [50_000, 20])
def test_the_page_s_query_finds_the_omitted_rows(tmp_path, monkeypatch, each):
    """DuckDB itself reads one file, and a folder of files."""
    import html

    from beside import installed

    folder, why = installed("duckdb")
    if folder is None:
        pytest.skip(f"DuckDB cannot be installed: {why}")
    for name, of in (("PAGE_MOST", "run"), ("ROWS_EACH", "page"), ("ROWS_EACH", "table")):
        monkeypatch.setattr(f"tmeter.fleet.{of}.{name}", 50 if name == "PAGE_MOST" else each)
    models = {f"m{i}": write(tmp_path / "m.safetensors", ONE) for i in range(60)}
    models["it's \"gone\""] = tmp_path / "gone.pt2"
    fleet.analyze(models, tmp_path / "out", engine="local", workers=1)
    page = (tmp_path / "out/index.html").read_text()
    query = html.unescape(re.search('<code>duckdb -c &quot;(.*?)&quot;</code>|<code>duckdb -c "(.*?)"</code>', page)[2])
    code = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.argv[1]).fetchall()))"
    done = subprocess.run([sys.executable, "-c", code, query], cwd=tmp_path / "out", capture_output=True, env={"PYTHONPATH": str(folder)})
    assert json.loads(done.stdout) == [["it's \"gone\"", f"{tmp_path}/gone.pt2: no such file"]], done.stderr


def test_the_index_is_that_of_merge(tmp_path):
    """Values and statuses equal those of `tmeter merge --index` over the same reports."""
    models = {n: FIXTURES / f"models/{n}.pt2" for n in ("resnet50", "gpt2_like", "dynamic_bert")}
    models["weights"] = FIXTURES / "trained/model.safetensors"
    fleet.analyze(models, tmp_path / "out", engine="local", plugins="params,flops,memory,param-stats")
    tmeter.program.run(["merge", "--index", str(tmp_path / "out/reports"), "--report", f"json={tmp_path}/native.json"])
    tmeter.program.run(["show", str(tmp_path / "out/index.json"), "--report", f"json={tmp_path}/ours.json"])
    ours, native = (json.loads((tmp_path / f"{n}.json").read_text()) for n in ("ours", "native"))
    by_name = lambda report: {m["path"]: {k: v for k, v in m.items() if k not in ("id", "children")} for m in report["modules"]}  # noqa: E731
    assert by_name(ours) == by_name(native)
    for part in ("totals", "totals_status", "metrics"):
        assert ours[part] == native[part], part


def test_stand_ins_for_measuring_the_driver(tmp_path):
    """Runs the generator of docs/fleet.md with 500 tasks instead of 1,000,000."""
    bench = Path(os.environ["SOURCE"]) / "tests/bench/fleet_stand_ins.py"
    path = os.pathsep.join(filter(None, [str(bench.parent), os.environ.get("PYTHONPATH")]))
    words = [sys.executable, bench, "--tasks", "500", "--output", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0 and "500 rows open in" in done.stdout, done.stderr
    found = fleet.load(tmp_path / "out")
    # torchvision's documentation: 25,557,032 parameters of the ResNet-50 in every row.
    assert {row["params"] for row in found.models} == {25_557_032} and len(found.models) == 500
