"""Models with uncommon constructs, in small configurations (tests/zoo/survey_special.py). The reference is FlopCounterMode on the
running module, and its own parameters. Tests are skipped if a library is not installed; the small modules of test_branches.py
contain the same constructs and always run."""

import os
import sys
import warnings
from pathlib import Path

import pytest
import torch

import tmeter

sys.path.insert(0, str(Path(os.environ["SOURCE"]) / "tests/zoo"))
from survey import files  # noqa: E402
from survey_models import MODELS  # noqa: E402
from survey_reference import one_expert_after_the_other, reference  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def made(name):
    torch.manual_seed(0)
    try:
        model, inputs = MODELS[name]()
    except ImportError as error:
        pytest.skip(str(error).strip().splitlines()[0])
    model.eval()
    return model, inputs, reference(one_expert_after_the_other(model), inputs)


def analyzed(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tmeter.analyze(*arguments, **options)


@pytest.mark.parametrize(
    "name", ["eomt", "pvt", "led", "longt5", "informer", "mimi", "olmoe", "granitemoe", "qwen3_next", "qwen3_5_text"]
)
def test_live_and_exact(name):
    model, inputs, flops = made(name)
    result = analyzed(model, inputs=inputs)
    assert (result.total("flops"), result.status("flops")) == (flops, None)
    assert result.total("params") == sum(p.numel() for p in model.parameters())
    assert result.status("other_flops") is None and result.coverage["unknown_ops"] == []
    assert result.warnings == ()


#: Models that branch on the data of their inputs. The values are those of a run on the same inputs.
@pytest.mark.parametrize("name", ["fsmt", "ovis2", "qwen2_vl", "fastspeech2_conformer", "gcn", "gatv2"])
def test_live_with_a_warning(name):
    model, inputs, flops = made(name)
    result = analyzed(model, inputs=inputs)
    assert (result.total("flops"), result.status("flops"), result.status("peak_activation_bytes")) == (flops, "assumed", "assumed")
    assert result.status("params") is None and result.total("params") == sum(p.numel() for p in model.parameters())
    assert any("data" in w for w in result.warnings)


@pytest.mark.parametrize("name", ["jetmoe", "graph_unet"])
def test_the_largest_size_that_data_allows_is_reported(name):
    model, inputs, flops = made(name)
    result = analyzed(model, inputs=inputs)
    assert result.total("flops") >= flops and result.status("flops") == "assumed"
    assert any("depend on data" in w or "depends on data" in w for w in result.warnings), result.warnings
    with pytest.raises(tmeter.BudgetError, match="under an assumption"):
        result.assert_("flops<=1T")


@pytest.mark.parametrize(
    "name, status",
    [("olmoe", None), ("granitemoe", None), ("mimi", None), ("led", None), ("gatv2", "assumed")],
)
def test_torchscript(name, status, tmp_path):
    model, inputs, flops = made(name)
    path, _ = files(model, inputs, tmp_path)["traced"]()
    result = analyzed(path)
    assert (result.total("flops"), result.status("flops"), result.coverage["unknown_ops"]) == (flops, status, [])


@pytest.mark.parametrize("name", ["graph_unet", "fastspeech2_conformer"])
def test_torchscript_that_follows_data(name, tmp_path):
    model, inputs, _ = made(name)
    path, _ = files(model, inputs, tmp_path)["traced"]()
    assert analyzed(path).status("flops") == "assumed"


def test_a_different_export_is_reported():
    """During torch.export (is_torchdynamo_exporting()) the model has a loop and two products instead of a triangular solver."""
    model, inputs, flops = made("qwen3_next")
    result = analyzed(model, inputs=inputs, via="torch.export")
    assert result.total("flops") != flops and result.status("flops") == "assumed"
    assert any("behaves differently when it is exported" in w for w in result.warnings)
