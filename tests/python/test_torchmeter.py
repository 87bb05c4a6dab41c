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
from tmeter.compat.torchmeter.values import PER_SECOND, SECONDS, Measured

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


def drawn(renderable, width=120):
    console = rich.console.Console(file=io.StringIO(), width=width, color_system=None)
    console.print(renderable)
    return console.file.getvalue()


def test_a_meter_is_a_proxy_of_its_module(model):
    assert model.example_attr == "ABC" and hasattr(model, "_inner_net")
    assert repr(model) == "Meter(model=0 ExampleNet: ExampleNet, device=cpu)"
    assert not hasattr(model, "nothing")
    model.example_attr = "DEF"
    assert model.model.example_attr == "DEF"
    output = model(torch.randn(2, 3, 8, 8))
    assert output.shape == (2, 2) and model.ipt["args"][0].shape == (2, 3, 8, 8)


@pytest.mark.parametrize("name", ["ExampleNet", "resnet50"])
def test_values_are_torchmeter_s(name):
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
    """Unlike torchmeter, `groups` count, and a linear layer counts all rows (docs/conventions.md)."""
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


def test_throughput_counts_the_batch_once():
    """torchmeter 0.1.0, statistic.py: ipt[0].shape[0] / seconds."""
    meter = Meter(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Flatten(0)))
    meter.ittp_warmup, meter.ittp_benchmark_time = 0, 3
    meter(torch.randn(8, 5, 3))
    ittp = meter.ittp
    assert ittp.Throughput.vals == pytest.approx([8 / s for s in ittp.InferTime.vals])


def test_a_failure_of_ittp_has_a_reason():
    with torch.device("meta"):
        meter = Meter(torch.nn.Linear(3, 4))
    meter(torch.empty(1, 3, device="meta"))
    assert meter.cal.Macs.val == 12
    with pytest.raises(tmeter.UsageError, match="on meta"):
        meter.ittp  # noqa: B018
    meter = Meter(torch.nn.Linear(3, 4))
    meter(torch.zeros(1, 3))
    meter.ittp_benchmark_time = 0
    with pytest.raises(ValueError, match="ittp_benchmark_time"):
        meter.ittp  # noqa: B018


def test_a_node_has_its_values(model):
    """A node has the values of its row, the root those of the model."""
    model.ittp_warmup, model.ittp_benchmark_time = 0, 2
    nodes = {node.node_id: node for node in model.optree.all_nodes}
    assert nodes["0"].cal.Macs == model.cal.Macs and nodes["0"].param.TotalNum == 1206
    node = next(n for n in nodes.values() if n.type == "Linear")
    assert node.param.TotalNum == sum(p.numel() for p in node.operation.parameters())
    rows = {row[0]: row for row in model.profile("cal", show=False)[1].rows()}
    assert node.cal.Macs == rows[node.node_id][-2] and node.mem.ParamCost == 4 * node.param.TotalNum
    assert node.ittp.InferTime.val[0] > 0
    assert sum(float(child.cal.Macs) for child in nodes["0"].children) == model.cal.Macs
    unfed = Meter(ExampleNet())
    with pytest.raises(RuntimeError, match="call the meter once"):
        unfed.optree.root.mem  # noqa: B018


def test_without_an_input():
    meter = Meter(ExampleNet())
    assert meter.param.TotalNum == 1206
    for stat in ("cal", "mem", "ittp"):
        with pytest.raises(RuntimeError, match="call the meter once"):
            getattr(meter, stat)


def test_the_structure_folds_repeats(model):
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


def test_settings_of_all_levels_are_the_new_default(model):
    """torchmeter 0.1.0, display.py: earlier settings of single levels are dropped, and later ones are kept."""
    model.tree_levels_args = {"all": {"label": "<type>!"}}
    assert set(get_config().tree_levels_args.data_dict) == {"default"}
    assert drawn(model.structure).startswith("ExampleNet!")
    model.tree_levels_args = {"0": {"label": "root"}}
    assert drawn(model.structure).startswith("root")


def test_a_rate_below_one_keeps_its_unit():
    assert repr(Measured([0.25, 0.5, 1.5], PER_SECOND)) == "0.50 IPS ± 0.62 IPS"
    assert repr(Measured([2.0, 3.0, 4.0], SECONDS)) == "3 s ± 1 s"
    assert repr(Measured([2.0], SECONDS)) == "2 s ± 0.00 s"


def test_patterns_of_several_neighbours_repeat():
    from torch import nn

    net = nn.Sequential(*[layer for _ in range(3) for layer in (nn.Linear(4, 4), nn.ReLU())], nn.Linear(4, 2))
    text = drawn(Meter(net).structure)
    assert "Repeat [3] Times" in text and "Where x = 1, 3, 5" in text and text.count("ReLU") == 1


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
    with redirect_stdout(io.StringIO()) as output:
        model.profile("param", show=False, save_to=str(tmp_path / "params.csv"))
        model.profile("mem", show=False, save_to=str(tmp_path / "memory.xlsx"))
    assert "Param data saved to" in output.getvalue()
    lines = (tmp_path / "params.csv").read_text().splitlines()
    assert lines[0].startswith("Operation_Id,Operation_Name") and len(lines) == 51
    assert (tmp_path / "memory.xlsx").read_bytes()[:2] == b"PK"
    with redirect_stdout(io.StringIO()) as output:
        model.profile("param", no_tree=True)
        model.profile("param")
    assert "classifier" in output.getvalue() and "s u m m a r y" in output.getvalue()


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


@pytest.mark.parametrize("arguments, kind, message", WRONG, ids=[w[2] for w in WRONG])
def test_wrong_arguments(model, arguments, kind, message):
    with pytest.raises(kind, match=message):
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


def test_uncalled_modules_are_reported():
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


def nested():
    """Three times (Linear, block of four times (ReLU, Linear), Tanh): ids 1, 4, 7 repeat."""
    from torch import nn

    inner = lambda: nn.Sequential(*[layer for _ in range(4) for layer in (nn.ReLU(), nn.Linear(4, 4))])  # noqa: E731
    return nn.Sequential(*[layer for _ in range(3) for layer in (nn.Linear(4, 4), inner(), nn.Tanh())])


def test_the_footer_names_the_ids_in_every_nesting():
    text = drawn(Meter(nested()).structure)
    assert "Where x = 1, 4, 7" in text and "Where y = 1, 3, 5, 7" in text
    assert "(x+1.(y+1)) 1 Linear" in text
    two = drawn(Meter(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.ReLU())).structure)
    assert "Repeat [2] Times" in two and "Where x ∈ [1, 2]" in two


def test_folding_has_a_threshold():
    meter = Meter(nested())
    meter.tree_renderer.fold_from = 4
    text = drawn(meter.structure)
    assert text.count("Repeat [4] Times") == 3 and "Repeat [3]" not in text


def test_a_footer_may_be_a_function_and_its_failure_is_one_line():
    meter = Meter(nested())
    seen = []

    def footer(attributes):
        seen.append(attributes)
        return f"{attributes['repeat_time']} of <repeat_winsz> <loop_algebra>"

    meter.tree_renderer.repeat_footer = footer
    assert "3 of 3 x" in drawn(meter.structure) and {a["node_id"] for a in seen} == {"1", "2.1"}
    meter.tree_renderer.repeat_footer = lambda: "always"
    assert "always" in drawn(meter.structure)
    meter.tree_renderer.repeat_footer = None
    assert "Where" not in drawn(meter.structure)

    def broken(attributes):
        raise KeyError("no such thing")

    meter = Meter(nested())
    meter.tree_repeat_block_args = {"repeat_footer": broken}
    with pytest.raises(tmeter.UsageError, match=r"broken failed for 2.1 0: KeyError"):
        _ = meter.structure
    for wrong in (3, lambda a, b: ""):
        with pytest.raises(RuntimeError, match="repeat_footer"):
            meter.tree_renderer.repeat_footer = wrong
    meter.tree_renderer.repeat_footer = lambda a: 3
    with pytest.raises(tmeter.UsageError, match="must return a string, got int"):
        _ = meter.structure


def test_placeholders_equal_the_json_report(model):
    model.tree_fold_repeat = False
    model.tree_levels_args = {
        "default": {"label": "<node_id>|<parent>|<childs>|<repeat_winsz>|<repeat_time>|<is_leaf>|<path>"},
        "0": {"label": "<parent>|<childs>|<type>"},
    }
    lines = drawn(model.structure, 200).splitlines()
    result = tmeter.analyze(model.model, (1, 3, 32, 32))
    rows = {row["id"]: row for row in result.to_dict()["modules"]}
    assert lines[0] == "None|" + ", ".join(rows["0"]["children"]) + "|ExampleNet"
    printed = {line.split("|")[0].split()[-1]: line.split("|") for line in lines[1:]}
    for key, row in rows.items():
        if key == "0":
            continue
        parent = rows[row["parent"]]
        repeat = row.get("repeat", {"window": 1, "times": 1})
        name = parent["name"] or "ExampleNet"
        assert printed[key] == [printed[key][0], f"{row['parent']} {name}", ", ".join(row["children"]),
                                str(repeat["window"]), str(repeat["times"]), str(not row["children"]), row["path"]]
    model.tree_fold_repeat = True
    model.tree_repeat_block_args = {"title": "<repeat_time>x<repeat_winsz> in <parent>", "subtitle": "<name>"}
    assert "2x1 in 1.1 0" in drawn(model.structure, 200) or "2x1 in 0 ExampleNet" in drawn(model.structure, 200)


def test_the_tree_is_objects(model):
    tree = model.optree
    assert tree.root.node_id == "0" and tree.root.parent is None and len(tree.all_nodes) == len(model.subnodes)
    for node in tree.all_nodes[1:]:
        assert node.parent.childs[node.node_id] is node
        assert node.is_leaf == (not node.childs) and node.operation is dict(model.model.named_modules())[node.path]
    first = next(n for n in tree.all_nodes if n.repeat_time > 1)
    assert (first.repeat_winsz, first.repeat_time) == (1, 2)
    assert repr(tree.root) == "0 ExampleNet: ExampleNet"
    assert isinstance(model.tree_renderer(), rich.tree.Tree)


def test_the_table_renderer(model, tmp_path):
    renderer = model.table_renderer
    table, frame = renderer("param", raw_data=True)
    assert isinstance(table, rich.table.Table) and renderer.stats_data["param"] is frame
    assert isinstance(renderer.df2tb(frame), rich.table.Table)
    renderer.export(frame, str(tmp_path / "a.csv"))
    assert (tmp_path / "a.csv").read_text().startswith("Operation_Id")
    with pytest.raises(ValueError, match="csv or xlsx"):
        renderer.export(frame, str(tmp_path / "a.pdf"))
    renderer.clear("param")
    assert renderer.stats_data == {}
    renderer.tb_args = {"title": "T"}
    assert renderer.tb_args.title == "T"
    with pytest.raises(tmeter.UsageError, match="table_display_args.titel"):
        renderer.tb_args = {"titel": "T"}


def test_unknown_keys_name_the_known_ones(model):
    settings = get_config()
    with pytest.raises(tmeter.UsageError, match="tree_levels_args.default.foo.*label, style, guide_style"):
        settings.tree_levels_args.default.foo = 3
    with pytest.raises(tmeter.UsageError, match="tree_levels_args.nine.*default, all, 0"):
        model.tree_levels_args = {"nine": {}}
    with pytest.raises(tmeter.UsageError, match="tree_repeat_block_args.colour"):
        model.tree_repeat_block_args = {"colour": "red"}
    with pytest.raises(tmeter.UsageError, match="combine.gap.*horizon_gap"):
        settings.combine = {"gap": 3}
    assert "(1) backbone" in drawn(model.structure)


def test_keys_have_their_effect(model, monkeypatch):
    plain = drawn(model.structure)
    model.tree_repeat_block_args = {"width": 60}
    wide = [line for line in drawn(model.structure).splitlines() if "Repeat" in line]
    assert max(map(len, wide)) > max(len(line) for line in plain.splitlines() if "Repeat" in line)

    def styled(renderable):
        console = rich.console.Console(file=io.StringIO(), width=120, force_terminal=True, color_system="truecolor")
        console.print(renderable)
        return console.file.getvalue()

    model.tree_levels_args = {"default": {"label": "<name> 12 None"}}
    loud = styled(model.structure)
    model.tree_levels_args = {"default": {"highlight": False}}
    assert loud != styled(model.structure)
    table, _ = model.profile("param", show=False)
    model.table_display_args = {"highlight": False}
    assert styled(table) != styled(model.profile("param", show=False)[0])
    with pytest.raises(ValueError, match="render_interval must not be negative"):
        get_config().render_interval = -1
        model.profile("param", no_tree=True)


def test_rebase_takes_a_path_too(model):
    assert repr(model.rebase("backbone")) == repr(model.rebase("1"))
    with pytest.raises(ValueError, match="no module 'nowhere'"):
        model.rebase("nowhere")


def test_in_place_is_marked_for_memory_alone():
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.ReLU(inplace=True))
    meter = Meter(net)
    meter(torch.zeros(1, 1, 2, 2))
    kinds = {stat: list(meter.profile(stat, show=False)[1]["Operation_Type"]) for stat in ("param", "cal", "mem")}
    assert kinds == {"param": ["Conv2d", "Conv2d", "ReLU"], "cal": ["Conv2d", "ReLU"], "mem": ["Conv2d", "ReLU(inplace)"]}
