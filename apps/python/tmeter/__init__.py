"""Measures the cost of a PyTorch model: memory, arithmetic and time of each part.

>>> import tmeter
>>> result = tmeter.analyze(model, inputs=(3, 224, 224))   # doctest: +SKIP
>>> result.total("macs")                                    # doctest: +SKIP
4089184256

``analyze`` takes a live ``torch.nn.Module``, an ``ExportedProgram`` or a file (``.pt2``, TorchScript,
checkpoint, safetensors). All counting is done by the native program ``tmeter``, which this package
contains. Importing the package imports neither torch nor pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

if TYPE_CHECKING:
    from .analysis import analyze as analyze
    from .errors import BudgetError as BudgetError
    from .errors import CannotRunError as CannotRunError
    from .errors import CrashError as CrashError
    from .errors import Error as Error
    from .errors import ExportError as ExportError
    from .errors import InputError as InputError
    from .errors import ModelError as ModelError
    from .errors import PluginError as PluginError
    from .errors import ProgramMissingError as ProgramMissingError
    from .errors import TorchError as TorchError
    from .errors import UsageError as UsageError
    from .result import Result as Result

#: Name → its module, which is imported at first use.
_HOME = {
    "analyze": "analysis",
    "Result": "result",
    **dict.fromkeys(
        (
            "BudgetError CannotRunError CrashError Error ExportError InputError ModelError "
            "PluginError ProgramMissingError TorchError UsageError"
        ).split(),
        "errors",
    ),
}

__all__ = [
    "BudgetError",
    "CannotRunError",
    "CrashError",
    "Error",
    "ExportError",
    "InputError",
    "ModelError",
    "PluginError",
    "ProgramMissingError",
    "Result",
    "TorchError",
    "UsageError",
    "analyze",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tmeter' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
