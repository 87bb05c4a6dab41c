"""Arguments of any kind for forward: containers with and without tensors, by position and by name. A linear layer of 4 × 8 on two
rows is 64 MACs; the input determines how often it runs."""

import collections
import dataclasses
import enum
import types
import typing

import numpy as np
import pytest
import torch
from torch import nn

import tmeter

X = torch.ones(2, 4)


class Mode(enum.Enum):
    A, B = "a", "b"


class Flag(enum.IntFlag):
    ONE, TWO = 1, 2


Point = collections.namedtuple("Point", "a b")


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: torch.Tensor
    mode: Mode = Mode.A
    items: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True)
class Slots:
    x: torch.Tensor
    n: int = 1


class Data(collections.UserDict):
    pass


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 8)


class Any(Linear):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, a, b=None, **rest):
        return self.function(self.linear, a, b, **rest)


class Star(Linear):
    def forward(self, *xs):
        return [self.linear(x) for x in xs]


class PositionalOnly(Linear):
    def forward(self, x, /, n=1):
        return [self.linear(x) for _ in range(n)]


class KeywordOnly(Linear):
    def forward(self, *, x, n=1):
        return [self.linear(x) for _ in range(n)]


class Annotated(Linear):
    """An argument that looks like a shape but is not one."""

    def forward(self, x, sizes: typing.List[int] = (1,), name: typing.Optional[str] = None):
        return self.linear(x.reshape(sizes)) if name == "1x4" else None


class AnnotatedInWords(Linear):
    def forward(self, x, sizes: "tuple[int, int]", mode: typing.Literal["2x4", "b"] = "b"):
        return self.linear(x.reshape(sizes)) if mode == "2x4" else None


class MaybeTensors(Linear):
    def forward(self, x: typing.Optional[torch.Tensor] = None, y=None):
        return self.linear(x) + (self.linear(y) if y is not None else 0)


class Filling(Linear):
    def forward(self, x, out):
        out["y"] = self.linear(x)
        return out


FORMS = {
    "a list": (lambda f, a, b: [f(x) for x in a], {"a": [X, torch.ones(3, 4)]}, 160),
    "lists in a list": (lambda f, a, b: [f(x) for row in a for x in row], {"a": [[X], [X, X]]}, 192),
    "None in a list": (lambda f, a, b: [f(x) for x in a if x is not None], {"a": [X, None, X]}, 128),
    "dicts in a list": (
        lambda f, a, b: [f(d["x"]) for d in a if d["use"]], {"a": [{"x": X, "use": True}, {"x": X, "use": False}]}, 64),
    "lists in a dict": (lambda f, a, b: {k: [f(x) for x in v] for k, v in a.items()}, {"a": {"p": [X], "q": [X, X]}}, 192),
    "tuples in a tuple": (lambda f, a, b: f(a[0][1]), {"a": ((1, X), (Mode.A,))}, 64),
    "a named tuple": (lambda f, a, b: f(a.a) * a.b, {"a": Point(X, 3)}, 64),
    "a frozen data class": (lambda f, a, b: f(a.x) if a.mode is Mode.B else None, {"a": Frozen(X, Mode.B)}, 64),
    "a data class with slots": (lambda f, a, b: [f(a.x) for _ in range(a.n)], {"a": Slots(X, 2)}, 128),
    "a namespace": (lambda f, a, b: f(a.x), {"a": types.SimpleNamespace(x=X, n=1)}, 64),
    "a packed sequence": (lambda f, a, b: f(a.data), {"a": nn.utils.rnn.pack_sequence([X, X[:1]])}, 96),
    "an enum": (lambda f, a, b: f(a) if b is Mode.A else None, {"a": X, "b": Mode.A}, 64),
    "a flag": (lambda f, a, b: f(a) if b & Flag.TWO else None, {"a": X, "b": Flag.TWO}, 64),
    "enums in a list": (lambda f, a, b: [f(a) for _ in b], {"a": X, "b": [Flag.ONE, Flag.TWO]}, 128),
    "a text": (lambda f, a, b: f(a) if b == "mean" else None, {"a": X, "b": "mean"}, 64),
    "texts in a list": (lambda f, a, b: [f(a) for _ in b], {"a": X, "b": ["x", "y"]}, 128),
    "numbers in a list": (lambda f, a, b: [f(a) * k for k in b], {"a": X, "b": [1.0, 2.0]}, 128),
    "truths in a list": (lambda f, a, b: [f(a) for k in b if k], {"a": X, "b": [True, False, True]}, 128),
    "a complex number": (lambda f, a, b: f(a) * abs(b), {"a": X, "b": 1j}, 64),
    "an array": (lambda f, a, b: f(a), {"a": np.ones((2, 4), np.float32)}, 64),
    "an array's number": (lambda f, a, b: f(a) * float(b), {"a": X, "b": np.float64(2)}, 64),
    "a slice": (lambda f, a, b: f(a[b]), {"a": X, "b": slice(0, 1)}, 32),
    "a dtype": (lambda f, a, b: f(a.to(b)), {"a": X, "b": torch.float32}, 64),
    "a device": (lambda f, a, b: f(a.to(b)), {"a": X, "b": torch.device("cpu")}, 64),
    "a function": (lambda f, a, b: b(f(a)), {"a": X, "b": torch.relu}, 64),
    "a module": (lambda f, a, b: b(f(a)), {"a": X, "b": nn.ReLU()}, 64),
    "a set": (lambda f, a, b: f(a) if "x" in b else None, {"a": X, "b": {"x"}}, 64),
    "bytes": (lambda f, a, b: f(a) if b == b"x" else None, {"a": X, "b": b"x"}, 64),
    "an empty list": (lambda f, a, b: None if b else f(a), {"a": X, "b": []}, 64),
    "an empty dict": (lambda f, a, b: None if b else f(a), {"a": X, "b": {}}, 64),
    "a mapping": (lambda f, a, b: f(a["x"]), {"a": Data(x=X)}, 64),
    "an ordered dict": (lambda f, a, b: f(a["x"]), {"a": collections.OrderedDict(x=X, n=1)}, 64),
    "a dict with a default": (lambda f, a, b: f(a["x"]), {"a": collections.defaultdict(int, x=X)}, 64),
    "the same tensor twice": (lambda f, a, b: f(a) + f(b), {"a": X, "b": X}, 128),
    "names that forward does not have": (lambda f, a, b, scale: f(a) * scale, {"a": X, "scale": 3.0}, 64),
    "all in a mapping": (lambda f, a, b: f(a), Data(a=X), 64),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("via", ["auto", "torch.export"])
@pytest.mark.filterwarnings("ignore")
def test_forms(form, via):
    function, inputs, macs = FORMS[form]
    result = tmeter.analyze(Any(function), inputs=inputs, via=via)
    assert (result.total("macs"), result.status("macs")) == (macs, None)


@pytest.mark.parametrize(
    "model, inputs, macs",
    [
        (Star(), (X, X), 128),
        (Star(), X, 64),
        (PositionalOnly(), (X, 2), 128),
        (KeywordOnly(), {"x": X, "n": 2}, 128),
        (Annotated(), {"x": torch.ones(8), "sizes": [2, 4], "name": "1x4"}, 64),
        (AnnotatedInWords(), (torch.ones(8), (2, 4), "2x4"), 64),
        (MaybeTensors(), {"x": X, "y": None}, 64),
        (MaybeTensors(), {"x": "2x4", "y": (2, 4)}, 128),
        (MaybeTensors(), ("2x4",), 64),
        (Filling(), {"x": X, "out": {}}, 64),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, nn.Module) else "",
)
def test_parameters(model, inputs, macs):
    result = tmeter.analyze(model, inputs=inputs)
    assert (result.total("macs"), result.status("macs")) == (macs, None)


def test_a_dict_of_the_caller_stays_unchanged():
    out = {}
    tmeter.analyze(Filling(), inputs={"x": X, "out": out})
    assert out == {}


def test_numbers_without_an_annotation_are_a_shape():
    with pytest.raises(tmeter.InputError, match="taken for a shape, unless the annotation"):
        tmeter.analyze(Any(lambda f, a, b: f(a.reshape(b))), inputs={"a": torch.ones(8), "b": [2, 4]})


@pytest.mark.parametrize("text", ["1x3x", "1x?", "3,224"])
def test_an_invalid_shape(text):
    with pytest.raises(tmeter.InputError, match="a shape is expected"):
        tmeter.analyze(MaybeTensors(), inputs={"x": text})
