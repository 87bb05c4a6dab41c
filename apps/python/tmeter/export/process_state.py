"""Keeps an export's effects on the process away from the caller."""

from __future__ import annotations

import contextlib
import gc
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any, TextIO, cast

import torch
from torch import nn

from .modules import parameters_of
from .random_generators import RandomGenerators

#: torch.export and torch.jit keep their state in globals, so exports run one at a time.
EXPORT_LOCK = threading.RLock()


@contextlib.contextmanager
def random_state_restored(model: nn.Module, generators: RandomGenerators | None = None) -> Iterator[None]:
    cuda = torch.cuda.is_available()
    devices = {p.device.index for p in parameters_of(model) if p.device.type == "cuda"} if cuda else set()
    generators = generators or RandomGenerators(model)
    with torch.random.fork_rng(devices=[d for d in devices if d is not None]):
        try:
            yield
        finally:
            generators.restore()


class _OtherThreadsStream:
    """A text stream that drops the output of this thread."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._thread = stream, threading.get_ident()

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() == self._thread else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def output_hidden() -> Iterator[None]:
    """Hides torch's output about failed attempts; the result has the reasons."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stderr(cast(TextIO, _OtherThreadsStream(sys.stderr))),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def logging_silenced() -> Iterator[None]:
    """Silences torch's exporters, which log whole graphs. Each change of a level makes Python visit all loggers."""
    loggers = [logging.getLogger(name) for name in ("torch.fx", "torch.export", "torch._export")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)


@contextlib.contextmanager
def no_garbage_collection() -> Iterator[None]:
    """For a fraction of a second with thousands of new objects: a collection would visit all objects of the process."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
