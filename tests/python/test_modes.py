"""The mode in which a tool counts a module. fvcore and torchmeter keep the module's mode, the others use evaluation mode
unless `mode=` selects the other. A module with dropout, a batch norm and a head only for training shows the mode. The tools
themselves, installed from PyPI (modes.txt) into the cache, give the expected values.
"""

import contextlib
import io
import logging
import sys

import pytest
from beside import installed

torch = pytest.importorskip("torch")

import tmeter  # noqa: E402


class Net(torch.nn.Module):
    """In training mode an auxiliary head of 8 × 5 weights is also called, and batch norms compute statistics."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.drop = torch.nn.Dropout(0.5)
        self.pool = torch.nn.AdaptiveAvgPool2d(1)
        self.head = torch.nn.Linear(8, 10, bias=False)
        self.aux = torch.nn.Linear(8, 5, bias=False)

    def forward(self, x):
        x = torch.flatten(self.pool(self.drop(self.norm(self.conv(x)))), 1)
        return (self.head(x), self.aux(x)) if self.training else self.head(x)


SHAPE = (2, 3, 6, 6)
#: Two images, 8 channels of 4 × 4, filters of 3 × 3 × 3; then the heads.
CONV, HEAD, AUX = 2 * 8 * 4 * 4 * 27, 2 * 8 * 10, 2 * 8 * 5
NORM = 2 * 8 * 4 * 4  # elements
POOL = 2 * 8 * 4 * 4


@pytest.fixture(scope="module")
def tools():
    folder, why = installed("modes")
    if folder is None:
        pytest.skip(f"the tools cannot be installed: {why}")
    sys.path.insert(0, str(folder))
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)
    sys.path.remove(str(folder))


def modules(training):
    """Two modules, because some tools leave traces."""
    return [Net().train(training), Net().train(training)]


def silently(call, *args, **kwargs):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return call(*args, **kwargs)


@pytest.mark.parametrize("training", [True, False])
def test_the_modes_of_analyze(training):
    model = Net().train(training)
    state = {k: v.clone() for k, v in model.state_dict().items()}
    macs = {mode: tmeter.analyze(model, SHAPE, mode=mode).macs for mode in ("eval", "train", "same")}
    assert macs == {"eval": CONV + HEAD, "train": CONV + HEAD + AUX, "same": CONV + HEAD + (AUX if training else 0)}
    assert tmeter.analyze(model, SHAPE).macs == CONV + HEAD
    assert model.training is training and model.drop.training is training
    assert all(torch.equal(v, state[k]) for k, v in model.state_dict().items())


def test_a_report_states_training_mode():
    note = "the module was analysed in training mode"
    assert note in tmeter.analyze(Net().train(), SHAPE, mode="same").export.notes
    assert note not in tmeter.analyze(Net().eval(), SHAPE, mode="same").export.notes
    assert note not in tmeter.analyze(Net().train(), SHAPE).export.notes


def test_modules_of_one_model_may_be_in_different_modes():
    model = Net().train()
    model.norm.eval()
    part = tmeter.analyze(model, SHAPE, mode="same", options={"flops.convention": "fvcore"})
    assert part.module("norm").metrics["flops"] == 2 * NORM
    assert part.module("aux").metrics["flops"] == AUX


@pytest.mark.parametrize("via", ["auto", "torch.export"])
def test_every_way_counts_the_mode(via):
    result = tmeter.analyze(Net().train(), SHAPE, mode="same", via=via, options={"flops.convention": "fvcore"})
    assert result.module("norm").metrics["flops"] == 5 * NORM, result.export
    assert result.module("aux").metrics["flops"] == AUX


def test_another_mode_is_refused():
    with pytest.raises(tmeter.UsageError, match="'eval', 'train' or 'same' is expected"):
        tmeter.analyze(Net(), SHAPE, mode="training")


@pytest.mark.parametrize("training", [True, False])
def test_fvcore_counts_the_mode_the_module_is_in(tools, training):
    import fvcore.nn

    from tmeter.compat.fvcore import FlopCountAnalysis

    mine, other = modules(training)
    x = torch.zeros(SHAPE)
    theirs, ours = fvcore.nn.FlopCountAnalysis(other, x), FlopCountAnalysis(mine, x)
    theirs.unsupported_ops_warnings(False).uncalled_modules_warnings(False).tracer_warnings("none")
    counts = {k: v for k, v in theirs.by_module().items() if v}
    assert {k: v for k, v in ours.by_module().items() if v} == counts
    assert counts["norm"] == (5 if training else 2) * NORM
    assert ("aux" in counts) is training


@pytest.mark.parametrize("training", [True, False])
def test_torchmeter_counts_the_mode_the_module_is_in(tools, training):
    """torchmeter counts one row of a linear layer, so the input is one image (docs/python.md)."""
    import torchmeter

    from tmeter.compat.torchmeter import Meter

    found = []
    for kind, model in zip((torchmeter.Meter, Meter), modules(training)):
        meter = silently(kind, model)
        silently(meter, torch.zeros(1, *SHAPE[1:]))
        found.append(meter.cal.Macs.val)
    norm = NORM // 2 * 2  # the tool's convention: two per element
    assert found[0] == found[1] == (CONV + HEAD + (AUX if training else 0)) / 2 + norm


@pytest.mark.parametrize("mode", [None, "eval", "train"])
@pytest.mark.parametrize("training", [True, False])
def test_torchinfo_counts_the_given_mode(tools, training, mode):
    import torchinfo

    from tmeter.compat.torchinfo import summary

    mine, other = modules(training)
    theirs = torchinfo.summary(other, input_size=SHAPE, mode=mode, verbose=0)
    ours = summary(mine, input_size=SHAPE, mode=mode, verbose=0)
    assert ours.total_mult_adds == theirs.total_mult_adds
    # Since Python 3.11 its unit prints as the name of an enum.
    assert str(ours) == str(theirs).replace("(Units.MEGABYTES)", "(M)")
    assert mine.training is training


def by_thop(thop, ours, model):
    call = ours.profile if ours else thop.profile
    return call(model, inputs=(torch.zeros(SHAPE),), verbose=False)[0]


def by_ptflops(ptflops, ours, model):
    call = ours.get_model_complexity_info if ours else ptflops.get_model_complexity_info
    return call(model, SHAPE[1:], as_strings=False, print_per_layer_stat=False, backend="pytorch")[0]


def by_calflops(calflops, ours, model):
    call = ours.calculate_flops if ours else calflops.calculate_flops
    return call(model, input_shape=SHAPE, print_results=False, output_as_string=False)[1]


def by_torchstat(torchstat, ours, model):
    call = ours.stat if ours else torchstat.stat
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call(model, SHAPE[1:])
    return [line for line in out.getvalue().splitlines() if "aux" in line]


@pytest.mark.parametrize("call", [by_thop, by_ptflops, by_calflops])
def test_tools_that_always_count_evaluation_mode(tools, call):
    import importlib

    name = call.__name__.removeprefix("by_")
    tool, compat = importlib.import_module(name), importlib.import_module(f"tmeter.compat.{name}")
    theirs = {silently(call, tool, None, Net().train(training)) for training in (True, False)}
    ours = {silently(call, tool, compat, Net().train(training)) for training in (True, False)}
    assert len(theirs) == len(ours) == 1


def test_torchstat_always_counts_evaluation_mode(tools):
    """The expected mode is from the tool's source, because it does not run with current libraries."""
    import inspect

    from torchstat.model_hook import ModelHook

    from tmeter.compat import torchstat

    assert "self._model.eval()" in inspect.getsource(ModelHook.__init__)
    rows = [by_torchstat(None, torchstat, Net().train(training)) for training in (True, False)]
    assert rows[0] == rows[1]
