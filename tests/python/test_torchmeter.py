"""`tmeter.compat.torchmeter` on torchmeter's README example, against the recorded output of torchmeter 0.1.0
(tests/fixtures/record_compat.py)."""

import io
import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

import polars
import pytest
import rich.columns
import rich.console
import rich.table
import rich.tree
import torch
import torchvision

import tmeter
from tmeter.compat.torchmeter import Meter, get_config

FIXTURES = Path(os.environ["FIXTURES"])
sys.path.insert(0, str(FIXTURES))
from compat_models import ExampleNet  # noqa: E402

RECORDED = json.loads((FIXTURES / "compat.json").read_text())["torchmeter"]


@pytest.fixture
def model():
    net = ExampleNet()
    net.example_attr = "ABC"
    meter = Meter(net)
    meter.backbone.requires_grad_(False)
    meter(torch.randn(1, 3, 32, 32))
    yield meter
    get_config().restore()


def drawn(what, width=120):
    console = rich.console.Console(file=io.StringIO(), width=width, color_system=None)
    console.print(what)
    return console.file.getvalue()


def test_it_is_a_proxy(model):
    assert model.example_attr == "ABC" and hasattr(model, "_inner_net")
    assert repr(model) == "Meter(model=0 ExampleNet: ExampleNet, device=cpu)"
    assert not hasattr(model, "nothing")
    model.example_attr = "DEF"
    assert model.model.example_attr == "DEF"
    output = model(torch.randn(2, 3, 8, 8))
    assert output.shape == (2, 2) and model.ipt["args"][0].shape == (2, 3, 8, 8)


@pytest.mark.parametrize("name", ["ExampleNet", "resnet50"])
def test_figures_are_torchmeter_s(name):
    recorded = RECORDED[name]
    if name == "ExampleNet":
        meter = Meter(ExampleNet())
        meter.backbone.requires_grad_(False)
        meter(torch.randn(1, 3, 32, 32))
    else:
        with torch.device("meta"):
            meter = Meter(torchvision.models.resnet50())
            meter(torch.empty(1, 3, 224, 224))
    assert [meter.param.TotalNum.val, meter.param.RegNum.val] == recorded["param"]
    assert [meter.cal.Macs.val, meter.cal.Flops.val] == recorded["cal"]
    mem = meter.mem
    costs = [mem.ParamCost.val, mem.BufferCost.val, mem.OutputCost.val, mem.TotalCost.val]
    assert costs == recorded["mem"]
    assert meter.subnodes[: len(recorded["subnodes"])] == recorded["subnodes"]
    for stat, columns in recorded["columns"].items():
        assert list(meter.table_cols(stat)) == columns


@pytest.mark.parametrize("stat", ["param", "cal", "mem"])
def test_tables_are_torchmeter_s(model, stat):
    table, frame = model.profile(stat, show=False)
    assert isinstance(table, rich.table.Table) and isinstance(frame, polars.DataFrame)
    rows = [[None if v is None else str(v) for v in row] for row in frame.rows()]
    recorded = [list(row) for row in RECORDED["ExampleNet"]["rows"][stat]]
    if stat == "cal":  # torchmeter has no rule for adaptive pooling; it is zero by rule here
        assert recorded[-2][-2:] == [None, None] and rows[-2][-2:] == ["0.00", "0.00"]
        recorded[-2][-2:] = rows[-2][-2:]
    assert rows == recorded


def test_rules_where_torchmeter_errs():
    """Unlike torchmeter: `groups` count, and a linear layer counts all rows (docs/conventions.md)."""
    meter = Meter(torch.nn.Sequential(torch.nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False)))
    meter(torch.randn(1, 8, 4, 4))
    assert (meter.cal.Macs.val, meter.cal.Flops.val) == (128 * 9, 128 * 17)
    meter = Meter(torch.nn.Sequential(torch.nn.Linear(32, 64)))
    meter(torch.randn(4, 10, 32))
    assert (meter.cal.Macs.val, meter.cal.Flops.val) == (81_920, 2 * 81_920)


def test_ittp_is_measured_and_leaves_the_model_alone(model):
    model.ittp_warmup, model.ittp_benchmark_time = 1, 5
    model.train()
    before = {k: v.clone() for k, v in model.model.state_dict().items()}
    state = torch.get_rng_state()
    ittp = model.ittp
    assert len(ittp.InferTime.vals) == 5 and all(s > 0 for s in ittp.InferTime.vals)
    seconds, spread = ittp.InferTime.val
    assert seconds > 0 and spread >= 0 and ittp.Throughput.raw_data > 0
    assert "IPS" in str(ittp.Throughput) and "±" in str(ittp.InferTime)
    table, frame = model.profile("ittp", show=False, raw_data=True)
    assert len(frame) == 33 and frame["Infer_Time"].min() > 0
    assert model.training and all(m.training for m in model.modules())
    assert all(torch.equal(v, before[k]) for k, v in model.model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())
    assert not any(m._forward_hooks for m in model.model.modules())


def test_ittp_says_why_it_cannot():
    with torch.device("meta"):
        meter = Meter(torch.nn.Linear(3, 4))
    meter(torch.empty(1, 3, device="meta"))
    assert meter.cal.Macs.val == 12
    with pytest.raises(tmeter.UsageError, match="on meta"):
        meter.ittp  # noqa: B018
    known = Meter(torch.nn.Linear(3, 4))
    known(torch.zeros(1, 3))
    known.ittp_benchmark_time = 0
    with pytest.raises(ValueError, match="ittp_benchmark_time"):
        known.ittp  # noqa: B018


def test_without_an_input():
    meter = Meter(ExampleNet())
    assert meter.param.TotalNum == 1206
    for stat in ("cal", "mem", "ittp"):
        with pytest.raises(RuntimeError, match="call the meter once"):
            getattr(meter, stat)


def test_the_structure_folds_what_repeats(model):
    assert isinstance(model.structure, rich.tree.Tree)
    text = drawn(model.structure)
    # torchmeter's README draws two blocks, each with two inner ones.
    for part in ("Repeat [2] Times", "(1.x.y.1) 0 Conv2d", "Where y ∈ [4, 5]", "Where x ∈ [1, 2]"):
        assert part in text
    assert text.count("Conv2d") == 3
    model.tree_fold_repeat = False
    assert drawn(model.structure).count("Conv2d") == 8
    model.tree_levels_args = {"default": {"label": "<type>!<node_id>"}}
    assert "Linear!3" in drawn(model.structure)


def test_patterns_of_several_neighbours_repeat():
    from torch import nn

    net = nn.Sequential(*[layer for _ in range(3) for layer in (nn.Linear(4, 4), nn.ReLU())], nn.Linear(4, 2))
    text = drawn(Meter(net).structure)
    assert "Repeat [3] Times" in text and "Where x ∈ [1, 3, 5]" in text and text.count("ReLU") == 1


def test_the_overview(model):
    model.ittp_warmup, model.ittp_benchmark_time = 0, 2
    assert isinstance(model.overview(), rich.columns.Columns)
    text = drawn(model.overview("cal", "param"))
    assert text.index("Cal INFO") < text.index("Param INFO") and "Mem INFO" not in text
    assert "1.23 M" in text and "x = Shape([1, 3, 32, 32]) <Tensor>" in text
    with pytest.raises(ValueError, match="nope"):
        model.overview("nope")
    assert "FeatureMap Memory Cost: 792.02 KiB, 99.34 %" in model.stat_info("mem").plain


def test_columns_and_files(model, tmp_path):
    shown = model.profile("cal", show=False, raw_data=True, pick_cols=["MACs", "Operation_Id"],
                          custom_cols={"MACs": "m"})[1]
    assert shown.columns == ["m", "Operation_Id"] and shown["m"][0] == 1_226_752.0
    # torchmeter's documentation: a column of shares.
    _, frame = model.profile(
        "cal",
        show=False,
        exclude_cols=["Kernel_Size", "Bias"],
        newcol_name="Percentage",
        newcol_func=lambda df: [f"{100 * x / model.cal.Flops:.2f} %" for x in df["FLOPs"]],
        newcol_type=polars.String,
        keep_new_col=True,
    )
    assert frame["Percentage"][0] == "100.00 %" and "Bias" not in frame.columns
    assert "Percentage" in model.table_cols("cal")
    with redirect_stdout(io.StringIO()) as said:
        model.profile("param", show=False, save_to=str(tmp_path / "params.csv"))
        model.profile("mem", show=False, save_to=str(tmp_path / "memory.xlsx"))
    assert "Param data saved to" in said.getvalue()
    lines = (tmp_path / "params.csv").read_text().splitlines()
    assert lines[0].startswith("Operation_Id,Operation_Name") and len(lines) == 51
    assert (tmp_path / "memory.xlsx").read_bytes()[:2] == b"PK"
    with redirect_stdout(io.StringIO()) as said:
        model.profile("param", no_tree=True)
        model.profile("param")
    assert "classifier" in said.getvalue() and "summary" in said.getvalue()


def test_a_full_disk_leaves_no_file(model, tmp_path, monkeypatch):
    target = tmp_path / "params.csv"
    target.write_text("as it was")

    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(tmeter.UsageError, match="params.csv cannot be written: No space left"):
        model.profile("param", show=False, save_to=str(target))
    assert [p.name for p in tmp_path.iterdir()] == ["params.csv"] and target.read_text() == "as it was"


def test_a_folder_gets_a_file_of_the_model_s_name(model, tmp_path):
    with redirect_stdout(io.StringIO()):
        model.profile("mem", show=False, save_to=str(tmp_path / "new"), save_format="csv")
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["ExampleNet_mem.csv"]


WRONG = [
    (dict(pick_cols=["Nope"]), ValueError, "no column 'Nope'"),
    (dict(pick_cols="MACs"), TypeError, "pick_cols"),
    (dict(custom_cols=["a"]), TypeError, "custom_cols"),
    (dict(newcol_name="MACs", newcol_func=lambda d: []), ValueError, "already"),
    (dict(newcol_name="n", newcol_func=lambda d: [1]), RuntimeError, "1 values for 33 rows"),
    (dict(newcol_name="n", newcol_func=lambda a, b: []), TypeError, "one argument"),
    (dict(save_to="x.pdf"), ValueError, "csv or xlsx"),
    (dict(save_to="/nowhere/x.csv"), tmeter.UsageError, "cannot be written"),
    (dict(save_to="/etc/passwd/x.csv"), tmeter.UsageError, "x.csv cannot be written"),
    (dict(save_to=3), TypeError, "save_to"),
]


@pytest.mark.parametrize("arguments, kind, said", WRONG, ids=[w[2] for w in WRONG])
def test_wrong_arguments(model, arguments, kind, said):
    with pytest.raises(kind, match=said):
        model.profile("cal", show=False, **arguments)


def test_other_errors(model):
    with pytest.raises(AttributeError, match="there is no statistic 'foo'"):
        model.profile("foo")
    with pytest.raises(ValueError, match="'9.9'"):
        model.rebase("9.9")
    with pytest.raises(TypeError):
        model.rebase(1)
    with pytest.raises(tmeter.InputError):
        Meter(3)
    model.table_display_args.box = "NOPE"
    with pytest.raises(tmeter.UsageError, match="no box 'NOPE'"):
        model.profile("param", show=False)


def test_a_module_inside(model):
    inner = model.rebase("1.1")
    assert repr(inner) == "Meter(model=0 Sequential: Sequential, device=cpu)"
    inner(torch.randn(1, 3, 32, 32))
    assert str(inner.cal.Macs) == "613.38 K"
    assert model.rebase("0") is model


def test_settings_in_a_file(model, tmp_path):
    settings = get_config()
    settings.tree_fold_repeat = False
    settings.combine = {"horizon_gap": 5}
    settings.dump(str(tmp_path / "look.yaml"))
    settings.restore()
    assert settings.tree_fold_repeat is True and settings.combine.horizon_gap == 2
    assert get_config(str(tmp_path / "look.yaml")).combine.horizon_gap == 5
    (tmp_path / "bad.yaml").write_text("nothing: 3\n")
    with pytest.raises(tmeter.UsageError, match="unknown setting 'nothing'"):
        get_config(str(tmp_path / "bad.yaml"))
    assert settings.combine.horizon_gap == 5  # other settings stay
    with pytest.raises(TypeError, match="True or False"):
        settings.tree_fold_repeat = "yes"
    settings.config_file = None


def test_what_is_not_called_is_said():
    class Idle(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.idle = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.used(x)

    meter = Meter(Idle())
    meter(torch.zeros(1, 3))
    assert meter.param.TotalNum == 24 and meter.cal.Macs == 9
    assert "1 modules are not called: idle" in meter.stat_info("cal").plain
    assert "idle" not in meter.stat_info("cal", show_warning=False).plain
    assert [row[1] for row in meter.profile("cal", show=False)[1].rows()] == ["used"]
