"""The quick way of export: the whole report equals that of torch.export, and torch.export handles uncertain cases."""

import contextlib
from collections import Counter
import threading

import pytest
import timm
import torch
import torchvision
import transformers
from test_live import BERT, LLAMA, MODELS, ids
from torch import nn
from torch._export.utils import _disable_aten_to_metadata_assertions

import tmeter

QUICK, FULL = "dispatch on fake tensors", "torch.export, non-strict"
PLUGINS = "params,flops,memory,activations,architecture"


def both(model, inputs):
    """Results of both ways, without the type checks that some versions of torch.export insert before conversions."""
    quick = tmeter.analyze(model, inputs=inputs, plugins=PLUGINS, dynamic_batch=False)
    with _disable_aten_to_metadata_assertions():
        full = tmeter.analyze(model, inputs=inputs, plugins=PLUGINS, dynamic_batch=False, via="torch.export")
    assert full.export.way == FULL
    return quick, full


def assert_same(quick, full):
    """Compares the reports without the time and the command."""
    assert quick.export.way == QUICK, quick.export
    a, b = quick.to_dict(), full.to_dict()
    for report in (a, b):
        for key in ("command", "timing", "model"):
            del report[key]
        for node in report["nodes"]:
            node.pop("name", None)  # torch.export records no names inside its sub-graphs (no_grad)
    for key in a:
        assert a[key] == b[key], key


@pytest.mark.parametrize("name", [*MODELS, "gpt2 tied", "roberta", "mobilenet", "swin", "mixer"])
def test_dispatch_equals_torch_export(name):
    more = {
        "gpt2 tied": (lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=64, n_layer=2, n_head=4)), (), {"input_ids": ids(1, 8)}),
        "roberta": (lambda: transformers.RobertaModel(transformers.RobertaConfig(**BERT)), (), {"input_ids": ids(1, 8)}),
        "mobilenet": (lambda: torchvision.models.mobilenet_v3_small(weights=None), (torch.zeros(1, 3, 64, 64),), {}),
        "swin": (lambda: torchvision.models.swin_t(weights=None), (torch.zeros(1, 3, 64, 64),), {}),
        "mixer": (lambda: timm.create_model("mixer_s32_224"), (torch.zeros(1, 3, 224, 224),), {}),
    }
    build, args, kwargs = {**MODELS, **more}[name]
    quick, full = both(build(), kwargs or list(args))
    if name == "graph attention":  # sizes that depend on data: torch.export makes them symbols
        assert quick.export.way == FULL and "DynamicOutputShape" in quick.export.failed[0][1]
        return
    if name in MASKED:
        return assert_only_masks_are_missing(quick, full)
    assert_same(quick, full)


#: transformers makes masks of ones during export, and none during a run.
MASKED = {"t5", "wav2vec2", "roberta"}


def assert_only_masks_are_missing(quick, full):
    assert quick.export.way == QUICK, quick.export
    for metric in ("params", "macs", "flops"):
        assert quick.total(metric) == full.total(metric)
    ops = [Counter(node["op"] for node in r.to_dict()["nodes"]) for r in (quick, full)]
    assert set(ops[0] - ops[1]) <= {"aten::view"}
    masks = {"arange", "expand", "unsqueeze", "ge", "le", "add", "where", "_assert_tensor_metadata"}
    assert {op.removeprefix("aten::") for op in ops[1] - ops[0]} <= masks, ops[1] - ops[0]


class Odd(nn.Module):
    """Constructs that export in more than one way."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.b[1].weight = self.a.weight
        self.register_buffer("kept", torch.zeros(4))
        self.register_buffer("dropped", torch.zeros(4), persistent=False)
        self.plain = torch.arange(4.0)

    def forward(self, x, scale=None):
        unused = x.shape[0] * torch.ones(3) + torch.arange(3)  # noqa: F841
        for layer in (*self.b, self.a, self.b[0]):
            x = layer(x).relu_()
        with torch.no_grad():
            x = self.a(x)
        x = x + self.kept.sum() + self.dropped + self.plain + torch.tensor(2.0)
        first, second = torch.split(x, 2, 1)
        most, where = x.max(1)
        x = torch.cat([first, second], 1)[:, [0, 1]] + torch.nn.functional.dropout(first, training=self.training)
        x = x.masked_fill(x > 0, float("-inf")).to(torch.float64).contiguous(memory_format=torch.contiguous_format)
        return {"x": x, "most": most, "noise": torch.rand(2, dtype=torch.float16)}, scale


def test_unusual_modules_equal_torch_export():
    model = Odd()
    for parameter in model.b[0].parameters():
        parameter.requires_grad_(False)
    assert_same(*both(model, [torch.zeros(1, 4)]))
    assert_same(*both(model, {"x": (1, 4), "scale": (2, 2)}))


class InPlace(nn.Module):
    """Writes into results of operators whose sizes come from torch's kernels, and reads requires_grad."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)

    def forward(self, x):
        x = self.norm(self.conv(x))
        x.masked_fill_(x > 0, 1.0)
        x[:, 1:].clamp_(0, 1).add_(x[:, :1].detach())
        y = x.transpose(1, 3).reshape(1, -1, 4)
        y.unsqueeze(0).copy_(torch.ones(4))
        return torch.nn.functional.scaled_dot_product_attention(y, y, y), torch.tensor(2.0) * y.shape[1]


def test_writes_in_place_equal_torch_export():
    assert_same(*both(InPlace(), [torch.zeros(1, 3, 8, 8)]))


def test_nothing_of_torch_is_changed_afterwards():
    before = nn.Module.__call__, torch.amp.autocast_mode.autocast.__enter__, torch.is_grad_enabled()
    for model in (Odd(), Refused("autocast")):
        tmeter.analyze(model, inputs=[torch.zeros(1, 4)])
        assert before == (nn.Module.__call__, torch.amp.autocast_mode.autocast.__enter__, torch.is_grad_enabled())
        assert not torch.compiler.is_exporting() and not torch.compiler.is_compiling()


class Refused(nn.Module):
    """Each kind is a construct that torch.export represents in its own way."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.linear = kind, nn.Linear(4, 4)
        self.other = self.linear if kind == "two names" else None
        if kind == "compiled module":
            self.linear = torch.compile(self.linear)
        if kind == "compiled in place":
            self.linear.compile()
        if kind == "scripted module":
            self.linear = torch.jit.script(self.linear)

    def forward(self, x):
        if self.kind == "autocast":
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return self.linear(x)
        if self.kind == "vmap":
            return torch.vmap(self.linear)(x)
        if self.kind == "cond":
            return torch.cond(x.sum() > 0, lambda x: self.linear(x), lambda x: self.linear(x) + 1, (x,))
        if self.kind == "compiled function":
            return torch.compile(lambda x: self.linear(x).sin())(x)
        if self.kind == "checkpoint":
            return torch.utils.checkpoint.checkpoint(self.linear, x, use_reentrant=False)
        if self.kind == "sparse":
            return torch.sparse.mm(x.to_sparse(), self.linear.weight)
        return self.linear(x)


@pytest.mark.parametrize(
    "kind",
    ["autocast", "vmap", "cond", "compiled function", "compiled module", "compiled in place", "scripted module", "checkpoint", "sparse", "two names"],
)
def test_refused_models_are_exported_in_another_way(kind):
    """Both ways give 16 multiply-adds of one row, or both give no answer."""
    try:
        result = tmeter.analyze(Refused(kind), inputs=[torch.zeros(1, 4)])
    except tmeter.ExportError as failure:
        assert kind in ("sparse", "scripted module"), failure
        return
    assert result.total("macs") in (16, 32) and (kind == "cond" or result.total("macs") == 16), result.export


def test_other_threads_go_on():
    """This thread's temporary changes do not affect other threads' computations."""
    model, x, stop, failed = nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.ones(1, 4), threading.Event(), []
    expected = model(x)

    def work():
        while not stop.is_set():
            with torch.autocast("cpu", dtype=torch.bfloat16), contextlib.suppress(AttributeError):
                model(x)
            if not torch.equal(model(x), expected):
                failed.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        results = [tmeter.analyze(Odd(), inputs=[torch.zeros(1, 4)]) for _ in range(5)]
    finally:
        stop.set()
        thread.join()
    assert not failed
    assert {r.export.way for r in results} == {QUICK} and len({r.total("macs") for r in results}) == 1


def test_options_that_need_another_way():
    linear = nn.Linear(4, 4)
    assert tmeter.analyze(linear, inputs=(1, 4)).export.way == QUICK
    assert tmeter.analyze(linear, inputs=(2, 4)).export.way == QUICK
    for options in ({"bind": {"input.0": 3}}, {"plugins": "params,fit"}, {"dynamic_batch": True}):
        assert "open batch" in tmeter.analyze(linear, inputs=(2, 4), **options).export.way
    assert tmeter.analyze(linear, inputs=(2, 4), plugins="params,fit", dynamic_batch=False).export.way == QUICK
    assert tmeter.analyze(linear, inputs=(1, 4), weights=True).export.way == FULL
    assert tmeter.analyze(linear, inputs=(1, 4), via="torch.export").export.way == FULL
    with pytest.raises(tmeter.UsageError, match="via='magic'"):
        tmeter.analyze(linear, inputs=(1, 4), via="magic")


def test_a_torch_with_other_internals(monkeypatch):
    """torch may remove private names; torch.export is used then."""
    monkeypatch.delattr(torch._C, "_EnablePreDispatch")
    result = tmeter.analyze(nn.Linear(4, 4), inputs=(1, 4))
    assert result.total("macs") == 16 and result.export.way == FULL
