"""Models named as for ``python -m tmeter export``. A worker builds such a model without weights and
exports it."""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from .files import stamp
from .scratch import scratch

T = TypeVar("T")

_LIBRARY_MODEL = re.compile(r"^(timm|torchvision|hf):(?!//)(.+)$", re.DOTALL)
_LIBRARIES = {"timm": "timm", "torchvision": "torchvision", "hf": "transformers"}


def is_library_model(source: str) -> bool:
    """Whether the source is the name of a library's model and not a file with that name."""
    return _LIBRARY_MODEL.match(source) is not None and not os.path.exists(source)


def stamp_of_library_model(source: str) -> str:
    """The stamp of such a model: versions, and the configuration if it is a local file."""
    match = _LIBRARY_MODEL.match(source)
    assert match is not None
    marks = [_version(_LIBRARIES[match[1]]), _version("torch")]
    if match[1] == "hf":
        config = Path(match[2])
        marks.append(stamp(str(config / "config.json" if config.is_dir() else config)))
    return " ".join(marks)


def _version(library: str) -> str:
    try:
        return f"{library} {importlib.metadata.version(library)}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def export_library_model(source: str, use: Callable[[Path, tuple[str, ...]], T]) -> T:
    """The result of `use` on the file and its options on the command line.

    Raises:
        UsageError: no such library or model.
        ExportError, InputError, TorchError: as of `tmeter.analyze`.
    """
    from ..export import export_and_use, require_torch

    require_torch()
    from ..factories import build

    model, inputs = build(source)
    with scratch() as folder:
        result, _ = export_and_use(
            model, inputs, folder, lambda export: use(export.path, export.arguments)
        )
    return result
