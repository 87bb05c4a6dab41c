"""ABI 1.0 and 1.1 as released (tests/abi): their plugins run, as binaries, in every later host."""
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from support import BUILD, MODELS, SOURCE, TMETER, CliTest, main

ABI = SOURCE / "tests/abi"
FROZEN, FROZEN_1_1 = ABI / "1.0", ABI / "1.1"
PLUGINS = {FROZEN: ("operators", "files"), FROZEN_1_1: ("runs",)}
CURRENT = SOURCE / "sdk/include"
HOSTS = {"current": TMETER, "grown": BUILD / "bin/tmeter-grown"}
GROWN = ("tmeter_results_api", "tmeter_tensor_desc", "tmeter_builder_api", "tmeter_graph_api")
MADE_BY = ["gcc", "-std=c99", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-s", "-Wl,--build-id=none"]
BINARIES = platform.machine() == "x86_64"
MODEL = MODELS / "dynamic_mlp.pt2"  # linear 4 × 64 → 4 × 256, gelu, linear → 4 × 10


def run(host, *arguments):
    return subprocess.run([HOSTS[host], *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


class Frozen(CliTest):
    """Tests of the binaries; Built has the same tests for builds of their sources."""

    def plugin(self, name):
        return self.released(name) / f"{name}.tmeter"

    def released(self, name):
        """The folder of the minor version that the plugin was built for."""
        return next(folder for folder, names in PLUGINS.items() if name in names)

    def setUp(self):
        super().setUp()
        if type(self) is Frozen and not BINARIES:
            self.skipTest(f"the binaries are x86-64's, this is {platform.machine()}")

    def test_operators(self):
        for host in HOSTS:
            with self.subTest(host=host):
                done = run(host, "--plugins=params,flops,frozen-operators", "--plugin", self.plugin("operators"),
                           "--set", "frozen-operators.times=3", "--report", "json", MODEL)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                document = json.loads(done.stdout)
                totals = document["totals"]
                self.assertEqual(totals["macs"], 75_776)  # 4 × (64 × 256 + 256 × 10)
                self.assertEqual(totals["frozen_elements"], 3 * 4 * (256 + 256 + 10))
                self.assertEqual(totals["frozen_children"], 2)  # up, down
                self.assertEqual([(f["rule"], f["text"], f["severity"]) for f in document["findings"]],
                                 [("frozen", "dynamic_mlp.pt2", "advice")])
                self.assertEqual([d["counts"] for d in document["distributions"]], [[3, 4]])
                self.assertEqual([s["points"] for s in document["series"]], [[[1, 4], [2, 2]]])

    def test_weights(self):
        weights = MODELS.parent / "checkpoints/net.safetensors"  # data from byte 24 of the header's offsets on: 4,380 bytes
        for host in HOSTS:
            with self.subTest(host=host):
                done = run(host, "--plugins=frozen-operators", "--plugin", self.plugin("operators"), "--report", "json", weights)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(json.loads(done.stdout)["totals"]["frozen_bytes"], 4_380)

    def test_an_in_house_operator(self):
        model = MODELS.parent / "in_house/net.pt2"
        for host in HOSTS:
            with self.subTest(host=host):
                done = run(host, "--plugins=params,frozen-operators", "--plugin", self.plugin("operators"), "--report", "json", model)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(json.loads(done.stdout)["totals"]["frozen_elements"], 0)

    def test_files(self):
        model = self.file("small.bin", b"FROZEN1\n7")
        for host in HOSTS:
            with self.subTest(host=host):
                files = ["--plugins=params,flops", "--plugin", self.plugin("files")]
                done = run(host, *files, "--report", "frozen", model)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                line = done.stdout.split(": ", 1)
                self.assertEqual(line[0], "Frozen")
                self.assertIn(" macs=105 ", line[1])  # 7 × 3 × 5
                self.assertIn("params=20 ", line[1])  # 3 × 5 + 5
                self.assertRegex(line[1], r" all counted; Frozen\(?.*Linear\(in_features=3, out_features=5, bias=True\)\n")
                bad = run(host, *files, self.file("bad.bin", b"FROZEN1\nx"))
                self.assertEqual(bad.returncode, 4)
                self.assertIn("a batch size from 1 to 9 is expected at byte 8", bad.stderr)


    def test_runs(self):
        for host in HOSTS:
            with self.subTest(host=host):
                done = run(host, "--inference", "--plugins=frozen-runs", "--plugin", self.plugin("runs"), "--report", "json", MODEL)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                totals = json.loads(done.stdout)["totals"]
                # linear, gelu, linear; 1000 ns and 64 bytes each
                self.assertEqual([totals[f"frozen_{m}"] for m in ("steps", "nanoseconds", "allocated")], [3, 3000, 192])
                refused = run(host, "--inference", "--device", "cuda", "--plugins=frozen-runs", "--plugin", self.plugin("runs"), MODEL)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("the clock ticks on the cpu only", refused.stderr)


class Built(Frozen):
    """The same sources, built against the frozen headers: they compile without a warning."""

    def include(self, name):
        return self.released(name) / "include"

    def plugin(self, name):
        out = self.folder / f"{name}.tmeter"
        if not out.exists():
            source = self.released(name) / f"{name}.c"
            subprocess.run([*MADE_BY, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", self.include(name), source, "-o", out], check=True)
        return out


class BuiltToday(Built):
    """The same sources, built against the current headers."""

    def include(self, name):
        return CURRENT


class Headers(CliTest):
    def test_frozen_files_are_unchanged(self):
        for folder in PLUGINS:
            done = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            listed = {line.split()[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
            there = {str(f.relative_to(folder)) for f in folder.rglob("*") if f.suffix in (".h", ".c", ".tmeter")}
            self.assertEqual(listed, there)

    def test_the_sources_give_the_binaries(self):
        version = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
        if not BINARIES or version != "12.2.0":
            self.skipTest(f"made by gcc 12.2.0 on x86-64, this is {version} on {platform.machine()}")
        for folder, name in ((folder, name) for folder, names in PLUGINS.items() for name in names):
            out = self.folder / f"{name}.tmeter"
            subprocess.run([*MADE_BY, "-I", "include", f"{name}.c", "-o", out], cwd=folder, check=True)
            self.assertEqual(out.read_bytes(), (folder / f"{name}.tmeter").read_bytes())

    def library(self, include, name, since):
        """Debug information of every struct of version `since`, compiled with these headers."""
        source = self.folder / "every.c"
        with source.open("w") as out:
            subprocess.run([sys.executable, ABI / "every_struct.py", since / "include"], stdout=out, check=True)
        library = self.folder / f"{name}.so"
        subprocess.run(["gcc", "-g", "-std=c99", "-fPIC", "-shared", "-I", include, source, "-o", library], check=True)
        return library

    @unittest.skipUnless(shutil.which("abidiff"), "abidiff (abigail-tools) is not installed")
    def test_the_abi_is_that_of_the_release(self):
        # Structs that have grown at their end: docs/abi.md, rule 2.
        grown = self.file("grown.suppr", "".join(f"[suppress_type]\nname = {name}\nhas_data_member_inserted_at = end\n" for name in GROWN))
        for since in PLUGINS:
            frozen = self.library(since / "include", "frozen", since)
            done = subprocess.run(["abidiff", "--suppressions", grown, frozen, self.library(CURRENT, "current", since)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
        changed = self.folder / "changed"
        shutil.copytree(since / "include", changed)
        base = changed / "tmeter/abi/base.h"
        text = re.sub(r"  int64_t i;(.*)\n  double f;", r"  double f;\1\n  int64_t i;", base.read_text())
        self.assertNotEqual(text, base.read_text())
        base.write_text(text)
        done = subprocess.run(["abidiff", "--suppressions", grown, frozen, self.library(changed, "changed", since)], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0, "abidiff does not see a member that has moved")
        self.assertIn("tmeter_number", done.stdout)


if __name__ == "__main__":
    main()
