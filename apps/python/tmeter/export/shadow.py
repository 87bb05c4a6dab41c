"""A copy of a module without its weights, so that nothing done to it reaches the original.

Parameters and buffers are replaced while the module's structure is copied, so no weight is ever
copied: by fake tensors (shape, dtype, stride, device, no data) for exporting, by tensors of one stored
element for tracing, which runs for real. Small ones keep their values: forward may ask them.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from ..errors import ExportError, InputError
from .values import worth_keeping

Replace = Callable[[torch.Tensor], torch.Tensor]


def unwrapped(model: nn.Module) -> tuple[nn.Module, list[str]]:
    """Without what torch.compile and data-parallel training put around a module."""
    notes: list[str] = []
    while True:
        name = type(model).__name__
        inner = None
        if name == "OptimizedModule":
            inner = getattr(model, "_orig_mod", None)
        elif name in ("DataParallel", "DistributedDataParallel"):
            inner = getattr(model, "module", None)
        if not isinstance(inner, nn.Module):
            return model, notes
        notes.append(f"the module inside {name} was analysed")
        model = inner


def require_whole(model: nn.Module) -> None:
    """Raises ExportError, or InputError, when its parameters are not those of the model."""
    for path, module in model.named_modules():
        if type(module).__name__ == "FullyShardedDataParallel":
            raise ExportError(
                f"{path or 'the module'} is wrapped by FullyShardedDataParallel, whose parameters are "
                "pieces of flat tensors; analyse it before it is wrapped, or build it again on "
                "torch.device('meta')"
            )
    lazy = [name for name, p in model.named_parameters() if nn.parameter.is_lazy(p)]
    if lazy:
        raise InputError(
            f"{len(lazy)} parameters have no shape yet ({lazy[0]}, of a lazy module); call the model "
            "once, and they have"
        )


def registered(model: nn.Module) -> Iterator[tuple[dict[str, Any], str, torch.Tensor]]:
    """Each place of a parameter or buffer: the module's table, the name in it, the tensor."""
    for module in model.modules():
        for table in (module._parameters, module._buffers):
            for name, tensor in table.items():
                if tensor is not None:
                    yield table, name, tensor


def _attributes(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """Tensors in plain attributes, also inside lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 4 and isinstance(value, (list, tuple)):
        for item in value:
            yield from _attributes(item, depth + 1)
    elif depth < 4 and isinstance(value, dict):
        for item in value.values():
            yield from _attributes(item, depth + 1)


#: Of a module: what `registered` goes through, and its children.
_TABLES = ("_parameters", "_buffers", "_modules")


def shadow_of(model: nn.Module, replace: Replace) -> tuple[nn.Module, list[str]]:
    """The copy, in evaluation mode, and notes on what differs from the original.

    Raises:
        ExportError: the module has attributes that cannot be copied.
    """
    memo: dict[int, Any] = {}
    for _, _, tensor in registered(model):
        if id(tensor) not in memo:
            memo[id(tensor)] = _like(tensor, replace(tensor))
    for module in model.modules():
        for name, value in vars(module).items():
            if value is None or isinstance(value, (bool, int, float, str)) or name in _TABLES:
                continue
            if type(value) in (dict, OrderedDict) and not value:  # hooks: a dozen of each module
                memo[id(value)] = type(value)()
                continue
            for tensor in _attributes(value):
                if id(tensor) not in memo:  # tensors with a history cannot be deep-copied
                    memo[id(tensor)] = tensor.detach().clone()
    try:
        _without_sharding(model, memo)
        made: nn.Module = copy.deepcopy(model, memo)
    except Exception as error:
        raise ExportError(
            f"the module cannot be copied (without its weights, to leave it as it is): "
            f"{type(error).__name__}: {error}; an attribute that is not a tensor and cannot be "
            "deep-copied (a lock, a file, a generator) is in the way"
        ) from error
    notes = _drop_hooks(made) + _undo_offloading(made)
    made.eval()
    return made, notes


def _without_sharding(model: nn.Module, memo: dict[int, Any]) -> None:
    """fully_shard (FSDP 2) changes a module's class and hooks; the copy is of the class it was."""
    sharded = [m for m in model.modules() if type(m).__bases__[0].__name__ == "FSDPModule"]
    for module in sharded:
        memo[id(module)] = object.__new__(type(module).__bases__[1])
    for module in sharded:
        state = {k: v for k, v in vars(module).items() if not k.startswith("__composable_api")}
        state |= {"_forward_hooks": OrderedDict(), "_forward_pre_hooks": OrderedDict()}
        vars(memo[id(module)]).update(copy.deepcopy(state, memo))


def _like(tensor: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
    if isinstance(tensor, nn.Parameter) and not isinstance(made, nn.Parameter):
        return nn.Parameter(made, requires_grad=tensor.requires_grad)
    return made


def _drop_hooks(model: nn.Module) -> list[str]:
    """Hooks of the user would see tensors without data. Hooks of torch make weights (pruning), and
    hooks of transformers collect hidden states."""
    dropped = 0
    for module in model.modules():
        for table in (module._forward_hooks, module._forward_pre_hooks):
            for key, hook in list(table.items()):
                home = getattr(hook, "__module__", None) or type(hook).__module__
                if not home.startswith(("torch.", "transformers.")):
                    del table[key]
                    dropped += 1
    return [f"{dropped} hooks of yours were left out"] if dropped else []


def _undo_offloading(model: nn.Module) -> list[str]:
    """accelerate replaces forward by one that fetches weights; shapes need none."""
    found = [m for m in model.modules() if hasattr(m, "_hf_hook")]
    for module in found:
        original = getattr(module, "_old_forward", None)
        if original is not None:
            module.forward = original
            del module._old_forward
        del module._hf_hook
    return ["accelerate's offloading was left out"] if found else []


def small_or_one_element(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's values, on the CPU, where it is small."""
    return tensor.detach().cpu().clone() if worth_keeping(tensor) else one_element(tensor)


def one_element(tensor: torch.Tensor) -> torch.Tensor:
    """The same shape and dtype on a storage of one zero, on the CPU."""
    return torch.zeros((), dtype=tensor.dtype).expand(tensor.shape)
