"""``Meter.param``, ``cal``, ``mem`` and ``ittp``: fields of the whole model, and rows for tables."""

from __future__ import annotations

import collections
import json
from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from .values import BYTES, COUNT, PER_SECOND, SECONDS, Measured, Value
from .nodes import Node
from .timing import Runs

_tuple: Any = collections.namedtuple
_WHO = ("Operation_Id", "Operation_Name", "Operation_Type")
_WHO_TOO = ("Operation_Id", "Operation_Type", "Operation_Name")

Params = _tuple("Params_INFO", (*_WHO, "Total_Params", "Learnable_Params"))
ParamRow = _tuple("Params_INFO", (*_WHO, "Param_Name", "Requires_Grad", "Numeric_Num"))
Calculation = _tuple("Calculation_INFO", (*_WHO_TOO, "MACs", "FLOPs"))
CalculationRow = _tuple(
    "Calculation_INFO", (*_WHO, "Kernel_Size", "Bias", "Input", "Output", "MACs", "FLOPs")
)
Memory = _tuple("Memory_INFO", (*_WHO_TOO, "Param_Cost", "Buffer_Cost", "Output_Cost", "Total"))
MemoryRow = _tuple("Memory_INFO", (*_WHO, "Param_Cost", "Buffer_Cost", "Output_Cost", "Total"))
Timing = _tuple("InferTime_Throughput_INFO", (*_WHO, "Infer_Time", "Throughput"))

#: Dot path → row of the native report.
Rows = Mapping[str, Mapping[str, Any]]


class Statistics:
    """The common base of the four statistics.

    Attributes:
        name: "param", "cal", "mem" or "ittp".
        detail_val: this node's rows.
        rows: the table's rows, for all nodes but the model itself.
        warnings: reasons why values may be inaccurate.
    """

    name = ""
    ov_fields: tuple[str, ...] = ()
    tb_fields: tuple[str, ...] = ()

    def __init__(self, root: Node) -> None:
        self._root = root
        self.warnings: list[str] = []

    @property
    def val(self) -> Any:
        """The whole model's values as a named tuple."""
        raise NotImplementedError

    def _detail(self, node: Node) -> list[Any]:
        raise NotImplementedError

    @property
    def detail_val(self) -> list[Any]:
        return self._detail(self._root)

    @property
    def rows(self) -> list[Any]:
        nodes = list(self._root.walk())
        # A model of a single layer has no other row.
        return [row for node in nodes[1:] or nodes for row in self._detail(node)]

    @property
    def crucial_data(self) -> dict[str, str]:
        raise NotImplementedError

    def __repr__(self) -> str:
        value = self.val
        width = max(map(len, value._fields))
        lines = [f"• {name:>{width}} = {_twice(item)}" for name, item in value._asdict().items()]
        return "\n".join([type(value).__name__, *lines])


def _twice(value: Any) -> str:
    return f"{value.val} = {value}" if isinstance(value, Value) else str(value)


def _who(node: Node) -> tuple[str, str, str]:
    return node.node_id, node.name, node.type


def _who_too(node: Node) -> tuple[str, str, str]:
    return node.node_id, node.type, node.name


class ParamsMeter(Statistics):
    """Elements of the parameters; a shared one counts once in the model."""

    name = "param"
    ov_fields, tb_fields = Params._fields, ParamRow._fields

    @property
    def TotalNum(self) -> Value:
        return Value(sum(p.numel() for p in self._root.module.parameters()))

    @property
    def RegNum(self) -> Value:
        """The elements of the trainable parameters."""
        learning = (p for p in self._root.module.parameters() if p.requires_grad)
        return Value(sum(p.numel() for p in learning))

    @property
    def val(self) -> Any:
        return Params(*_who(self._root), self.TotalNum, self.RegNum)

    def _detail(self, node: Node) -> list[Any]:
        own = [
            ParamRow(*_who(node), name, p.requires_grad, Value(p.numel()))
            for name, p in node.module.named_parameters(recurse=False)
        ]
        return own or [ParamRow(*_who(node), None, None, Value(0))]

    @property
    def crucial_data(self) -> dict[str, str]:
        return {
            "Learnable Parameters Num": str(self.RegNum),
            "Total Parameters Num": str(self.TotalNum),
        }


class FromReport(Statistics):
    """Values of the native program, by dot path."""

    def __init__(self, root: Node, rows: Rows) -> None:
        super().__init__(root)
        self._rows = rows
        idle = [n.path for n in root.walk() if n.is_leaf and not self._called(n)]
        if idle:
            self.warnings.append(f"{len(idle)} modules are not called: {_some(idle)}")

    def _called(self, node: Node) -> bool:
        row = self._rows.get(node.path)
        return row is not None and row["calls"] > 0

    def _value(self, node: Node, metric: str) -> int | None:
        row = self._rows.get(node.path)
        value = row["values"].get(metric) if row else None
        return None if value is None else int(value)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


class CalMeter(FromReport):
    """torchmeter's MACs and FLOPs (docs/conventions.md)."""

    name = "cal"
    ov_fields, tb_fields = Calculation._fields, CalculationRow._fields

    def __init__(self, root: Node, rows: Rows, flops: Rows, unknown: Sequence[str]) -> None:
        super().__init__(root, rows)
        self._flops = flops
        if unknown:
            self.warnings.append(f"no rule for {_some(unknown)}: values are lower bounds")

    @property
    def Macs(self) -> Value:
        return Value(self._value(self._root, "flops") or 0)

    @property
    def Flops(self) -> Value:
        return Value(self._flops_of(self._root) or 0)

    def _flops_of(self, node: Node) -> int | None:
        row = self._flops.get(node.path)
        value = row["values"].get("flops") if row else None
        return None if value is None else int(value)

    @property
    def val(self) -> Any:
        return Calculation(*_who_too(self._root), self.Macs, self.Flops)

    def _detail(self, node: Node) -> list[Any]:
        if not self._called(node):
            return []
        row = self._rows[node.path]
        kernel = row.get("kernel_size")
        macs, flops = self._value(node, "flops"), self._flops_of(node)
        calls = row["calls"] if node.is_leaf else 1
        return [
            CalculationRow(
                *_who(node),
                json.loads(kernel) if kernel else None,
                _bias(node.module),
                row.get("input_size"),
                row.get("output_size"),
                None if macs is None else Value(macs, COUNT, calls),
                None if flops is None else Value(flops, COUNT, calls),
            )
        ]

    @property
    def crucial_data(self) -> dict[str, str]:
        return {"FLOPs": str(self.Flops), "MACs(aka MACC, MADD)": str(self.Macs)}


def _bias(module: nn.Module) -> bool | None:
    layers = (nn.Linear, nn.modules.conv._ConvNd)
    return module.bias is not None if isinstance(module, layers) else None


class MemMeter(FromReport):
    """Bytes of parameters, buffers and new results of operators."""

    name = "mem"
    ov_fields, tb_fields = Memory._fields, MemoryRow._fields
    _METRICS = ("param_bytes", "buffer_bytes", "output_bytes")

    @property
    def ParamCost(self) -> Value:
        return self._cost("param_bytes")

    @property
    def BufferCost(self) -> Value:
        return self._cost("buffer_bytes")

    @property
    def OutputCost(self) -> Value:
        return self._cost("output_bytes")

    @property
    def TotalCost(self) -> Value:
        return Value(sum(self._value(self._root, m) or 0 for m in self._METRICS), BYTES)

    def _cost(self, metric: str) -> Value:
        return Value(self._value(self._root, metric) or 0, BYTES)

    @property
    def val(self) -> Any:
        costs = self.ParamCost, self.BufferCost, self.OutputCost, self.TotalCost
        return Memory(*_who_too(self._root), *costs)

    def _detail(self, node: Node) -> list[Any]:
        if not self._called(node):
            return []
        values = [self._value(node, m) for m in self._METRICS]
        costs = [Value(v, BYTES) if v else None for v in (*values, sum(v or 0 for v in values))]
        kind = node.type + ("(inplace)" if getattr(node.module, "inplace", None) is True else "")
        return [MemoryRow(node.node_id, node.name, kind, *costs)]

    @property
    def crucial_data(self) -> dict[str, str]:
        total = self.TotalCost
        named = {
            "Parameters Memory Cost": self.ParamCost,
            "Buffers Memory Cost": self.BufferCost,
            "FeatureMap Memory Cost": self.OutputCost,
        }
        shares = {k: f"{v}, {100 * v / (total or 1):.2f} %" for k, v in named.items()}
        return {**shares, "Total Memory Cost": str(total)}


class IttpMeter(Statistics):
    """Seconds and inputs per second of each module, measured in this process."""

    name = "ittp"
    ov_fields = tb_fields = Timing._fields

    def __init__(self, root: Node, runs: Mapping[str, Runs], repeat: int) -> None:
        super().__init__(root)
        self._runs, self.repeat = runs, repeat
        idle = [n.path for n in root.walk() if n.is_leaf and n.path not in runs]
        if idle:
            self.warnings.append(f"{len(idle)} modules are not called: {_some(idle)}")

    def _time(self, node: Node) -> Measured:
        runs = self._runs.get(node.path)
        return Measured(runs.seconds if runs else (), SECONDS)

    def _throughput(self, node: Node) -> Measured:
        runs = self._runs.get(node.path)
        return Measured([runs.inputs / s for s in runs.seconds if s > 0] if runs else (), PER_SECOND)

    @property
    def InferTime(self) -> Measured:
        return self._time(self._root)

    @property
    def Throughput(self) -> Measured:
        return self._throughput(self._root)

    @property
    def val(self) -> Any:
        return Timing(*_who(self._root), self.InferTime, self.Throughput)

    def _detail(self, node: Node) -> list[Any]:
        if node.path not in self._runs:
            return []
        return [Timing(*_who(node), self._time(node), self._throughput(node))]

    @property
    def crucial_data(self) -> dict[str, str]:
        return {
            "Inference Elapse": str(self.InferTime),
            "Throughput": str(self.Throughput),
        }
