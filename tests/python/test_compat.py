"""The calls of other tools. The expected values were recorded from the tools themselves (tests/fixtures/formulas.json,
tests/fixtures/expected); the examples are from their READMEs."""

import io
import json
import os
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import torch
import torchvision
from torch import nn

import tmeter

FIXTURES = Path(os.environ["FIXTURES"])
RECORDED = json.loads((FIXTURES / "formulas.json").read_text())["models"]["resnet50"]


@pytest.fixture(scope="module")
def model():
    return torchvision.models.resnet50(weights=None)


def test_thop_s_example(model):
    from tmeter.compat.thop import clever_format, profile

    macs, params, layers = profile(model, inputs=(torch.randn(1, 3, 224, 224),), ret_layer_info=True)
    assert (macs, params) == (RECORDED["thop"], 25_557_032)
    assert isinstance(macs, float)
    # thop's README prints this for ResNet-50.
    assert clever_format([macs, params], "%.3f") == ("4.134G", "25.557M")
    assert clever_format(12) == "12.00B"
    ops, params, children = layers["layer1"][2]["0"]
    assert params == 75_008 and set(children) >= {"conv1", "bn1", "downsample"}


def test_ptflops_s_example(model):
    from tmeter.compat.ptflops import get_model_complexity_info

    output = io.StringIO()
    macs, params = get_model_complexity_info(
        model, (3, 224, 224), as_strings=True, print_per_layer_stat=True, ost=output
    )
    assert params == "25.56 M"
    assert "layer1" in output.getvalue()
    assert macs == f"{RECORDED['ptflops_modules'] / 1e9:.2f} GMac"
    info = get_model_complexity_info(
        nn.Bilinear(2, 3, 4),
        (1,),
        print_per_layer_stat=False,
        input_constructor=lambda _: {"input1": torch.zeros(1, 2), "input2": torch.zeros(1, 3)},
    )
    assert info[1] == "28"


def test_fvcore_s_example(model):
    from tmeter.compat.fvcore import ActivationCountAnalysis, FlopCountAnalysis, flop_count_table
    from tmeter.compat.fvcore import parameter_count

    # fvcore 0.1.5 prints this for torchvision's ResNet-50, in training mode and in evaluation mode.
    assert FlopCountAnalysis(model.train(), torch.zeros(1, 3, 224, 224)).total() == 4_144_854_528
    flops = FlopCountAnalysis(model.eval(), torch.zeros(1, 3, 224, 224))
    assert flops.total() == 4_111_512_576
    assert flops.by_operator() == {
        "conv": 4_087_136_256,
        "batch_norm": 22_227_968,
        "linear": 2_048_000,
        "adaptive_avg_pool2d": 100_352,
    }
    assert flops.by_module()["layer1"] == flops.total("layer1") == 676_773_888
    assert flops.by_module_and_operator()["fc"] == {"linear": 2_048_000}
    assert flops.unsupported_ops() == {} and flops.uncalled_modules() == set()
    assert ActivationCountAnalysis(model, torch.zeros(1, 3, 224, 224)).total() == 11_114_984
    counts = parameter_count(model)
    assert counts[""] == 25_557_032 and counts["fc"] == 2_049_000
    table = flop_count_table(flops, max_depth=1)
    assert "25.557M" in table and "4.112G" in table and "layer1.0" not in table
    with pytest.raises(tmeter.UsageError, match="plugin"):
        flops.set_op_handle("aten::add", lambda *_: 1)


def test_torchinfo_s_example(model):
    from tmeter.compat.torchinfo import summary

    with redirect_stdout(io.StringIO()) as output:
        found = summary(model, input_size=(1, 3, 224, 224))
    assert found.total_mult_adds == RECORDED["torchinfo"]
    assert found.total_params == found.trainable_params == 25_557_032
    assert found.total_param_bytes == 25_557_032 * 4
    assert "Total params: 25,557,032" in output.getvalue()
    with redirect_stdout(io.StringIO()) as output:
        lstm = summary(nn.LSTM(16, 32), (5, 1, 16), verbose=0)
    assert lstm.total_params == 4 * 32 * (16 + 32 + 2) and output.getvalue() == ""
    batched = summary(nn.Linear(3, 4), (3,), batch_dim=0, dtypes=[torch.float32], verbose=0)
    assert batched.input_size == [[1, 3]]
    with pytest.raises(tmeter.UsageError, match="only one of"):
        summary(model, (1, 3, 8, 8), torch.zeros(1, 3, 8, 8))


def test_calflops_s_example(model):
    from tmeter.compat.calflops import calculate_flops

    flops, macs, params = calculate_flops(
        model=model, input_shape=(1, 3, 224, 224), output_precision=4, print_results=False
    )
    # calflops 0.3.2 prints 8.2111 GFLOPS: it leaves out additions of tensors (16 residual ones, 5.5 M).
    assert (macs, params) == ("4.0892 GMACs", "25.557 M")
    assert flops == "8.2176 GFLOPS"
    raw = calculate_flops(nn.Linear(3, 4), (1, 3), output_as_string=False, print_results=False)
    assert raw == (2 * 12 + 4, 12, 16)
    trained = calculate_flops(
        nn.Linear(3, 4), (1, 3), include_backPropagation=True, output_as_string=False, print_results=False
    )
    assert trained[1] == 36
    with pytest.raises(tmeter.UsageError, match="generate"):
        calculate_flops(model, (1, 3), forward_mode="generate")


def test_torchstat_s_example(model):
    from tmeter.compat.torchstat import stat

    with redirect_stdout(io.StringIO()) as output:
        assert stat(model, (3, 224, 224)) is None
    text = output.getvalue()
    assert "layer4.2.conv3" in text or "conv3" in text
    assert f"{RECORDED['torchstat']:,}" in text


@pytest.mark.parametrize("tool", ["thop", "ptflops"])
def test_rules_in_python_are_refused(tool, model):
    if tool == "thop":
        from tmeter.compat.thop import profile

        call = lambda: profile(model, (torch.zeros(1, 3, 32, 32),), custom_ops={nn.Conv2d: print})  # noqa: E731
    else:
        from tmeter.compat.ptflops import get_model_complexity_info as info

        call = lambda: info(model, (3, 32, 32), custom_modules_hooks={nn.Conv2d: print})  # noqa: E731
    with pytest.raises(tmeter.UsageError, match="plugin new"):
        call()
