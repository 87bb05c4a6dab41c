"""Shared by the command-line tests: running tmeter, and a folder for each test.

Environment variables (tests/CMakeLists.txt sets them): TMETER, the binary; FIXTURES, tests/fixtures; SOURCE, the
repository; BUILD, the build folder; HAVE_TORCH, 0 or 1; SANITIZE, the sanitizers of the build (address,undefined).
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blueprint"))
from folders import require_mappable  # noqa: E402

TMETER = os.environ.get("TMETER", "build/release/bin/tmeter")
SOURCE = pathlib.Path(os.environ.get("SOURCE", "."))
FIXTURES = pathlib.Path(os.environ.get("FIXTURES", "tests/fixtures"))
BUILD = pathlib.Path(os.environ.get("BUILD", "build/release"))
HAVE_TORCH = os.environ.get("HAVE_TORCH", "1") == "1"
MODELS = FIXTURES / "models"
_libtorch = BUILD / "plugins" / "torch_backend" / "libtorch-version"
# The LibTorch version the backend is built with: (2, 15, 0); empty without a backend.
LIBTORCH = tuple(map(int, _libtorch.read_text().strip().split("."))) if HAVE_TORCH and _libtorch.exists() else ()
SANITIZED = os.environ.get("SANITIZE", "") != ""
SANITIZES_THREADS = "thread" in os.environ.get("SANITIZE", "")  # which takes several times the memory
TIMEOUT = 600 if SANITIZED else 120
_CCACHE = ["ccache"] if shutil.which("ccache") else []
# For a process that ends in the sandbox or under a tracer, where LeakSanitizer cannot run.
NO_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}


def tmeter(*arguments, timeout=TIMEOUT, cwd=None, env=None):
    """Runs tmeter; returns the finished process with text output."""
    environment = {**os.environ, "TMETER_PLUGIN_PATH": "", "XDG_DATA_HOME": "/nonexistent", **(env or {})}
    return subprocess.run(
        [TMETER, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, cwd=cwd, env=environment)


def report(*arguments):
    """The JSON report of a run that must succeed."""
    done = tmeter(*arguments, "--report", "json")
    if done.returncode != 0:
        raise AssertionError(f"tmeter {arguments} exited {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class Outcome:
    def __init__(self, status, memory, seconds, stderr):
        self.status, self.memory, self.seconds, self.stderr = status, memory, seconds, stderr


def measured(folder, *arguments):
    """One run: its status, peak memory in bytes, processor seconds, and messages."""
    environment = {**os.environ, "TMETER_PLUGIN_PATH": "", "XDG_DATA_HOME": "/nonexistent"}
    with open(folder / "stderr", "wb") as errors:
        process = subprocess.Popen([TMETER, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=errors,
                                   env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # wait4 has already reaped it
    return Outcome(process.returncode, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime,
                   (folder / "stderr").read_text(errors="backslashreplace"))


def build_plugin(source, output, *flags, include=SOURCE / "sdk" / "include"):
    """Compiles a plugin of one file as a third party would: against the SDK's headers alone."""
    _build_library(["c++", "-std=c++20", "-O1", "-fvisibility=hidden"], SOURCE / "tests" / "cli" / source, output, flags, include)


def build_c_plugin(source, output, *flags, include=SOURCE / "sdk" / "include"):
    """The same for a file in tests/sdk, in plain C."""
    _build_library(["cc", "-std=c11", "-O1", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wpedantic", "-Werror"],
                   SOURCE / "tests" / "sdk" / source, output, flags, include)


def _build_library(compiler, source, output, flags, include):
    """Compiles and links apart, because ccache keeps objects only: several tests build the same plugin."""
    with tempfile.TemporaryDirectory(prefix="tmeter-object-") as folder:
        compiled = f"{folder}/plugin.o"
        subprocess.run([*_CCACHE, *compiler, "-fPIC", "-I", include, *flags, "-c", "-o", compiled, source], check=True)
        subprocess.run([compiler[0], "-shared", compiled, *flags, "-o", output], check=True)


class CliTest(unittest.TestCase):
    """A test with a separate folder, and the check that every mistake must pass."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tmeter-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content=b""):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def file_with_hole(self, name, content, size):
        """The content, then a hole up to `size` bytes. Skips the test where a file of this size cannot be mapped."""
        require_mappable(size)
        path = self.file(name, content)
        os.truncate(path, size)
        return path

    def assert_refused(self, status, words, *arguments, **kwargs):
        """One clear line on stderr, the documented status, nothing on stdout."""
        done = tmeter(*arguments, **kwargs)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stderr!r} {done.stdout[:200]!r}")
        self.assertEqual(done.stdout, "")
        lines = done.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, f"one line is expected: {done.stderr!r}")
        self.assertTrue(lines[0].startswith("tmeter: "), lines[0])
        for word in words:
            self.assertIn(word, done.stderr)
        return done


def main():
    unittest.main(verbosity=2)
