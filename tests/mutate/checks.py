"""Runs tests, with limits: a mutant may hang, exhaust memory, fill the disk, or write to a wrong place."""

import os
import resource
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

GIB = 1 << 30
STALLED = 60  # wall-clock seconds for each second of processor time
LIMITS = {
    resource.RLIMIT_AS: 4 * GIB,
    resource.RLIMIT_FSIZE: GIB // 4,
    resource.RLIMIT_NPROC: 512,
    resource.RLIMIT_CORE: 0,
}
NOBODY = 65534


@dataclass(frozen=True)
class Check:
    """A test program of the build with a filter, or a Python script with arguments."""

    needs: tuple[str, ...]  # artefacts that must be linked with the mutant
    command: tuple[str, ...]
    name: str


@dataclass(frozen=True)
class Place:
    """The folders of a test run."""

    source: Path
    build: Path
    python: str

    def check(self, row: dict) -> Check:
        """Makes a check from a row of areas.toml."""
        if "program" in row:
            program, pattern = f"tests/{row['program']}", row.get("filter", "*")
            command = (str(self.build / program), f"--gtest_filter={pattern}", "--gtest_fail_fast", "--gtest_brief=1")
            return Check((program,), command, f"{row['program']} {pattern}")
        script = self.source / "tests" / row["script"]
        command = (self.python, "-B", str(script), "-f", *row.get("arguments", []))
        return Check(tuple(row["needs"]), command, " ".join([row["script"], *row.get("arguments", [])]))

    def environment(self, scratch: Path) -> dict[str, str]:
        """The environment of tests/CMakeLists.txt, with all output in the scratch folder."""
        own = {"TMETER": self.build / "bin/tmeter", "SOURCE": self.source, "BUILD": self.build,
               "FIXTURES": self.source / "tests/fixtures", "HAVE_TORCH": 0}  # fmt: skip
        own |= {name: scratch for name in ("HOME", "TMPDIR", "TEST_TMPDIR")}
        return {**os.environ, **{name: str(value) for name, value in own.items()}}


class Outcome(Enum):
    PASSED = auto()
    FAILED = auto()  # or crashed, or exceeded its processor time or memory
    STALLED = auto()  # the test waits, or the machine is busy


def run_check(check: Check, place: Place, seconds: int) -> Outcome:
    """Runs a check with a limit of processor seconds."""
    scratch = Path(tempfile.mkdtemp(prefix="tmeter-mutate-"))
    user = {}
    if os.geteuid() == 0:  # a mutant must not be able to replace /dev/null
        os.chown(scratch, NOBODY, NOBODY)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(check.command, cwd=scratch, env=place.environment(scratch), start_new_session=True,
                               preexec_fn=lambda: limit(seconds), **quiet, **user)  # fmt: skip
    try:
        return Outcome.PASSED if process.wait(STALLED * seconds) == 0 else Outcome.FAILED
    except subprocess.TimeoutExpired:
        return Outcome.STALLED
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # and its remaining processes
        except ProcessLookupError:
            pass
        process.wait()
        shutil.rmtree(scratch, ignore_errors=True)


def limit(seconds: int) -> None:
    for resource_id, value in (*LIMITS.items(), (resource.RLIMIT_CPU, seconds)):
        resource.setrlimit(resource_id, (value, value))


def seconds_of(check: Check, place: Place) -> int:
    """The time limit of a check: ten times its time with the unchanged file."""
    for _ in range(2):  # a check that waits may fail on a busy machine
        before = processor_seconds()
        if run_check(check, place, 600) is Outcome.PASSED:
            return int(2 + 10 * (processor_seconds() - before))
    raise SystemExit(f"mutate: {check.name} fails before anything is changed")


def processor_seconds() -> float:
    """The processor seconds of all ended descendants."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
