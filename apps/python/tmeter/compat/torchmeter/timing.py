"""Times a live model module by module. This is the only part that runs the model and measures in Python."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from ...errors import InputError, UsageError
from .nodes import Node


class Runs(NamedTuple):
    """The measurements of one module: the seconds of each run, and the inputs of a run, counted as in torchmeter:
    dim 0 of the module's first tensor argument."""

    seconds: list[float]
    inputs: int


def runs_by_module(
    root: Node, args: tuple[Any, ...], kwargs: dict[str, Any], *, warmup: int, repeat: int
) -> dict[str, Runs]:
    """Dot path → runs: every module is run `repeat` times on the arguments of its call.

    The model runs in evaluation mode without gradients. Training modes, buffers and the random
    state are restored.
    """
    for name, value in (("ittp_warmup", warmup), ("ittp_benchmark_time", repeat)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
        if value < (1 if name == "ittp_benchmark_time" else 0):
            raise ValueError(f"{name} must not be negative or zero, got {value}")
    model = root.module
    if any(t.is_meta for t in (*model.parameters(), *model.buffers())):
        raise UsageError("ittp runs the model, but its weights are on meta: there is nothing to run")
    found: dict[str, Runs] = {}
    with torch.no_grad(), _left_as_it_was(model):
        try:
            for _ in range(warmup):
                model(*args, **kwargs)
            with _watched(root, found, repeat):
                model(*args, **kwargs)
        except (RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"the model does not run: {error}") from error
    return found


@contextlib.contextmanager
def _watched(root: Node, found: dict[str, Runs], repeat: int) -> Iterator[None]:
    busy = False
    wait = _synchronise(root.module)

    def watch(node: Node) -> Any:
        def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], _: Any) -> None:
            nonlocal busy
            if busy:  # this call is part of a repeated run of an enclosing module
                return
            busy = True
            times = found.setdefault(node.path, Runs([], _inputs(args, kwargs))).seconds
            try:
                for _ in range(repeat):
                    wait()
                    start = time.perf_counter()
                    module.forward(*args, **kwargs)
                    wait()
                    times.append(time.perf_counter() - start)
            finally:
                busy = False

        return node.module.register_forward_hook(hook, with_kwargs=True)

    handles = [watch(node) for node in root.walk()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _inputs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    tensors = (a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor) and a.dim() > 0)
    return next((int(t.shape[0]) for t in tensors), 1)


def _synchronise(model: nn.Module) -> Any:
    kinds = {p.device.type for p in model.parameters()} - {"cpu", "meta"}
    accelerator = getattr(torch, kinds.pop(), None) if kinds else None
    return getattr(accelerator, "synchronize", lambda: None)


@contextlib.contextmanager
def _left_as_it_was(model: nn.Module) -> Iterator[None]:
    modes = [(m, m.training) for m in model.modules()]
    buffers = [(b, b.clone()) for b in model.buffers()]
    model.eval()
    try:
        with torch.random.fork_rng():
            yield
    finally:
        for module, training in modes:
            module.training = training
        for buffer, value in buffers:
            buffer.copy_(value)
