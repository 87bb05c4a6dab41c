"""`tmeter.fleet.analyze`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .. import __version__
from ..analysis import command_line_of
from ..errors import Error, UsageError
from ..program import program_path, run
from .folder import Folder
from .page import page
from .places import beside
from .schedule import Engine, Progress, run_all
from .shards import Checkpoint, is_index, read_checkpoint, require_tensors
from .table import FACTS, FleetResult, figures, write_parquet
from .units import Outcome, Unit, file_names

_Place = Callable[[str], Mapping[str, float]]


def analyze(
    models: Mapping[str, str | os.PathLike[str]] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    plugins: str | Sequence[str] | None = None,
    request: str | Sequence[str] | None = None,
    options: Mapping[str, object] | None = None,
    hardware: str | os.PathLike[str] | None = None,
    threads: int = 1,
    timeout: float | None = None,
    max_memory: int | str | None = None,
    engine: Literal["auto", "ray", "local"] = "auto",
    address: str | None = None,
    ray_options: Mapping[str, Any] | None = None,
    place: _Place | None = None,
    workers: int | None = None,
    retries: int = 2,
    resume: bool = True,
    cache: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
) -> FleetResult:
    """Analyses files on many workers and puts the results together.

    Args:
        models: paths, URLs (anything fsspec reads), or names as ``timm:resnet50``,
            ``torchvision:resnet50``, ``hf:DIR_OR_CONFIG`` (built without weights and exported by the
            workers, which have torch then), by names of yours or called as they are. An
            index of shards (``*.index.json``) is one model, whose shards are analysed one by one,
            wherever there is a worker.
        output: folder for reports, ``models.parquet``, ``index.html`` and ``index.json``; made if
            it is not there.
        plugins, request, options, hardware, timeout, max_memory: as of `tmeter.analyze`, for each file.
        threads: of each native program; on Ray also the processors it asks for.
        engine: ``"ray"``, ``"local"`` (processes of this machine), or ``"auto"``: Ray when it is
            connected, an `address` is given or ``RAY_ADDRESS`` is set.
        address: of the Ray cluster, as for ``ray.init``.
        ray_options: of every Ray task, e.g. ``{"runtime_env": …}``.
        place: from a source to the Ray resources that lie where the file does, for files on the
            nodes' own disks.
        workers: processes of the local engine; default one for each processor / `threads`.
        retries: how often a file is tried again after a worker died, a network failed, or the
            program crashed. Files that are refused are not tried again.
        resume: reports that are in `output` already, made from the same file in the same way, are
            not made again.
        cache: folder for files fetched from URLs, on the workers; each is removed when it has been
            analysed.
        progress: called after each file; True: a line on standard error; default: the same on a
            terminal.

    Raises:
        UsageError: no models, a name twice, an unknown plugin or option, Ray asked for and missing.
        OutputError: `output` cannot be written, as when the disk is full. Rows already written stay, and
            the next run continues.

    A model that fails is a row with its error; `FleetResult.require_all` raises.
    """
    named = _named(models)
    arguments = command_line_of(
        plugins, request, options, hardware, threads, timeout, max_memory
    )
    program_path()  # it merges, too
    folder = Folder(Path(output), resume, __version__)
    plan = _Plan(named, tuple(arguments), float(threads), _text(cache), place)
    job = _Run(folder, plan, _shown(progress))
    waiting = [unit for unit in plan.units if not job.take_known(unit)]
    if waiting:
        chosen = _engine(engine, address, ray_options, workers or _processors() // threads or 1)
        try:
            run_all(waiting, chosen, retries, job.take, job.take_retry)
        finally:
            chosen.close()
    return job.finish()


def _text(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


def _named(models: Any) -> dict[str, str]:
    if isinstance(models, (str, os.PathLike)):
        models = [models]
    if isinstance(models, Mapping):
        return _required({str(name): os.fspath(source) for name, source in models.items()})
    named: dict[str, str] = {}
    for source in map(os.fspath, models):
        if source in named:
            raise UsageError(f"{source} is given twice")
        named[source] = source
    return _required(named)


def _required(named: dict[str, str]) -> dict[str, str]:
    if not named:
        raise UsageError("no models are given")
    return named


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _engine(
    kind: str, address: str | None, ray_options: Mapping[str, Any] | None, workers: int
) -> Engine:
    if kind not in ("auto", "ray", "local"):
        raise UsageError(f"engine={kind!r}: one of 'auto', 'ray', 'local' is expected")
    if kind == "auto":
        from .on_ray import is_in_use

        wanted = is_in_use() or address is not None or bool(os.environ.get("RAY_ADDRESS"))
        kind = "ray" if wanted else "local"
    if kind == "ray":
        from .on_ray import OnRay

        return OnRay(address, ray_options or {})
    from .in_processes import Processes

    return Processes(workers)


@dataclass
class _Model:
    name: str
    source: str
    file: str  # of its report, without ".json"
    checkpoint: Checkpoint | None = None
    units: list[Unit] = field(default_factory=list)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)  # of units that are done
    error: tuple[str, str] | None = None  # kind, message

    @property
    def report(self) -> str:
        return f"reports/{self.file}.json"

    def fail(self, error: BaseException) -> None:
        self.error = self.error or (type(error).__name__, str(error))


class _Plan:
    """What is to be analysed. A model whose index is bad fails alone, before any of it is read."""

    def __init__(
        self,
        named: Mapping[str, str],
        arguments: tuple[str, ...],
        cpus: float,
        cache: str | None,
        place: _Place | None,
    ) -> None:
        self._given = arguments, cache, cpus
        self._place = place
        files = file_names(named)
        self.models = {name: _Model(name, source, files[name]) for name, source in named.items()}
        for model in self.models.values():
            try:
                model.units = self._units(model)
            except (Error, OSError) as error:
                model.fail(error)

    @property
    def units(self) -> list[Unit]:
        return [unit for model in self.models.values() for unit in model.units]

    def _units(self, model: _Model) -> list[Unit]:
        if not is_index(model.source):
            return [self._unit(model, model.report, model.source)]
        model.checkpoint = read_checkpoint(model.source)
        names = file_names(model.checkpoint.shards)
        return [
            self._unit(
                model, f"shards/{model.file}/{names[shard]}.json", beside(model.source, shard)
            )
            for shard in model.checkpoint.shards
        ]

    def _unit(self, model: _Model, key: str, source: str) -> Unit:
        place = tuple(self._place(source).items()) if self._place else ()
        return Unit(key, model.name, source, *self._given, place)


class _Run:
    """Takes outcomes as they come, and makes of them what is asked for."""

    def __init__(self, folder: Folder, plan: _Plan, progress: Callable[[Progress], None]) -> None:
        self._folder, self._plan, self._progress = folder, plan, progress
        self._start = time.monotonic()
        self._total = len(plan.units)
        self._done = self._failed = self._bytes = self._retried = 0

    def take_known(self, unit: Unit) -> bool:
        entry = self._folder.known(unit)
        if entry is not None:
            self._add(unit, entry)
        return entry is not None

    def take(self, unit: Unit, outcome: Outcome, tries: int) -> None:
        entry = self._folder.keep(unit, outcome, tries)
        self._bytes += max(outcome.size, 0)
        self._add(unit, entry)

    def take_retry(self, unit: Unit, outcome: Outcome) -> None:
        self._retried += 1

    def _add(self, unit: Unit, entry: dict[str, Any]) -> None:
        model = self._plan.models[unit.model]
        model.entries[unit.key] = entry
        if entry["error"] and model.error is None:
            of = f"shard {unit.source.rsplit('/', 1)[-1]}: " if model.checkpoint else ""
            model.error = entry["kind"], of + entry["error"]
        self._done += 1
        self._failed += bool(entry["error"])
        if model.checkpoint and len(model.entries) == len(model.units):
            self._merge(model)
        self._progress(
            Progress(
                self._done,
                self._failed,
                self._total,
                self._bytes,
                time.monotonic() - self._start,
                self._retried,
            )
        )

    def _merge(self, model: _Model) -> None:
        """By the native program; what it refuses is the model's failure."""
        if model.error is not None:
            return
        assert model.checkpoint is not None
        try:
            for unit, (shard, wanted) in zip(model.units, model.checkpoint.shards.items()):
                require_tensors(shard, wanted, self._folder.read(unit.key))
            self._put_together([unit.key for unit in model.units], model.report)
        except Error as error:
            if isinstance(error, OSError):
                raise
            model.fail(error)

    def _put_together(self, keys: Sequence[str], report: str, *options: str) -> tuple[str, ...]:
        """`tmeter merge` of a folder of links: thousands of paths would not fit a command line."""
        with tempfile.TemporaryDirectory(prefix="tmeter-") as links:
            for key in keys:
                link = Path(links) / Path(key).name
                link.symlink_to((self._folder.root / key).resolve())
            with self._folder.writing(report) as new:
                return run(["merge", *options, links, "--report", f"json={new}"]).messages

    def finish(self) -> FleetResult:
        models = self._plan.models.values()
        _require_not_all_wrong(models)
        whole = [m for m in models if m.error is None]
        index: dict[str, Any] = {"modules": [None], "metrics": [], "warnings": []}
        if whole:
            self._put_together([m.report for m in whole], "index.json", "--index")
            index = self._folder.read("index.json")
        found = figures(index)
        rows = tuple(_row(m, found.get(m.file, {})) for m in models)
        metrics, warnings = tuple(index["metrics"]), list(index["warnings"])
        if write_parquet(self._folder, rows, metrics) is None:
            warnings.append(
                "models.parquet was not written: it needs pyarrow (pip install pyarrow)"
            )
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        self._folder.write("models.jsonl", lines.encode())
        self._folder.write("index.html", page(rows, metrics, __version__).encode("utf-8"))
        return FleetResult(self._folder.root, rows, metrics, tuple(warnings))


def _require_not_all_wrong(models: Iterable[_Model]) -> None:
    """An option that is wrong is wrong for all: no row for each, but a mistake of the caller."""
    errors = [m.error for m in models]
    if all(e is not None and e[0] == "UsageError" for e in errors):
        assert errors[0] is not None
        raise UsageError(errors[0][1])


def _row(model: _Model, found: Mapping[str, Any]) -> dict[str, Any]:
    entries = list(model.entries.values())
    sizes = [entry["size"] for entry in entries]
    known = bool(sizes) and all(size >= 0 for size in sizes)
    facts = (
        model.name,
        model.source,
        "failed" if model.error else "ok",
        model.error[1] if model.error else None,
        model.error[0] if model.error else None,
        None if model.error else model.report,
        len(model.units) if model.checkpoint else None,
        sum(sizes) if known else None,
        round(sum(entry["seconds"] for entry in entries), 6),
        round(sum(entry["fetch_seconds"] for entry in entries), 6),
        sum(entry["tries"] for entry in entries),
        ", ".join(sorted({entry["node"] for entry in entries if entry["node"]})) or None,
    )
    return {**dict(zip(FACTS, facts)), **(found if model.error is None else {})}


def _shown(progress: Callable[[Progress], None] | bool | None) -> Callable[[Progress], None]:
    if callable(progress):
        return progress
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return lambda _: None
    return _print


def _print(p: Progress) -> None:
    rate = p.bytes / p.seconds / 1e6 if p.seconds > 0 else 0.0
    said = f"{p.done:,} of {p.total:,} files, {p.failed:,} failed, {p.retried:,} retried"
    said += f", {rate:,.0f} MB/s"
    with suppress(OSError):
        print(f"\r{said} ", end="\n" if p.done == p.total else "", file=sys.stderr, flush=True)
