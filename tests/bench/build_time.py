"""Measures the CPU time of a build.

    /usr/bin/python3 build_time.py [--source DIR] [--torch DIR] [--jobs 2] \\
        [--output docs/dev/build.md]

Builds DIR (any commit's working tree; default this one) from scratch in a temporary folder and without
a compiler cache: first the targets of `./dev demo`, then the unit tests. Wall time is unreliable
on a shared machine. CPU time also grows there, so a fixed file is compiled before and after each build, and its
time is reported with the others. The budget is that of the reference machine of `./dev budget`: where the fixed file takes
longer than there, the minutes are also given in proportion. Replaces the section "Current" at the end of the page.
"""

import argparse
import datetime
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HEADING = "## Current"
ENVIRONMENT = {**os.environ, "CCACHE_DISABLE": "1"}
REFERENCE = "#include <algorithm>\n#include <functional>\n#include <map>\n#include <regex>\n#include <string>\n" \
            "std::regex r{\"a|b\"};\nstd::map<std::string, std::function<int()>> m;\n"
REFERENCE_SECONDS = 2.7  # of the fixed file: the middle of 2.4 to 3.1 s, as docs/dev/build.md recorded it for 34006a0 to 4ee7fb1


def cpu_seconds(command: list) -> float:
    """User and system time of the command and of all processes it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=sys.stderr, env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def reference(folder: Path) -> float:
    source = folder / "reference.cpp"
    source.write_text(REFERENCE)
    return cpu_seconds(["c++", "-std=c++20", "-O2", "-c", source, "-o", folder / "reference.o"])


def gauged(folder: Path) -> float:
    return statistics.median(reference(folder) for _ in range(5))


def build(source: Path, folder: Path, jobs: int, options: list) -> float:
    subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                    "-DCCACHE=OFF", *options], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    return cpu_seconds(["cmake", "--build", folder, "--parallel", str(jobs)])


def torch_options(folder: Path | None) -> list:
    return [f"-DTMETER_TORCH_DIR={folder}"] if folder else ["-DTMETER_TORCH=OFF"]


def measured(options: argparse.Namespace) -> tuple:
    """CPU seconds of both builds, and of the fixed file before, between and after them: medians of five."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        gauge = [gauged(folder)]
        times = []
        for tests in ("OFF", "ON"):
            arguments = [f"-DTMETER_TESTS={tests}", "-DPython3_EXECUTABLE=/usr/bin/python3", *torch_options(options.torch)]
            times.append(build(options.source, folder / "build", options.jobs, arguments))
            gauge.append(gauged(folder))
    return times, gauge


def row(name: str, seconds: float, gauge: list) -> str:
    slowness = max(1.0, statistics.mean(gauge) / REFERENCE_SECONDS)
    return f"| {name} | {seconds / 60:.1f} | {seconds / 60 / slowness:.1f} | ≤ 6 |"


def section(times: list, gauge: list, options: argparse.Namespace) -> str:
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return "\n".join([
        HEADING, "",
        f"From nothing, without a compiler cache, {options.jobs} jobs, {datetime.date.today()}, load average {load}"
        + ("" if options.torch else ", without LibTorch") + " (`./dev build-time`). A fixed file of 7 lines that includes "
        f"`<regex>` took {min(gauge):.1f} to {max(gauge):.1f} s of CPU meanwhile, and {REFERENCE_SECONDS} s on the reference machine.", "",
        "| build | CPU minutes | on the reference machine | budget |",
        "|---|--:|--:|--:|",
        row("`./dev demo`: program and plugins", times[0], gauge[:2]),
        row("the tests on top", times[1], gauge[1:]), ""])


def kept_section(page: Path) -> str:
    """The section on the page, or an empty text."""
    text = page.read_text() if page.exists() else ""
    return text[text.index(HEADING):] if HEADING in text else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--torch", type=Path, help="LibTorch; without it that plugin is left out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, help="Markdown page whose section is replaced")
    options = parser.parse_args()
    text = section(*measured(options), options)
    print(text)
    if options.output:
        page = options.output.read_text() if options.output.exists() else ""
        page = page.removesuffix(kept_section(options.output))
        options.output.write_text((page.rstrip("\n") + "\n\n" + text).lstrip("\n"))


if __name__ == "__main__":
    main()
