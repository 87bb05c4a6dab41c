"""Source lines outside of torch and tmeter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

_NOT_USER_CODE = (f"{Path(torch.__file__).parent}/", f"{Path(__file__).parent.parent}/", "<frozen ")


def is_user_frame(frame: Any) -> bool:
    return is_user_file(frame.f_code.co_filename)


def is_user_file(file: str) -> bool:
    return not file.startswith(_NOT_USER_CODE)


def innermost_user_line(frame: Any) -> str:
    """Such as "model.py:12"; empty if unknown."""
    while frame is not None and not is_user_frame(frame):
        frame = frame.f_back
    return source_line_of(frame) if frame is not None else ""


def source_line_of(frame: Any) -> str:
    """``file:line``; the folder of an installed package is left out."""
    return f"{frame.f_code.co_filename.rpartition('/site-packages/')[2]}:{frame.f_lineno}"
