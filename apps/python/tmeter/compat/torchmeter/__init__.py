"""``from tmeter.compat.torchmeter import Meter, get_config``

Like torchmeter, it needs rich for its output and polars for the frames of ``profile``.
"""

from __future__ import annotations

from .config import Settings, get_config
from .meter import Meter

__all__ = ["Meter", "Settings", "get_config"]
