"""Compares torchstat's formulas (the wheel's files, loaded one by one) with tmeter's table.

torchstat 0.0.7 does not import with current pandas and NumPy, so its functions are called on hooked modules, as its ModelHook
does. Its files come from the wheel on PyPI; without the wheel these tests are skipped.
"""

import contextlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys

import pytest

import tmeter
from tmeter.compat.torchstat import stat
from tmeter.compat.torchstat.table import collected, rounded

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")


def output_of(model, size, granularity=1):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert stat(model, size, granularity) is None
    return output.getvalue()


@pytest.fixture(scope="module")
def table():
    return output_of(torchvision.models.resnet18(), (3, 224, 224))


def rows(text):
    lines = text.split("=====")[0].splitlines()
    return {line.split()[0]: line.split() for line in lines[1:] if line.strip()}


def test_rows_and_totals(table):
    head = table.splitlines()[0]
    assert head.split() == (
        "module name input shape output shape params memory(MB) MAdd Flops MemRead(B) MemWrite(B) duration[%] MemR+W(B)"
    ).split()
    got = rows(table)
    # 64 filters of 3 × 7 × 7 at 112 × 112: 2 · 147 - 1 without bias; bytes: (3 · 224² + 9408) · 4 and 64 · 112² · 4.
    assert got["conv1"] == (
        "conv1 3 224 224 64 112 112 9408 3.06 235,225,088 118,013,952 639744 3211264".split()
        + [got["conv1"][-2], str(639744 + 3211264)]
    )
    assert got["conv1"][-2].endswith("%")
    assert got["maxpool"][1:7] == ["64", "112", "112", "64", "56", "56"]
    assert sum(float(r[-2][:-1]) for name, r in got.items() if name != "total") == pytest.approx(100, abs=1)
    assert "Total params: 11,689,512" in table and "Total memory: 25.65MB" in table


def test_as_torchstat_computes(table):
    """Sums over torchvision's ResNet-18 by compute_madd.py and compute_flops.py, recorded from torchstat 0.0.7."""
    total = rows(table)["total"]
    assert total[3] == "3,639,510,552" and total[4] == "1,822,151,680"


def test_granularity():
    model = torchvision.models.resnet18()
    result = tmeter.analyze(model, (3, 224, 224))
    leaves = [n.path for n in collected(result.root, 1)]
    assert "layer1.0.conv1" in leaves and "layer1" not in leaves
    # Blocks are two levels high. layer2.0 has three because of its downsample, so its plain sibling layer2.1 is listed beside it.
    three = [n.path for n in collected(result.root, 3)]
    assert three[:5] == ["conv1", "bn1", "relu", "maxpool", "layer1"]
    assert "layer2.0" in three and "layer2.1" in three
    output = output_of(model, (3, 224, 224), 3)
    assert "Total params: 11,689,512" in output and "layer1.0.conv1" not in output


def test_the_command(tmp_path):
    source = tmp_path / "net.py"
    source.write_text(
        "from torch import nn\nclass Net(nn.Sequential):\n"
        "    def __init__(self):\n        super().__init__(nn.Conv2d(3, 4, 3), nn.ReLU())\n"
    )
    command = [sys.executable, "-m", "tmeter.compat.torchstat", "-f", source, "-m", "Net", "-s", "3x8x8"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # 4 filters of 27 with a bias at 6 × 6: 2 · 27 each.
    assert rows(done.stdout)["0"][9] == f"{2 * 27 * 4 * 36:,}"
    for wrong, words in (
        (["-m", "Nett"], "no 'Nett'"),
        (["-s", "3x8xa"], "'a' is not a size"),
        (["-f", tmp_path / "missing.py"], "missing.py"),
    ):
        done = subprocess.run([*command, *wrong], capture_output=True, text=True)
        assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "value, base, expected", [(999, 1000, "999"), (1500, 1000, "1.5K"), (4_121_823_744, 1000, "4.12G"), (2**31, 1024, "2.0G")]
)
def test_rounded(value, base, expected):
    assert rounded(value, base) == expected
