"""Finds and runs the native program, which does all counting."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import BY_STATUS, CrashError, Error, ProgramMissingError

_INTERRUPTED = 130
_SECONDS_TO_END = 3.0


@dataclass(frozen=True)
class Completed:
    """The result of a run.

    Attributes:
        status: the exit status: 0, 3 (an assertion does not hold) or 5 (a plugin was left out).
        output: its standard output.
        messages: lines it wrote to standard error, without the leading ``tmeter: ``.
    """

    status: int
    output: str
    messages: tuple[str, ...]


@functools.cache
def program_path() -> Path:
    """The native program: ``$TMETER_PROGRAM``, else the one that was installed with this package.

    Raises:
        ProgramMissingError: no program is found.
    """
    configured = os.environ.get("TMETER_PROGRAM")
    candidates = [Path(configured)] if configured else [*_installed_paths(), *_usual_paths()]
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    searched = ", ".join(map(str, candidates)) or "nowhere"
    raise ProgramMissingError(
        f"the native program tmeter is missing (looked at: {searched}); install the wheel again, or "
        "set TMETER_PROGRAM to a tmeter that was built from the source"
    )


def _installed_paths() -> list[Path]:
    """The program's path in the installer's list of files, which depends on its folder for scripts."""
    try:
        files = importlib.metadata.files("tmeter") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [Path(str(f.locate())).resolve() for f in files if f.parts[-2:] == ("bin", "tmeter")]


def _usual_paths() -> list[Path]:
    found = shutil.which("tmeter")
    scripts = Path(sysconfig.get_path("scripts")) / "tmeter"
    return [scripts, *([Path(found)] if found else [])]


@functools.cache
def torch_folder() -> Path | None:
    """The folder of this Python's torch, found without importing it; None: not installed."""
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) if places else None


def program_environment() -> dict[str, str]:
    """The program's environment, in which the search for LibTorch begins with the torch of this Python."""
    environment = dict(os.environ)
    torch = torch_folder()
    if torch is None:
        return environment
    folders = [torch / "lib", *sorted(torch.parent.glob("nvidia/*/lib"))]
    library_path = environment.get("LD_LIBRARY_PATH")
    environment["LD_LIBRARY_PATH"] = ":".join([*map(str, folders), *([library_path] if library_path else [])])
    return environment


def run(
    arguments: Sequence[str], *, accept: Sequence[int] = (0,), limit: float | None = None
) -> Completed:
    """Runs the program and waits for it; safe to call from several threads.

    Args:
        arguments: the command line without the program's name.
        accept: exit statuses that do not raise.
        limit: seconds after which the program is ended. It enforces its own ``--timeout`` unless it was stopped.

    Raises:
        Error: the class of the exit status, with the program's own message.
        KeyboardInterrupt: Ctrl-C; the program has been ended.
    """
    command = [str(program_path()), *arguments]
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            # A worker that is killed from outside leaves nothing running (core/process/parent.hpp).
            env={**program_environment(), "TMETER_PARENT": str(os.getpid())},
        )
    except OSError as error:
        raise ProgramMissingError(f"{command[0]} cannot be started: {error}") from error
    with child:
        try:
            output, error_output = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired as error:
            _end(child)
            raise CrashError(f"the native program gave no answer within {limit:.0f} s") from error
        except BaseException:
            _end(child)
            raise
    messages = tuple(line.removeprefix("tmeter: ") for line in error_output.splitlines() if line.strip())
    if child.returncode not in accept:
        raise _failure(child.returncode, messages)
    return Completed(child.returncode, output, messages)


def _end(child: subprocess.Popen[str]) -> None:
    """Ends the program as Ctrl-C does, and kills it if it does not end."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(_SECONDS_TO_END)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        child.kill()


def _failure(status: int, messages: Sequence[str]) -> BaseException:
    text = "\n".join(messages)
    if status == _INTERRUPTED:
        return KeyboardInterrupt(text)
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
        return CrashError(f"the native program was ended by {name}. {text}".strip())
    kind: type[Error] = BY_STATUS.get(status, CrashError)
    return kind(text or f"the native program ended with exit status {status}")
