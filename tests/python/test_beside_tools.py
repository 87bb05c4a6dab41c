"""torchstat, torchmeter and fvcore themselves, run on a ResNet-18, a ViT, a GPT-2 and an LSTM beside ours.

They are installed from PyPI (tools.txt) into the cache, once; without a network these tests are skipped. What differs is
asserted with its numbers, and explained in docs/from-other-tools.md.
"""

import contextlib
import hashlib
import io
import logging
import os
import pathlib
import subprocess
import sys

import pytest
from beside import installed

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")
transformers = pytest.importorskip("transformers")

from tmeter.compat.fvcore import FlopCountAnalysis  # noqa: E402
from tmeter.compat.torchmeter import Meter, get_config  # noqa: E402
from tmeter.compat.torchstat import stat  # noqa: E402

@pytest.fixture(scope="module", autouse=True)
def tools():
    folder, why = installed("tools")
    if folder is None:
        pytest.skip(f"the tools cannot be installed: {why}")
    sys.path.append(str(folder))
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)
    sys.path.remove(str(folder))
    get_config().restore()


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.LSTM(16, 32, 2, batch_first=True)
        self.head = torch.nn.Linear(32, 5)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


def resnet18():
    return torchvision.models.resnet18().eval(), torch.randn(1, 3, 224, 224)


def vit():
    return torchvision.models.VisionTransformer(32, 8, 2, 4, 64, 128).eval(), torch.randn(1, 3, 32, 32)


def gpt2():
    config = transformers.GPT2Config(n_layer=2, n_head=4, n_embd=64, vocab_size=100, n_positions=32, use_cache=False, return_dict=False)
    return transformers.GPT2Model(config).eval(), torch.randint(0, 100, (1, 16))


def lstm():
    return Recurrent().eval(), torch.randn(2, 7, 16)


MODELS = [resnet18, vit, gpt2, lstm]


def known(counts):
    """The entries of modules that do something."""
    return {k: dict(v) if hasattr(v, "items") else v for k, v in counts.items() if v}


@pytest.mark.parametrize("make", MODELS)
def test_the_three_dictionaries_of_fvcore(make):
    import fvcore.nn

    model, x = make()
    theirs, ours = fvcore.nn.FlopCountAnalysis(model, x), FlopCountAnalysis(model, x)
    theirs.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    assert known(ours.by_operator()) == known(theirs.by_operator())
    assert known(ours.by_module()) == known(theirs.by_module())
    assert known(ours.by_module_and_operator()) == known(theirs.by_module_and_operator())
    assert ours.total() == theirs.total()


def rows_of(meter, name):
    _, frame = meter.profile(name, show=False)
    return [["" if v is None else str(v) for v in row] for row in frame.rows()], frame.columns


def measured_by(kind, make, names=("param", "cal", "mem")):
    model, x = make()
    with contextlib.redirect_stdout(io.StringIO()):
        meter = kind(model)
        meter(x)
        return meter, {name: rows_of(meter, name) for name in names}


def test_the_tables_of_torchmeter_on_a_resnet():
    import torchmeter

    _, theirs = measured_by(torchmeter.Meter, resnet18)
    _, ours = measured_by(Meter, resnet18)
    for name in theirs:
        assert ours[name][1] == theirs[name][1]
        different = [(a, b) for a, b in zip(theirs[name][0], ours[name][0], strict=True) if a != b]
        # torchmeter has no rule for adaptive pooling, which is zero by rule here.
        assert all(a[2] == "AdaptiveAvgPool2d" and name == "cal" for a, b in different), different


#: Each key of torchmeter's configuration, and a value that is not its default.
CHANGED = {
    "tree_repeat_block_args": dict(
        title="T <repeat_time>", title_align="left", subtitle="S", subtitle_align="left", style="green", highlight=False, box="ROUNDED",
        border_style="red", height=30, padding=[1, 2], expand=True),
    "table_display_args": dict(
        style="red", highlight=False, width=150, min_width=150, expand=True, padding=[0, 2],
        leading=1, title="T", title_style="red", title_justify="left", caption="C", caption_style="red", caption_justify="left",
        show_header=False, header_style="red", show_footer=True, footer_style="red", show_lines=True, show_edge=False, box="SQUARE",
        safe_box=False, border_style="red"),
    "table_column_args": dict(style="red", justify="right", vertical="bottom", overflow="crop", no_wrap=True),
    "tree_levels_args": {
        "default.label": "<node_id> <name> <type>", "default.style": "red", "default.guide_style": "red", "default.highlight": False,
        "0.label": "R", "1.label": "L <name>", "all.label": "A <name>"},
}  # fmt: skip
#: A key that has no effect there, and one here. The results of `pad_edge` and `collapse_padding` differ, and are not compared.
NO_EFFECT = {"tree_repeat_block_args": dict(width=60)}


def drawn(what):
    import rich.console

    console = rich.console.Console(file=io.StringIO(), width=160, color_system=None)
    console.print(what)
    return console.file.getvalue()


def test_the_look_of_torchmeter_key_by_key():
    """Tree and table on a ResNet-18, letter for letter."""
    import torchmeter

    model, _ = resnet18()
    kinds = [(torchmeter.Meter, torchmeter.get_config()), (Meter, get_config())]

    def look(space=None, key=None, value=None):
        out = []
        for kind, configuration in kinds:
            configuration.restore()
            with contextlib.redirect_stdout(io.StringIO()):
                meter = kind(model)  # torchmeter keeps a tree that it has drawn
            if space == "tree_levels_args":
                level, _, name = key.partition(".")
                setattr(meter, space, {level: {name: value}})
            elif space:
                setattr(meter, space, {key: value})
            with contextlib.redirect_stdout(io.StringIO()):
                table, _ = meter.profile("param", show=False)
            out.append((drawn(meter.structure), drawn(table)))
        return out

    theirs, plain = look()
    assert theirs == plain and "Repeat [2] Times" in plain[0]
    for space, keys in CHANGED.items():
        for key, value in keys.items():
            theirs, ours = look(space, key, value)
            assert ours == theirs, f"{space}.{key}"
    for space, keys in NO_EFFECT.items():
        for key, value in keys.items():
            theirs, ours = look(space, key, value)
            assert theirs == plain != ours, f"{space}.{key}"


def test_the_tables_of_torchmeter_on_a_vit():
    """torchmeter counts one row of linear layers over [B, T, C], and sees nothing of attention."""
    import torchmeter

    theirs, their_tables = measured_by(torchmeter.Meter, vit)
    ours, our_tables = measured_by(Meter, vit)
    assert our_tables["param"] == their_tables["param"]
    for name in ("cal", "mem"):
        assert our_tables[name][1] == their_tables[name][1]
        assert [row[:3] for row in our_tables[name][0]] == [row[:3] for row in their_tables[name][0]]
    # The patches: 64 · 16 positions · 3 · 8 · 8.
    patches = 196_608
    row, rows = 2 * 64 * 128, 17 * 2 * 64 * 128  # an MLP: one row, and all of 17 tokens
    assert theirs.cal.Macs.val == patches + 2 * row + 64 * 1000
    # and of each layer in_proj, out_proj, scores and values
    attention = 17 * 64 * 192 + 17 * 64 * 64 + 2 * 17 * 17 * 64
    assert ours.cal.Macs.val == patches + 2 * (rows + attention) + 64 * 1000


@pytest.mark.parametrize("make, macs", [(gpt2, None), (lstm, 2 * 7 * 4 * 32 * (16 + 32) + 2 * 7 * 4 * 32 * (32 + 32) + 2 * 32 * 5)])
def test_what_torchmeter_does_not_take(make, macs):
    """A module whose result is a tuple ends it: IndexError."""
    import torchmeter

    with pytest.raises(IndexError):
        measured_by(torchmeter.Meter, make)
    meter, tables = measured_by(Meter, make)
    assert meter.cal.Macs.val > 0 and all(rows for rows, _ in tables.values())
    if macs:
        assert meter.cal.Macs.val == macs
    # What needs no run agrees.
    assert tables["param"] == measured_by(torchmeter.Meter, make, names=("param",))[1]["param"]


def said_rows(text):
    lines = text.split("=====")[0].splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("[")]  # "[Flops]: … is not supported!"
    return rows[1:]


def test_the_table_of_torchstat_on_a_resnet():
    """All columns and totals. Its report_format needs pandas 1, so the table is read from its nodes."""
    import torchstat

    model, x = resnet18()
    with contextlib.redirect_stdout(io.StringIO()):
        nodes = torchstat.ModelStat(model, tuple(x.shape[1:]))._analyze_model()
    with contextlib.redirect_stdout(io.StringIO()) as said:
        stat(model, tuple(x.shape[1:]))
    rows = said_rows(said.getvalue())
    by_name = {row[0]: row for row in rows}
    assert [row[0] for row in rows][:-1] == [n.name for n in nodes]
    for node in nodes:
        row = by_name[node.name]
        shapes = [str(n) for n in (*node.input_shape, *node.output_shape)]
        assert row[1:1 + len(shapes)] == shapes
        params, memory, madd, flops, read, written, _, both = row[1 + len(shapes):]
        assert int(params.replace(",", "").split(".")[0]) == node.parameter_quantity
        assert memory == f"{node.inference_memory:.2f}"
        if node.name == "avgpool":  # not supported there
            assert (node.MAdd, node.Flops) == (0, 0)
            continue
        kind = type(model.get_submodule(node.name)).__name__
        # The blocks' ReLU is called twice; torchstat keeps the last call.
        calls = 2 if kind == "ReLU" and node.name != "relu" else 1
        assert (madd, flops) == (f"{calls * node.MAdd:,}", f"{calls * node.Flops:,}")
        if kind in ("Conv2d", "Linear"):
            assert [int(read), int(written)] == node.Memory
        assert int(both) == int(read) + int(written)
    total = by_name["total"]
    assert total[1].replace(",", "") == str(int(sum(n.parameter_quantity for n in nodes)))


@pytest.mark.parametrize("make", [vit, gpt2, lstm])
def test_what_torchstat_does_not_take(make):
    """It asserts that inputs have three dims and that linear layers have two."""
    import torchstat

    model, x = make()
    with contextlib.redirect_stdout(io.StringIO()), pytest.raises(AssertionError):
        torchstat.ModelStat(model, tuple(x.shape[1:]))._analyze_model()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
