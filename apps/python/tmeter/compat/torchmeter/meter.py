"""`Meter`: a live model with values, like torchmeter's."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import InputError
from ...export import Exported, export_and_use, require_module, require_torch
from ...source import analyse
from . import table
from .config import Namespace, get_config
from .drawing import described, doubts, footer, joined, labelled, panels, print_lines
from .nodes import Node, OperationTree
from .statistics import CalMeter, IttpMeter, MemMeter, ParamsMeter, Rows, Statistics
from .tree import TreeRenderer, mark_repeats

_NAMES = ("param", "cal", "mem", "ittp")


class _Report(NamedTuple):
    """The native program's values for one input."""

    rows: Rows
    flops: Rows
    unknown: tuple[str, ...]


def _setting(name: str) -> Any:
    """A property that reads and writes the setting of this name."""
    return property(lambda meter: getattr(get_config(), name), lambda meter, value: setattr(get_config(), name, value))


class Meter:
    """Wraps a model. Other attributes and methods are those of the model.

    ``param`` needs no input. For ``cal`` and ``mem`` call the meter once, like the model, so that it has
    an input. ``ittp`` runs and times the live model at each access.

    Attributes:
        model: the underlying module.
        ittp_warmup: runs before measuring.
        ittp_benchmark_time: runs of each module that are measured.
    """

    model: Any
    ittp_warmup: int
    ittp_benchmark_time: int

    def __init__(self, model: Any, device: Any = None) -> None:
        require_torch()
        require_module(model)
        import torch

        first = next(model.parameters(), None)
        own = vars(self)
        found = first.device if first is not None else "cpu"
        own["_device"] = torch.device(found if device is None else device)
        own["model"] = model if device is None else model.to(device)
        own["_optree"] = OperationTree(model)
        own["_root"] = own["_optree"].root
        own["_root"]._statistics = self._statistic_of
        own["_draw_tree"] = TreeRenderer(own["_root"], get_config())
        own["_draw_table"] = table.TableRenderer(self, get_config())
        own["_ipt"] = {"args": (), "kwargs": {}}
        own["_report"] = None
        own["_names"] = {}
        own["_added"] = {}
        own["ittp_warmup"], own["ittp_benchmark_time"] = 50, 100

    # The model behind it

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model and remembers its arguments."""
        self.__dict__["_ipt"] = {"args": self._moved(args), "kwargs": self._moved(kwargs)}
        self.__dict__["_report"] = None
        return self.model(*self._ipt["args"], **self._ipt["kwargs"])

    def _moved(self, value: Any) -> Any:
        import torch

        def moved(x: Any) -> Any:
            return x.to(self.device) if isinstance(x, torch.Tensor) else x

        # torch's trees make a tuple of a torch.Size.
        return torch.utils._pytree.tree_map(
            moved, value, is_leaf=lambda x: isinstance(x, torch.Size)
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["model"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        known = name in self.__dict__ or hasattr(type(self), name)
        if not known and hasattr(self.model, name):
            setattr(self.model, name, value)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            object.__delattr__(self, name)
        else:
            delattr(self.model, name)

    def __repr__(self) -> str:
        return f"Meter(model={self._root.node_id} {self._root.name}: {self._root.type}, device={self.device})"

    @property
    def ipt(self) -> dict[str, Any]:
        """The last arguments of the model: ``args`` and ``kwargs``."""
        ipt: dict[str, Any] = self._ipt
        return ipt

    @property
    def device(self) -> Any:
        return self.__dict__["_device"]

    @device.setter
    def device(self, new: Any) -> None:
        self.to(new)

    def to(self, new_device: Any) -> None:
        """Moves the model and the remembered input."""
        import torch

        self.__dict__["_device"] = torch.device(new_device)
        self.model.to(self.device)
        self.__dict__["_ipt"] = self._moved(self._ipt)

    def rebase(self, node_id: str) -> Meter:
        """A meter of one module inside, by its id in the tree or its dot path.

        Raises:
            TypeError, ValueError: no text, or no such id.
        """
        if not isinstance(node_id, str):
            raise TypeError(f"node_id must be a string such as '1.2', got {type(node_id).__name__}")
        if node_id == "0":
            return self
        nodes = list(self._root.walk())
        for node in (*(n for n in nodes if n.node_id == node_id), *(n for n in nodes if n.path == node_id != "")):
            return Meter(node.module, self.device)
        raise ValueError(f"there is no module {node_id!r}; Meter.subnodes lists them")

    @property
    def subnodes(self) -> list[str]:
        """``(id) name`` of every module."""
        return [f"({node.node_id}) {node.name}" for node in (self._root, *self._root.inside())]

    # Values

    @property
    def param(self) -> ParamsMeter:
        found: ParamsMeter = self._statistic_of("param", self._root)
        return found

    @property
    def cal(self) -> CalMeter:
        """torchmeter's MACs and FLOPs for the last input, counted by the native program.

        Raises:
            RuntimeError: no input is known yet.
            ExportError, InputError: as tmeter.analyze.
        """
        found: CalMeter = self._statistic_of("cal", self._root)
        return found

    @property
    def mem(self) -> MemMeter:
        """Bytes of parameters, buffers and operators' outputs; raises the same exceptions as `cal`."""
        found: MemMeter = self._statistic_of("mem", self._root)
        return found

    @property
    def ittp(self) -> IttpMeter:
        """Inference time and throughput, measured on the live model's device.

        Raises:
            RuntimeError: no input is known yet.
            UsageError: the weights are on meta.
        """
        found: IttpMeter = self._statistic_of("ittp", self._root)
        return found

    def _statistic_of(self, name: str, node: Node) -> Any:
        if name == "param":
            return ParamsMeter(node)
        if name == "cal":
            found = self._analysed("calculation")
            return CalMeter(node, found.rows, found.flops, found.unknown)
        if name == "mem":
            return MemMeter(node, self._analysed("memory").rows)
        self._require_input("inference time")
        from .timing import runs_by_module

        runs = runs_by_module(
            self._root,
            self._ipt["args"],
            self._ipt["kwargs"],
            warmup=self.ittp_warmup,
            repeat=self.ittp_benchmark_time,
        )
        return IttpMeter(node, runs, self.ittp_benchmark_time)

    def _require_input(self, what: str) -> None:
        if not self._ipt["args"] and not self._ipt["kwargs"]:
            raise RuntimeError(
                f"the input is unknown: call the meter once, like the model, before using {what}"
            )

    def _analysed(self, what: str) -> _Report:
        self._require_input(what)
        if self._report is None:
            self.__dict__["_report"] = _analyse(self.model, **self._ipt)
        found: _Report = self._report
        return found

    # Trees, tables and text

    @property
    def structure(self) -> Any:
        """The module tree: a ``rich.tree.Tree``."""
        return self.tree_renderer()

    @property
    def optree(self) -> OperationTree:
        """The modules as objects with ids, parents, children and repeats."""
        found: OperationTree = self.__dict__["_optree"]
        mark_repeats(found.root, self.tree_renderer.fold_from)
        return found

    @property
    def tree_renderer(self) -> TreeRenderer:
        """Draws `structure`; it has the settings ``repeat_footer`` and ``fold_from``."""
        found: TreeRenderer = self.__dict__["_draw_tree"]
        return found

    @property
    def table_renderer(self) -> table.TableRenderer:
        """Draws the tables of `profile`."""
        found: table.TableRenderer = self.__dict__["_draw_table"]
        return found

    @property
    def model_info(self) -> Any:
        """Name, device, signature and input: a ``rich.text.Text``."""
        names = list(inspect.signature(self.model.forward).parameters)
        lines = {
            "Model": self._root.name,
            "Device": str(self.device),
            "Signature": f"forward({', '.join(['self', *names])})",
            "Input": "",
        }
        return joined([*labelled(lines), *_inputs(names, **self._ipt)])

    def stat_info(self, stat_or_statname: str | Statistics, *, show_warning: bool = True) -> Any:
        """One statistic in a few lines: a ``rich.text.Text``."""
        found = stat_or_statname
        if isinstance(found, str):
            found = self._statistics(found)
        elif not isinstance(found, Statistics):
            raise TypeError(f"a statistic or its name is expected, got {type(found).__name__}")
        lines = labelled({"Statistics": found.name})
        if isinstance(found, IttpMeter):
            lines += labelled({"Benchmark Times": str(found.repeat)})
        warnings = found.warnings if show_warning else []
        return joined(lines + labelled(found.crucial_data) + doubts(found.name, warnings))

    def overview(self, *order: str, show_warning: bool = True) -> Any:
        """The model and its statistics side by side: a ``rich.columns.Columns``.

        Raises:
            ValueError: no such statistic.
        """
        unknown = [name for name in order if name not in _NAMES]
        if unknown:
            raise ValueError(f"there is no statistic {unknown[0]!r}; there are {', '.join(_NAMES)}")
        shown = {"Model INFO": self.model_info}
        for name in order or _NAMES:
            shown[f"{name.title()} INFO"] = self.stat_info(name, show_warning=show_warning)
        return panels(shown)

    def table_cols(self, stat_name: str) -> tuple[str, ...]:
        """Names of a table's columns."""
        if not isinstance(stat_name, str):
            raise TypeError(f"a string is expected, got {type(stat_name).__name__}")
        fields = {c.name: c.tb_fields for c in (ParamsMeter, CalMeter, MemMeter, IttpMeter)}
        renamed = self._names.get(stat_name, {})
        added = [wanted.newcol_name for wanted in self._added.get(stat_name, [])]
        return (*(renamed.get(name, name) for name in fields[stat_name]), *added)

    def profile(
        self, stat_name: str, show: bool = True, no_tree: bool = False, **tb_kwargs: Any
    ) -> tuple[Any, Any]:
        """A ``rich.table.Table`` and the ``polars.DataFrame`` behind it.

        Args:
            stat_name: "param", "cal", "mem" or "ittp".
            show: print the table, with the tree beside it unless `no_tree`.
            tb_kwargs: torchmeter's: ``raw_data``, ``pick_cols``, ``exclude_cols``, ``custom_cols``,
                ``keep_custom_name``, ``newcol_name``, ``newcol_func``, ``newcol_type``,
                ``newcol_idx``, ``keep_new_col``, ``save_to``, ``save_format``.
        """
        wanted = table.Columns(**tb_kwargs)
        found = self._statistics(stat_name)
        frame = table.frame_of(found, wanted.raw_data)
        frame = frame.rename(self._names.get(stat_name, {}))
        for earlier in self._added.get(stat_name, []):
            frame = table.arranged(frame, earlier)
        shown = table.arranged(frame, wanted)
        self._keep(stat_name, wanted)
        drawn = table.draw(shown, get_config())
        if show:
            self._print(drawn, found, no_tree)
        saved = table.save(shown, wanted, f"{self._root.name}_{stat_name}")
        if saved is not None:
            print(f"{stat_name.title()} data saved to {saved.resolve()}")
        return drawn, shown

    def _keep(self, stat_name: str, wanted: table.Columns) -> None:
        if wanted.keep_custom_name:
            self._names.setdefault(stat_name, {}).update(wanted.custom_cols)
        if wanted.keep_new_col and wanted.newcol_name:
            only_this = table.Columns(
                newcol_name=wanted.newcol_name,
                newcol_func=wanted.newcol_func,
                newcol_type=wanted.newcol_type,
                newcol_idx=wanted.newcol_idx,
            )
            self._added.setdefault(stat_name, []).append(only_this)

    def _print(self, drawn: Any, found: Statistics, no_tree: bool) -> None:
        from rich.table import Table

        shown = drawn
        if not no_tree:
            gap = int(get_config().combine.horizon_gap)
            if gap < 0:
                raise ValueError("combine.horizon_gap must not be negative")
            shown = Table.grid(padding=(0, gap))
            shown.add_row(self.structure, drawn)
        below = footer([self.model_info, self.stat_info(found, show_warning=False)])
        print_lines(shown, below, float(get_config().render_interval))

    def _statistics(self, name: str) -> Statistics:
        if not isinstance(name, str):
            raise TypeError(f"a string is expected, got {type(name).__name__}")
        if name not in _NAMES:
            raise AttributeError(f"there is no statistic {name!r}; there are {', '.join(_NAMES)}")
        found: Statistics = getattr(self, name)
        return found

    # Settings: one for all meters

    tree_fold_repeat: bool = _setting("tree_fold_repeat")
    tree_levels_args: Namespace = _setting("tree_levels_args")
    table_display_args: Namespace = _setting("table_display_args")
    table_column_args: Namespace = _setting("table_column_args")

    @property
    def tree_repeat_block_args(self) -> Namespace:
        return self.tree_renderer.repeat_block_args

    @tree_repeat_block_args.setter
    def tree_repeat_block_args(self, value: Any) -> None:
        self.tree_renderer.repeat_block_args = value


def _analyse(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Report:
    """Counts one export twice, because torchmeter's MACs and FLOPs are different conventions."""

    def use(exported: Exported) -> list[dict[str, Any]]:
        return [
            analyse(
                exported.path,
                [*exported.arguments, "--plugins=params,flops,memory", f"--set=flops.convention={name}"],
            )[0]
            for name in ("torchmeter", "torchmeter_flops")
        ]

    inputs = _by_name(model, args, kwargs) if kwargs else args
    with tempfile.TemporaryDirectory(prefix="tmeter-") as folder:
        (macs, flops), _ = export_and_use(
            model, inputs, Path(folder), use, dynamic_batch=False, mode="same"
        )
    coverage = macs["coverage"] or {"unknown_ops": []}
    unknown = tuple(op["op"] for op in coverage["unknown_ops"])
    return _Report(_rows(macs), _rows(flops), unknown)


def _by_name(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    try:
        return {**inspect.signature(model.forward).bind_partial(*args).arguments, **kwargs}
    except TypeError as error:
        raise InputError(f"the model cannot be called with the given inputs: {error}") from error


def _rows(report: dict[str, Any]) -> Rows:
    return {row["path"]: row for row in report["modules"]}


def _inputs(names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Indented lines, each a ``rich.text.Text``."""
    from rich.text import Text

    named = {names[i] if i < len(names) else f"args[{i}]": x for i, x in enumerate(args)} | kwargs
    said = Text(",\n").join(Text(f"{name} = ") + described(x) for name, x in named.items())
    if not named:
        said = Text("Not Provided\n(give an inference first)", "dim")
    return [Text("   ") + line for line in said.split("\n", allow_blank=True)]
