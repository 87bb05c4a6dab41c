"""torchinfo's table, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import nn

from .layers import LayerInfo

_TITLES = {
    "kernel_size": "Kernel Shape",
    "input_size": "Input Shape",
    "output_size": "Output Shape",
    "num_params": "Param #",
    "params_percent": "Param %",
    "mult_adds": "Mult-Adds",
    "trainable": "Trainable",
}


@dataclass
class Look:
    """``col_names``, ``col_width``, ``depth``, ``row_settings`` and ``verbose`` of ``summary``."""

    columns: Sequence[str]
    width: int = 25
    depth: int = 3
    rows: frozenset[str] = frozenset({"depth"})
    verbose: int = 1

    def __post_init__(self) -> None:
        unknown = [c for c in self.columns if c not in _TITLES]
        if unknown:
            raise ValueError(f"col_names: there is no {unknown[0]!r}; there are {', '.join(_TITLES)}")


def table(layers: Sequence[LayerInfo], total_params: int, look: Look) -> tuple[list[str], int]:
    """The lines with the header first, and their width."""
    shown = [
        layer
        for layer in layers
        if layer.depth <= look.depth
        and not (layer.is_recursive and "hide_recursive_layers" in look.rows)
    ]
    names = [(_indent(layer.depth, look) + _name(layer, look), layer) for layer in shown]
    longest = max((len(_name(layer, look)) + layer.depth * 5 + 1 for layer in layers), default=0)
    width = 40 if longest < 40 else (longest + 4) // 5 * 5
    title = "Layer (type"
    title += " (var_name)" if "var_names" in look.rows else ""
    title += ":depth-idx" if "depth" in look.rows else ""
    lines = [_line(title + ")", [_TITLES[c] for c in look.columns], width, look)]
    for name, layer in names:
        cells = _cells(layer, layer.depth == look.depth, total_params)
        lines.append(_line(name, [cells[c] for c in look.columns], width, look))
        if look.verbose == 2:
            lines += _weights(layer, width, look)
    return lines, len(look.columns) * look.width + width


def _line(name: str, cells: Iterable[str], width: int, look: Look) -> str:
    return (f"{name:<{width}} " + "".join(f"{c:<{look.width}} " for c in cells)).rstrip()


def _indent(depth: int, look: Look) -> str:
    ascii_only = "ascii_only" in look.rows
    if depth == 0:
        return ""
    if depth == 1:
        return "+ " if ascii_only else "├─"
    return ("|    " if ascii_only else "│    ") * (depth - 1) + ("+ " if ascii_only else "└─")


def _name(layer: LayerInfo, look: Look) -> str:
    name = layer.class_name
    if "var_names" in look.rows and layer.var_name:
        name += f" ({layer.var_name})"
    if "depth" in look.rows and layer.depth > 0:
        name += f": {layer.depth}-{layer.depth_index}"
    return name


def _cells(layer: LayerInfo, deepest: bool, total: int) -> dict[str, str]:
    whole = deepest or layer.is_leaf_layer
    params = layer.num_params if whole else layer.leftover_params()
    said = "(recursive)" if layer.is_recursive and layer.num_params else f"{params:,}"
    if whole and params and not layer.trainable_params and not layer.is_recursive:
        said = f"({said})"  # frozen
    return {
        "kernel_size": _or_nothing(layer.kernel_size),
        "input_size": _or_nothing(layer.input_size),
        "output_size": _or_nothing(layer.output_size),
        "num_params": said if params or said == "(recursive)" else "--",
        "params_percent": f"{params / total:>7.2%}" if params and total else "     --",
        "mult_adds": f"{layer.macs:,}" if whole and layer.macs > 0 else "--",
        "trainable": layer.trainable,
    }


def _or_nothing(value: object) -> str:
    return str(value) if value else "--"


def _weights(layer: LayerInfo, width: int, look: Look) -> list[str]:
    """One line for each parameter, as with verbose=2."""
    if layer.depth == 0 and not layer.is_leaf_layer:
        return []
    own = list(layer.module.named_parameters(recurse=False))
    lines = []
    for name, parameter in own:
        corner = "└─" if name == own[-1][0] else "├─"
        cells = {"kernel_size": str(_shown_shape(name, parameter)), "num_params": f"{corner}{parameter.numel():,}"}
        shown = [cells.get(c, "") for c in look.columns]
        lines.append(_line(_indent(layer.depth + 1, look) + name, shown, width, look))
    return lines


def _shown_shape(name: str, parameter: nn.Parameter) -> list[int]:
    """torchinfo shows inputs before outputs."""
    sizes = list(parameter.shape)
    return [sizes[1], sizes[0], *sizes[2:]] if name == "weight" and len(sizes) > 1 else sizes


def with_unit(value: int) -> str:
    """``" (M): 3.41"``"""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= size or unit == "M":
            break
    scaled = value / size
    return f" ({unit}): " + (f"{int(scaled):,d}" if scaled.is_integer() else f"{scaled:,.2f}")
