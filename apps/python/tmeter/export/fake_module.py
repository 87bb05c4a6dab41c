"""A copy of a module with fake tensors for weights and inputs."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import torch
from torch import nn
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from .arguments import Example
from .fake_tensor_factory import FakeTensorFactory
from .forward import prepare
from .module_copy import copy_without_weights
from .modules import parameters_of
from .task import Task
from .tensor_values import TensorValues, is_value_kept


def symbolic_fake_mode() -> FakeTensorMode:
    """A mode as in torch.export: sizes that depend on data become symbols."""
    return FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())


@dataclass
class FakeModule:
    """A copy of a module with fake tensors, and its arguments."""

    model: nn.Module
    example: Example
    values: TensorValues
    export_checks: list[str]  # where forward checks whether it is being exported


def fake_module_of(
    task: Task,
    mode: FakeTensorMode,
    *,
    quick: bool = False,
    with_input_values: bool = False,
    with_weight_values: bool = False,
) -> FakeModule:
    """A copy of the module and its arguments as fake tensors of one mode, on the device of the module's weights.

    Args:
        quick: weights are made without the mode, which would also track their views.
        with_input_values: the inputs have values, too: the given ones, zeros, or ones for masks.
        with_weight_values: all weights have values, not only small ones.
    """
    values = TensorValues(sys.maxsize) if with_weight_values else TensorValues()
    factory = FakeTensorFactory(mode)
    weight_device = _device_of(task.model)

    def like(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        with mode:
            return torch.empty_strided(
                tuple(tensor.shape), _strides(tensor), dtype=tensor.dtype, device=device
            )

    def as_fake(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_meta or _is_special(tensor):
            return like(tensor, weight_device if tensor.is_meta else tensor.device)
        return mode.from_tensor(tensor.detach(), static_shapes=True)

    def fake_input(tensor: torch.Tensor) -> torch.Tensor:
        """Only size and dtype of an input matter, so it may move to the device of the weights."""
        is_elsewhere = tensor.device != weight_device and tensor.layout == torch.strided
        faked = like(tensor, weight_device) if is_elsewhere else as_fake(tensor)
        # torch keeps the number in a scalar, too, and would not report that the model read it.
        is_known = False
        if isinstance(faked, FakeTensor) and faked.item_memo is not None:
            is_known, faked.item_memo = True, None
        if with_input_values or is_known:
            values.set_value(faked, _value_of_input(tensor), of_input=True)
        return faked

    def weight(tensor: torch.Tensor) -> torch.Tensor:
        if not quick or _is_special(tensor) or tensor.layout != torch.strided:
            faked = as_fake(tensor)
        else:
            faked = _fake_weight(tensor, factory, weight_device if tensor.is_meta else tensor.device)
        if is_value_kept(tensor):
            values.set_value(faked, tensor)
        elif with_weight_values:
            values.share_weight(faked, tensor)
        return faked

    model, notes = copy_without_weights(task.model, weight, task.mode)
    export_checks: list[str] = []
    example, input_notes = prepare(model, task.example, export_checks)
    task.notes += notes + input_notes
    return FakeModule(model, example.mapped(fake_input), values, export_checks)


def _value_of_input(tensor: torch.Tensor) -> torch.Tensor:
    """Ones, because most models are called with a mask that lets everything pass."""
    if not tensor.is_meta and not isinstance(tensor, FakeTensor):
        return tensor
    return torch.ones(tensor.shape, dtype=tensor.dtype)


def _fake_weight(tensor: torch.Tensor, factory: FakeTensorFactory, device: torch.device) -> torch.Tensor:
    """Avoids nn.Parameter(…), which runs the mode and takes as long as a small network's forward."""
    empty = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    is_parameter = isinstance(tensor, nn.Parameter)
    faked = factory.like(empty, device, is_parameter and tensor.requires_grad)
    if is_parameter:
        faked._is_param = True  # as nn.Parameter sets it; isinstance reads it
    return faked


def _is_special(tensor: torch.Tensor) -> bool:
    """A DTensor (FSDP2, tensor parallel) represents the whole tensor."""
    return type(tensor).__name__ == "DTensor" or type(tensor.data).__name__ == "DTensor"


def _strides(tensor: torch.Tensor) -> tuple[int, ...]:
    return tuple(tensor.stride()) if tensor.layout == torch.strided else ()


def _device_of(model: nn.Module) -> torch.device:
    devices = [p.device for p in parameters_of(model) if not p.is_meta]
    return devices[0] if devices else torch.device("cpu")
