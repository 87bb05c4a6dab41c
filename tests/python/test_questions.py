"""Live modules whose forward makes checks with different results in an export and in a run, or draws random numbers. The values are
those of a run, counted by hand (a layer of 4 × 8 is 32 MACs, one of 4 × 16 is 64), or have a status and a warning."""

import concurrent.futures
import copy
import random
import threading
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode

import tmeter
from tmeter.export.untraceable import type_checks

X = torch.zeros(1, 4)
GENERATOR = random.Random(5)


class Net(nn.Module):
    def __init__(self, function=None):
        super().__init__()
        self.eight, self.sixteen = nn.Linear(4, 8), nn.Linear(4, 16)
        self.function = function

    def choose(self, eight, x):
        return self.eight(x) if eight else self.sixteen(x)

    def forward(self, x):
        return self.choose(self.function(self, x), x)


def analyze(model, inputs=(X,), **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tmeter.analyze(model.eval(), inputs=inputs, **options)


def is_plain(value):
    return type(value) == torch.Tensor  # noqa: E721


def kind_of(value):
    kind = type(value)
    return kind is torch.Tensor


def by_class(value):
    kinds = {type(value): 1}
    return kinds[type(value)]


CLASSES = {
    "is": lambda net, x: type(x) is torch.Tensor,
    "is not": lambda net, x: not (type(x) is not torch.Tensor),
    "in": lambda net, x: type(x) in (torch.Tensor, list),
    "in a helper": lambda net, x: is_plain(x),
    "on two lines": lambda net, x: kind_of(x),
    "a parameter": lambda net, x: type(net.eight.weight) is nn.Parameter,
    "of a result": lambda net, x: type(x + 1) is torch.Tensor,
    "__class__": lambda net, x: x.__class__ is torch.Tensor,
    "by name": lambda net, x: type(x).__name__ == "Tensor",
    "by a text": lambda net, x: f"{type(x).__name__}" == "Tensor",
    "by its own name": lambda net, x: getattr(type(x), "__name__") == "Tensor",
    "fake": lambda net, x: not isinstance(x, FakeTensor),
}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("via", ["auto", "torch.export"])
def test_the_class_of_a_tensor(name, via):
    result = analyze(Net(CLASSES[name]), via=via)
    assert (result.total("macs"), result.status("macs"), result.warnings) == (32, None, ())
    failed = dict(result.export.failed)
    assert "test_questions.py" in failed["torch.export, non-strict"] and "class of a tensor" in failed["torch.export, non-strict"]


NO_QUESTION = {
    "isinstance": lambda net, x: isinstance(x, torch.Tensor) and isinstance(net.eight.weight, nn.Parameter),
    "a class of one's own": lambda net, x: type(net).__name__ == "Net" and type(net.eight) is nn.Linear,
    "a number": lambda net, x: type(x.dim()) is int,
    "a key": lambda net, x: by_class(x) == 1,
}

#: Checks of a class whose result decides nothing, or is the same for tensors without data.
UNWATCHED = {
    "an error": lambda net, x: x.dim() == 2 or fail(f"{type(x).__name__} has {x.dim()} dims"),
    "the attributes of a class": lambda net, x: getattr(x.__class__, "new_zeros") is not None,
}


def fail(text):
    raise ValueError(text)


@pytest.mark.parametrize("name", UNWATCHED)
def test_functions_that_need_no_observation(name):
    net = Net(UNWATCHED[name])
    assert type_checks(net) == {}
    assert analyze(net).export.way == "dispatch on fake tensors"


@pytest.mark.parametrize("name", NO_QUESTION)
def test_other_classes_are_answered(name):
    result = analyze(Net(NO_QUESTION[name]))
    assert (result.total("macs"), result.export.way) == (32, "dispatch on fake tensors")


class Counting(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))


def counted(net, x):
    with Counting() as mode:
        x + 1
    return mode.count == 1


UNKNOWN_ANSWERS = {
    "repr": lambda net, x: "0.," in repr(x),
    "str": lambda net, x: "0.," in str(x + 1 - 1),
    "format": lambda net, x: f"{x.sum()}" == "0.0",
    "a dispatch mode": counted,
    "torch.rand": lambda net, x: torch.rand(1) >= 0,
    "a generator of torch's": lambda net, x: torch.rand(1, generator=torch.Generator().manual_seed(3)).item() >= 0,
    "random": lambda net, x: random.random() < 0.01,
    "random.choice": lambda net, x: random.choice([True, False]),
    "numpy": lambda net, x: np.random.rand() < 0.99,
    "a global generator": lambda net, x: GENERATOR.random() < 0.5,
}


@pytest.mark.parametrize("name", UNKNOWN_ANSWERS)
@pytest.mark.parametrize("via", ["auto", "torch.export"])
def test_unknown_answers_are_reported(name, via):
    result = analyze(Net(UNKNOWN_ANSWERS[name]), via=via)
    assert result.total("macs") in (32, 64) and result.status("macs") == "assumed"
    assert any("test_questions.py" in w or "random numbers" in w for w in result.warnings), result.warnings
    with pytest.raises(tmeter.BudgetError, match="under an assumption"):
        result.assert_("macs<=1G")


@pytest.mark.parametrize("generator", [random.Random(1), np.random.default_rng(0), np.random.RandomState(1)])
def test_generators_of_the_model_s_own(generator):
    net = Net(lambda net, x: net.generator.random() < 0.3)
    net.generator = generator
    before = copy.deepcopy(generator).random()
    assert analyze(net).status("macs") == "assumed"
    assert generator.random() == before
    net.function = lambda net, x: net.generator.random() < 2
    assert (analyze(net).total("macs"), analyze(net).status("macs")) == (32, None)


class LayerDrop(Net):
    """Like transformers: a number is drawn for each layer and used only in training."""

    def forward(self, x):
        for _ in range(2):
            number = random.uniform(0, 1) + np.random.rand()
            if self.training and number < 0.1:
                continue
            y = self.eight(x)
        return y


def test_numbers_without_influence():
    result = analyze(LayerDrop())
    assert (result.total("macs"), result.status("macs"), result.warnings) == (64, None, ())


def test_random_numbers_of_the_caller_stay():
    nets = [Net(UNKNOWN_ANSWERS[name]) for name in ("torch.rand", "random", "numpy")]
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    expected = random.random(), np.random.rand(), torch.rand(1).item()
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    for net in nets:
        analyze(net)
    assert (random.random(), np.random.rand(), torch.rand(1).item()) == expected


def test_nothing_is_changed_afterwards():
    places = [(TorchDispatchMode, "__enter__"), (threading.Thread, "start"), (concurrent.futures.ThreadPoolExecutor, "submit"),
              (torch._tensor_str, "_str"), (torch.jit, "is_tracing"), (torch.Tensor, "tolist")]  # fmt: skip
    before = [getattr(owner, name) for owner, name in places]
    for function in (*CLASSES.values(), *UNKNOWN_ANSWERS.values()):
        analyze(Net(function))
    assert before == [getattr(owner, name) for owner, name in places]


def test_an_address():
    assert analyze(Net(lambda net, x: x.data_ptr() != 0)).total("macs") == 32


class Called(Net):
    """Runs forward twice by its own __call__."""

    def __call__(self, x):
        return [super(Called, self).__call__(x) for _ in range(2)]

    def forward(self, x):
        return self.eight(x)


class CalledOtherwise(Called):
    def __call__(self, x):
        return self.sixteen(x)


@pytest.mark.parametrize("model, macs", [(Called(), 64), (CalledOtherwise(), 64), (nn.Sequential(Called(), nn.Identity()), 64)])
def test_a_user_defined_call(model, macs):
    if isinstance(model, nn.Sequential):
        model[1].forward = lambda xs: xs[0] + xs[1]
    result = analyze(model)
    assert (result.total("macs"), result.status("macs")) == (macs, None)


def test_other_threads():
    def pool(net, x):
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            a, b = threads.map(lambda layer: layer(x), [net.eight, net.eight])
        return (a + b).shape[1] == 8

    try:
        result = analyze(Net(pool))
    except tmeter.ExportError as error:
        assert "gives work to another thread" in str(error)
    else:
        assert result.status("macs") == "assumed"
        assert any("gives work to another thread" in w for w in result.warnings)


class Traced(Net):
    """Only a trace can follow it, because a large buffer decides, and it behaves differently when it is traced."""

    def __init__(self):
        super().__init__()
        self.register_buffer("large", torch.ones(100_000))

    def forward(self, x):
        if self.large.sum() > 0:
            x = x + 1
        return self.choose(not torch.jit.is_tracing(), x)


def test_behaviour_of_the_traced_model_alone_is_reported():
    result = analyze(Traced())
    assert (result.export.way, result.status("macs")) == ("torch.jit.trace", "assumed")
    assert any("differently when it is traced" in w for w in result.warnings), result.warnings


def test_a_debugger_goes_on():
    import sys

    seen = []

    def tracer(frame, event, arg):
        if frame.f_code.co_name == "is_plain":
            seen.append(event)
            return tracer
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        result = analyze(Net(CLASSES["in a helper"]))
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    assert result.total("macs") == 32 and {"call", "line"} <= set(seen)


def test_source_without_a_file():
    """As in an interactive Python."""
    names = {"nn": nn, "torch": torch}
    code = "class M(nn.Module):\n def __init__(s):\n  super().__init__(); s.a = nn.Linear(4, 8)\n def forward(s, x):\n  return s.a(x) if x.sum() < 1 else x"
    exec(compile(code, "<stdin>", "exec"), names)
    result = analyze(names["M"]())
    assert (result.total("macs"), result.status("macs")) == (32, "assumed")
    assert any("<stdin>:5" in w for w in result.warnings)
