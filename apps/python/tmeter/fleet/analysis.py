"""`tmeter.fleet.analyze`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from ..analysis import command_line_of
from ..errors import OutputError, UsageError
from ..program import program_path
from .identity import identify
from .ledger import next_run
from .output import output_of, require_our_format
from .plan import Place, Plan
from .result import FleetResult, result_of
from .run import Run
from .schedule import Engine, EngineLost, Progress, Schedule
from .scratch import sweep
from .units import REPORT, Job


def analyze(
    models: Mapping[str, str | os.PathLike[str]] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    plugins: str | Sequence[str] | None = None,
    request: str | Sequence[str] | None = None,
    options: Mapping[str, object] | None = None,
    hardware: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    threads: int = 1,
    timeout: float | None = None,
    max_memory: int | str | None = None,
    engine: Literal["auto", "ray", "local"] = "auto",
    address: str | None = None,
    ray_options: Mapping[str, Any] | None = None,
    place: Place | None = None,
    workers: int | None = None,
    retries: int = 2,
    resume: bool = True,
    reports: bool = True,
    cache: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
) -> FleetResult:
    """Analyses files on many workers and combines the results.

    Args:
        models: paths, URLs (http, zip, tar, and anything that fsspec reads), or names such as
            ``timm:resnet50``, ``torchvision:resnet50``, ``hf:DIR_OR_CONFIG``: the workers build such a
            model without weights and export it, for which they need torch. A dict gives names to
            sources. An index of shards (``*.index.json``) is one model, whose shards are analysed on
            any workers. A file under two names is analysed once.
        output: folder, or URL of fsspec, for reports, ``models.parquet``, ``index.html`` and
            ``index.json``; created if it does not exist. One run at a time writes to it.
        plugins: as for `tmeter.analyze`, for each file; likewise:
        request: metrics on request.
        options: of plugins.
        hardware: profile for estimates.
        max_memory: for each program.
        config: a TOML file, as for ``--config``.
        threads: of each native program; on Ray also the processors that a task requests.
        timeout: seconds for fetching a file, and for analysing it. Without it, a connection that
            is silent for a minute counts as broken.
        engine: ``"ray"``, ``"local"`` (processes of this machine), or ``"auto"``: Ray when it is
            connected, an `address` is given or ``RAY_ADDRESS`` is set.
        address: of the Ray cluster, as for ``ray.init``.
        ray_options: for every Ray task, e.g. ``{"runtime_env": …}``.
        place: a function from a source to Ray resources on the node of the file, for files on the
            nodes' own disks.
        workers: processes of the local engine; default one for each processor / `threads`.
        retries: how often a file is tried again after a worker died, a network failed, or the
            program crashed. A refused file is tried again only after it has changed.
        resume: keep reports that are in `output` already if they were made from the same content in
            the same way, with the same plugins and profiles.
        reports: whether the whole report of each model is kept in addition to its row.
        cache: folder on the workers for files fetched from URLs; each is removed after it has been
            analysed. Where no plugin reads weights, the elements of tensors are not fetched (of
            safetensors, GGUF, large archives of torch.save and torch.export).
        progress: called after each file; True: a line on standard error; default: the same on a
            terminal.

    Raises:
        UsageError: no models, a duplicate name, an invalid argument, plugin or option, a request for
            Ray that is missing, or another run that writes to `output`. Nothing was analysed then.
        OutputError: `output`, or the disk for temporary files, cannot be written, as when it is
            full. Rows already written stay, and the next run continues.
        Error: Ray did not start on this machine, or its node here died. The table and the page
            contain the models done by then.
        KeyboardInterrupt: Ctrl-C. The table and the page contain the models done by then.

    A model that fails is a row with its error; `FleetResult.require_all` raises.
    """
    named = _sources_by_name(models)
    require_sensible(workers=workers, threads=threads, retries=retries, timeout=timeout)
    if engine not in ("auto", "ray", "local"):
        raise UsageError(f"engine={engine!r}: one of 'auto', 'ray', 'local' is expected")
    arguments = program_arguments(plugins, request, options, hardware, config, threads, timeout, max_memory)
    return run_fleet(
        named,
        os.fspath(output),
        arguments,
        lambda: _engine(engine, address, ray_options, workers or processes_for(threads)),
        place=place,
        cpus=float(threads),
        timeout=timeout,
        retries=retries,
        resume=resume,
        reports=reports,
        cache=None if cache is None else os.fspath(cache),
        progress=_progress_function(progress),
    )


def run_fleet(
    named: Mapping[str, str],
    output: str,
    arguments: Sequence[str],
    make_engine: Callable[[], Engine],
    *,
    place: Place | None = None,
    cpus: float = 1.0,
    timeout: float | None = None,
    retries: int = 2,
    resume: bool = True,
    reports: bool = True,
    cache: str | None = None,
    progress: Callable[[Progress], None],
    report_function: str = REPORT,
) -> FleetResult:
    """`analyze` with checked arguments. report_function: replaces the program in measurements."""
    program_path()
    where = output_of(output)
    require_our_format(where)
    identity = identify(arguments)
    engine = make_engine()
    try:
        with where.locked() as token:
            sweep(None, cache)
            job = Job(
                tuple(arguments), where.root, token, identity, next_run(where), cache, timeout, retries,
                reports, report_function, identity.fingerprint(),
            )
            run = Run(where, Plan(named, job, place), progress, resume, cpus, engine.sees_all)
            try:
                _run_schedule(run, engine, retries)
                rows, metrics, warnings = run.finish()
            except OutputError:
                where.require_lock()  # if it is lost, that is the cause
                raise
            finally:
                run.close()
                sweep(None, cache)
    finally:
        engine.close()
    if run.output_error is not None:
        raise OutputError(run.output_error)
    return result_of(where, rows, metrics, warnings, len(named))


def _run_schedule(run: Run, engine: Engine, retries: int) -> None:
    """After Ctrl-C or the loss of the engine, writes the table of the models done so far."""
    try:
        try:
            Schedule(run.batches(engine.capacity), engine, retries, run.take, run.take_retry).run()
        finally:
            engine.close()  # before the lock is given up
    except (KeyboardInterrupt, EngineLost) as ended:
        with suppress(OutputError, UsageError):
            run.finish(is_whole=False)
            ended.has_table = True  # type: ignore[union-attr]
        raise


def program_arguments(
    plugins: str | Sequence[str] | None,
    request: str | Sequence[str] | None,
    options: Mapping[str, object] | None,
    hardware: str | os.PathLike[str] | None,
    config: str | os.PathLike[str] | None,
    threads: int,
    timeout: float | None,
    max_memory: int | str | None,
) -> list[str]:
    """The arguments of `analyze` as options of the program."""
    program_options = command_line_of(plugins, request, options, hardware, threads, timeout, max_memory)
    return program_options if config is None else [*program_options, f"--config={os.fspath(config)}"]


def require_sensible(
    *, workers: int | None, threads: int, retries: int, timeout: float | None
) -> None:
    """Checks arguments before the first file; messages use the names of the call."""
    for name, value, least in (("workers", workers, 1), ("threads", threads, 1), ("retries", retries, 0)):
        if value is None and name == "workers":
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise UsageError(f"{name}={value!r}: a whole number from {least} on is expected")
    if timeout is not None and not (isinstance(timeout, (int, float)) and 0 < timeout < 1e9):
        raise UsageError(f"timeout={timeout!r}: seconds above 0 are expected")


def _sources_by_name(models: Any) -> dict[str, str]:
    if isinstance(models, (str, os.PathLike)):
        models = [models]
    named: dict[str, str] = {}
    if isinstance(models, Mapping):
        named = {str(name): os.fspath(source) for name, source in models.items()}
    else:
        for source in map(os.fspath, models):
            if source in named:
                raise UsageError(f"{source} is given twice")
            named[source] = source
    if not named:
        raise UsageError("no models are given")
    return named


def processes_for(threads: int) -> int:
    """The default number of worker processes on this machine."""
    return len(os.sched_getaffinity(0)) // threads or 1


def _engine(
    kind: str, address: str | None, ray_options: Mapping[str, Any] | None, workers: int
) -> Engine:
    if kind == "auto":
        from .on_ray import is_in_use

        wanted = is_in_use() or address is not None or bool(os.environ.get("RAY_ADDRESS"))
        kind = "ray" if wanted else "local"
    if kind == "ray":
        from .on_ray import OnRay

        return OnRay(address, ray_options or {})
    from .in_processes import Processes

    return Processes(workers)


def _progress_function(progress: Callable[[Progress], None] | bool | None) -> Callable[[Progress], None]:
    from .progress_line import ProgressLine

    if callable(progress):
        return progress
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return lambda _: None
    return ProgressLine(sys.stderr)
