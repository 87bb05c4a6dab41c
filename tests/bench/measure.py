"""Wall time and peak memory of whole processes, by ``posix_spawn`` and ``wait4``.

Start-up counts: that is what somebody who types the command waits for. Cases are interleaved, so
that a slow minute of a shared machine falls on all of them; read the median, doubt the mean.
"""

import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

#: Linux keeps the peak memory of the process image before ``exec``. A child therefore never
#: reports less than this interpreter's own memory, about 10 MB; see ``rss_floor``.
KIB = 1024


@dataclass
class Case:
    """One command and what was measured of it."""

    label: str
    command: list[str]
    repeat: int
    seconds: list[float] = field(default_factory=list)
    peak_bytes: list[int] = field(default_factory=list)
    output: str = ""  # of the latest run

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def fastest(self) -> float:
        return min(self.seconds)

    @property
    def memory(self) -> float:
        return statistics.median(self.peak_bytes)


def run_once(command: list[str]) -> tuple[float, int, str]:
    """Seconds from spawn to exit, the peak resident bytes, and what was printed."""
    with tempfile.TemporaryFile() as output:
        redirect = [
            (os.POSIX_SPAWN_DUP2, output.fileno(), 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        start = time.perf_counter()
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=redirect)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
        if status != 0:
            raise RuntimeError(failure_of(command, status))
        output.seek(0)
        return seconds, usage.ru_maxrss * KIB, output.read().decode(errors="replace")


def failure_of(command: list[str], status: int) -> str:
    """Runs a failed command again, to see what it has to say."""
    again = subprocess.run(command, capture_output=True, text=True, errors="replace")
    code = os.waitstatus_to_exitcode(status)
    return f"{' '.join(command)}\nended with {code}\n{again.stderr[-2000:]}"


def measure(cases: list[Case], warm_up: int = 1) -> None:
    """Runs every case ``case.repeat`` times, spread evenly over as many rounds as the largest
    asks for. The warm-up fills the page cache and is not counted."""
    for case in cases:
        for _ in range(warm_up):
            run_once(case.command)
    rounds = max(case.repeat for case in cases)
    for i in range(rounds):
        for case in cases:
            if (i + 1) * case.repeat // rounds > i * case.repeat // rounds:
                seconds, peak, case.output = run_once(case.command)
                case.seconds.append(seconds)
                case.peak_bytes.append(peak)


def empty_process(repeat: int = 20) -> Case:
    """``/bin/true``: the time and the memory that this way of measuring itself adds."""
    case = Case("empty process", ["/bin/true"], repeat)
    measure([case])
    return case
