"""A module to export in one way, and the wording of its notes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn

from .arguments import Example
from .module_copy import Mode
from .note import note_of
from .random_generators import RandomGenerators


@dataclass
class Task:
    """A module to export in one way."""

    model: nn.Module
    example: Example
    folder: Path
    weights: bool
    mode: Mode = "eval"
    way: str = ""
    notes: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    generators: RandomGenerators | None = None

    def path(self, suffix: str) -> Path:
        return self.folder / f"{type(self.model).__name__}{suffix}"

    def note(self) -> str:
        return note_of(self.way, self.assumed)


def state_of(model: nn.Module) -> list[torch.Tensor]:
    return [*model.parameters(), *model.buffers()]


def decided_by_data(source_lines: list[str], how: str) -> str:
    shown = ", ".join(source_lines[:3]) + (f" and {len(source_lines) - 3} more lines" if len(source_lines) > 3 else "")
    return (
        f"data decides at {shown}: the model was {how}, and other data may take other branches or "
        "sizes"
    )


def depends_on_data(error: BaseException | None) -> bool:
    name = type(error).__name__
    return "DataDependent" in name or "DynamicOutputShape" in name or "Unbacked" in name


def one_line(error: BaseException, limit: int = 300) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    text = " ".join(line for line in lines if line)
    return f"{type(error).__name__}: {text}"[:limit]
