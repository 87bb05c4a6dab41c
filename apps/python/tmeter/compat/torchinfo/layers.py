"""The layers of a model in torchinfo's order: one for each call, and containers that are not called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

_BYTES = {"float64": 8, "int64": 8, "complex64": 8, "complex128": 16, "float16": 2, "bfloat16": 2}
_BYTES |= {"int16": 2, "int8": 1, "uint8": 1, "bool": 1}
_SIZES = re.compile(r"\[[\d, ]*\]")


class LayerInfo:
    """One call of a module.

    Attributes:
        class_name, var_name, depth, depth_index: the parts of the table's first column.
        is_leaf_layer: it contains no layers. is_recursive: it has been called before.
        input_size, output_size, kernel_size: lists of sizes.
        num_params, trainable_params, param_bytes: of the module with everything inside.
        output_bytes: of its first output. macs: mult-adds of this call with everything inside.
    """

    def __init__(self, var_name: str, module: nn.Module, depth: int, parent: LayerInfo | None) -> None:
        self.layer_id = id(module)
        self.module = module
        self.class_name = str(getattr(module, "original_name", type(module).__name__))
        self.var_name = var_name
        self.depth = depth
        self.depth_index: int | None = None
        self.parent_info = parent
        self.children: list[LayerInfo] = []
        self.is_leaf_layer = next(module.children(), None) is None
        self.is_recursive = False
        self.executed = False
        self.input_size: list[int] = []
        self.output_size: list[int] = []
        self.kernel_size = _kernel_size(module)
        self.output_bytes = 0
        self.macs = 0
        counted = list(_counted(module))
        self.num_params = sum(n for _, n in counted)
        self.trainable_params = sum(n for p, n in counted if p.requires_grad)
        self.param_bytes = sum(n * p.element_size() for p, n in counted)

    def __repr__(self) -> str:
        return f"{self.class_name}: {self.depth}"

    @property
    def trainable(self) -> str:
        if self.num_params == 0:
            return "--"
        if self.trainable_params in (0, self.num_params):
            return str(self.trainable_params > 0)
        return "Partial"

    def leftover_params(self) -> int:
        """Parameters that no inner row shows: its own, and those of modules that are not called."""
        return self.num_params - self._shown_inside()

    def _shown_inside(self) -> int:
        return sum(c._shown_inside() if c.is_recursive else c.num_params for c in self.children)


def _counted(module: nn.Module) -> Iterator[tuple[nn.Parameter, int]]:
    """Parameters and their elements. A pruned parameter counts the elements that its mask keeps."""
    for name, parameter in module.named_parameters():
        if not nn.parameter.is_lazy(parameter):
            yield parameter, _elements(module, name, parameter)


def _elements(module: nn.Module, name: str, parameter: nn.Parameter) -> int:
    if name.endswith("_orig"):
        owner, _, own = name.removesuffix("_orig").rpartition(".")
        mask = getattr(module.get_submodule(owner), own + "_mask", None)
        if isinstance(mask, torch.Tensor) and not mask.is_meta:
            return int(mask.sum())
    return parameter.numel()


def totals_of(model: nn.Module) -> tuple[int, int, int]:
    """The numbers of parameters and trainable parameters, and their bytes."""
    whole = LayerInfo("", model, 0, None)
    return whole.num_params, whole.trainable_params, whole.param_bytes


def _kernel_size(module: nn.Module) -> Any:
    size = getattr(module, "kernel_size", None)
    return list(size) if isinstance(size, (tuple, list)) else size


def layers_of_module(model: nn.Module, name: str) -> list[LayerInfo]:
    """The layers without inputs: each module once, in the order of registration."""
    made: list[LayerInfo] = []

    def visit(module: nn.Module, said: str, parent: LayerInfo | None) -> None:
        layer = _add(made, module, said, parent)
        for child_name, child in module.named_children():
            visit(child, child_name, layer)

    visit(model, name, None)
    return _numbered(made)


def layers_of_report(model: nn.Module, name: str, report: Mapping[str, Any]) -> list[LayerInfo]:
    """The layers in the order of the report's calls."""
    rows = report["modules"]
    made: list[LayerInfo] = []
    open_layers: dict[str, LayerInfo] = {}  # path → layer that is the parent of those inside
    by_call: list[LayerInfo] = []
    seen: set[str] = set()
    for call in report["module_calls"]:
        row = rows[call["module"]]
        path = row["path"]
        outer = rows[report["module_calls"][call["parent"]]["module"]]["path"] if "parent" in call else None
        if outer is not None:
            _open_containers(made, open_layers, seen, model, outer, path)
        parent = None
        if outer is not None:  # a module may call a module that is registered elsewhere
            parent = open_layers.get(path.rpartition(".")[0]) or by_call[call["parent"]]
        layer = _add(made, _module(model, path), row["name"] or name, parent)
        layer.is_recursive, layer.executed = path in seen, True
        seen.add(path)
        _close(open_layers, path)
        open_layers[path] = layer
        layer.input_size, layer.output_size = _sizes(row.get("input_size")), _sizes(row.get("output_size"))
        by_call.append(layer)
    first: dict[str, Any] = next(iter(report["outputs"]), {})
    if made and all(isinstance(n, int) for n in first.get("shape", [""])):
        made[0].output_size = list(first["shape"])  # the first of several, as in torchinfo
    _measure(by_call, report)
    return _numbered(made)


def _close(open_layers: dict[str, LayerInfo], path: str) -> None:
    """Closes the layers that do not enclose this path."""
    for other in [p for p in open_layers if p and not path.startswith(p + ".")]:
        del open_layers[other]


def _open_containers(
    made: list[LayerInfo],
    open_layers: dict[str, LayerInfo],
    seen: set[str],
    model: nn.Module,
    outer: str,
    path: str,
) -> None:
    """Adds lists of modules between a module and its caller, because they are never called themselves."""
    names = path.split(".")
    for length in range(1, len(names)):
        container = ".".join(names[:length])
        if container in open_layers or (outer and not container.startswith(outer + ".")):
            continue
        _close(open_layers, container)
        parent = open_layers.get(container.rpartition(".")[0])
        layer = _add(made, _module(model, container), names[length - 1], parent)
        layer.is_recursive = container in seen
        seen.add(container)
        open_layers[container] = layer


def _module(model: nn.Module, path: str) -> nn.Module:
    try:
        return model.get_submodule(path)
    except AttributeError:
        return model


def _add(
    made: list[LayerInfo], module: nn.Module, name: str, parent: LayerInfo | None
) -> LayerInfo:
    layer = LayerInfo(name, module, parent.depth + 1 if parent else 0, parent)
    if parent:
        parent.children.append(layer)
    made.append(layer)
    return layer


def _numbered(layers: list[LayerInfo]) -> list[LayerInfo]:
    count = Counter[int]()
    for layer in layers:
        count[layer.depth] += 1
        layer.depth_index = count[layer.depth]
    return layers


def _measure(by_call: Sequence[LayerInfo], report: Mapping[str, Any]) -> None:
    """Mult-adds and outputs of each call, from the operators in it."""
    parents = [call.get("parent") for call in report["module_calls"]]
    for node in report["nodes"]:
        call: int | None = node.get("module_call", 0)
        flops = node["values"].get("flops") or 0
        results = node["results"]
        while call is not None and call < len(by_call):
            layer = by_call[call]
            layer.macs += int(flops)
            if results and "shape" in results[0]:
                _take_output(layer, results[0])
            call = parents[call]


def _take_output(layer: LayerInfo, first: Mapping[str, Any]) -> None:
    """The first result of the layer's last operator, for each call; the report has one for all calls."""
    if layer.is_leaf_layer or not layer.output_size:
        layer.output_size = [n for n in first["shape"] if isinstance(n, int)]
    elements = 1
    for size in layer.output_size:
        elements *= size
    layer.output_bytes = elements * _BYTES.get(first.get("dtype", ""), 4)


def _sizes(text: str | None) -> list[int]:
    found = _SIZES.search(text or "")
    return [int(n) for n in found.group()[1:-1].split(",") if n.strip()] if found else []
