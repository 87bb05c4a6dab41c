"""The package's exceptions. Messages of the native program are passed on word for word.

All derive from :class:`Error`. Errors that a caller expects as a built-in class derive from that class,
too: :class:`UsageError` is a ``ValueError``, :class:`BudgetError` an ``AssertionError``.
"""

from __future__ import annotations

from collections.abc import Sequence


class Error(Exception):
    """Base of everything tmeter raises."""


class UsageError(Error, ValueError):
    """An unknown plugin, option, metric or table, or an invalid value."""


class InputError(Error, ValueError):
    """``inputs`` are missing or invalid, or the model does not accept them."""


class ModelError(Error):
    """The file is not a model, is damaged or refused, or the inputs do not fit it (exit status 4)."""


class CannotRunError(Error):
    """Shapes need a run of the model that was not possible (exit status 6)."""


class PluginError(Error):
    """A plugin cannot be opened; also: TorchScript without a matching torch (exit status 5)."""


class BudgetError(Error, AssertionError):
    """A bound of ``assert_`` does not hold (exit status 3)."""


class CrashError(Error):
    """The native program ended abnormally (exit status 1, or a signal). A defect of tmeter."""


class ProgramMissingError(Error):
    """The native program was not found."""


class TorchError(Error):
    """Live models need torch 2.6 or newer in this Python; it is missing or too old."""


class OutputError(Error, OSError):
    """A fleet's output, cache or temporary folder cannot be written: it is full, or not writable."""


class ExportError(Error):
    """No way of exporting the module worked.

    Attributes:
        attempts: each way that was tried, with the reason of its failure.
    """

    def __init__(self, message: str, attempts: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.attempts: tuple[tuple[str, str], ...] = tuple(attempts)


#: The exit statuses of docs/command-line.md.
BY_STATUS: dict[int, type[Error]] = {
    1: CrashError,
    2: UsageError,
    3: BudgetError,
    4: ModelError,
    5: PluginError,
    6: CannotRunError,
}
