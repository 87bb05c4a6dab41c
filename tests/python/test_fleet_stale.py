"""tmeter.fleet never keeps a value of outdated content: changed files, profiles and plugins, on paths and behind URLs."""

import os
import shutil
import time
from pathlib import Path

import pytest
from served import Server
from shards import cut, write

import tmeter
from tmeter import fleet
from tmeter.fleet import files

FIXTURES = Path(os.environ["FIXTURES"])


def run(models, output, **options):
    return fleet.analyze(models, output, engine="local", workers=2, **options)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program that runs the shell code `before` and `after` around each analysis, and records each analysis."""
    real = tmeter.program.program_path()
    calls = tmp_path / "calls"

    class Program:
        def __init__(self):
            self.set()

        def set(self, before=":", after=":"):
            script = tmp_path / "program"
            script.write_text(
                f'#!/bin/sh\ncase "$*" in *probe*|merge*|plugin*) exec "{real}" "$@";; esac\n'
                f'echo x >>"{calls}"\nn=$(wc -l <"{calls}")\n{before}\n"{real}" "$@"; s=$?\n{after}\nexit $s\n'
            )
            script.chmod(0o755)

        @property
        def calls(self):
            return len(calls.read_text().split()) if calls.exists() else 0

    monkeypatch.setenv("TMETER_PROGRAM", str(tmp_path / "program"))
    tmeter.program.program_path.cache_clear()
    yield Program()
    tmeter.program.program_path.cache_clear()


ONE, TWO = {"a.weight": ([1], [1.0])}, {"a.weight": ([2], [1.0, 2.0])}


def test_a_file_that_is_replaced_while_it_is_read_is_read_again(tmp_path, program):
    model = write(tmp_path / "m.safetensors", ONE)
    write(tmp_path / "new", TWO)
    program.set(after=f'[ "$n" != 1 ] || mv "{tmp_path}/new" "{model}"')
    assert run([model], tmp_path / "out").models[0]["params"] == 2 and program.calls == 2
    assert run([model], tmp_path / "out").models[0]["params"] == 2 and program.calls == 2


def test_a_replacement_with_equal_size_and_time_is_noticed(tmp_path, program):
    """`cp -p` and `touch -r` keep the time, but the inode or its change time differs."""
    model = write(tmp_path / "m.safetensors", {"a.weight": ([2], [1.0, 2.0])})
    other = write(tmp_path / "new", {"a.weight": ([1, 2], [1.0, 2.0])})
    assert run([model], tmp_path / "out", plugins="params").models[0]["status"] == "ok"
    header, size = model.read_bytes(), model.stat().st_size
    content = other.read_bytes()[:size].ljust(size, b" ")
    times = model.stat().st_mtime_ns
    model.write_bytes(content if content != header else header[::-1])
    os.utime(model, ns=(times, times))
    run([model], tmp_path / "out", plugins="params")
    assert program.calls == 2


def test_a_constantly_changing_file_is_a_temporary_failure(tmp_path, program):
    model = write(tmp_path / "m.safetensors", ONE)
    program.set(after=f'touch "{model}"')
    (row,) = run([model], tmp_path / "out", retries=0).models
    assert row["status"] == "failed" and "was replaced while it was read" in row["error"]
    program.set()
    assert run([model], tmp_path / "out").models[0]["params"] == 1


def test_a_file_written_this_moment(tmp_path):
    """Within one step of the kernel's clock a change of content is invisible: reading waits for the next step."""
    model = write(tmp_path / "m.safetensors", ONE)
    begin = time.time()
    files.wait_for_next_tick(str(model))
    assert time.time() >= model.stat().st_mtime + files._TICK or time.time() - begin < 1


def test_an_edited_profile_and_an_edited_configuration(tmp_path, program):
    model = FIXTURES / "models/resnet50.pt2"
    profile, config = tmp_path / "mine.toml", tmp_path / "options.toml"
    shipped = Path(tmeter.program.program_path.__wrapped__()).parent  # the fixture's script is in tmp_path
    assert shipped == tmp_path
    found = next(Path(os.sys.prefix).glob("share/tmeter/hardware/nvidia-a100.toml"))
    profile.write_text(found.read_text())
    config.write_text("[plugin.flops]\nconvention = 'torch'\n")
    options = {"hardware": profile, "config": config, "plugins": "flops,energy"}
    first = run([model], tmp_path / "out", **options).models[0]
    assert run([model], tmp_path / "out", **options).models[0] == first and program.calls == 1
    text = profile.read_text()
    profile.write_text(text.replace("constant", "constant ", 1) if "constant" in text else text + "\n# edited\n")
    run([model], tmp_path / "out", **options)
    assert program.calls == 2
    config.write_text("[plugin.flops]\nconvention = 'fvcore'\n")
    assert run([model], tmp_path / "out", **options).models[0]["flops"] != first["flops"] and program.calls == 3
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    shutil.copy(profile, moved)
    run([model], tmp_path / "out", **{**options, "hardware": moved / "mine.toml"})
    assert program.calls == 3  # the same content


def test_a_plugin_that_was_rebuilt(tmp_path, program, monkeypatch):
    folder = tmp_path / "plugins"
    folder.mkdir()
    monkeypatch.setenv("TMETER_PLUGIN_PATH", str(folder))
    own = Path(os.sys.prefix) / "lib/tmeter/plugins"
    shutil.copy(own / "activations.tmeter", folder / "mine.tmeter")
    model = write(tmp_path / "m.safetensors", ONE)
    run([model], tmp_path / "out", plugins="params")
    run([model], tmp_path / "out", plugins="params")
    assert program.calls == 1
    shutil.copy(own / "architecture.tmeter", folder / "mine.tmeter")
    run([model], tmp_path / "out", plugins="params")
    assert program.calls == 2


def test_a_profile_that_changes_during_the_run(tmp_path, program):
    model = write(tmp_path / "m.safetensors", ONE)
    profile = tmp_path / "mine.toml"
    profile.write_text(next(Path(os.sys.prefix).glob("share/tmeter/hardware/nvidia-a100.toml")).read_text())
    program.set(after=f'[ "$n" != 1 ] || echo "# edited" >>"{profile}"')
    run([model], tmp_path / "out", plugins="params,energy", hardware=profile)
    assert program.calls == 2
    run([model], tmp_path / "out", plugins="params,energy", hardware=profile)
    assert program.calls == 2


def test_one_file_under_several_names_is_analysed_once(tmp_path, program):
    model = write(tmp_path / "m.safetensors", TWO)
    (tmp_path / "link.safetensors").symlink_to(model)
    os.link(model, tmp_path / "hard.safetensors")
    names = {"a": model, "b": tmp_path / "link.safetensors", "c": tmp_path / "hard.safetensors", "d": f"{tmp_path}/./m.safetensors"}
    found = run(names, tmp_path / "out")
    assert [row["params"] for row in found.models] == [2] * 4 and program.calls == 1
    assert [row["source"] for row in found.models] == [str(s) for s in names.values()]
    assert all(found.result(name).params == 2 for name in names)


def test_refused_files_are_tried_again_when_they_change(tmp_path, program):
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"no model")
    models = {"bad": bad, "gone": tmp_path / "gone.safetensors", "ok": write(tmp_path / "m.safetensors", ONE)}
    assert len(run(models, tmp_path / "out").failed) == 2
    calls = program.calls
    found = run(models, tmp_path / "out")
    assert len(found.failed) == 2 and program.calls == calls
    assert found.row("bad")["error_kind"] == "ModelError"
    write(bad, TWO)
    write(tmp_path / "gone.safetensors", ONE)
    found = run(models, tmp_path / "out")
    assert not found.failed and program.calls == calls + 2 and found.row("bad")["params"] == 2


def test_the_index_of_a_checkpoint_that_changes(tmp_path, program):
    index = cut(FIXTURES / "trained/model.safetensors", tmp_path / "in", 2)
    assert run({"c": index}, tmp_path / "out").row("c")["params"] == 94_801
    calls = program.calls
    assert run({"c": index}, tmp_path / "out").row("c")["params"] == 94_801 and program.calls == calls
    index.write_text(index.read_text().replace("{", '{"metadata": {}, ', 1))
    assert run({"c": index}, tmp_path / "out").row("c")["params"] == 94_801
    assert program.calls == calls  # the shards are the same


# ── behind a URL ──


def test_http_by_etag_and_time(tmp_path, program):
    with Server() as server:
        server.put("m.safetensors", write(tmp_path / "m", ONE).read_bytes())
        (row,) = run([server.url("m.safetensors")], tmp_path / "out").models
        assert row["params"] == 1
        run([server.url("m.safetensors")], tmp_path / "out")
        assert program.calls == 1
        server.put("m.safetensors", write(tmp_path / "m", TWO).read_bytes())
        assert run([server.url("m.safetensors")], tmp_path / "out").models[0]["params"] == 2


def test_a_url_that_is_replaced_while_it_is_read(tmp_path, program):
    with Server() as server:
        one, two = (write(tmp_path / "m", t).read_bytes() for t in (ONE, TWO))
        server.put("m.safetensors", one)
        server.after_get = lambda name: server.put("m.safetensors", two)
        (row,) = run([server.url("m.safetensors")], tmp_path / "out").models
        assert (row["status"], row["params"]) == ("ok", 2)


def test_folders_and_split_files_are_identified_by_all_files_read(tmp_path):
    folder = tmp_path / "model"
    (folder / "unet").mkdir(parents=True)
    parts = [folder / f"m-0000{n}-of-00002.gguf" for n in (1, 2)]
    for file in (*parts, folder / "config.json", folder / "unet/config.json", folder / "log.txt"):
        file.write_text("x")
    for model, file, changes in (
        (folder, folder / "unet/config.json", True),
        (folder, folder / "log.txt", False),
        (parts[0], parts[1], True),
        (parts[0], folder / "config.json", False),
    ):
        before = files.stamp(str(model))
        file.write_text(file.read_text() + "y")
        assert (files.stamp(str(model)) != before) == changes, file
