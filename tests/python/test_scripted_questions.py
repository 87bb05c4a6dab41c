"""TorchScript files with checks that give different results for tensors without data: each has a status and a warning. A layer of 4 × 8 is 32
MACs, one of 4 × 16 is 64 (by hand)."""

import warnings
from typing import List

import pytest
import torch
from torch import nn

import tmeter


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.eight, self.sixteen = nn.Linear(4, 8), nn.Linear(4, 16)


class Random(Two):
    def forward(self, x):
        if torch.rand(1) > 0.5:
            return self.eight(x)
        return self.sixteen(x)


class RandomItem(Two):
    def forward(self, x):
        numbers = torch.zeros(2).uniform_()
        if numbers[1:].item() > 0.5:
            return self.eight(x)
        return self.sixteen(x)


class RandomCount(Two):
    def forward(self, x):
        y = self.eight(x)
        for _ in range(int(torch.randint(1, 3, (1,)).item())):
            y = self.eight(x)
        return y


class Device(Two):
    def forward(self, x):
        if x.device.type == "cpu":
            return self.eight(x)
        return self.sixteen(x)


class IsCuda(Two):
    def forward(self, x):
        if x.is_cuda:
            return self.sixteen(x)
        return self.eight(x)


class SameDevice(Two):
    def forward(self, x):
        if self.eight.weight.device == x.device:
            return self.eight(x)
        return self.sixteen(x)


class InAFunction(Two):
    def where(self, x):
        return x.device

    def forward(self, x):
        on_cpu = str(self.where(x)) == "cpu"
        if on_cpu:
            return self.eight(x)
        return self.sixteen(x)


class Autocast(Two):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.eight(x)


class Listed(Two):
    def forward(self, x):
        values: List[float] = x[0].tolist()
        if values[0] > 2:
            return self.eight(x)
        return self.sixteen(x)


class ListedAtOnce(Two):
    def forward(self, x):
        values: List[List[float]] = x.tolist()
        if values[0][0] > 2:
            return self.eight(x)
        return self.sixteen(x)


def analyzed(model, tmp_path, *sizes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(model.eval()).save(str(tmp_path / "model.pt"))
        return tmeter.analyze(tmp_path / "model.pt", inputs=sizes or (1, 4))


@pytest.mark.parametrize(
    "kind, word",
    [
        (Random, "random numbers"), (RandomItem, "random numbers"), (RandomCount, "random numbers"),
        (Device, "device of a tensor"), (IsCuda, "device of a tensor"), (SameDevice, "device of a tensor"),
        (InAFunction, "device of a tensor"), (Autocast, "autocast"),
        (Listed, "made-up inputs"), (ListedAtOnce, "made-up inputs"),
    ],
)  # fmt: skip
def test_unknown_answers_are_reported(kind, word, tmp_path):
    result = analyzed(kind(), tmp_path)
    assert result.total("macs") in (32, 64, 96) and result.status("macs") == "assumed"
    assert result.status("params") is None and result.coverage["unknown_ops"] == []
    assert any(word in w for w in result.warnings), result.warnings
    with pytest.raises(tmeter.BudgetError, match="under an assumption"):
        result.assert_("macs<=1G")


class MadeOnIt(Two):
    def forward(self, x):
        return self.eight(x + torch.zeros(1, 4, device=x.device))


class Checked(Two):
    """A branch that only raises does not change the values."""

    def forward(self, x):
        if self.eight.weight.device != x.device:
            raise ValueError("elsewhere")
        return self.eight(x)


class CastOff(Two):
    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            return self.eight(x)


class Noise(Two):
    def forward(self, x):
        return self.eight(x + torch.rand(1) + torch.randn(1, 4))


@pytest.mark.parametrize("kind", [MadeOnIt, Checked, CastOff, Noise])
def test_known_answers_give_no_warning(kind, tmp_path):
    result = analyzed(kind(), tmp_path)
    assert (result.total("macs"), result.status("macs"), result.warnings) == (32, None, ())


def test_modules_of_torch_multiply_the_same_on_each_device(tmp_path):
    """The layer reads the device to choose a kernel. 4·32² + 2·32·64 for each of 5 tokens, and 2·32·5² for the attention."""
    result = analyzed(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), tmp_path, 1, 5, 32)
    assert (result.total("macs"), result.status("macs")) == (5 * (4 * 32**2 + 2 * 32 * 64) + 2 * 32 * 25, None)
