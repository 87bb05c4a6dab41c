"""A copy of a module without its weights, so that nothing done to it reaches the original.

Parameters and buffers are replaced while the module's structure is copied, so no weight is ever copied. For an
export they become fake tensors (shape, dtype, stride, device, no data). For a trace, which runs on real tensors, they
become tensors of one stored element. Small tensors keep their values, because forward may read them.
"""

from __future__ import annotations

import copy
import copyreg
import functools
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Literal

import torch
from torch import nn

from ..errors import ExportError, InputError
from .modules import modules_of, named_modules_of
from .tensor_values import is_value_kept

ReplaceTensor = Callable[[torch.Tensor], torch.Tensor]
#: The value of module.training; "same": each module keeps its own.
Mode = Literal["eval", "train", "same"]

#: Types of values that a copy shares with the original.
_SHARED_TYPES = frozenset(
    (type(None), bool, int, float, complex, str, bytes, type, torch.dtype)
    + (types.FunctionType, types.BuiltinFunctionType)
)
_CONTAINER_TYPES = frozenset((dict, OrderedDict, set, list))
#: Tables of replaced tensors and of modules.
_REGISTRIES = frozenset(("_parameters", "_buffers", "_modules"))


def unwrapped(model: nn.Module) -> tuple[nn.Module, list[str]]:
    """Removes the wrappers of torch.compile and data-parallel training."""
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


def require_whole_parameters(model: nn.Module) -> None:
    """Raises ExportError or InputError if the module does not hold the model's whole parameters."""
    modules = named_modules_of(model)
    for path, module in modules:
        if type(module).__name__ == "FullyShardedDataParallel":
            raise ExportError(
                f"{path or 'the module'} is wrapped by FullyShardedDataParallel, whose parameters are "
                "pieces of flat tensors; analyse it before it is wrapped, or build it again on "
                "torch.device('meta')"
            )
    lazy = [
        f"{path}.{name}".lstrip(".")
        for path, module in modules
        for name, parameter in module._parameters.items()
        if parameter is not None and nn.parameter.is_lazy(parameter)
    ]
    if lazy:
        raise InputError(
            f"{len(lazy)} parameters have no shape yet ({lazy[0]}, of a lazy module); call the model "
            "once to create them"
        )


def registered_tensors(modules: list[nn.Module]) -> Iterator[tuple[dict[str, Any], str, torch.Tensor]]:
    """Each parameter and buffer: the module's table, the name in it, the tensor."""
    for module in modules:
        for table in (module._parameters, module._buffers):
            for name, tensor in table.items():
                if tensor is not None:
                    yield table, name, tensor


def _attribute_tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """Tensors in plain attributes, also inside lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 4 and isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            if type(item) not in _SHARED_TYPES:
                yield from _attribute_tensors(item, depth + 1)




def copy_without_weights(model: nn.Module, replace: ReplaceTensor, mode: Mode) -> tuple[nn.Module, list[str]]:
    """The copy in this mode, and notes on its differences from the original.

    Raises:
        ExportError: the module has attributes that cannot be copied.
    """
    memo: dict[int, Any] = {}
    modules = modules_of(model)
    for _, _, tensor in registered_tensors(modules):
        if id(tensor) not in memo:
            memo[id(tensor)] = _parameter_like(tensor, replace(tensor))
    try:
        copied: nn.Module = _copy(model, modules, memo)
    except Exception as error:
        raise ExportError(
            f"the module cannot be copied (without its weights, to leave it as it is): "
            f"{type(error).__name__}: {error}; an attribute that is not a tensor and cannot be "
            "deep-copied (a lock, a file, a generator) is in the way"
        ) from error
    copies = modules_of(copied)
    notes = _drop_hooks(copies) + _undo_offloading(copies)
    if mode != "same":
        _set_mode(copied, copies, mode == "train")
    return copied, notes


def _set_mode(model: nn.Module, modules: list[nn.Module], training: bool) -> None:
    """Faster than train(), which is called if a class has its own: it may keep a part in another mode."""
    module_types: set[Any] = {type(m) for m in modules}
    if all(map(_is_set_by_attribute, module_types)) and all("training" in vars(m) for m in modules):
        for module in modules:
            vars(module)["training"] = training
    else:
        model.train(training)


@functools.lru_cache(4096)
def _is_set_by_attribute(kind: Any) -> bool:
    return all(getattr(kind, name) is getattr(nn.Module, name) for name in ("train", "__setattr__"))


def _copy(model: nn.Module, modules: list[nn.Module], memo: dict[int, Any]) -> nn.Module:
    """Does the work of copy.deepcopy, which is several times slower on the two dozen attributes of a module."""
    split_attributes: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for module in modules:
        empty: dict[str, Any] = {}  # each module has a dozen empty tables of hooks
        rest: dict[str, Any] = {}
        for name, value in vars(module).items():
            kind = type(value)
            if kind in _SHARED_TYPES:
                continue
            if kind in _CONTAINER_TYPES and not value:
                copied_container = memo.get(id(value))
                if copied_container is None:
                    copied_container = memo[id(value)] = kind()
                empty[name] = copied_container
            else:
                rest[name] = value
                if name not in _REGISTRIES:
                    _detach(value, memo)
        split_attributes.append((empty, rest))
    _without_sharding(modules, memo)
    copied_by_attributes: list[tuple[Any, Any, dict[str, Any], dict[str, Any]]] = []
    for module, (empty, rest) in zip(modules, split_attributes):
        own: Any = type(module)
        if id(module) not in memo and _is_copied_by_its_attributes(own):
            memo[id(module)] = new = own.__new__(own)
            copied_by_attributes.append((module, new, empty, rest))
    # Leaves first, because a class may read its children while its state is set.
    for module, new, empty, rest in reversed(copied_by_attributes):
        state = module.__getstate__() | empty
        new.__setstate__(state | {n: _copied(v, memo) for n, v in rest.items() if n in state})
    copied: nn.Module = copy.deepcopy(model, memo)
    return copied


@functools.lru_cache(4096)
def _is_copied_by_its_attributes(kind: Any) -> bool:
    methods = ("__reduce_ex__", "__reduce__", "__getstate__", "__new__")
    hooks = ("__deepcopy__", "__getnewargs_ex__", "__getnewargs__")
    return (
        all(getattr(kind, method, None) is getattr(nn.Module, method, None) for method in methods)
        and not any(hasattr(kind, method) for method in hooks)
        and kind not in copyreg.dispatch_table
        and not any(vars(base).get("__slots__") for base in kind.__mro__)
    )


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    kind = type(value)
    if kind is tuple and all(type(item) in _SHARED_TYPES for item in value):
        return value
    earlier = memo.get(id(value))
    if earlier is not None:
        return earlier
    if kind in (dict, OrderedDict) and all(type(key) is str for key in value):
        memo[id(value)] = copied_dict = kind()
        for key, item in value.items():
            copied_dict[key] = item if type(item) in _SHARED_TYPES else _copied(item, memo)
        return copied_dict
    return copy.deepcopy(value, memo)


def _detach(value: Any, memo: dict[int, Any]) -> None:
    """Detaches tensors with a history, which cannot be deep-copied."""
    for tensor in _attribute_tensors(value):
        if id(tensor) not in memo:
            memo[id(tensor)] = tensor.detach().clone()


def _without_sharding(modules: list[nn.Module], memo: dict[int, Any]) -> None:
    """fully_shard (FSDP 2) changes a module's class and hooks. The copy has the original class."""
    sharded = [m for m in modules if type(m).__bases__[0].__name__ == "FSDPModule"]
    for module in sharded:
        memo[id(module)] = object.__new__(type(module).__bases__[1])
    for module in sharded:
        state = {k: v for k, v in vars(module).items() if not k.startswith("__composable_api")}
        state |= {"_forward_hooks": OrderedDict(), "_forward_pre_hooks": OrderedDict()}
        vars(memo[id(module)]).update(copy.deepcopy(state, memo))


def _parameter_like(tensor: torch.Tensor, replacement: torch.Tensor) -> torch.Tensor:
    if isinstance(tensor, nn.Parameter) and not isinstance(replacement, nn.Parameter):
        return nn.Parameter(replacement, requires_grad=tensor.requires_grad)
    return replacement


def _drop_hooks(modules: list[nn.Module]) -> list[str]:
    """Removes the user's hooks, which would receive tensors without data. Hooks of torch stay, because they make weights
    (pruning), and those of transformers, because they collect hidden states."""
    dropped = 0
    for module in modules:
        for table in (module._forward_hooks, module._forward_pre_hooks):
            for key, hook in list(table.items()):
                module_name = getattr(hook, "__module__", None) or type(hook).__module__
                if not module_name.startswith(("torch.", "transformers.")):
                    del table[key]
                    dropped += 1
    return [f"{dropped} of your hooks were left out"] if dropped else []


def _undo_offloading(modules: list[nn.Module]) -> list[str]:
    """Restores the forward that accelerate replaced by one that fetches weights; shapes need no weights."""
    offloaded = [m for m in modules if hasattr(m, "_hf_hook")]
    for module in offloaded:
        original = getattr(module, "_old_forward", None)
        if original is not None:
            module.forward = original
            del module._old_forward
        del module._hf_hook
    return ["accelerate's offloading was left out"] if offloaded else []


def small_or_one_element(tensor: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU: with its values if the tensor is small, else of one element."""
    return tensor.detach().cpu().clone() if is_value_kept(tensor) else one_element(tensor)


def one_element(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of the same shape and dtype on the CPU, whose storage is one zero."""
    return torch.zeros((), dtype=tensor.dtype).expand(tensor.shape)
