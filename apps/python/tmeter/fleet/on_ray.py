"""Units as Ray tasks. The only part that imports Ray."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from .units import Outcome, Unit, lost
from .work import run_unit

#: Units for each processor: enough that none waits, few enough to be held in memory.
_AHEAD = 2


def is_in_use() -> bool:
    """Ray is imported and connected already."""
    import sys

    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


class OnRay:
    """Engine of a Ray cluster.

    Ray's own retries are off: retries are decided in one place.
    """

    def __init__(self, address: str | None, options: Mapping[str, Any]) -> None:
        try:
            import ray
        except ImportError as error:
            raise UsageError(
                "engine='ray' needs Ray: pip install 'tmeter[fleet]'; engine='local' does without"
            ) from error
        self._ray: Any = ray
        self._own = not ray.is_initialized()
        if self._own:
            ray.init(address=address, log_to_driver=False, include_dashboard=False)
        self._task: Any = ray.remote(run_unit)
        self._options = dict(options)
        self._running: dict[Any, Unit] = {}

    @property
    def capacity(self) -> int:
        """The cluster may grow meanwhile."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1))) * _AHEAD

    def start(self, unit: Unit) -> None:
        options = {"num_cpus": unit.cpus, "max_retries": 0, "name": f"tmeter {unit.key}"}
        if unit.place:
            options["resources"] = dict(unit.place)
        task = self._task.options(**{**options, **self._options})
        self._running[task.remote(unit)] = unit

    def wait(self) -> list[tuple[Unit, Outcome]]:
        ready, _ = self._ray.wait(list(self._running), num_returns=1)
        return [(self._running.pop(ref), self._outcome(ref)) for ref in ready]

    def _outcome(self, ref: Any) -> Outcome:
        try:
            outcome = self._ray.get(ref)
            assert isinstance(outcome, Outcome)
            return outcome
        except (
            self._ray.exceptions.RayTaskError
        ) as error:  # tmeter is missing there, or another one
            cause = getattr(error, "cause", None) or error
            return Outcome(error=f"{type(cause).__name__}: {cause}", kind=type(cause).__name__)
        except self._ray.exceptions.RayError as error:
            said = str(error).strip().splitlines() or [""]
            return lost(f"{type(error).__name__}: {said[0]}")

    def close(self) -> None:
        for ref in self._running:
            self._ray.cancel(ref, force=True)
        self._running.clear()
        if self._own:
            self._ray.shutdown()
