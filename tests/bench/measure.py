"""Measures wall time and peak memory of whole processes (``launch.py``) in interleaved order.

Start-up is included, because users wait for it. Cases are interleaved, so that a slow minute of a shared
machine affects all of them. The median is reliable, the mean is not.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

LAUNCH = [sys.executable, "-I", "-S", str(Path(__file__).parent / "launch.py")]
OUTPUT_KEPT = 1 << 20  # bytes


@dataclass
class Case:
    """One command and its samples."""

    label: str
    command: list[str]
    repeat: int
    seconds: list[float] = field(default_factory=list)
    peak_bytes: list[int] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)  # seconds of the process and its children
    output: str = ""  # of the latest run
    failure: str = ""  # why there are no samples

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def fastest(self) -> float:
        return min(self.seconds)

    @property
    def memory(self) -> float:
        return statistics.median(self.peak_bytes)


def run_once(command: list[str]) -> tuple[float, int, float, str]:
    """Seconds from fork to exit, the peak resident bytes, processor seconds, and the standard output."""
    with tempfile.NamedTemporaryFile() as output:
        environment = os.environ | {"LAUNCH_OUTPUT": output.name}
        launched = subprocess.run(LAUNCH + command, env=environment, capture_output=True, text=True)
        if launched.returncode != 0:
            raise RuntimeError(failure_of(command))
        seconds, peak_kib, processor = launched.stdout.split()
        printed = output.read(OUTPUT_KEPT).decode(errors="replace")
        return float(seconds), int(peak_kib) * 1024, float(processor), printed


def failure_of(command: list[str]) -> str:
    """Runs a failed command again to get its message."""
    again = subprocess.run(command, capture_output=True, text=True, errors="replace")
    messages = again.stderr.strip().splitlines() or ["and no message"]
    return f"status {again.returncode}, {messages[-1][:300]}"


def measure(cases: list[Case], warm_up: int = 1) -> None:
    """Runs every case ``case.repeat`` times, spread evenly over as many rounds as the largest number. A warm-up fills
    the page cache and is not counted. A case that fails in it is left out with its message."""
    for case in cases:
        try:
            for _ in range(warm_up):
                run_once(case.command)
        except RuntimeError as error:
            case.failure = str(error)
    able = [case for case in cases if not case.failure]
    rounds = max((case.repeat for case in able), default=0)
    for i in range(rounds):
        for case in able:
            if (i + 1) * case.repeat // rounds > i * case.repeat // rounds:
                seconds, peak, processor, case.output = run_once(case.command)
                case.seconds.append(seconds)
                case.peak_bytes.append(peak)
                case.processor.append(processor)


def empty_process(repeat: int = 20) -> Case:
    """``/bin/true``: the time and memory of the measurement itself."""
    case = Case("empty process", ["/bin/true"], repeat)
    measure([case])
    return case
