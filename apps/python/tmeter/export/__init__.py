"""Turns a live module into a file the native program reads. The only part that imports torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from ..errors import InputError, TorchError
from ..result import ExportInfo
from .note import blind_spot

_MINIMUM = (2, 6)

T = TypeVar("T")


@dataclass(frozen=True)
class Exported:
    """A file, and the options it needs on the command line."""

    path: Path
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """A way of exporting and its result.

    Attributes:
        outcome: the result of the file's use, or the reason of the failure.
        notes: how the exported program differs from the module.
        assumed: what the values rest on.
    """

    way: str
    outcome: T | Exception
    notes: tuple[str, ...]
    assumed: tuple[str, ...]

    def info(self, failed: tuple[tuple[str, str], ...], seconds: float) -> ExportInfo:
        notes = (*self.notes, *self.assumed)
        return ExportInfo(self.way, failed, notes, seconds, blind_spot(self.way))


#: Consumes an export. If it cannot use the file, the next way is tried.
Use = Callable[[Exported], T]


def export_and_use(
    model: Any,
    inputs: Any,
    folder: Path,
    use: Use[T],
    *,
    weights: bool = False,
    dynamic_batch: bool | Literal["auto"] = "auto",
    via: Literal["auto", "torch.export"] = "auto",
    mode: Literal["eval", "train", "same"] = "eval",
) -> tuple[T, ExportInfo]:
    """Writes the model into the folder and returns the result of `use` on the file."""
    require_torch()
    from .ways import first_that_works

    return first_that_works(
        model, inputs, folder, use, weights=weights, dynamic_batch=dynamic_batch, via=via, mode=mode
    )


def export_every_way(
    model: Any,
    inputs: Any,
    folder: Path,
    use: Use[T],
    *,
    weights: bool = False,
    dynamic_batch: bool | Literal["auto"] = "auto",
    mode: Literal["eval", "train", "same"] = "eval",
) -> tuple[list[tuple[str, T]], ExportInfo]:
    """The result of `use` for each way that works; the first equals that of `export_and_use`."""
    require_torch()
    from .ways import every_way

    return every_way(
        model, inputs, folder, use, weights=weights, dynamic_batch=dynamic_batch, mode=mode
    )


def require_torch() -> None:
    try:
        import torch
    except ImportError as error:
        raise TorchError(f"live models need torch: pip install torch ({error})") from error
    if torch_version() < _MINIMUM:
        raise TorchError(
            f"torch {torch.__version__} is too old to export live models: 2.6 or newer is needed; "
            "a file that it has written can be given by its path"
        )


def torch_version() -> tuple[int, ...]:
    """(2, 15)"""
    import torch

    numbers = torch.__version__.split("+")[0].split(".")
    return tuple(int(n) for n in numbers[:2])


def require_module(model: Any) -> None:
    import torch

    if not isinstance(model, torch.nn.Module):
        raise InputError(
            f"a torch.nn.Module, a state_dict, an ExportedProgram or a path is expected, got "
            f"{type(model).__name__}"
        )
