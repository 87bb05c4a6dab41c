"""Compares torchstat, torchmeter and fvcore with tmeter's calls on a ResNet-18, a ViT, a GPT-2 and an LSTM.

They are installed from PyPI (tools.txt) into the cache, once; without a network these tests are skipped. Differences are
asserted with their values, and explained in docs/from-other-tools.md.
"""

import contextlib
import io
import logging
import re
import sys

import pytest
from beside import installed

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")
transformers = pytest.importorskip("transformers")

import tmeter  # noqa: E402
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


def with_cost(counts):
    """The entries of modules with a cost."""
    return {k: dict(v) if hasattr(v, "items") else v for k, v in counts.items() if v}


@pytest.mark.parametrize("make", MODELS)
def test_the_three_dictionaries_of_fvcore(make):
    import fvcore.nn

    model, x = make()
    theirs, ours = fvcore.nn.FlopCountAnalysis(model, x), FlopCountAnalysis(model, x)
    theirs.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    assert with_cost(ours.by_operator()) == with_cost(theirs.by_operator())
    assert with_cost(ours.by_module()) == with_cost(theirs.by_module())
    assert with_cost(ours.by_module_and_operator()) == with_cost(theirs.by_module_and_operator())
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

    their_meter, theirs = measured_by(torchmeter.Meter, resnet18)
    our_meter, ours = measured_by(Meter, resnet18)
    assert (our_meter.mem.TotalCost.val, our_meter.cal.Flops.val) == (their_meter.mem.TotalCost.val, their_meter.cal.Flops.val)
    for name in theirs:
        assert ours[name][1] == theirs[name][1]
        different = [(a, b) for a, b in zip(theirs[name][0], ours[name][0], strict=True) if a != b]
        # torchmeter has no rule for adaptive pooling, which is zero by rule here.
        assert all(a[2] == "AdaptiveAvgPool2d" and name == "cal" for a, b in different), different


def test_the_measured_table_of_torchmeter_on_a_resnet():
    """Rows and names are equal; times are not, and torchmeter leaves out the unit of a rate below 1."""
    import torchmeter

    tables = []
    for kind in (torchmeter.Meter, Meter):
        model, x = resnet18()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            meter = kind(model)
            meter.ittp_warmup, meter.ittp_benchmark_time = 1, 3
            meter(x)
            tables.append(rows_of(meter, "ittp"))
    (theirs, their_columns), (ours, our_columns) = tables
    assert our_columns == their_columns and [row[:3] for row in ours] == [row[:3] for row in theirs]
    for row in ours:
        times, rates = ([number.split() for number in cell.split(" ± ")] for cell in row[3:])
        assert {unit for _, unit in times} <= {"ns", "us", "ms", "s"} and all(unit.endswith("IPS") for _, unit in rates), row


#: Each key of torchmeter's configuration, a value other than its default, and the settings that it needs for an effect.
CHANGED = {
    "tree_fold_repeat": (False, {}),
    "tree_repeat_block_args.title": ("T <repeat_time>", {}),
    "tree_repeat_block_args.title_align": ("left", {}),
    "tree_repeat_block_args.subtitle": ("S", {}),
    "tree_repeat_block_args.subtitle_align": ("left", {"tree_repeat_block_args.subtitle": "S"}),
    "tree_repeat_block_args.style": ("green", {}),
    "tree_repeat_block_args.highlight": (False, {}),
    "tree_repeat_block_args.box": ("ROUNDED", {}),
    "tree_repeat_block_args.height": (30, {}),
    "tree_repeat_block_args.padding": ([1, 2], {}),
    "tree_repeat_block_args.expand": (True, {}),
    "tree_levels_args.default.label": ("<node_id> <name> <type>", {}),
    "tree_levels_args.default.style": ("red", {"tree_levels_args.default.label": "<name>"}),
    "tree_levels_args.default.guide_style": ("red", {}),
    "tree_levels_args.default.highlight": (False, {}),
    "tree_levels_args.default.hide_root": (True, {}),
    "tree_levels_args.default.expanded": (False, {}),
    "tree_levels_args.0.label": ("R", {}),
    "tree_levels_args.0.style": ("red", {"tree_levels_args.0.label": "<name>"}),
    "tree_levels_args.0.guide_style": ("red", {}),
    "tree_levels_args.0.highlight": (True, {}),
    "tree_levels_args.0.hide_root": (True, {}),
    "tree_levels_args.0.expanded": (False, {}),
    "tree_levels_args.1.label": ("L <name>", {}),
    "tree_levels_args.2.guide_style": ("red", {}),
    "tree_levels_args.all.label": ("A <name>", {}),
    "tree_levels_args.all.style": ("red", {"tree_levels_args.default.label": "<name>"}),
    "table_column_args.style": ("red", {}),
    "table_column_args.justify": ("right", {}),
    "table_column_args.vertical": ("bottom", {"table_display_args.width": 60}),
    "table_column_args.overflow": ("crop", {"table_display_args.width": 60}),
    "table_column_args.no_wrap": (True, {"table_display_args.width": 60}),
    "table_display_args.style": ("red", {}),
    "table_display_args.highlight": (False, {}),
    "table_display_args.width": (150, {}),
    "table_display_args.min_width": (150, {}),
    "table_display_args.expand": (True, {}),
    "table_display_args.padding": ([0, 2], {}),
    "table_display_args.collapse_padding": (True, {}),
    "table_display_args.pad_edge": (False, {}),
    "table_display_args.leading": (1, {}),
    "table_display_args.title": ("T", {}),
    "table_display_args.title_style": ("red", {"table_display_args.title": "T"}),
    "table_display_args.title_justify": ("left", {"table_display_args.title": "T"}),
    "table_display_args.caption": ("C", {}),
    "table_display_args.caption_style": ("red", {"table_display_args.caption": "C"}),
    "table_display_args.caption_justify": ("left", {"table_display_args.caption": "C"}),
    "table_display_args.show_header": (False, {}),
    "table_display_args.header_style": ("red", {}),
    "table_display_args.show_footer": (True, {}),
    "table_display_args.footer_style": ("red", {"table_display_args.show_footer": True}),
    "table_display_args.show_lines": (True, {}),
    "table_display_args.row_styles": (["none", "red"], {}),
    "table_display_args.show_edge": (False, {}),
    "table_display_args.box": ("SQUARE", {}),
    "table_display_args.border_style": ("red", {}),
}  # fmt: skip
#: Keys without effect in torchmeter, or with another effect. `safe_box` concerns only old consoles of Windows.
OTHERS = {
    "tree_repeat_block_args.width", "tree_repeat_block_args.border_style", "table_display_args.safe_box", "render_interval",
    "combine.horizon_gap"}  # fmt: skip


def drawn(renderable, colour="truecolor"):
    """The text as on a terminal, colours included."""
    import rich.console

    console = rich.console.Console(file=io.StringIO(), width=160, color_system=colour, force_terminal=bool(colour))
    console.print(renderable)
    return console.file.getvalue()


def styled(text):
    """Each character with its style, independent of the escape sequences; a blank has no style."""
    import rich.text

    shown = rich.text.Text.from_ansi(text)
    styles = [""] * len(shown.plain)
    for span in shown.spans:
        styles[span.start : span.end] = [str(span.style)] * (span.end - span.start)
    return [(char, "" if char.isspace() else style) for char, style in zip(shown.plain, styles)]


def configured(kind, configuration, model, settings):
    """A meter with only these settings."""
    configuration.restore()
    configuration.render_interval = 0
    with contextlib.redirect_stdout(io.StringIO()):
        meter = kind(model)  # torchmeter keeps a tree that it has drawn
    for key, value in settings.items():
        space, _, rest = key.partition(".")
        if not rest:
            setattr(meter if hasattr(meter, space) else configuration, space, value)
        elif space == "tree_levels_args":
            level, _, name = rest.partition(".")
            setattr(meter, space, {level: {name: value}})
        elif space == "combine":
            setattr(configuration.combine, rest, value)
        else:
            setattr(meter, space, {rest: value})
    return meter


def looks(model, settings, colour="truecolor"):
    """Tree and table of torchmeter and of tmeter."""
    import torchmeter

    out = []
    for kind, configuration in ((torchmeter.Meter, torchmeter.get_config()), (Meter, get_config())):
        meter = configured(kind, configuration, model, settings)
        with contextlib.redirect_stdout(io.StringIO()):
            table, _ = meter.profile("param", show=False)
        # torchmeter gives all columns the number 0, so rich subtracts the padding of the first one from each width.
        # Without padding at the edge, or with common padding, names do not fit into their columns.
        for place, column in enumerate(table.columns):
            column._index = place
        out.append((drawn(meter.structure, colour), drawn(table, colour)))
    return out


class Patterned(torch.nn.Module):
    """Runs of several neighbours, inside of which modules repeat."""

    def __init__(self):
        super().__init__()
        block = lambda: torch.nn.Sequential(*(layer for _ in range(3) for layer in (torch.nn.Linear(4, 4), torch.nn.ReLU())))  # noqa: E731
        self.body = torch.nn.Sequential(*(layer for _ in range(2) for layer in (block(), torch.nn.Tanh())))
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x))


def test_the_look_of_torchmeter():
    """Letters and colours of tree and table with torchmeter's default configuration."""
    for model, title in ((resnet18()[0], "Repeat ["), (Patterned(), "Where")):
        theirs, plain = looks(model, {})
        assert theirs == plain and title in plain[0]


def summaries(kind, make):
    """The tool's output for a model, as on a terminal."""
    model, x = make()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        meter = kind(model)
        texts = [drawn(meter.model_info)]
        meter.ittp_warmup, meter.ittp_benchmark_time = 0, 2
        meter(x)
        meter.ittp  # measured once
    texts += [drawn(meter.model_info), *(drawn(meter.stat_info(name, show_warning=False)) for name in ("param", "cal", "mem"))]
    texts.append(drawn(meter.overview("mem", "param", "cal", show_warning=False)))
    texts.append(re.sub(r"[\d.]+( (ns|us|ms|s|[KM]?IPS)\b)?", "_", meter.stat_info("ittp").plain))
    for arguments in ({}, {"no_tree": True}):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            meter.profile("mem", **arguments)
        texts.append(printed.getvalue())
    return texts


def test_the_summaries_of_torchmeter(monkeypatch):
    """Letters and colours of the overview's boxes, a statistic's lines and a table's footer."""
    import rich
    import torchmeter

    monkeypatch.setenv("COLUMNS", "220")
    monkeypatch.setenv("FORCE_COLOR", "1")
    rich.reconfigure(width=220, force_terminal=True)
    torchmeter.get_config().restore()
    get_config().restore()
    torchmeter.get_config().render_interval = get_config().render_interval = 0
    theirs, ours = summaries(torchmeter.Meter, resnet18), summaries(Meter, resnet18)
    assert "s u m m a r y" in ours[-1] and "Mem INFO" in ours[5] and "Benchmark Times: _" in ours[6]
    assert [styled(text) for text in ours] == [styled(text) for text in theirs]


class Anything(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x, y=None, *rest, scale=1, **more):
        return self.layer(x)


def test_inputs_of_every_kind_are_described_as_by_torchmeter():
    import collections
    import types

    import torchmeter

    named = collections.namedtuple("Named", "p q")
    values = [
        [], {}, (), set(), {1}, {(1, 2): [3]}, "text", "", 1 + 2j, torch.ones(2, 3).numpy(), torch.Size([1, 2]), range(3),
        types.SimpleNamespace(), named(1, [2]), collections.OrderedDict(a=1), int, torch.float32, b"ab", frozenset([1]),
        [[1, 2], [3, 4]], {"a": {"b": {"c": 1, "d": [True, None]}}}, list(range(12)), torch.nn.Linear(1, 1),
        {"long key": [1, 2], "z": 3.5}, slice(1, 2), len, [torch.ones(2), {"k": torch.ones(3), "t": (1, "x")}], "x" * 200]  # fmt: skip
    for value in values:
        texts = []
        for kind in (torchmeter.Meter, Meter):
            with contextlib.redirect_stdout(io.StringIO()):
                meter = kind(Anything())
            meter(torch.ones(1, 2), value, 5, scale=(1, value))
            texts.append(drawn(meter.model_info))
        assert styled(texts[1]) == styled(texts[0]), value


def test_the_look_of_torchmeter_key_by_key():
    """Letters and colours on a ResNet-18."""
    import torchmeter

    their_keys = {
        f"{space}.{key}" if isinstance(keys, dict) else space
        for space, keys in torchmeter.get_config().asdict().items()
        for key in (keys if isinstance(keys, dict) else "-")
    }
    levels = {f"tree_levels_args.{level}" for level in ("default", "0")}
    assert their_keys - levels == {k for k in (*CHANGED, *OTHERS) if not k.startswith("tree_levels_args.")}
    model, _ = resnet18()
    before = {}
    for key, (value, needed) in CHANGED.items():
        base = str(needed)
        if base not in before:
            before[base] = looks(model, needed)[1]
        theirs, ours = looks(model, {**needed, key: value})
        assert ours == theirs, key
        assert ours != before[base], key


def test_keys_with_another_effect(monkeypatch):
    import rich
    import torchmeter

    model, _ = resnet18()
    theirs, ours = looks(model, {})
    # No effect in torchmeter: the frame is not expanded.
    wide = looks(model, {"tree_repeat_block_args.width": 60})
    assert wide[0] == theirs and wide[1] != ours
    # In torchmeter the style overrides it, so its colour is invisible.
    red = "tree_repeat_block_args.border_style"
    their_red, our_red = looks(model, {red: "red"})
    assert their_red == looks(model, {red: "green"})[0] and "[31m" not in their_red[0] and "[31m┃" in our_red[0]
    assert looks(model, {red: "red"}, None)[0] == looks(model, {red: "red"}, None)[1]

    def printed(settings):
        out = []
        for kind, configuration in ((torchmeter.Meter, torchmeter.get_config()), (Meter, get_config())):
            meter = configured(kind, configuration, model, settings)
            with contextlib.redirect_stdout(io.StringIO()) as output:
                meter.profile("param")
            out.append(output.getvalue())
        return out

    # The tree beside the table, and the pauses between lines.
    monkeypatch.setenv("COLUMNS", "220")
    rich.reconfigure(width=220)
    above = lambda text: [line.rstrip() for line in re.split(r"\n.*(?:s u m m a r y| summary )", text)[0].splitlines()]  # noqa: E731
    gaps = [[above(text) for text in printed({"combine.horizon_gap": gap})] for gap in (2, 7)]
    assert gaps[0][0] == gaps[0][1] != gaps[1][0] == gaps[1][1]
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    monkeypatch.setenv("FORCE_COLOR", "1")
    printed({"render_interval": 0.25})
    assert set(pauses) == {0.25}


def test_the_tables_of_torchmeter_on_a_vit():
    """torchmeter counts one row of linear layers over [B, T, C], and does not count attention."""
    import torchmeter

    theirs, their_tables = measured_by(torchmeter.Meter, vit)
    ours, our_tables = measured_by(Meter, vit)
    assert our_tables["param"] == their_tables["param"]
    for name in ("cal", "mem"):
        assert our_tables[name][1] == their_tables[name][1]
        assert [row[:3] for row in our_tables[name][0]] == [row[:3] for row in their_tables[name][0]]
    # The patches: 64 · 16 positions · 3 · 8 · 8.
    patches = 196_608
    row, rows = 2 * 64 * 128, 17 * 2 * 64 * 128  # an MLP: one row, and the rows of all 17 tokens
    assert theirs.cal.Macs.val == patches + 2 * row + 64 * 1000
    # for each layer in_proj, out_proj, scores and values
    attention = 17 * 64 * 192 + 17 * 64 * 64 + 2 * 17 * 17 * 64
    assert ours.cal.Macs.val == patches + 2 * (rows + attention) + 64 * 1000


@pytest.mark.parametrize("make, macs", [(gpt2, None), (lstm, 2 * 7 * 4 * 32 * (16 + 32) + 2 * 7 * 4 * 32 * (32 + 32) + 2 * 32 * 5)])
def test_models_that_torchmeter_refuses(make, macs):
    """torchmeter fails with IndexError on a module that returns a tuple."""
    import torchmeter

    with pytest.raises(IndexError):
        measured_by(torchmeter.Meter, make)
    meter, tables = measured_by(Meter, make)
    assert meter.cal.Macs.val > 0 and all(rows for rows, _ in tables.values())
    if macs:
        assert meter.cal.Macs.val == macs
    # Values that need no run agree.
    assert tables["param"] == measured_by(torchmeter.Meter, make, names=("param",))[1]["param"]


def printed_rows(text):
    lines = text.split("=====")[0].splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("[")]  # "[Flops]: … is not supported!"
    return rows[1:]


def test_the_table_of_torchstat_on_a_resnet():
    """All columns and totals. torchstat's report_format needs pandas 1, so the table is read from its nodes."""
    import torchstat

    model, x = resnet18()
    with contextlib.redirect_stdout(io.StringIO()):
        nodes = torchstat.ModelStat(model, tuple(x.shape[1:]))._analyze_model()
    with contextlib.redirect_stdout(io.StringIO()) as output:
        stat(model, tuple(x.shape[1:]))
    counted = tmeter.analyze(model, (x,), options={"memory.convention": "torchstat"})
    in_place = {node.path: node["output_bytes"] for node in counted.root.walk()}
    rows = printed_rows(output.getvalue())
    by_name = {row[0]: row for row in rows}
    assert [row[0] for row in rows][:-1] == [n.name for n in nodes]
    for node in nodes:
        row = by_name[node.name]
        shapes = [str(n) for n in (*node.input_shape, *node.output_shape)]
        assert row[1:1 + len(shapes)] == shapes
        params, memory, madd, flops, read, written, _, both = row[1 + len(shapes):]
        assert int(params.replace(",", "").split(".")[0]) == node.parameter_quantity
        assert memory == f"{node.inference_memory:.2f}"
        if node.name == "avgpool":  # not supported by torchstat
            assert (node.MAdd, node.Flops) == (0, 0)
            continue
        kind = type(model.get_submodule(node.name)).__name__
        # The blocks' ReLU is called twice; torchstat keeps the last call.
        calls = 2 if kind == "ReLU" and node.name != "relu" else 1
        assert in_place[node.name] == round(calls * node.inference_memory * 2**20)
        assert (madd, flops) == (f"{calls * node.MAdd:,}", f"{calls * node.Flops:,}")
        if kind in ("Conv2d", "Linear"):
            assert [int(read), int(written)] == node.Memory
        assert int(both) == int(read) + int(written)
    total = by_name["total"]
    assert total[1].replace(",", "") == str(int(sum(n.parameter_quantity for n in nodes)))


@pytest.mark.parametrize("make", [vit, gpt2, lstm])
def test_models_that_torchstat_refuses(make):
    """torchstat asserts that inputs have three dims and those of linear layers two."""
    import torchstat

    model, x = make()
    with contextlib.redirect_stdout(io.StringIO()), pytest.raises(AssertionError):
        torchstat.ModelStat(model, tuple(x.shape[1:]))._analyze_model()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
