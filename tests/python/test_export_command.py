"""``python -m tmeter export``: files for the native program, and the messages of failures."""

import json
import subprocess
import sys

import pytest

import tmeter

CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "cfg").mkdir()
    (tmp_path / "cfg/config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "nets.py").write_text(
        "import torch\ndef make(): return torch.nn.Linear(3, 4)\ndef number(): return 7\n"
    )
    return tmp_path


def in_this_process(*arguments):
    """Runs in this process, because torch is imported already."""
    from tmeter.export_command import export_command

    return export_command(arguments)


def export(folder, *arguments):
    command = [sys.executable, "-m", "tmeter", "export", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


# Parameters documented by timm, torchvision and transformers, or counted by hand: Llama: embedding and head 1000·64 each; a layer
# 64·64·2 + 64·32·2 + 3·64·128 + 2·64; last norm 64.
LLAMA = 2 * 64_000 + 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64) + 64
CASES = [
    (["timm:resnet18"], 11_689_512),
    (["torchvision:mobilenet_v2"], 3_504_872),
    (["torchvision:r3d_18"], 33_371_472),
    (["hf:cfg"], LLAMA),
    (["hf:cfg/config.json", "-i", "input_ids=2x16:i64", "--dynamic-batch"], LLAMA),
    (["nets:make", "-i", "5x3"], 16),
]


@pytest.mark.parametrize("arguments, params", CASES, ids=[c[0][0] for c in CASES])
def test_a_file_without_weights(project, arguments, params, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert in_this_process(*arguments, "-o", "m.pt2") == 0
    output = capsys.readouterr()
    assert "exported by torch.export" in output.err and output.out == ""
    assert tmeter.analyze(project / "m.pt2").total("params") == params
    assert (project / "m.pt2").stat().st_size < 2_000_000


WRONG = [
    (["timm:resnet99"], 2, "no model 'resnet99'"),
    (["torchvision:resnet99"], 2, "no model 'resnet99'"),
    (["hf:nowhere/at/all"], 2, "hf:nowhere/at/all"),
    (["nets:made", "-i", "5x3"], 2, "nets has no made"),
    (["nets:number", "-i", "5x3"], 2, "returns a value of type int"),
    (["nothere:make"], 2, "nothere cannot be imported"),
    (["nets"], 2, "LIBRARY:NAME is expected"),
    (["nets:make"], 2, "does not define its inputs"),
    (["nets:make", "-i", "5x4"], 2, "does not run on these inputs"),
]


@pytest.mark.parametrize("arguments, status, message", WRONG, ids=[w[2] for w in WRONG])
def test_an_error_is_one_line_and_leaves_no_file(project, arguments, status, message, monkeypatch, capsys):
    monkeypatch.chdir(project)
    sys.modules.pop("nets", None)
    assert in_this_process(*arguments, "-o", "m.pt2") == status
    err = capsys.readouterr().err
    assert message in err and err.startswith("tmeter: ")
    assert not list(project.glob("m.pt2*"))


def test_as_a_command(project):
    done = export(project, "nets:make", "-i", "5x3", "-o", "m.pt2")
    assert done.returncode == 0, done.stderr
    done = export(project, "nets:make", "-i", "5x4", "-o", "n.pt2")
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_a_missing_folder(project):
    done = export(project, "nets:make", "-i", "5x3", "-o", "no/m.pt2")
    assert done.returncode == 2 and "there is no folder" in done.stderr
