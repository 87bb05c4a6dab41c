"""Live modules with branches in forward: the values are exact, or have a status and a warning."""

import dataclasses
import enum
import warnings

import pytest
import torch
from torch import nn

import tmeter


class Two(nn.Module):
    """One layer of 4 × 8 or another of 4 × 16: 32 MACs or 64."""

    def __init__(self):
        super().__init__()
        self.eight, self.sixteen = nn.Linear(4, 8), nn.Linear(4, 16)
        self.register_buffer("on", torch.tensor([0.0, 1.0]))
        self.register_buffer("large", torch.ones(100_000))

    def choose(self, eight, x):
        return self.eight(x) if eight else self.sixteen(x)


X = torch.zeros(1, 4)


class SmallBuffer(Two):
    def forward(self, x):
        return self.choose(self.on[1] > 0.5, x)


class Item(Two):
    def forward(self, x):
        return self.choose((self.on.flip(0) * 3).tolist()[0] == 3.0, x)


class Written(Two):
    """The buffer is changed through a view before it is read."""

    def forward(self, x):
        self.on[1:].zero_()
        return self.choose(not self.on.any(), x)


class Selected(Two):
    """The buffer decides how many elements are selected."""

    def forward(self, x):
        return self.eight(x.expand(2, 4)[self.on > 0.5])


class Exporting(Two):
    def forward(self, x):
        return self.choose(not torch.compiler.is_exporting(), x)


class Compiling(Two):
    def forward(self, x, mask):
        return self.choose(not torch.compiler.is_compiling() and bool(mask.all()), x)


class LargeBuffer(Two):
    def forward(self, x):
        return self.choose(self.large.sum() > 0, x)


class Input(Two):
    def forward(self, x):
        return self.choose(x.sum() > 0, x)


class Listed(Two):
    def forward(self, x):
        return self.choose(x.tolist()[0][0] > 0, x)


class Made(Two):
    """A tensor constructed from numbers that were read from another one."""

    def forward(self, x):
        longest = torch.tensor([x.sum(), torch.as_tensor([x.max(), 1.0]).min()])
        return self.choose(longest.max() > 0, x)


class Read(Two):
    """A constant of the model, and one that is not a fake tensor."""

    def forward(self, x):
        return self.choose(torch.full((2,), 3.0).sum().item() == torch.tensor(6.0).item(), x)


class Rows(Two):
    def forward(self, x):
        return self.eight(x[x.sum(1) > 0])


def analyze(model, *inputs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tmeter.analyze(model, inputs=inputs, **options)


@pytest.mark.parametrize("kind", [SmallBuffer, Item, Written, Selected, Exporting, Read])
def test_the_model_s_own_state_decides(kind):
    result = analyze(kind(), X)
    assert (result.total("macs"), result.status("macs"), result.warnings) == (32, None, ())


def test_a_trace_keeps_small_buffers():
    from tmeter.export import export_every_way

    ways, _ = export_every_way(SmallBuffer(), (X,), _folder(), lambda e: analyze_file(e.path))
    values = {way: (r.total("macs"), r.status("macs")) for way, r in ways}
    assert values["torch.jit.trace"] == (32, None)


def _folder():
    import tempfile
    from pathlib import Path

    return Path(tempfile.mkdtemp(prefix="tmeter-test-"))


def analyze_file(path):
    return tmeter.analyze(path)


ON_THESE = "dispatch on fake tensors, on these inputs"


@pytest.mark.parametrize("kind, way", [(LargeBuffer, "torch.jit.trace"), (Input, ON_THESE), (Listed, ON_THESE), (Made, ON_THESE)])
def test_data_decides(kind, way):
    result = analyze(kind(), X)
    assert result.export.way == way
    assert result.total("macs") == 64 and result.status("macs") == "assumed"
    assert result.status("params") is None
    assert any("data decides at" in w and "test_branches.py" in w for w in result.warnings), result.warnings
    with pytest.raises(tmeter.BudgetError, match="under an assumption"):
        result.assert_("macs<=1G")
    assert "~64" in result.to_markdown() and "MACs ~64" in str(result)
    assert result.totals.loc["macs", "status"] == "assumed"


class Counted(nn.Module):
    """The number of rows is read from an input by a direct item()."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 8)

    def forward(self, x, count):
        return self.linear(x[:1].expand(count.item(), 4))


def test_a_scalar_that_decides_is_data():
    result = analyze(Counted(), torch.zeros(6, 4), torch.tensor(3))
    assert (result.total("macs"), result.status("macs")) == (3 * 32, "assumed")
    assert any("data decides at" in w for w in result.warnings), result.warnings


def test_inputs_without_values_decide_no_branch():
    result = analyze(Input(), (1, 4))
    assert result.export.way == "torch.jit.trace" and result.status("macs") == "assumed"
    assert ("dispatch on fake tensors, on these inputs", "ValueError: the inputs are sizes without values") in result.export.failed


def test_a_size_that_data_decides():
    result = analyze(Rows(), torch.zeros(6, 4), dynamic_batch=False)
    assert (result.total("macs"), result.status("macs")) == (6 * 32, "assumed")
    assert any("depend on data" in w for w in result.warnings)


@pytest.mark.parametrize("model, inputs", [(Exporting(), (X,)), (Compiling(), (X, torch.ones(1, 4)))])
def test_behaviour_of_the_exported_model_alone_is_reported(model, inputs):
    result = analyze(model, *inputs, via="torch.export")
    assert (result.total("macs"), result.status("macs")) == (64, "assumed")
    assert any("behaves differently when it is exported" in w for w in result.warnings)


def test_equal_products_by_other_operators_are_not_a_difference():
    """A mask that exists only during export, and a product by another operator of the same size."""

    class Masked(nn.Module):
        def forward(self, q):
            mask = torch.zeros(4, 4) if torch.compiler.is_exporting() else None
            y = nn.functional.scaled_dot_product_attention(q, q, q, mask)
            return torch.bmm(y[0], y[0].mT) if mask is None else torch.matmul(y[0], y[0].mT)

    result = analyze(Masked(), torch.zeros(1, 2, 4, 8), via="torch.export")
    assert (result.status("macs"), result.warnings) == (None, ())


def test_a_strict_export_that_lacks_parameters_is_not_used():
    class Unused(Two):
        def forward(self, x):
            return self.eight(x)

    compared = analyze(Unused(), X, via="all").export
    assert "parameters are left out" in dict(compared.failed)["torch.export, strict"]


def test_ways_are_compared():
    agreed = analyze(nn.Linear(4, 8), X, via="all")
    assert agreed.warnings == ()
    assert {how for _, how in agreed.export.compared} == {"the same params, macs, flops"}
    differs = analyze(Exporting(), X, via="all")
    assert differs.total("macs") == 32
    assert dict(differs.export.compared)["torch.jit.trace"] == "the same params, macs, flops"
    assert "macs 64 (assumed) instead of 32" in dict(differs.export.compared)["torch.export, non-strict"]
    assert any("values that differ from those by" in w for w in differs.warnings)
    with pytest.raises(tmeter.UsageError, match="'all'"):
        analyze(nn.Linear(4, 8), X, via="any")


def test_every_report_states_the_way_and_its_limits():
    result = analyze(nn.Linear(4, 8), X)
    way = "by dispatch on fake tensors, which sees one call at these sizes"
    assert way in result.to_dict()["model"]["producer"]
    assert way in result.to_text() and way in result.to_markdown()
    assert "which sees one call" in str(result.export)
    assert "which sees one call on these inputs" in analyze(Input(), X).to_dict()["model"]["producer"]
    trace = analyze(LargeBuffer(), X).to_dict()["model"]["producer"]
    assert "by torch.jit.trace, which sees the branches and loops of one run" in trace


# Inputs other than tensors


class Mode(enum.Enum):
    TWICE = 2


@dataclasses.dataclass
class Options:
    scale: float
    bias: torch.Tensor
    extra: object = None


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 8)

    def forward(self, x, times=1, use_cache=True, mode=None, options=None, nested=None, name="a"):
        assert use_cache is False and name in ("a", "b")
        for _ in range(times * (mode.value if mode else 1)):
            y = self.linear(x)
        if options is not None:
            y = y * options.scale + options.bias
        if nested is not None:
            y = y + nested["inner"]["bias"] * nested["factor"]
        return y


PLAIN = {
    "a bool": ({"x": X, "use_cache": False}, 32),
    "None, a number, a text": ({"x": X, "use_cache": False, "times": 3, "mode": None, "name": "b"}, 96),
    "an enum": ({"x": X, "use_cache": False, "mode": Mode.TWICE}, 64),
    "a data class": ({"x": X, "use_cache": False, "options": Options(2.0, torch.zeros(1, 8))}, 32),
    "nested": ({"x": X, "use_cache": False, "nested": {"inner": {"bias": torch.zeros(8)}, "factor": 2}}, 32),
}


@pytest.mark.parametrize("form", PLAIN)
@pytest.mark.parametrize("via", ["auto", "torch.export"])
def test_plain_inputs(form, via):
    inputs, macs = PLAIN[form]
    result = tmeter.analyze(Plain(), inputs=inputs, via=via)
    assert (result.total("macs"), result.status("macs")) == (macs, None)
    assert any("fixed at" in note and "use_cache=False" in note for note in result.export.notes)


def test_plain_inputs_by_position():
    assert tmeter.analyze(Plain(), inputs=(X, 3, False)).total("macs") == 96


def test_plain_inputs_of_a_trace():
    class Both(Plain):
        def forward(self, x, use_cache=True):
            y = super().forward(x, use_cache=use_cache)
            return y if self.large.sum() > 0 else self.linear(x)

    model = Both()
    model.register_buffer("large", torch.ones(100_000))
    result = analyze_with(model, {"x": X, "use_cache": False})
    assert result.export.way == "torch.jit.trace" and result.status("macs") == "assumed"


def analyze_with(model, inputs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tmeter.analyze(model, inputs=inputs)


def test_an_object_that_holds_tensors_is_refused_with_advice():
    class Graph:
        def __init__(self):
            self.nodes = torch.zeros(3, 4)

    class Net(nn.Module):
        def forward(self, graph):
            return graph.nodes

    with pytest.raises(tmeter.InputError, match="Graph.*cannot be traced.*dicts or dataclasses"):
        tmeter.analyze(Net(), inputs=(Graph(),))
