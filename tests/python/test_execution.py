"""Real runs give PyTorch's own results, bit for bit: for the same file, input, version and threads.

tmeter reports its outputs by type, shape and SHA-256 (--set torch-backend.output-digest=true); PyTorch's are hashed here. The
networks of runnable_models.py each have a feature that a run must get right.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

torch = pytest.importorskip("torch")
BUILT_WITH = (pathlib.Path(os.environ["BUILD"]) / "plugins/torch_backend/libtorch-version").read_text().strip()
if torch.__version__.split("+")[0] != BUILT_WITH:
    pytest.skip(f"tmeter has LibTorch {BUILT_WITH}, this is {torch.__version__}", allow_module_level=True)
from runnable_models import Branching, Cut, Looping, models  # noqa: E402

sys.path.insert(0, os.environ["FIXTURES"])
from record_workspaces import workspace  # noqa: E402

TMETER = pathlib.Path(os.environ["BUILD"]) / "bin" / "tmeter"
FIXTURES = pathlib.Path(os.environ["FIXTURES"])
THREADS = 2
NAMES = ("convolutions", "recurrent", "attention", "pieces", "sizes", "types", "growing", "calling", "turned", "frozen")


def run(model, *arguments):
    return subprocess.run(
        [TMETER, model, "--inference", "--run-for", "0.01s", "--threads", str(THREADS), "--report", "json",
         "--set", "torch-backend.output-digest=true", "--set", "torch-backend.output-values=5", *map(str, arguments)],
        capture_output=True, text=True, timeout=300,
        env={**os.environ, "TMETER_PLUGIN_PATH": "", "XDG_DATA_HOME": "/nonexistent"})


def facts(model, *arguments):
    done = run(model, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["run"]


def reported_outputs(run_facts):
    return [run_facts[f"output.{i}"] for i in range(sum(key.startswith("output.") for key in run_facts))]


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in tensors_in(item)] if isinstance(value, (tuple, list)) else []


def digest(tensor):
    tensor = tensor.detach().contiguous()
    content = tensor.flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    shape = ", ".join(map(str, tensor.shape))
    return f"{str(tensor.dtype).removeprefix('torch.')}[{shape}] sha256 {hashlib.sha256(content).hexdigest()}"


def results_of(program, inputs):
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    with torch.inference_mode():
        return tensors_in(program(*[i.clone() for i in inputs]))


def outputs_of(program, inputs):
    return [digest(t) for t in results_of(program, inputs)]


def text_of(element):
    if isinstance(element, complex):
        return f"{element.real:.6g}{element.imag:+.6g}i"
    return str(element).lower() if isinstance(element, (bool, int)) else f"{element:.6g}"


def first_values(tensor):
    text = ", ".join(map(text_of, tensor.flatten()[:5].tolist()))
    return text + (", …" if tensor.numel() > 5 else "")


def saved(name, form, folder):
    """The file, and PyTorch's results for it; nothing if PyTorch cannot write the file."""
    net, inputs = models()[name]
    path = folder / (f"{name}.pt2" if form == "exported" else f"{name}.pt")
    if form == "exported":
        dims = ({0: torch.export.Dim("n", min=2, max=64)},) if name == "growing" else None
        torch.export.save(torch.export.export(net, inputs, dynamic_shapes=dims), path)
        return path, torch.export.load(path).module(), inputs
    try:
        program = torch.jit.script(net) if form == "scripted" else torch.jit.trace(net, inputs, check_trace=False)
    except Exception as e:
        pytest.skip(f"PyTorch cannot write it: {str(e).strip().splitlines()[0]}")
    program.save(path)
    return path, torch.jit.load(path), inputs


@pytest.mark.parametrize("form", ["exported", "scripted", "traced"])
@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_pytorch(name, form, tmp_path):
    path, program, inputs = saved(name, form, tmp_path)
    values = tmp_path / "input.pt"
    torch.save(inputs[0], values)
    sizes = () if form == "exported" else ("--input", "x".join(map(str, inputs[0].shape)) + (
        ":i64" if inputs[0].dtype == torch.int64 else ":f32"))
    if (name, form) == ("sizes", "scripted"):  # its recorded sizes belong to other inputs
        done = run(path, "--input-file", values, *sizes)
        assert done.returncode == 6, done.stderr
        assert "aten::nonzero gives" in done.stderr and "a .pt2 file (torch.export)" in done.stderr
        return
    run_facts = facts(path, "--input-file", values, *sizes)
    outputs = results_of(program, inputs)
    assert reported_outputs(run_facts) == [digest(t) for t in outputs]
    assert [run_facts[f"output-values.{i}"] for i in range(len(outputs))] == [first_values(t) for t in outputs]
    assert run_facts["weights"] == "of the file"
    assert run_facts["inputs"] == f"of {values}"
    assert run_facts["engine"] == f"LibTorch {torch.__version__.split('+')[0]}"


@pytest.mark.parametrize("name", ["turned", "frozen"])
def test_products_copy_the_operands_that_pytorch_copies(name, tmp_path):
    """8 x 40 rows of 64 float32 are 81,920 bytes. Five of the six products copy them if they are trainable, else only the two with four dims."""
    net, (x,) = models()[name]
    rows, blocks, wide = net.operands(x)
    copies = [workspace(call, THREADS) for call in (
        lambda: net.linear(rows), lambda: rows @ net.matrix, lambda: net.linear(blocks), lambda: blocks @ net.matrix,
        lambda: torch.nn.functional.linear(rows, net.matrix.t()), lambda: net.linear(wide))]
    assert copies == [81_920 * n for n in {"turned": [1, 1, 1, 1, 1, 0], "frozen": [0, 0, 1, 1, 0, 0]}[name]]
    path, _, _ = saved(name, "exported", tmp_path)
    done = run(path, "--plugins=memory,allocations,torch-backend,pt2,-latency")
    assert done.returncode == 0, done.stderr
    products = [n["values"] for n in json.loads(done.stdout)["nodes"] if n["op"] in ("aten::linear", "aten::matmul")]
    assert [v["workspace_bytes"] for v in products] == copies
    assert [v["predicted_workspace_bytes"] for v in products] == copies


def test_a_part_of_a_trainable_tensor_is_trainable(tmp_path):
    net, x = Cut(), torch.randn(8, 40, 64)
    copies = [workspace(lambda w=w: torch.nn.functional.linear(x.transpose(0, 1), w), THREADS) for w in net.weights()]
    assert copies == [81_920, 81_920, 81_920, 81_920, 0]
    exported(net, (x,), tmp_path / "net.pt2")
    done = run(tmp_path / "net.pt2", "--plugins=memory,allocations,torch-backend,pt2,-latency")
    assert done.returncode == 0, done.stderr
    products = [n["values"] for n in json.loads(done.stdout)["nodes"] if n["op"] == "aten::linear"]
    assert [v["workspace_bytes"] for v in products] == copies
    assert [v["predicted_workspace_bytes"] for v in products] == copies


def test_a_recording_with_data_dependent_sizes_needs_its_data(tmp_path):
    path, program, _ = saved("sizes", "scripted", tmp_path)
    run_facts = facts(path, "--input", "4x5:f32")
    torch.manual_seed(0)
    x = torch.rand(4, 5)  # a recording with values needs its own data
    assert reported_outputs(run_facts) == outputs_of(program, (x,))
    assert run_facts["inputs"] == "made up, as recorded with the program"


def test_an_open_size_is_bound(tmp_path):
    path, program, _ = saved("growing", "exported", tmp_path)
    x = torch.randn(11, 4)
    numpy.save(tmp_path / "x.npy", x.numpy())
    run_facts = facts(path, "--input", "11x4", "--input-file", tmp_path / "x.npy")
    assert reported_outputs(run_facts) == outputs_of(program, (x,))


def test_every_kind_of_input_file_is_read(tmp_path):
    from safetensors.torch import save_file
    path, program, (x,) = saved("convolutions", "exported", tmp_path)
    expected = outputs_of(program, (x,))
    torch.save({"x": x}, tmp_path / "dictionary.pt")
    torch.save([x], tmp_path / "list.pt")
    numpy.save(tmp_path / "x.npy", x.numpy())
    save_file({"x": x}, tmp_path / "x.safetensors")
    for file in ("dictionary.pt", "list.pt", "x.npy", "x.safetensors"):
        assert reported_outputs(facts(path, "--input-file", tmp_path / file)) == expected, file
        assert reported_outputs(facts(path, "--input-file", f"x={tmp_path / file}")) == expected, file


def test_the_same_seed_gives_the_same_outputs(tmp_path):
    path, _, _ = saved("attention", "exported", tmp_path)
    first, again, other = (reported_outputs(facts(path, "--seed", seed)) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_an_input_file_that_would_run_code_is_not_read(tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "written"), "w"))

    path, _, _ = saved("growing", "exported", tmp_path)
    torch.save(Evil(), tmp_path / "evil.pt")
    done = run(path, "--input-file", tmp_path / "evil.pt")
    assert done.returncode == 2, done.stderr
    assert "evil.pt does not hold tensors" in done.stderr
    assert not (tmp_path / "written").exists()


def exported(net, inputs, path):
    torch.export.save(torch.export.export(net, inputs), path)
    return torch.export.load(path).module()


def test_a_loop_runs_as_often_as_its_data_require(tmp_path):
    program = exported(Looping(), (torch.ones(3, 4),), tmp_path / "net.pt2")
    for start in (1.0, 7.0, 1000.0):  # the last case never enters the loop
        x = torch.full((3, 4), start)
        torch.save(x, tmp_path / "x.pt")
        assert reported_outputs(facts(tmp_path / "net.pt2", "--input-file", tmp_path / "x.pt")) == outputs_of(program, (x,))


def test_a_branch_runs_if_data_select_it(tmp_path):
    program = exported(Branching(), (torch.ones(3, 4),), tmp_path / "net.pt2")
    x = torch.ones(3, 4)
    torch.save(x, tmp_path / "x.pt")
    assert reported_outputs(facts(tmp_path / "net.pt2", "--input-file", tmp_path / "x.pt")) == outputs_of(program, (x,))
    torch.save(-x, tmp_path / "x.pt")
    done = run(tmp_path / "net.pt2", "--input-file", tmp_path / "x.pt")
    assert done.returncode == 6, done.stderr
    assert "torch.cond" in done.stderr and "the true branch is the only one in the graph" in done.stderr
