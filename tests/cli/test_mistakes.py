"""Command lines with mistakes, their one line of output and exit status: `mistakes.txt` shows them as a user sees them.

Each runs in a folder with the files that `Mistakes.setUp` writes. The line is all of stderr; stdout stays empty. The
lines are written by hand, and each change needs a reason: no script updates them.
"""
import json
import os
import pathlib
import shlex

from hostile import safetensors
from support import MODELS, CliTest, main, tmeter

TABLE = pathlib.Path(__file__).with_name("mistakes.txt")


def rows():
    """(command line, status, line) of each group of three lines: "$ tmeter …", "STATUS", the line."""
    lines = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    if len(lines) % 3:
        raise AssertionError(f"{TABLE}: three lines each are expected")
    for typed, status, line in zip(lines[::3], lines[1::3], lines[2::3]):
        if not typed.startswith("$ tmeter"):
            raise AssertionError(f"{TABLE}: '$ tmeter …' is expected, not {typed!r}")
        yield typed.removeprefix("$ tmeter"), int(status), line


class Mistakes(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "resnet50.pt2").symlink_to((MODELS / "resnet50.pt2").resolve())
        (self.folder / "mlp.pt2").symlink_to((MODELS / "dynamic_mlp.pt2").resolve())
        for name in ("folder", "models"):
            (self.folder / name).mkdir()
        for name in ("a.pt2", "b.pt2"):
            (self.folder / "models" / name).symlink_to((MODELS / "dynamic_mlp.pt2").resolve())
        os.mkfifo(self.folder / "pipe")
        self.file("empty.toml")
        self.file("deep.toml", "a." * 40_000 + "a = 1\n")
        self.file("nested.toml", "plugins = " + "[" * 1_000 + "]" * 1_000 + "\n")
        self.file("large.toml", "\n" * ((1 << 20) + 1))
        self.file("wrong.toml", "hardware = 'horowitz-45nm'\nplugin = 3\n")
        self.file("nan.toml", "[energy.mac]\nfloat32 = { value = nan, unit = 'J', source = 'x' }\n")
        self.file("page.html", "<!doctype html>\n<html></html>\n")
        self.file("net.onnx", "\x08\x08\x12")
        self.file("net.tflite", "\x1c\0\0\0TFL3")
        self.file("net.pt2.gz", b"\x1f\x8b\x08\0")
        self.file("net.py", "def make():\n    pass\n")
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + 64 * "0" + "\nsize 98\n"
        self.file("lfs.safetensors", pointer)
        self.file("train.ipynb", '{"cells": []}')
        self.file("config.json", "{}")
        self.file("paper.pdf", "%PDF-1.4")
        self.file("other.index.json", '{"metadata": {}}')
        shards = {"a": "half.safetensors", "b": "nosuch.safetensors", "c": "lost.safetensors"}
        self.file("shards.index.json", json.dumps({"weight_map": shards}))
        self.file("lfs.index.json", json.dumps({"weight_map": {"a": "lfs.safetensors"}}))
        self.file("weights.safetensors", safetensors({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)))
        self.file("lfs.pt", pointer)
        self.file("half.safetensors", safetensors({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, bytes(4)))

    def test_each_mistake_gives_one_line(self):
        tmeter("mlp.pt2", "--report", "json=saved.json", cwd=self.folder)
        before = set(os.listdir(self.folder))
        count = 0
        for typed, status, line in rows():
            with self.subTest(typed=typed):
                done = tmeter(*shlex.split(typed), cwd=self.folder, timeout=20)
                message = done.stderr.replace(str(self.folder), "FOLDER")
                self.assertEqual((done.returncode, message, done.stdout), (status, line + "\n", ""))
            count += 1
        self.assertGreaterEqual(count, 205)
        self.assertEqual(set(os.listdir(self.folder)), before)  # nothing was written


if __name__ == "__main__":
    main()
