"""Live modules that cannot be analysed, and the documented exception for each (docs/python.md)."""

import concurrent.futures
import threading

import accelerate
import pytest
import torch
import torch.distributed
from torch import nn
from torch._subclasses import FakeTensorMode

import tmeter


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.second(self.first(x).relu())


MACS = 3 * 4 + 4 * 2


def test_a_failed_export_names_every_attempt():
    class Stubborn(nn.Module):
        def forward(self, x):
            if torch.compiler.is_exporting() or torch.jit.is_tracing() or torch.jit.is_scripting():
                raise RuntimeError("not me")
            with torch.autocast("cpu"):  # left to torch.export
                return x + 1

    with pytest.raises(tmeter.ExportError) as failure:
        tmeter.analyze(Stubborn(), inputs=(1, 3))
    ways = [way for way, _ in failure.value.attempts]
    assert ways == [
        "dispatch on fake tensors",
        "torch.export, non-strict",
        "torch.export, strict",
        "torch.jit.trace",
        "torch.jit.script",
    ]
    assert all(why for _, why in failure.value.attempts)
    message = str(failure.value)
    assert all(way in message for way in ways) and "What helps" in message


# Modules on other devices


@pytest.mark.parametrize("inputs", [(3, 8, 8), torch.zeros(1, 3, 8, 8)], ids=["a shape", "a tensor on the CPU"])
def test_on_cuda(inputs):
    """Weights that only declare a GPU as their device; the test needs none."""
    with FakeTensorMode():
        model = nn.Sequential(nn.Conv2d(3, 4, 3, device="cuda"), nn.BatchNorm2d(4, device="cuda"))
    result = tmeter.analyze(model, inputs=inputs)
    assert result.total("macs") == 4 * 27 * 36 and result.export.way == "dispatch on fake tensors"
    assert model[0].weight.device.type == "cuda"
    with pytest.raises(tmeter.ExportError, match="not in memory"):
        tmeter.analyze(model, inputs=inputs, plugins="param-stats")


@pytest.mark.parametrize("where", ["disk", "cpu"])
def test_offloaded_by_accelerate(where, tmp_path):
    model = Net()
    if where == "disk":
        accelerate.disk_offload(model, str(tmp_path), execution_device="cpu")
    else:
        accelerate.cpu_offload(model, execution_device="cpu")
    result = tmeter.analyze(model, inputs=((1, 3),))
    assert result.total("macs") == MACS and result.total("params") == 26
    assert "accelerate's offloading was left out" in result.export.notes
    assert model(torch.zeros(1, 3)).shape == (1, 2)  # it still fetches its weights
    with pytest.raises(tmeter.ExportError, match="offloaded by accelerate.*give the checkpoint"):
        tmeter.analyze(model, inputs=((1, 3),), plugins="param-stats")


# Modules of unsupported kinds


def test_compiled_outside_and_inside():
    assert tmeter.analyze(torch.compile(Net()), inputs=((1, 3),)).total("macs") == MACS
    assert tmeter.analyze(nn.Sequential(torch.compile(Net())), inputs=((1, 3),)).total("macs") == MACS
    model = Net()
    model.first.compile()
    assert tmeter.analyze(model, inputs=((1, 3),)).total("macs") == MACS


def test_quantized_with_packed_weights():
    """FX graph mode: its operators have no meta kernels, so every way of export fails for all inputs."""
    from torch.ao.quantization import get_default_qconfig_mapping, quantize_fx

    x = torch.zeros(1, 3, 8, 8)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).eval()
    prepared = quantize_fx.prepare_fx(model, get_default_qconfig_mapping(), x)
    with pytest.raises(tmeter.ExportError, match="quantize_per_tensor") as failure:
        tmeter.analyze(quantize_fx.convert_fx(prepared), inputs=x)
    assert len(failure.value.attempts) == 5


@pytest.fixture
def one_process():
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def test_fully_sharded_2(one_process):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (1,))
    model = Net()
    fully_shard(model.first, mesh=mesh)
    fully_shard(model, mesh=mesh)
    result = tmeter.analyze(model, inputs=((1, 3),))
    assert result.total("macs") == MACS and result.total("params") == 26
    assert result.modules.loc["first", "type"] == "Linear" and result.modules.loc["", "type"] == "Net"
    assert type(model).__name__ == "FSDPNet" and len(model._forward_pre_hooks) == 1


def test_distributed_data_parallel(one_process):
    wrapped = nn.parallel.DistributedDataParallel(Net())
    assert tmeter.analyze(wrapped, inputs=((1, 3),)).total("macs") == MACS


class FullyShardedDataParallel(nn.Module):
    """FSDP 1 cannot be constructed without an accelerator; it is recognised by its name."""

    def __init__(self, module):
        super().__init__()
        self._fsdp_wrapped_module = module

    def forward(self, x):
        return self._fsdp_wrapped_module(x)


@pytest.mark.parametrize("wrap", [lambda m: m, nn.Sequential], ids=["outside", "inside"])
def test_fully_sharded_1(wrap):
    with pytest.raises(tmeter.ExportError, match="before it is wrapped"):
        tmeter.analyze(wrap(FullyShardedDataParallel(Net())), inputs=((1, 3),))


def test_lazy():
    with pytest.raises(tmeter.InputError, match="call the model once"):
        tmeter.analyze(nn.LazyLinear(4), inputs=((1, 3),))


def test_endless():
    class Endless(nn.Module):
        def forward(self, x):
            return self.forward(x)

    with pytest.raises(tmeter.InputError, match="RecursionError"):
        tmeter.analyze(Endless(), inputs=((1, 3),))


# Inputs

GENERATORS = {
    "alone": lambda: (x for x in [torch.zeros(1, 3)]),
    "in a list": lambda: [(x for x in [1])],
    "in a dict": lambda: {"x": (x for x in [1])},
    "a map": lambda: map(int, [1]),
}


@pytest.mark.parametrize("form", GENERATORS)
def test_generators(form):
    with pytest.raises(tmeter.InputError, match="can be read only once"):
        tmeter.analyze(Net(), inputs=GENERATORS[form]())


@pytest.mark.parametrize("inputs", [(), {}, {"y": (1, 3)}, ((1, 3), (1, 3)), ((1, 5),)])
def test_inputs_that_do_not_fit(inputs):
    with pytest.raises(tmeter.InputError):
        tmeter.analyze(Net(), inputs=inputs)


# Torch, threads, Ctrl-C


@pytest.mark.parametrize("version", ["2.5.1", "1.13.0+cu117"])
def test_torch_too_old(version, monkeypatch, resnet50):
    monkeypatch.setattr(torch, "__version__", version)
    with pytest.raises(tmeter.TorchError, match=f"torch {version[:3]}.* is too old.*2.6 or newer"):
        tmeter.analyze(Net(), inputs=((1, 3),))
    assert tmeter.analyze(resnet50).total("params") == 25_557_032  # files do not need torch


def test_several_threads_and_models_at_once():
    """Some callers pass wrong inputs; each caller gets its own answer."""
    def analyse(n):
        if n % 4 == 3:
            with pytest.raises(tmeter.InputError, match=f"{n + 10}"):
                tmeter.analyze(nn.Linear(n + 10, 2), inputs=((1, 1),))
            return None
        return tmeter.analyze(nn.Linear(n + 1, 2), inputs=((1, n + 1),)).total("macs")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        totals = list(pool.map(analyse, range(8)))
    assert totals == [None if n % 4 == 3 else 2 * (n + 1) for n in range(8)]
    assert threading.active_count() < 20


def test_ctrl_c_while_exporting():
    class Interrupted(nn.Module):
        def forward(self, x):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tmeter.analyze(Interrupted(), inputs=((1, 3),))
    assert tmeter.analyze(Net(), inputs=((1, 3),)).total("macs") == MACS  # all locks are released
