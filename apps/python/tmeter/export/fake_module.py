"""A copy of a module with fake tensors for weights and inputs."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import torch
from torch import nn
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from .arguments import Example
from .fake_tensor_factory import FakeTensors
from .forward import prepare
from .module_copy import shadow_of
from .modules import parameters_of
from .task import Task
from .tensor_values import Values, worth_keeping


def open_sizes() -> FakeTensorMode:
    """A mode as in torch.export: sizes that depend on data become symbols."""
    return FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())


@dataclass
class Shadow:
    """A copy of a module with fake tensors, and its arguments."""

    model: nn.Module
    example: Example
    values: Values
    asked: list[str]  # where forward checks whether it is being exported


def fake(
    task: Task,
    mode: FakeTensorMode,
    *,
    quick: bool = False,
    known_inputs: bool = False,
    known_weights: bool = False,
) -> Shadow:
    """The shadow and its arguments as fake tensors of one mode, on the device of the module's weights.

    Args:
        quick: weights are made without the mode, which would also track their views.
        known_inputs: the inputs have values, too: the given ones, zeros, or ones for masks.
        known_weights: all weights have values, not only small ones.
    """
    values = Values(sys.maxsize) if known_weights else Values()
    fakes = FakeTensors(mode)
    home = _device_of(task.model)

    def like(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        with mode:
            return torch.empty_strided(
                tuple(tensor.shape), _strides(tensor), dtype=tensor.dtype, device=device
            )

    def fake(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_meta or _is_special(tensor):
            return like(tensor, home if tensor.is_meta else tensor.device)
        return mode.from_tensor(tensor.detach(), static_shapes=True)

    def fake_input(tensor: torch.Tensor) -> torch.Tensor:
        """Only size and dtype of an input matter, so it may move to the device of the weights."""
        elsewhere = tensor.device != home and tensor.layout == torch.strided
        made = like(tensor, home) if elsewhere else fake(tensor)
        # torch keeps the number in a scalar, too, and would not report that the model read it.
        is_known = False
        if isinstance(made, FakeTensor) and made.item_memo is not None:
            is_known, made.item_memo = True, None
        if known_inputs or is_known:
            values.give(made, _value_of_input(tensor), of_input=True)
        return made

    def weight(tensor: torch.Tensor) -> torch.Tensor:
        if not quick or _is_special(tensor) or tensor.layout != torch.strided:
            made = fake(tensor)
        else:
            made = _fake_weight(tensor, fakes, home if tensor.is_meta else tensor.device)
        if worth_keeping(tensor):
            values.give(made, tensor)
        elif known_weights:
            values.share(made, tensor)
        return made

    model, notes = shadow_of(task.model, weight, task.mode)
    asked: list[str] = []
    example, more = prepare(model, task.example, asked)
    task.notes += notes + more
    return Shadow(model, example.made_by(fake_input), values, asked)


def _value_of_input(tensor: torch.Tensor) -> torch.Tensor:
    """Ones, because most models are called with a mask that lets everything pass."""
    if not tensor.is_meta and not isinstance(tensor, FakeTensor):
        return tensor
    return torch.ones(tensor.shape, dtype=tensor.dtype)


def _fake_weight(tensor: torch.Tensor, fakes: FakeTensors, device: torch.device) -> torch.Tensor:
    """Avoids nn.Parameter(…), which runs the mode and takes as long as a small network's forward."""
    empty = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    is_parameter = isinstance(tensor, nn.Parameter)
    made = fakes.like(empty, device, is_parameter and tensor.requires_grad)
    if is_parameter:
        made._is_param = True  # as nn.Parameter sets it; isinstance reads it
    return made


def _is_special(tensor: torch.Tensor) -> bool:
    """A DTensor (FSDP2, tensor parallel) represents the whole tensor."""
    return type(tensor).__name__ == "DTensor" or type(tensor.data).__name__ == "DTensor"


def _strides(tensor: torch.Tensor) -> tuple[int, ...]:
    return tuple(tensor.stride()) if tensor.layout == torch.strided else ()


def _device_of(model: nn.Module) -> torch.device:
    devices = [p.device for p in parameters_of(model) if not p.is_meta]
    return devices[0] if devices else torch.device("cpu")
