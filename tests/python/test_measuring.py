"""Measuring from Python: the native program's runs of files and of live models."""

import json
import os
import pathlib
import re
import subprocess

import pytest

import tmeter

torch = pytest.importorskip("torch")
BUILT_WITH = (pathlib.Path(os.environ["BUILD"]) / "plugins/torch_backend/libtorch-version").read_text().strip()
if torch.__version__.split("+")[0] != BUILT_WITH:
    pytest.skip(f"tmeter has LibTorch {BUILT_WITH}, this is {torch.__version__}", allow_module_level=True)
FIXTURES = pathlib.Path(os.environ["FIXTURES"])


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8)).eval()


def test_a_live_model_is_run_with_its_weights():
    result = tmeter.analyze(net(), (4, 64), inference=True, run_for=0.2, threads=1)
    assert result.infer_time > 0 and result.to_dict()["run"]["weights"] == "of the file"
    assert result.to_dict()["run"]["threads"] in (1, "1")
    assert result.macs == 4 * (64 * 128 + 128 * 8)
    time = result.operators["op_time"] if "op_time" in result.operators else result.operators["time"]
    assert (time.dropna() > 0).all()


def test_a_model_without_weights_is_run_with_random_weights():
    result = tmeter.analyze(net().to("meta"), (4, 64), inference=True, run_for=0.1)
    assert result.infer_time > 0 and "random" in result.to_dict()["run"]["weights"]


def test_a_file_and_its_outputs():
    path = FIXTURES / "models/gpt2_like.pt2"
    digests = [
        tmeter.analyze(
            path, inference=True, run_for=0.1, seed=seed, options={"torch-backend.output-digest": True}
        ).to_dict()["run"]["output.0"]
        for seed in (0, 0, 1)
    ]
    assert digests[0] == digests[1] != digests[2]  # the seed determines weights and inputs


def test_a_profile():
    result = tmeter.analyze(net(), (4, 64), profile=True, run_for=0.2)
    assert result.infer_time > 0 and "org.tmeter.system" in {p["id"] for p in result.to_dict()["plugins"]}


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(plugins="latency"), "add inference=True"),
        (dict(device="cpu"), "device= goes with inference=True"),
        (dict(run_for=3), "run_for= goes with inference=True"),
        (dict(inference=True, device="tpu"), "tpu"),
        (dict(inference=True, run_for=-1), "run_for="),
    ],
)
def test_wrong_usage_is_reported_in_terms_of_python(arguments, words):
    with pytest.raises(tmeter.Error, match=words) as raised:
        tmeter.analyze(FIXTURES / "models/gpt2_like.pt2", **arguments)
    assert "--" not in str(raised.value)


def test_the_whole_report_of_a_scripted_resnet(tmp_path):
    """The report has sections for the six subjects of the Comprehensive PyTorch Model Analyzer: structure, parameters,
    operators, time and memory, energy, advice. tests/bench/budget.py limits the time."""
    torchvision = pytest.importorskip("torchvision")
    model, kinds = tmp_path / "model.pt", ("txt", "html", "xml", "json")
    torch.jit.script(torchvision.models.resnet18().eval()).save(model)
    program = pathlib.Path(os.environ["BUILD"]) / "bin" / "tmeter"
    done = subprocess.run(
        [program, model, "--full", "--inference", "--run-for", "1", *(f"--report={tmp_path / 'analysis'}.{kind}" for kind in kinds)],
        capture_output=True, text=True, timeout=500)  # fmt: skip
    assert done.returncode == 0, done.stderr
    texts = {kind: (tmp_path / f"analysis.{kind}").read_text() for kind in kinds}
    sections = re.findall(r"^\d+  (.+)$", texts["txt"], re.M)
    assert sections == [
        "Summary", "Layers by family and class", "Architecture", "Parameters and buffers", "Operators in the order in which they run",
        "Time, power and energy", "Histograms and curves", "Findings and recommendations", "How it was counted"]  # fmt: skip
    document = json.loads(texts["json"])
    trades = {"graph_depth", "entropy", "macs", "infer_time", "measured_peak_bytes", "energy", "cpu_utilisation", "sqnr_int8_channel"}
    assert trades <= {m["id"] for m in document["metrics"]}
    assert document["totals"]["params"] == 11_689_512 and document["totals"]["infer_time"] > 0
    rules = {finding["rule"] for finding in document["findings"]}
    assert "fold-batch-norm" in rules and len(rules) > 8
    for part in (*trades, *rules, "layer4.1.conv2"):
        assert part in texts["xml"], part
    assert texts["html"].startswith("<!") and len(texts["html"]) > 100_000
    # An operator's block contains its advice and its parameters.
    block = texts["txt"][texts["txt"].index("\n5  ") :][:20_000]
    assert "parameters 9,408" in block and "advice: " in block
