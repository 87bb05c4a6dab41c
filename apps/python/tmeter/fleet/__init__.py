"""Many models, or a sharded checkpoint on several machines: the native program as tasks.

>>> from tmeter import fleet
>>> found = fleet.analyze(["a.pt2", "s3://models/b.safetensors"], "out")  # doctest: +SKIP
>>> found = fleet.analyze({"llama": "llama/model.safetensors.index.json"}, "out")  # doctest: +SKIP
>>> found = fleet.load("out")  # doctest: +SKIP

Tasks run on Ray if it is in use, else in processes of this machine. Every report is written to the
output folder at once, so nothing is lost with a worker, and an interrupted run continues where it
stopped. ``tmeter merge`` combines the reports of shards. The same from the shell is ``tmeter fleet``.
See docs/fleet.md.
"""

from __future__ import annotations

from ..errors import OutputError
from .analysis import analyze
from .result import FleetResult, load
from .schedule import Progress

__all__ = ["FleetResult", "OutputError", "Progress", "analyze", "load"]
