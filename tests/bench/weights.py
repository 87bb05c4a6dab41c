"""The page's section about weights: the statistics of every element of large files, compared with a
PyTorch script that computes the same (``param_stats_torch.py``)."""

import os
import subprocess
import sys
from pathlib import Path

from measure import Case, measure

HERE = Path(__file__).parent
GB, MB = 1e9, 1e6
SIZE = 2.6  # GB, bfloat16: a language model of 1.3 billion parameters
GROWING = (20.8,)  # GB


def make_file(folder: Path, size: float, sparse: bool) -> Path:
    """Written by ``make_weights.py``; a sparse file has holes instead of numbers."""
    path = folder / f"weights_{size:g}GB{'_sparse' if sparse else ''}.safetensors"
    if not path.exists():
        command = [sys.executable, str(HERE / "make_weights.py"), str(path), "--gb", str(size)]
        subprocess.run(command + (["--sparse"] if sparse else []), check=True, stdout=sys.stderr)
    return path


def settle(path: Path, again: bool) -> None:
    """Writes the file to disk, drops it from the page cache and reads it again, so that its cache pages are not fresh writes."""
    with path.open("rb", buffering=0) as file:
        os.fsync(file.fileno())
        if not again:
            return
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 22):
            pass


def tmeter_case(options, label: str, path: Path, repeat: int, spectral: bool = False) -> Case:
    settings = ["--columns=spectral_norm,stable_rank,effective_rank"] if spectral else []
    return Case(label, [str(options.tmeter), "--plugins=param-stats", *settings, str(path)], repeat)


def torch_case(options, label: str, path: Path) -> Case:
    return Case(label, [str(options.python), str(HERE / "param_stats_torch.py"), str(path)], 1)


def rate(path: Path, seconds: float) -> float:
    return path.stat().st_size / GB / seconds


def comparison(options) -> list[str]:
    path = make_file(options.work, SIZE, sparse=False)
    settle(path, again=True)
    ours = tmeter_case(options, "tmeter, without spectral norms", path, 5)
    ours_spectral = tmeter_case(options, "tmeter, with spectral norms", path, 1, spectral=True)
    theirs = [torch_case(options, "PyTorch script, without spectral norms", path)] if options.python else []
    measure([ours], warm_up=1)
    measure([ours_spectral, *theirs], warm_up=0)
    lines = [
        f"Every statistic of `param-stats` over {SIZE} GB of bfloat16 (`tests/bench/make_weights.py`), in one run; "
        "the PyTorch script (`tests/bench/param_stats_torch.py`) computes the same values.",
        "",
        "| process | median | fastest | rate | × tmeter | peak memory, mapped pages included |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    cases = [ours, ours_spectral, *theirs]
    for case in cases:
        if case.failure:
            lines.append(f"| {case.label} | not measured: {case.failure} | | | | |")
            continue
        lines.append(
            f"| {case.label} | {case.median:,.2f} s | {case.fastest:,.2f} s | {rate(path, case.median):,.2f} GB/s "
            f"| {case.median / ours.median:,.1f} | {case.memory / MB:,.0f} MB |"
        )
    return lines


def growth(options) -> list[str]:
    files = [make_file(options.work, size, sparse=True) for size in GROWING]
    cases = [tmeter_case(options, f"{size:g} GB", path, 3) for size, path in zip(GROWING, files)]
    measure(cases)
    lines = [
        "A sparse file of the same shapes, so that it fits on a disk and into the page cache; all elements are 0:",
        "",
        "| file | median | rate | peak memory |",
        "|--:|--:|--:|--:|",
    ]
    for case, path in zip(cases, files):
        if case.failure:
            lines.append(f"| {case.label} | not measured: {case.failure} | | |")
            continue
        lines.append(f"| {case.label} | {case.median:,.2f} s | {rate(path, case.median):,.2f} GB/s | {case.memory / MB:,.0f} MB |")
    return lines


def weights_section(options) -> list[str]:
    return ["## Weights", "", *comparison(options), "", *growth(options)]
