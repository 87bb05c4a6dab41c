"""Writes an export, with or without the live module's weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..errors import ExportError, InputError
from .arguments import Example
from .module_copy import one_element
from .note import NAME


def save_program(
    program: torch.export.ExportedProgram, path: Path, weights_of: nn.Module | None, note: str
) -> None:
    """Writes the program. Without weights each tensor is one stored element of a few bytes; ties are kept."""
    weights = _weights(weights_of) if weights_of is not None else {}
    stand_ins: dict[int, torch.Tensor] = {}
    for table in (program.state_dict, program.constants):
        for name, tensor in list(table.items()):
            if not isinstance(tensor, torch.Tensor):
                continue
            if name in weights:
                table[name] = weights[name]
            elif table is program.state_dict or _is_fake(tensor):
                table[name] = _stand_in(tensor, stand_ins)
    program._example_inputs = None
    with _without_self_test():
        torch.export.save(program, path, extra_files={NAME: note})


@contextlib.contextmanager
def _without_self_test() -> Iterator[None]:
    """torch.export.save also converts the program to a canonical form as a self-test and drops the result. That takes
    a fifth of the time; the written file is the same without it."""
    from torch._export.serde import serialize

    original = getattr(serialize, "canonicalize", None)
    if original is None:
        yield
        return
    serialize.canonicalize = lambda program, *_: program
    try:
        yield
    finally:
        serialize.canonicalize = original


def save_state(state: Mapping[Any, Any], path: Path, weights: bool) -> None:
    """Writes a state_dict, or a checkpoint with several. Without weights only sizes are kept, and ties."""
    stand_ins: dict[Any, torch.Tensor] = {}
    has_tensors = False

    def sizes_of(value: Any) -> Any:
        nonlocal has_tensors
        if isinstance(value, torch.Tensor):
            has_tensors = True
            if value.layout != torch.strided or value.is_quantized:
                return value
            storage = value if _is_fake(value) else value.untyped_storage()
            place = (id(storage), 0) if storage is value else (storage.data_ptr(), value.storage_offset())
            return stand_ins.setdefault((*place, value.shape), one_element(value))
        if isinstance(value, Mapping):
            return {key: sizes_of(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [sizes_of(item) for item in value]
        return value if isinstance(value, (bool, int, float, str)) else None

    saved = sizes_of(state)
    if not has_tensors:
        raise InputError(
            "this dict has no tensors; a module, its state_dict or a path is expected"
        )
    torch.save(dict(state) if weights else saved, path)


def _weights(model: nn.Module) -> dict[str, torch.Tensor]:
    tensors: dict[str, Any] = dict(model.named_parameters(remove_duplicate=False))
    tensors |= dict(model.named_buffers(remove_duplicate=False))
    missing = [name for name, tensor in tensors.items() if _is_fake(tensor)]
    if missing:
        raise ExportError(
            f"the elements of the weights are needed, but {len(missing)} weights are not in "
            f"memory ({missing[0]}, … on meta, or offloaded by accelerate); load the model whole, or "
            "give the checkpoint file's path"
        )
    return tensors


def _is_fake(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, torch._subclasses.FakeTensor) or tensor.is_meta


def _stand_in(tensor: torch.Tensor, stand_ins: dict[int, torch.Tensor]) -> torch.Tensor:
    stand_in = stand_ins.get(id(tensor))
    if stand_in is None:
        stand_in = one_element(tensor)
        if isinstance(tensor, nn.Parameter):
            stand_in = nn.Parameter(stand_in, requires_grad=tensor.requires_grad)
        stand_ins[id(tensor)] = stand_in
    return stand_in


def traced(
    model: nn.Module, example: Example, weights_of: nn.Module | None
) -> Any:
    script: Any = torch.jit.trace(  # type: ignore[no-untyped-call]
        model,
        example_inputs=example.args or None,
        example_kwarg_inputs=example.kwargs or None,
        check_trace=False,
        strict=False,
    )
    if weights_of is not None:
        weights = _weights(weights_of)
        for name, tensor in (*script.named_parameters(), *script.named_buffers()):
            if name in weights:
                tensor.data = weights[name].detach().cpu()
    return script


def save_script(script: Any, path: Path, note: str) -> None:
    script.save(str(path), _extra_files={NAME: note})
