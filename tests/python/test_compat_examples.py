"""Every compat call on its tool's own README example. tests/fixtures/record_compat.py recorded the tools' values (compat.json,
with versions). If a value differs, the difference is calculated here and named after its rule in docs/conventions.md."""

import functools
import io
import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import torch
import torchvision

import tmeter

FIXTURES = Path(os.environ["FIXTURES"])
sys.path.insert(0, str(FIXTURES))
import compat_models as nets  # noqa: E402

RECORDED = json.loads((FIXTURES / "compat.json").read_text())


def quiet(call, *args, **kwargs):
    with redirect_stdout(io.StringIO()) as output:
        return call(*args, **kwargs), output.getvalue()


# torchinfo

TORCHINFO = {
    "SingleInputNet": (nets.SingleInputNet, {"input_size": (7, 1, 28, 28)}),
    "LSTMNet": (nets.LSTMNet, {"input_size": (1, 100), "dtypes": [torch.long]}),
    "resnet152": (torchvision.models.resnet152, {"input_size": (1, 3, 224, 224)}),
    "MultipleInputNetDifferentDtypes": (
        nets.MultipleInputNetDifferentDtypes,
        {"input_size": [(1, 300), (1, 300)], "dtypes": [torch.float, torch.long]},
    ),
    "ContainerModule": (nets.ContainerModule, {"input_size": (1, 5)}),
}
#: Layers whose mult-adds torchinfo gets wrong, and the correct values.
TORCHINFO_RULES = {
    "embedding": 0,  # "an embedding counts its whole table"
    "decoder": 100 * (512 * 20 + 20),  # "linear over [N, T, C] counts N rows"
}


@functools.cache
def torchinfo(name):
    from tmeter.compat.torchinfo import summary

    build, arguments = TORCHINFO[name]
    with torch.device("meta" if name == "resnet152" else "cpu"):
        return summary(build(), **arguments, verbose=0)


@pytest.mark.parametrize("name", TORCHINFO)
def test_torchinfo(name):
    recorded, found = RECORDED["torchinfo"][name], torchinfo(name)
    for key in ("total_params", "trainable_params", "total_param_bytes", "total_output_bytes"):
        assert getattr(found, key) == recorded[key], key
    # torchinfo adds Python's size of a list and of each tensor object.
    tensors = len(found.input_size)
    assert recorded["total_input"] - found.total_input == 64 * tensors
    wrong = 0
    for theirs, ours in zip(recorded["layers"], found.summary_list):
        *attributes, macs = theirs
        keys = ("class_name", "var_name", "depth", "depth_index", "output_size", "num_params")
        assert [getattr(ours, k) for k in keys] == attributes
        if name == "LSTMNet" and ours.var_name in TORCHINFO_RULES:
            wrong += TORCHINFO_RULES[ours.var_name] - macs
        elif ours.is_leaf_layer:
            assert ours.macs == macs, attributes  # torchinfo's value for containers is meaningless and not printed
    assert found.total_mult_adds == recorded["total_mult_adds"] + wrong
    assert len(found.summary_list) >= len(recorded["layers"])


@pytest.mark.parametrize("name", [n for n in TORCHINFO if n != "LSTMNet"])
def test_torchinfo_s_table_to_the_letter(name):
    lines = str(torchinfo(name)).splitlines()
    # Python 3.11 prints torchinfo's unit as the name of an enum member.
    units = {"Units.MEGABYTES": "M", "Units.GIGABYTES": "G"}
    for line in RECORDED["torchinfo"][name]["text"]:
        for enum, unit in units.items():
            line = line.replace(enum, unit)
        assert line in lines


def test_torchinfo_s_other_settings():
    """The LSTM example as in the README: names of variables, columns, weights."""
    from tmeter.compat.torchinfo import summary

    found, output = quiet(
        summary,
        nets.LSTMNet(),
        (1, 100),
        dtypes=[torch.long],
        verbose=2,
        col_width=16,
        col_names=["kernel_size", "output_size", "num_params", "mult_adds"],
        row_settings=["var_names"],
    )
    assert str(found) + "\n" == output
    rows = [line.split() for line in output.splitlines()]
    for row in (
        "LSTMNet (LSTMNet) -- [100, 20] -- --",
        "│ └─weight [300, 20] └─6,000",
        "├─LSTM (encoder) -- [1, 100, 512] 3,768,320 376,832,000",
        "│ └─weight_hh_l0 [2048, 512] ├─1,048,576",
        "│ └─bias_hh_l1 [2048] └─2,048",
    ):
        assert row.split() in rows


def test_torchinfo_without_inputs():
    from tmeter.compat.torchinfo import summary

    found = summary(nets.ContainerModule(), verbose=0)
    assert found.total_params == 150 and found.total_mult_adds == 0 and found.result is None
    assert [x.class_name for x in found.summary_list[:3]] == ["ContainerModule", "ModuleList", "Linear"]
    assert "Param #" in str(found) and "Output Shape" not in str(found)


def test_torchinfo_input_data_and_pruning():
    from tmeter.compat.torchinfo import summary

    data = [torch.randn(1, 300), torch.randn(1, 300).long()]
    assert summary(nets.MultipleInputNetDifferentDtypes(), input_data=data, verbose=0).total_params == 31_120
    model = torch.nn.Sequential(torch.nn.Linear(10, 10))
    from torch.nn.utils import prune

    prune.l1_unstructured(model[0], "weight", amount=40)
    assert summary(model, (1, 10), verbose=0).total_params == 60 + 10  # the mask's remaining elements and the bias
    assert summary(torch.nn.Sequential(torch.nn.LazyLinear(3)), verbose=0).total_params == 0
    with pytest.raises(ValueError, match="there is no 'size'"):
        summary(model, (1, 10), col_names=["size"], verbose=0)


# thop

def test_thop():
    from tmeter.compat.thop import clever_format, profile

    model = torchvision.models.resnet50()
    macs, params = profile(model, inputs=(torch.randn(1, 3, 224, 224),))
    assert [macs, params] == RECORDED["thop"]["resnet50"]
    assert list(clever_format([macs, params], "%.3f")) == RECORDED["thop"]["clever"]


# ptflops

def test_ptflops():
    from tmeter.compat.ptflops import get_model_complexity_info

    recorded = RECORDED["ptflops"]
    with torch.device("meta"):
        model = torchvision.models.densenet161()
    output = io.StringIO()
    found = get_model_complexity_info(
        model,
        (3, 224, 224),
        as_strings=True,
        output_precision=6,
        backend="pytorch",
        print_per_layer_stat=True,
        verbose=True,
        ost=output,
    )
    assert found[1] == "28.681 M" and "denseblock4" in output.getvalue()
    # "modules and the functions they call both counted": ptflops counts 7.85 GMac. Here: its modules, and the two functions of
    # DenseNet's forward once, relu and pooling of 2208 × 7 × 7.
    right = recorded["densenet161 modules alone"] + 2 * 2208 * 49
    assert found[0] == f"{right / 1e9:.6f} GMac"
    aten = get_model_complexity_info(
        model, (3, 224, 224), as_strings=False, backend="aten", print_per_layer_stat=False
    )
    # ptflops' backend aten counts the bias of a linear layer as MACs, but not that of convolutions.
    assert [aten[0] + 1000, aten[1]] == recorded["densenet161 aten numbers"]
    with pytest.raises(tmeter.UsageError, match="backend 'jax'"):
        get_model_complexity_info(model, (3, 8, 8), backend="jax")


# torchstat

def test_torchstat():
    """torchstat 0.0.7 does not run with this pandas, so the values are from its README."""
    from tmeter.compat.torchstat import stat

    nothing, output = quiet(stat, nets.TorchstatNet(), (3, 224, 224))
    assert nothing is None
    assert "2,815,340" in output or "2.82 M" in output
    # Multiply-accumulates and biases, as its column Flops, per layer.
    result = tmeter.analyze(
        nets.TorchstatNet(), inputs=(1, 3, 224, 224), options={"flops.convention": "torchstat"}
    )
    flops = result.modules["flops"]
    assert flops["conv1"] == 36_784_000 and flops["conv2"] == 56_404_720
    assert flops["fc1"] == 2_809_000 and flops["fc2"] == 500
    model, output = quiet(stat, torchvision.models.resnet18(), (3, 224, 224))
    assert "Total params: 11,689,512" in output
    # torchstat 0.0.7, its formulas on hooked modules: tests/python/test_torchstat.py.
    assert "Total MAdd: 3.64GMAdd" in output and "Total Flops: 1.82GFlops" in output


# calflops

def test_calflops():
    from tmeter.compat.calflops import calculate_flops

    with torch.device("meta"):
        model = torchvision.models.alexnet()
    arguments = dict(model=model, input_shape=(1, 3, 224, 224), print_results=False)
    output = calculate_flops(**arguments, output_as_string=True, output_precision=4)
    assert list(output[1:]) == RECORDED["calflops"]["alexnet"][1:]
    flops, macs, params = calculate_flops(**arguments, output_as_string=False)
    theirs = RECORDED["calflops"]["alexnet numbers"]
    assert [macs, params] == theirs[1:]
    # calflops: maximum pooling costs its input, here window × output; no biases of linear layers.
    pooled_in, pooled_out = 64 * 55**2 + 192 * 27**2 + 256 * 13**2, 64 * 27**2 + 192 * 13**2 + 256 * 6**2
    assert flops - theirs[0] == 9 * pooled_out - pooled_in + 4096 + 4096 + 1000


def test_calflops_by_name(tmp_path):
    """A folder replaces a name on the Hub; the README's (1, 128) is the default."""
    from tmeter.compat.calflops import calculate_flops_hf

    config = dict(
        model_type="llama",
        architectures=["LlamaForCausalLM"],
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        vocab_size=1000,
    )
    (tmp_path / "config.json").write_text(json.dumps(config))
    flops, macs, params = calculate_flops_hf(
        model_name=str(tmp_path), print_results=False, output_as_string=False
    )
    # Projections 4 · 64², MLP 3 · 64 · 128, attention 2 · 128 · 64 per token and layer; the head.
    assert macs == 128 * (2 * (4 * 64**2 + 3 * 64 * 128 + 2 * 128 * 64) + 64 * 1000)
    assert params == 2 * 64_000 + 2 * (4 * 64**2 + 3 * 64 * 128 + 2 * 64) + 64 and flops > 2 * macs
    five = calculate_flops_hf(model_name=str(tmp_path), print_results=False, return_results=True)
    assert len(five) == 4 and five[1].endswith("MMACs")


# fvcore (docs/flop_count.md there)

def test_fvcore():
    from tmeter.compat.fvcore import FlopCountAnalysis, flop_count_str, flop_count_table
    from tmeter.compat.fvcore import parameter_count_table

    recorded = RECORDED["fvcore"]
    model = torchvision.models.resnet18()
    trained = FlopCountAnalysis(model.train(), torch.randn(1, 3, 224, 224)).total()
    assert trained == recorded["total in training mode"]
    flops = FlopCountAnalysis(model.eval(), torch.randn(1, 3, 224, 224))
    assert flops.total() == recorded["total"]
    # In training mode it takes 5 instead of 2 per element of a batch norm.
    normed = 64 * 112**2 + 5 * 64 * 56**2 - 64 * 56**2 + (5 * 128 * 28**2) + (5 * 256 * 14**2) + (5 * 512 * 7**2)
    assert recorded["total in training mode"] - recorded["total"] == 3 * normed
    assert flops.by_operator() == recorded["by_operator"]
    assert {k: v for k, v in flops.by_module().items() if v} == {
        k: v for k, v in recorded["by_module"].items() if v
    }
    assert flop_count_table(flops, max_depth=2) == recorded["table"]
    assert parameter_count_table(model, max_depth=1) == recorded["parameter_table"]
    assert "layer4" in flop_count_str(flops)
