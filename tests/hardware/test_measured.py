"""`--hardware auto`: this machine is measured once, and again if the stored result is unusable.

The machine's rates are unknown to the tests, which only exclude impossible ones.
"""
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import BUILD, HAVE_TORCH, MODELS, SANITIZED, TMETER, CliTest, build_plugin, main, tmeter  # noqa: E402

MODEL = MODELS / "dynamic_mlp.pt2"
PROGRAM = BUILD / "lib" / "tmeter" / "programs" / "measure-machine"
VALUES = 'cat "$VALUES"'
FAST = 1e16  # operations or bytes a second: a hundred times the fastest single chip


def leaves(table, prefix=""):
    """{dotted key: leaf}"""
    found = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= {prefix + key: value} if "value" in value else leaves(value, prefix + key + ".")
    return found


class Measured(CliTest):
    """One real measurement for all tests of the class, because it takes seconds."""

    @classmethod
    def setUpClass(cls):
        done = subprocess.run([PROGRAM, "2026-11-22"], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0 and done.stderr == "", done
        cls.text = done.stdout
        cls.values = {key: leaf["value"] for key, leaf in leaves(tomllib.loads(cls.text)).items()}
        cls.leaves = leaves(tomllib.loads(cls.text))

    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        self.kept = self.cache / "tmeter" / "hardware.toml"
        self.idle = self.file("loadavg", "0.00 0.00 0.00 1/100 1\n")

    def own_tmeter(self, program):
        """This tmeter in a folder of its own, with a shell script as its measuring program."""
        prefix = self.folder / "own"
        if not prefix.exists():
            (prefix / "bin").mkdir(parents=True)
            shutil.copy(TMETER, prefix / "bin" / "tmeter")
            (prefix / "lib" / "tmeter" / "programs").mkdir(parents=True)
            (prefix / "lib" / "tmeter" / "plugins").symlink_to((BUILD / "lib" / "tmeter" / "plugins").resolve())
            (prefix / "share" / "tmeter").mkdir(parents=True)  # without the model that LibTorch runs
            (prefix / "share" / "tmeter" / "hardware").symlink_to((BUILD / "share" / "tmeter" / "hardware").resolve())
            (self.folder / "values").write_text(self.text)
        script = prefix / "lib" / "tmeter" / "programs" / "measure-machine"
        script.unlink(missing_ok=True)
        if program is not None:
            script.write_text("#!/bin/sh\n" + program)
            script.chmod(0o755)
        return prefix / "bin" / "tmeter"

    def auto_with(self, program, *arguments, **environment):
        """A run whose measuring program is this shell script; $VALUES is a file with real values."""
        env = {**os.environ, "TMETER_PLUGIN_PATH": "", "XDG_DATA_HOME": "/nonexistent", "XDG_CACHE_HOME": str(self.cache),
               "VALUES": str(self.folder / "values"), "TMETER_LOADAVG": str(self.idle), **environment}
        return subprocess.run([self.own_tmeter(program), "--hardware=auto", "--plugins=roofline", *arguments, MODEL],
                              capture_output=True, text=True, timeout=120, env=env)

    def auto(self, *arguments, **environment):
        return tmeter("--hardware=auto", "--plugins=roofline", *arguments, MODEL, timeout=300,
                      env={"XDG_CACHE_HOME": str(self.cache), "TMETER_LOADAVG": str(self.idle), **environment})

    def test_every_value_is_possible_and_has_a_source(self):
        for key, leaf in self.leaves.items():
            with self.subTest(key=key):
                self.assertTrue(0 < leaf["value"] < FAST)
                self.assertRegex(leaf["source"], r"^measured 2026-11-22")
                self.assertIn(leaf["unit"], ("MAC/s", "op/s", "B/s", "B"))

    def test_all_values_of_the_estimates_are_measured(self):
        for family, types in {"peak.mac": ("float64", "float32", "float16", "bfloat16", "int8", "int32"),
                              "peak.op": ("float64", "float32", "float16", "bfloat16", "int8", "int32", "int64")}.items():
            for dtype in types:
                self.assertIn(f"{family}.{dtype}", self.values)
                self.assertIn(f"single.{family}.{dtype}", self.values)
        self.assertIn("peak.dram", self.values)
        self.assertGreaterEqual(len({key.split(".")[1] for key in self.values if key.startswith("isa.")}), 1)

    def test_rates_are_in_an_order_that_no_machine_can_break(self):
        f = self.values
        self.assertGreaterEqual(f["peak.mac.float32"], f["single.peak.mac.float32"])
        # the same registers hold twice as many elements; a wide margin for a busy machine
        self.assertGreaterEqual(1.5 * f["single.peak.mac.float32"], f["single.peak.mac.float64"])
        for key in [k for k in f if k.startswith("single.peak.mac.")]:
            self.assertGreaterEqual(f[key] * 1.001, max(v for k, v in f.items() if k.startswith("isa.") and k.endswith(key[6:])))
        # With a sanitizer's checks the loop is slower than the memory: both rates are that of the loop.
        if "single.read.l1" in f and not SANITIZED:
            self.assertGreater(f["single.read.l1"], f["single.read.dram"])

    def test_arithmetic_is_really_done(self):
        """A loop that the compiler removed would show rates that no clock below 8 GHz allows."""
        lanes = {"AVX3": 16, "AVX2": 8, "SSE4": 4, "SSSE3": 4, "SSE2": 4, "NEON": 4, "SCALAR": 1, "EMU128": 4}
        units = 4  # vector units; no core has more
        for name, width in lanes.items():
            for family in ("peak.mac", "peak.op"):
                rate = self.values.get(f"isa.{name}.{family}.float32")
                if rate:
                    self.assertLess(rate, width * units * 8e9, name)
        dot = self.values.get("isa.AVX512_VNNI.peak.mac.int8")
        if dot:
            self.assertLess(dot, 64 * 2 * 8e9)

    def test_sizes_are_those_of_the_machine(self):
        total = int(re.search(r"MemTotal:\s+(\d+) kB", pathlib.Path("/proc/meminfo").read_text())[1]) * 1024
        self.assertAlmostEqual(self.values["capacity.dram"] / total, 1, delta=1e-5)
        sizes = [self.values[key] for key in ("cache.l1", "cache.l2", "cache.l3") if key in self.values]
        self.assertEqual(sizes, sorted(sizes))

    @unittest.skipUnless(HAVE_TORCH, "no LibTorch")
    def test_operators_have_an_overhead_and_efficiencies(self):
        done = subprocess.run([TMETER, "hardware", "measure"], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.cache)})
        self.assertEqual(done.returncode, 0, done.stderr)
        values = {key: leaf["value"] for key, leaf in leaves(tomllib.loads(done.stdout)).items()}
        self.assertTrue(0 < values["overhead.operator"] < 1)
        for kind in ("convolution", "matmul"):
            self.assertTrue(0 < values[f"efficiency.{kind}"] <= 1)
        for kind in ("normalization", "activation", "elementwise", "pooling", "softmax", "copy"):
            self.assertTrue(0 < values[f"bandwidth.{kind}"] < FAST)

    def test_shares_are_medians_by_class(self):
        """With an executor of a known clock: operator i of the graph takes i + 1 µs (tests/cli/clockwork_plugin.cpp). The test
        calculates the shares independently, from the counts of the report."""
        own = self.own_tmeter(VALUES)
        peaks = {"peak.mac.float32": 1e11, "peak.op.float32": 1e11, "peak.dram": 1e10}
        (self.folder / "values").write_text("".join(
            f'[{key}]\nvalue = {value}\nunit = "x"\nsource = "measured"\n' for key, value in peaks.items()))
        plugins = own.parents[1] / "lib" / "tmeter" / "plugins"
        real = plugins.resolve()
        plugins.unlink()
        plugins.mkdir()
        for file in real.iterdir():
            if not file.name.startswith(("torch-backend", "resize")) and file.name != "plugins.index":
                (plugins / file.name).symlink_to(file)
        build_plugin("clockwork_plugin.cpp", plugins / "clockwork.tmeter")
        operators = own.parents[1] / "share" / "tmeter" / "calibration.pt2"
        shutil.copy(BUILD / "share" / "tmeter" / "calibration.pt2", operators)
        env = {**os.environ, "XDG_CACHE_HOME": str(self.cache), "VALUES": str(self.folder / "values"), "TMETER_CLOCKWORK": ""}
        done = subprocess.run([own, "hardware", "measure"], capture_output=True, text=True, timeout=120, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        values = {key: leaf["value"] for key, leaf in leaves(tomllib.loads(done.stdout)).items()}
        report = json.loads(subprocess.run([own, operators, "--report", "json"], capture_output=True, text=True, timeout=120,
                                           env=env).stdout)
        nodes = report["nodes"]
        overhead = sorted(1e-6 * (n["index"] + 1) for n in nodes if n["module"] == "calls")
        overhead = overhead[len(overhead) // 2]
        self.assertAlmostEqual(values["overhead.operator"], overhead, delta=1e-9)
        shares, rates = [], []
        for node in nodes:
            v, time = node["values"], 1e-6 * (node["index"] + 1)
            bytes_ = v["read_bytes"] + v["written_bytes"]
            time = max(time - overhead, 0.2 * time)
            arithmetic = v["macs"] / peaks["peak.mac.float32"] + v["other_flops"] / peaks["peak.op.float32"]
            if node["op"] == "aten::conv2d" and bytes_:
                if arithmetic > bytes_ / peaks["peak.dram"]:
                    shares.append(min(arithmetic / time, 1))
                else:
                    rates.append(bytes_ / time)
        self.assertGreater(len(shares), 3)
        self.assertAlmostEqual(values["efficiency.convolution"] / sorted(shares)[len(shares) // 2], 1, delta=1e-5)
        self.assertGreater(len(rates), 3)
        self.assertAlmostEqual(values["bandwidth.convolution"] / sorted(rates)[len(rates) // 2], 1, delta=1e-5)

    def test_the_machine_is_measured_once_and_kept(self):
        first = self.auto("--report=json")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("measuring this machine", first.stderr)
        document = json.loads(first.stdout)
        self.assertGreater(document["totals"]["predicted_time"], 0)
        self.assertIn("measured 20", {m["id"]: m for m in document["metrics"]}["predicted_time"]["provenance"]["text"])
        before = self.kept.stat()
        second = self.auto("--report=json")
        self.assertEqual((second.returncode, second.stderr), (0, ""))
        self.assertEqual(self.kept.stat().st_mtime_ns, before.st_mtime_ns)
        self.assertEqual(json.loads(second.stdout)["totals"]["predicted_time"], document["totals"]["predicted_time"])
        kept_values = leaves(tomllib.loads(self.kept.read_text()))
        if HAVE_TORCH:
            self.assertTrue(1e-8 < kept_values["overhead.operator"]["value"] < 1)
            for name in ("convolution", "matmul", "attention"):
                self.assertTrue(0 < kept_values[f"efficiency.{name}"]["value"] <= 1)
        else:
            self.assertIn("unmeasured", self.kept.read_text())
        # a profile like any other
        again = tmeter("--hardware", self.kept, "--plugins=roofline", "--report=json", MODEL)
        self.assertEqual(json.loads(again.stdout)["totals"]["predicted_time"], document["totals"]["predicted_time"])
        anew = subprocess.run([TMETER, "hardware", "measure"], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.cache), "TMETER_LOADAVG": str(self.idle)})
        self.assertEqual(anew.returncode, 0)
        self.assertEqual(anew.stdout, self.kept.read_text())
        self.assertNotEqual(self.kept.stat().st_mtime_ns, before.st_mtime_ns)

    def test_values_of_a_busy_machine_are_not_kept_and_the_report_warns(self):
        busy = self.file("busy", "999.00 0.00 0.00 9/100 1\n")
        files = [self.folder / f"report.{kind}" for kind in ("json", "html")]
        reports = ["--report=text", *(f"--report={file}" for file in files)]
        done = self.auto_with(VALUES, *reports, TMETER_LOADAVG=str(busy))
        self.assertEqual(done.returncode, 0, done.stderr)
        document, page = (file.read_text() for file in files)
        warnings = json.loads(document)["warnings"]
        self.assertEqual([w for w in warnings if "measured on a busy machine (load 999 on " in w], warnings)
        blocks = re.findall(r'<script type="application/octet-stream" id="tmeter-[^"]*">([^<]*)<', page)
        self.assertIn(json.dumps(warnings[0])[1:-1], "".join(zlib.decompress(base64.b64decode(b), -15).decode() for b in blocks))
        self.assertIn("rates come out low and are not kept", done.stderr)
        self.assertFalse(self.kept.exists())
        self.assertRegex(done.stdout, r"warning: the rates of hardware profile 'auto' are low,")
        done = self.auto_with(VALUES)  # because no measurement was stored
        self.assertIn("measuring this machine", done.stderr)
        self.assertNotIn("are low", done.stdout)
        self.assertTrue(self.kept.exists())

    def test_unusable_values_are_measured_again(self):
        self.assertEqual(self.auto_with(VALUES).returncode, 0)
        good = self.kept.read_text()
        first, rest = good.split("\n", 1)
        for name, text in {"another machine": re.sub(r"machine \w+", "machine " + "0" * 32, first) + "\n" + rest,
                           "another version": first.replace("tmeter ", "tmeter 0.") + "\n" + rest,
                           "cut": good[: len(good) // 2], "nothing": "", "garbage": "\x00\xff[[[",
                           "no rates": first + "\nname = 'auto'\n# complete\n",
                           "a rate of nothing": re.sub(r"(\[peak\.dram\]\nvalue = )\S+", r"\g<1>0", good)}.items():
            with self.subTest(kept=name):
                self.kept.write_text(text, errors="surrogateescape")
                done = self.auto_with(VALUES)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("measuring this machine", done.stderr)
                self.assertTrue(self.kept.read_text().startswith(first))
                self.assertIn("overhead.operator and efficiency.* are unmeasured", self.kept.read_text())

    def test_an_unwritable_cache_is_a_note(self):
        blocked = self.file("blocked")
        done = self.auto_with(VALUES, XDG_CACHE_HOME=str(blocked))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cannot be kept", done.stderr)
        self.assertIn("predicted time", done.stdout)
        self.assertEqual(blocked.read_bytes(), b"")

    def test_a_folder_in_place_of_the_file(self):
        self.kept.mkdir(parents=True)
        done = self.auto_with(VALUES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cannot be kept", done.stderr)

    def test_a_pipe_in_place_of_the_file_is_not_waited_for(self):
        self.kept.parent.mkdir(parents=True)
        os.mkfifo(self.kept)
        done = self.auto_with(VALUES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not a regular file", done.stderr)

    def test_links_in_its_place_are_not_followed(self):
        self.assertEqual(self.auto_with(VALUES).returncode, 0)
        good = self.kept.read_text()
        elsewhere = self.file("elsewhere", good)
        for name in ("the file", "the folder"):
            with self.subTest(link=name):
                self.kept.unlink()
                if name == "the file":
                    self.kept.symlink_to(elsewhere)
                else:
                    self.kept.parent.rmdir()
                    (self.folder / "other").mkdir()
                    (self.folder / "other" / "hardware.toml").write_text(good)
                    self.kept.parent.symlink_to(self.folder / "other")
                done = self.auto_with(VALUES)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("measuring this machine", done.stderr)
                self.assertIn("cannot be kept", done.stderr)
                self.assertEqual(elsewhere.read_text(), good)

    def test_files_that_others_wrote_or_may_write_are_not_used(self):
        self.assertEqual(self.auto_with(VALUES).returncode, 0)
        self.assertEqual(self.kept.stat().st_mode & 0o777, 0o600)
        def of_another_user():
            os.chown(self.kept, 12345, 12345)
        changes = {"writable": lambda: self.kept.chmod(0o622), "of a group": lambda: self.kept.chmod(0o660)}
        if os.geteuid() == 0:
            changes["another user's"] = of_another_user
        for name, change in changes.items():
            with self.subTest(kept=name):
                self.assertNotIn("measuring", self.auto_with(VALUES).stderr)
                change()
                self.assertIn("measuring this machine", self.auto_with(VALUES).stderr)
                self.assertEqual((self.kept.stat().st_mode & 0o777, self.kept.stat().st_uid), (0o600, os.geteuid()))

    def test_a_failing_program_ends_the_run_with_the_reason(self):
        for name, program, words in (("is not there", None, "No such file"), ("fails", "exit 3", "ended with status 3"),
                                     ("crashes", "kill -SEGV $$", "ended by signal 11"), ("is silent", "exit 0", "did not print"),
                                     ("prints no values", "echo hello", "did not print"),
                                     ("prints without end", "head -c 3000000 /dev/zero", "did not print")):
            with self.subTest(program=name):
                done = self.auto_with(program)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("--hardware auto", done.stderr)
                self.assertIn(words, done.stderr)
                self.assertFalse(self.kept.exists())

    def test_other_profiles_measure_nothing(self):
        done = tmeter("--hardware=nvidia-a100", "--plugins=roofline", MODEL, env={"XDG_CACHE_HOME": str(self.cache)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(self.cache.exists())

    def test_ctrl_c_during_the_measurement(self):
        child = subprocess.Popen([self.own_tmeter("sleep 60"), "--hardware=auto", MODEL], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env={**os.environ, "XDG_CACHE_HOME": str(self.cache)}, start_new_session=True)
        self.assertIn("measuring", child.stderr.readline())
        os.killpg(child.pid, signal.SIGINT)
        self.assertIn(child.wait(60), (130, -signal.SIGINT))
        child.stdout.close(), child.stderr.close()
        self.assertFalse(self.kept.exists())

    def test_the_list_has_every_profile_and_this_machine(self):
        done = subprocess.run([TMETER, "hardware", "list"], capture_output=True, text=True)
        names = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertIn("nvidia-a100", names)
        self.assertEqual(names[-1], "auto")
        for wrong in ((), ("lst",), ("list", "x")):
            self.assert_refused(2, ["hardware list"], "hardware", *wrong)

    def test_the_program_alone(self):
        done = subprocess.run([PROGRAM], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))


if __name__ == "__main__":
    main()
