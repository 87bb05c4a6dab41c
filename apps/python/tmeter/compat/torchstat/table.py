"""torchstat's table: a row for each layer, a total, and five lines of totals below it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ...module_tree import ModuleNode
from ...result import Result

_HEADS = (
    "module name",
    "input shape",
    "output shape",
    "params",
    "memory(MB)",
    "MAdd",
    "Flops",
    "MemRead(B)",
    "MemWrite(B)",
    "duration[%]",
    "MemR+W(B)",
)
_BYTES = 4  # torchstat treats every element as a float


def table(result: Result, granularity: int = 1) -> str:
    nodes = collected(result.root, granularity)
    totals = {m: sum(_number(n, m) for n in nodes) for m in _SUMMED}
    memory = sum(_memory(n) for n in nodes)
    seconds = sum(_number(n, "op_time") for n in nodes)
    rows = [_row(n, seconds) for n in nodes]
    rows.append(_total_row(totals, memory, seconds))
    lines = _aligned([_HEADS, *rows])
    width = len(lines[0])
    return "\n".join(
        [
            *lines,
            "=" * width,
            f"Total params: {totals['params']:,}",
            "-" * width,
            f"Total memory: {memory:.2f}MB",
            f"Total MAdd: {rounded(totals['madd'])}MAdd",
            f"Total Flops: {rounded(totals['flops'])}Flops",
            f"Total MemR+W: {rounded(totals['traffic_bytes'], 1024)}B",
            "",
        ]
    )


def collected(root: ModuleNode, granularity: int) -> list[ModuleNode]:
    """Modules of this height, and lower ones with a sibling of it (torchstat/stat_tree.py).

    A leaf is 1 high. Modules that were not called have no row.
    """
    heights: dict[str, int] = {}
    nodes = list(root.walk())
    for node in reversed(nodes):
        heights[node.id] = 1 + max((heights[c.id] for c in node.children), default=0)

    def is_collected(node: ModuleNode) -> bool:
        height = heights[node.id]
        siblings = node.parent.children if node.parent else ()
        highest = max((heights[s.id] for s in siblings), default=0)
        return height == granularity or height < granularity <= highest

    return [n for n in nodes if is_collected(n) and (n.calls or n.children)]


_SUMMED = ("params", "madd", "flops", "read_bytes", "written_bytes", "traffic_bytes")


def _number(node: ModuleNode, metric: str) -> Any:
    return node.metrics.get(metric) or 0


def _shape(text: str | None) -> list[int]:
    """The shape ``"[1, 3, 224, 224]"`` without the batch."""
    try:
        return [int(n) for n in json.loads(text or "[]")[1:]]
    except (ValueError, TypeError):
        return []


def _memory(node: ModuleNode) -> float:
    """MB of the outputs of the layers inside. Like torchstat, counts in-place layers, too."""
    leaves = [n for n in node.walk() if n.is_leaf and n.output_size]
    return sum(prod(_shape(n.output_size)) * _BYTES for n in leaves) / 2**20


def _first(node: ModuleNode, get: Callable[[ModuleNode], str | None], order: int) -> list[int]:
    """The module's own shape or, without one, that of its first or last part."""
    while get(node) is None and node.children:
        node = node.children[order]
    return _shape(get(node))


def _row(n: ModuleNode, seconds: float) -> list[str]:
    return [
        n.path,
        " ".join(f"{size:>3}" for size in _first(n, lambda m: m.input_size, 0)),
        " ".join(f"{size:>3}" for size in _first(n, lambda m: m.output_size, -1)),
        str(_number(n, "params")),
        f"{_memory(n):.2f}",
        f"{_number(n, 'madd'):,}",
        f"{_number(n, 'flops'):,}",
        str(_number(n, "read_bytes")),
        str(_number(n, "written_bytes")),
        f"{_number(n, 'op_time') / seconds:.2%}" if seconds else "-",
        str(_number(n, "traffic_bytes")),
    ]


def _total_row(totals: dict[str, Any], memory: float, seconds: float) -> list[str]:
    return [
        "total",
        "",
        "",
        str(totals["params"]),
        f"{memory:.2f}",
        f"{totals['madd']:,}",
        f"{totals['flops']:,}",
        str(totals["read_bytes"]),
        str(totals["written_bytes"]),
        "100.00%" if seconds else "-",
        str(totals["traffic_bytes"]),
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]


def rounded(value: float, base: int = 1000) -> str:
    """As torchstat's round_value: ``4.12G``."""
    for power, letter in ((4, "T"), (3, "G"), (2, "M"), (1, "K")):
        if value // base**power > 0:
            return f"{round(value / base**power, 2)}{letter}"
    return str(value)
