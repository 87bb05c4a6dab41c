"""Source lines outside of torch and tmeter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

_OURS = (f"{Path(torch.__file__).parent}/", f"{Path(__file__).parent.parent}/", "<frozen ")


def is_of_others(frame: Any) -> bool:
    return is_file_of_others(frame.f_code.co_filename)


def is_file_of_others(file: str) -> bool:
    return not file.startswith(_OURS)


def innermost(frame: Any) -> str:
    """Such as "model.py:12"; empty if unknown."""
    while frame is not None and not is_of_others(frame):
        frame = frame.f_back
    return place_of(frame) if frame is not None else ""


def place_of(frame: Any) -> str:
    """``file:line``; the folder of an installed package is left out."""
    return f"{frame.f_code.co_filename.rpartition('/site-packages/')[2]}:{frame.f_lineno}"
