"""Results of files: values, tables, reports, assertions, errors."""

import concurrent.futures
import json
import os
import shutil
import sys
from pathlib import Path

import pandas
import pytest
import torch

import tmeter

FIXTURES = Path(os.environ["FIXTURES"])


@pytest.fixture(scope="module")
def result():
    return tmeter.analyze(FIXTURES / "models/resnet50.pt2")


@pytest.fixture(scope="module")
def partial():
    """A TorchScript file with an operator without a rule."""
    return tmeter.analyze(FIXTURES / "torchscript/acme.pt")


def test_totals_are_exact_integers(result):
    # torchvision documents 25,557,032 parameters; FlopCounterMode counts 8,178,368,512 FLOPs.
    assert result.total("params") == 25_557_032
    assert result.total("flops") == 8_178_368_512
    assert isinstance(result.total("macs"), int)
    assert result.status("macs") is None
    assert result.totals.loc["params", "value"] == 25_557_032
    assert result.totals.loc["param_bytes", "unit"] == "B"


def test_one_metric_by_three_spellings(result):
    assert result.macs == result["macs"] == result.totals["macs"] == 4_089_184_256
    assert dict(result.totals)["params"] == 25_557_032 and "macs" in result.totals
    assert list(result.totals) == result.metrics and len(result.totals) == len(result.metrics)
    assert "macs" in dir(result)
    assert result.totals["unit"]["param_bytes"] == "B"  # a column of the table
    with pytest.raises(AttributeError, match="neither an attribute nor a metric 'mcas' \\(did you mean 'macs'\\?\\); metrics: params"):
        _ = result.mcas
    with pytest.raises(KeyError, match=r"'mcas' \(did you mean 'macs'\?\); there are params"):
        _ = result.totals["mcas"]
    with pytest.raises(tmeter.UsageError, match="mcas"):
        _ = result["mcas"]
    with pytest.raises(AttributeError):
        _ = result.__array__  # an attribute that libraries probe is not mistaken for a metric


def test_results_can_be_copied_and_pickled(result):
    import copy
    import pickle

    for again in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert again.macs == result.macs and again.to_dict() == result.to_dict()


def test_the_tree_as_objects(result):
    root = result.root
    assert (root.id, root.path, root.name, root.type, root.parent) == ("0", "", "ResNet", "ResNet", None)
    assert [child.path for child in root.children[:3]] == ["conv1", "bn1", "relu"]
    assert [node.path for node in root.walk()] == list(result.modules.index)
    conv = result.module("layer1.0.conv1")
    assert conv is not None and conv.parent.path == "layer1.0" and conv.is_leaf and conv.type == "Conv2d"
    assert conv["macs"] == result.modules.loc["layer1.0.conv1", "macs"]
    assert conv.metrics["params"] == 64 * 64  # 1 × 1, 64 channels to 64
    assert result.module(conv.id).path == conv.path == result.module(".layer1.0.conv1").path
    assert root.find("conv1").kernel_size == "[7, 7]" and "stride=(2, 2)" in root.find("conv1").text
    assert result.module("layer1").calls == 1 and result.module("layer1.0").status("macs") is None
    # Two bottlenecks follow the first, wider one: torchvision's layer1 is 1 + 2.
    assert result.module("layer1.1").repeat == {"window": 1, "times": 2}
    with pytest.raises(tmeter.UsageError, match="no module 'layer9.0' here.*did you mean"):
        result.module("layer9.0")
    with pytest.raises(KeyError, match="conv1 has params"):
        _ = result.module("conv1")["mcas"]


def test_more_formats(result, tmp_path):
    csv = result.to_csv(tmp_path / "r.csv").splitlines()
    assert csv[0].startswith("id,path,") and (tmp_path / "r.csv").read_text().splitlines() == csv
    assert "Conv2d" in result.to_csv(by="type")
    assert result.to_xml(tmp_path / "r.xml").startswith("<?xml")
    assert result.to_dot(tmp_path / "r.dot").startswith("digraph")
    with pytest.raises(tmeter.UsageError):
        result.to_csv(by="layers")


def test_modules_are_indexed_by_dot_path(result):
    frame = result.modules
    assert frame.index.name == "path"
    # 64 filters of 3 × 7 × 7; 64 · 147 · 112 · 112 multiplications.
    assert frame.loc["conv1", "params"] == 9_408
    assert frame.loc["conv1", "macs"] == 64 * 147 * 112 * 112
    assert frame.loc["", "macs"] == result.total("macs")
    assert frame.loc["layer1.0.conv1", "type"] == "Conv2d"
    children = frame[(frame.depth == 1)]
    assert children["macs"].sum() == result.total("macs")


def test_operators_and_tensors(result):
    assert result.operators["macs"].sum() == result.total("macs")
    assert result.operators.loc["conv1", "op"] == "aten::conv2d"
    tensor = result.tensors.loc["fc.weight"]
    assert list(tensor["shape"]) == [1000, 2048] and tensor["numel"] == 2_048_000
    assert result.tensors[result.tensors.kind == "parameter"]["numel"].sum() == 25_557_032


def test_findings(result):
    assert "memory-peak" in result.findings.index
    assert result.findings.loc["memory-peak", "severity"] == "info"


def test_missing_values_are_na_with_a_status(partial):
    assert partial.status("macs") == "lower_bound"
    operators = partial.operators
    unknown = operators[operators["macs_status"] == "unknown"]
    assert len(unknown) > 0 and unknown["macs"].isna().all()
    assert partial.coverage["unknown"] == len(unknown)
    assert str(operators["macs"].dtype) == "Int64"


def test_arrow_keeps_nulls(partial):
    table = partial.to_arrow("operators")
    assert table.num_rows == len(partial.operators)
    assert table.column("macs").null_count == int(partial.operators["macs"].isna().sum()) > 0
    assert partial.to_arrow().column_names[0] == "path"
    assert partial.to_arrow("findings").num_rows == len(partial.findings)


def test_a_dict_of_its_own(result):
    made = result.to_dict()
    made["totals"]["macs"] = 1
    assert result.total("macs") == 4_089_184_256
    assert made["schema"] == "tmeter-report/1"


def test_print_is_the_text_report(result, partial):
    assert "4,089,184,256" in str(result)
    assert "layer4" in str(result)
    assert "25,557,032 params" in repr(result)
    assert "lower_bound" in repr(partial)
    assert result.to_text(depth=0).count("\n") < str(result).count("\n")


def test_notebooks_get_an_isolated_page(result):
    shown = result.page()._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts' in shown
    assert "allow-same-origin" not in shown
    assert shown.count("<") == 2  # the whole page is inside the attribute
    assert "&lt;!doctype html&gt;" in shown.lower()


def test_notebooks_show_a_summary(result, partial):
    shown = result._repr_html_()
    assert len(shown) < 30_000 and "<script" not in shown and "<iframe" not in shown
    assert "4.09 GMAC" in shown and 'title="4,089,184,256 MAC"' in shown
    assert "25.6 M" in shown and "layer4" in shown and "result.page()" in shown
    assert f"{len(result.modules) - 11} more modules" in shown  # the root and its 10 children
    assert "≥ " in partial._repr_html_()


def test_a_summary_is_short_for_any_model(result):
    from tmeter.summary import summary

    report = result.to_dict()
    report["model"]["name"] = "<b>" + "n" * 100_000
    report["warnings"] = ["<i>" + "w" * 100_000] * 1000
    child = report["modules"][1]
    report["modules"] += [{**child, "id": str(i), "path": f"<p{i}>" * 999} for i in range(20, 5000)]
    report["totals"]["macs"] = None
    report["totals_status"]["macs"] = "not_finite"
    shown = summary(report, report["warnings"])
    assert len(shown) < 30_000
    assert "997 more warnings" in shown and "more modules" in shown and "not finite" in shown
    assert not any(tag in shown for tag in ("<i>", "<p2", "<b><b>"))
    report["modules"], report["metrics"] = report["modules"][:1], []
    assert "<td" not in summary(report, ())


@pytest.mark.parametrize(
    "value, kind, unit, text",
    [
        (0, "count", "", "0"),
        (999, "op", "MAC", "999 MAC"),
        (999_999, "op", "MAC", "1 MMAC"),
        (4_089_184_256, "op", "MAC", "4.09 GMAC"),
        (1023, "byte", "B", "1023 B"),
        (102_228_128, "byte", "B", "97.5 MiB"),
        (0.00125, "joule", "J", "1.25 mJ"),
        (0.4, "ratio", "", "40.0 %"),
        (-1500, "count", "", "-1.5 k"),
        (1e-30, "second", "s", "1e-30 s"),
    ],
)
def test_numbers_of_a_summary(value, kind, unit, text):
    from tmeter.summary import scaled

    assert scaled(value, kind, unit) == text


def test_totals_show_themselves_without_pandas(result, monkeypatch):
    assert "macs" in result.totals._repr_html_()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert result.totals._repr_html_() is None


def test_reports_to_files(result, tmp_path):
    page = tmp_path / "r.html"
    assert result.to_html(page) == page.read_text()
    assert "4,089,184,256" in result.to_markdown(tmp_path / "r.md")
    result.to_json(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text()) == result.to_dict()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.html", "r.json", "r.md"]


def test_assert(result, partial):
    assert result.assert_("macs<=5G", 'module("layer4").macs < 1G') is result
    with pytest.raises(tmeter.BudgetError, match=r"macs is 4\.089 G") as failure:
        result.assert_("macs<=4G", "params<=30M")
    assert isinstance(failure.value, AssertionError)
    with pytest.raises(tmeter.BudgetError):
        partial.assert_("macs<5G")  # a lower bound does not prove an upper bound
    with pytest.raises(tmeter.UsageError, match="mcas"):
        result.assert_("mcas<=4G")


def test_the_fixture_for_budgets(tmeter_budget, resnet50):
    assert tmeter_budget(resnet50, "macs<=5G").total("params") == 25_557_032
    with pytest.raises(pytest.fail.Exception, match="macs"):
        tmeter_budget(resnet50, "macs<=1G")


def test_options(resnet50):
    fvcore = tmeter.analyze(resnet50, options={"flops.convention": "fvcore"})
    assert fvcore.to_dict()["config"]["flops.convention"] == "fvcore"
    energy = tmeter.analyze(resnet50, plugins="flops,energy", hardware="nvidia-a100")
    assert energy.total("energy") > 0 and energy.totals.loc["energy", "provenance"] == "estimated"
    half = tmeter.analyze(resnet50, inputs=(1, 3, 112, 112))
    # The stem: a quarter of the positions.
    assert half.modules.loc["conv1", "macs"] == 64 * 147 * 56 * 56


def test_weights_of_a_file():
    result = tmeter.analyze(FIXTURES / "trained/model.safetensors", plugins=["param-stats"])
    assert result.tensors.loc["conv.weight", "std"] > 0


ERRORS = [
    (dict(model="no/such.pt2"), tmeter.ModelError, "no such file"),
    (dict(model=__file__), tmeter.ModelError, "test_result.py"),
    (dict(plugins="flop"), tmeter.UsageError, "did you mean 'flops'"),
    (dict(options={"convention": "torch"}), tmeter.UsageError, "PLUGIN.KEY"),
    (dict(inputs="1x3xA"), tmeter.Error, "1x3xA"),
    (dict(inputs=(1, 4, 224, 224)), tmeter.Error, "channels"),
    (dict(inputs=object()), tmeter.InputError, "object"),
    (dict(bind={"nothing": 3}), tmeter.UsageError, "nothing"),
]


@pytest.mark.parametrize("arguments, kind, message", ERRORS, ids=[e[2] for e in ERRORS])
def test_errors_carry_the_native_message(arguments, kind, message, resnet50):
    options = {"model": resnet50, **arguments}
    with pytest.raises(kind, match=message):
        tmeter.analyze(options.pop("model"), **options)


def test_every_error_has_one_base():
    kinds = [getattr(tmeter, n) for n in tmeter.__all__ if n.endswith("Error")]
    assert len(kinds) == 11 and all(issubclass(k, tmeter.Error) for k in kinds)


def test_unknown_metric_and_table(result):
    with pytest.raises(tmeter.UsageError, match="there are params"):
        result.total("macz")
    with pytest.raises(tmeter.UsageError, match="modules"):
        result.frame("moduls")


def test_reports_do_not_need_the_file(tmp_path, resnet50):
    file = tmp_path / "m.pt2"
    shutil.copy(resnet50, file)
    result = tmeter.analyze(file)
    file.unlink()
    assert "layer4" in str(result) and result.assert_("params<=30M")


def test_saved_and_loaded(result, tmp_path):
    result.to_json(tmp_path / "r.json")
    loaded = tmeter.Result.load(tmp_path / "r.json")
    assert loaded.total("macs") == result.total("macs")
    assert loaded.to_text() == result.to_text()
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(tmeter.Error, match="bad.json"):
        tmeter.Result.load(tmp_path / "bad.json")


def test_hostile_names_stay_names(tmp_path, resnet50):
    file = tmp_path / '"><script>alert(1)<x \x1b[31m.pt2'
    shutil.copy(resnet50, file)
    result = tmeter.analyze(file)
    assert result.total("params") == 25_557_032
    for shown in (result.to_html(), result.page()._repr_html_(), result._repr_html_()):
        assert "<script>alert" not in shown
    assert "\x1b" not in str(result)


def test_a_name_like_an_option(tmp_path, resnet50, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(resnet50, tmp_path / "--trust")
    assert tmeter.analyze("--trust").total("params") == 25_557_032


def test_several_threads_at_once():
    names = ["resnet50.pt2", "mobilenet_v2.pt2", "bert.pt2"]
    files = [f for f in (FIXTURES / "models" / n for n in names) if f.exists()] * 3
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda f: tmeter.analyze(f).total("params"), files))
    assert found[: len(files) // 3] * 3 == found


def test_loggers_leave_out_values_that_are_not_numbers(result, partial, tmp_path):
    from tmeter import loggers

    assert loggers.scalars(result)["tmeter/macs"] == 4_089_184_256
    found = loggers.scalars(partial)
    assert "tmeter/macs" not in found and found["tmeter/macs_lower_bound"] > 0

    class Writer:
        def __init__(self):
            self.scalars, self.texts = {}, {}

        def add_scalar(self, name, value, step):
            self.scalars[name] = value

        def add_text(self, name, text, step):
            self.texts[name] = text

    writer = Writer()
    loggers.log_tensorboard(result, writer)
    assert writer.scalars["tmeter/params"] == 25_557_032 and "layer4" in writer.texts["tmeter/report"]
    with pytest.raises(tmeter.UsageError, match="pip install mlflow"):
        loggers.log_mlflow(result)
    with pytest.raises(tmeter.UsageError, match="pip install wandb"):
        loggers.log_wandb(result)


def test_loggers_hand_over_numbers_and_the_page(result, partial, monkeypatch):
    """Stand-ins for the calls of mlflow 3 and wandb 0.2x that tmeter uses."""
    from types import SimpleNamespace

    from tmeter import loggers

    logged, pages = {}, []
    mlflow = SimpleNamespace(
        log_metrics=logged.update, log_artifact=lambda path: pages.append(Path(path).read_text())
    )
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    loggers.log_mlflow(result)
    assert logged["tmeter/params"] == 25_557_032 and "<!doctype html>" in pages[0].lower()

    run = SimpleNamespace(summary={}, log=pages.append)
    html = lambda text, inject: ("page", text, inject)  # noqa: E731
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(run=None, Html=html))
    with pytest.raises(tmeter.UsageError, match="wandb.init"):
        loggers.log_wandb(result)
    loggers.log_wandb(partial, run, prefix="m/")
    assert run.summary["m/macs_lower_bound"] > 0 and "m/macs" not in run.summary
    assert pages[1]["m/report"][0] == "page" and pages[1]["m/report"][2] is False


def test_frames_are_data_frames_of_pandas(result):
    for table in ("totals", "modules", "operators", "tensors", "findings"):
        assert isinstance(result.frame(table), pandas.DataFrame)


def test_the_difference_of_two_results(result):
    other = tmeter.analyze(FIXTURES / "models/mobilenet_v2.pt2")
    difference = result.diff(other)
    # torchvision documents 25,557,032 and 3,504,872 parameters.
    assert "25,557,032" in str(difference) and "3,504,872" in str(difference)
    assert json.loads(difference.to_json()) and "3,504,872" in difference.to_markdown()
    assert difference._repr_html_().count("<") == 2


def test_modules_have_names_and_kernels_and_can_be_limited_to_trainable_ones(tmp_path):
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 2))
    net[0].requires_grad_(False)
    result = tmeter.analyze(net, (1, 3, 8, 8))
    table = result.modules
    assert list(table["name"]) == ["", "0", "1", "2", "3"]
    assert table.loc["0", "kernel_size"] == "[3, 3]" and table.loc["0", "output_size"] == "[1, 4, 6, 6]"
    assert table.loc["3", "params"] == 290 and table.loc["0", "macs"] == 4 * 36 * 27
    dotted = result.frame("modules", leading_dot=True, only="trainable")
    assert list(dotted.index) == [".", ".3"]
    for wrong in ({"only": "frozen"}, {"table": "tensors", "only": "trainable"}):
        with pytest.raises(tmeter.UsageError):
            result.frame(**{"table": "modules", **wrong})
    assert result.root is result.root and result.module("3").id == "4" and result.module("4").path == "3"


def test_a_part_of_a_model_equals_the_module_alone():
    """Compares with the same layers, exported alone."""
    torch.manual_seed(0)
    inner = torch.nn.Sequential(torch.nn.Conv2d(4, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU())
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), inner, torch.nn.Conv2d(8, 2, 1))
    whole, alone = tmeter.analyze(net, (1, 3, 8, 8)), tmeter.analyze(inner, (1, 4, 8, 8))
    part = tmeter.analyze(net, (1, 3, 8, 8), root="1")
    for metric in ("params", "macs", "flops", "param_bytes", "buffer_bytes", "output_bytes", "peak_activation_bytes"):
        assert part.total(metric) == alone.total(metric), metric
    saved = whole.part("1")
    assert [m.path for m in saved.root.walk()] == [m.path for m in alone.root.walk()]
    assert saved.macs == alone.macs
    with pytest.raises(tmeter.UsageError, match="root=nine: "):
        tmeter.analyze(net, (1, 3, 8, 8), root="nine")
    with pytest.raises(tmeter.UsageError, match="there is no module"):
        whole.part("nine")


def test_a_workbook(tmp_path):
    result = tmeter.analyze(torch.nn.Linear(3, 2), (1, 3))
    result.to_excel(tmp_path / "out.xlsx")
    import zipfile

    with zipfile.ZipFile(tmp_path / "out.xlsx") as book:
        assert book.testzip() is None and "xl/workbook.xml" in book.namelist()


def test_similar_names_are_suggested(result):
    for call, near in (
        (lambda: result.total("MAC"), "macs"),
        (lambda: result.parms, "params"),
        (lambda: result.to_markdwn, "to_markdown"),
        (lambda: result.frame("module"), "modules"),
        (lambda: result.module("layer1.0.cnv1"), "layer1.0.conv1"),
        (lambda: result.module("conv1")["flop"], "flops"),
    ):
        with pytest.raises((AttributeError, KeyError, tmeter.UsageError), match=f"did you mean '{near}'"):
            call()


def test_a_state_dict(tmp_path):
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = torch.nn.Embedding(10, 4), torch.nn.Linear(4, 10, bias=False)
            self.head.weight = self.embed.weight
            self.norm = torch.nn.BatchNorm1d(4)

    model = Tied()
    with torch.no_grad():
        model.norm.bias.fill_(3.0)
    state = model.state_dict()
    result = tmeter.analyze(state)
    # 10 × 4 of the shared matrix, 4 + 4 of the norm; its buffers are two means of 4 and one count.
    assert (result.params, result.total("macs"), result.export.way) == (48, None, "torch.save")
    assert tmeter.analyze({"model": state, "epoch": 3, "optimizer": {"lr": 0.1}}).params == 48
    assert tmeter.analyze({k: v.to("meta") for k, v in state.items() if k != "head.weight"}).params == 48
    statistics = tmeter.analyze(state, plugins="param-stats").tensors
    assert statistics.loc["norm.bias", "mean"] == 3.0
    for nothing in ({}, {"lr": 0.1}):
        with pytest.raises(tmeter.InputError, match="has no tensors"):
            tmeter.analyze(nothing)
    assert state["norm.bias"].sum() == 12
