"""``tmeter fleet``: many models from the shell."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from types import FrameType
from typing import Any

from ..errors import BY_STATUS, Error, OutputError, UsageError
from ..wording import counted, visible
from .analysis import analyze, processes_for, program_arguments, require_sensible
from .earlier_results import EarlierResults, Validity
from .files import is_url
from .identity import identify
from .output import output_of, require_our_format
from .plan import Plan
from .progress_line import ProgressLine
from .result import FleetResult
from .sources import FoundSources, find
from .units import Job

_DESCRIPTION = """\
Analyses many models at once and combines the results: a table (Parquet, JSON lines), a page,
an index, and the report of each. A repeated run continues where the last one stopped.

  tmeter fleet 'models/**/*.pt2' --report parquet=out
  tmeter fleet --list models.txt -o out --plugins params,memory
  find /data -name '*.safetensors' | tmeter fleet --list - -o s3://bucket/out --ray auto
"""
_STATUSES = """\
Exit status: 0 every model was analysed, 1 a worker or the program failed, or the disk is full,
2 wrong usage (nothing was analysed), 4 a model cannot be read, 5 a plugin failed, 6 a model could
not be run, 130 interrupted. If several apply, the first of 1, 4, 6, 5.
"""
#: Class of a row's error → exit status; others are 1.
_STATUS_OF = {kind.__name__: status for status, kind in BY_STATUS.items()} | {
    "UsageError": 4,  # one model among others is wrong, such as a name that its library does not have
    "InputError": 4,
    "FileNotFoundError": 4,
    "OSError": 4,
    "ExportError": 6,
    "TorchError": 5,
}
_WORST_FIRST = (1, 4, 6, 5)
_FORMATS = ("parquet", "jsonl", "html", "json")
_INTERRUPTED, _TERMINATED = 130, 143
_MAX_NAMED = 5


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> object:  # type: ignore[override]
        raise UsageError(f"{message}; `tmeter fleet --help` lists the options")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="tmeter fleet",
        description=_DESCRIPTION,
        epilog=_STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("models", nargs="*", metavar="MODEL", help="path, glob in quotes ('a/**/*.pt2'), folder, URL, timm:NAME, index of shards")
    add("-l", "--list", action="append", default=[], metavar="FILE", help="one model per line; - is standard input")
    add("-o", "--output", metavar="OUT", help="folder, or URL of fsspec, for all results")
    add("-r", "--report", action="append", default=[], metavar="FORMAT=OUT", help="the same: parquet=OUT, jsonl=OUT, html=OUT, json=OUT")
    add("-p", "--plugins", metavar="A,B,...", help="plugins to run (default: params,flops,memory)")
    add("-s", "--set", action="append", default=[], metavar="NAME.KEY=VALUE", help="an option of a plugin")
    add("--columns", metavar="A,B,...", help="metrics that are computed on request only")
    add("--hardware", metavar="NAME|FILE", help="machine for estimates")
    add("--config", metavar="FILE", help="read options from a TOML file")
    add("--ray", type=_address, metavar="ADDRESS", help="run on this Ray cluster: HOST:PORT, ray://HOST:PORT, auto, or local for one of its own")
    add("--workers", type=int, metavar="N", help="processes without Ray (default: one for each core)")
    add("--threads", type=int, default=1, metavar="N", help="threads of each program (default: 1)")
    add("--timeout", type=_seconds, metavar="TIME", help="limit for fetching a file, and for analysing it: 60, 500ms, 2min")
    add("--max-memory", metavar="SIZE", help="of each program")
    add("--retries", type=int, default=2, metavar="N", help="further attempts after a lost worker, a failed network or a crash (default: 2)")
    add("--cache", metavar="DIR", help="folder for fetched remote files")
    add("--no-resume", action="store_true", help="analyse all models again, those with results too")
    add("--no-reports", action="store_true", help="keep rows only, not the report of each model")
    add("--dry-run", action="store_true", help="print the plan and analyse nothing")
    add("-q", "--quiet", action="store_true", help="errors only")
    return parser


def _address(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("HOST:PORT, ray://HOST:PORT, auto or local is expected")
    return text


def _seconds(text: str) -> float:
    for unit, factor in (("ms", 1e-3), ("min", 60.0), ("s", 1.0), ("h", 3600.0), ("", 1.0)):
        if text.endswith(unit):
            try:
                return float(text[: len(text) - len(unit)]) * factor
            except ValueError:
                break
    raise argparse.ArgumentTypeError(f"{text!r}: a time is expected, as in 60, 500ms or 2min")


def fleet_command(arguments: Sequence[str]) -> int:
    """The exit status."""
    try:
        _handle_signals()
        options = _parser().parse_args(arguments)
        output = _output(options)
        found = find(options.models, options.list)
        for line in found.damaged[:_MAX_NAMED]:
            _print_line(line)
        if len(found.damaged) > _MAX_NAMED:
            _print_line(f"{len(found.damaged) - _MAX_NAMED:,} more damaged lines")
        if options.dry_run:
            _print_plan(found, output, options)
            return 0
        with open(os.devnull, "w") as sink, redirect_stdout(sink):  # Ray prints events of its nodes there
            result = _analyzed(found, output, options)
        return _print_result(result, found, options.quiet)
    except UsageError as error:
        return _print_line(error, 2)
    except (OutputError, Error) as error:
        return _print_line(error, 1)
    except KeyboardInterrupt as ended:
        signal.signal(signal.SIGINT, lambda *_: None)  # a pending signal makes SIG_IGN print a traceback
        table = "the table is of the models done by then, and " if getattr(ended, "has_table", False) else ""
        if isinstance(ended, _Terminated):
            return _print_line(f"terminated; {table}the next run goes on", _TERMINATED)
        return _print_line(f"interrupted; {table}the next run goes on", _INTERRUPTED)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 1


class _Terminated(KeyboardInterrupt):
    """SIGTERM ends a run as Ctrl-C does."""


def _handle_signals() -> None:
    """Restores Ctrl-C, which `__main__` leaves to the system during imports. A run in the background ignores it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminated)
    signal.signal(signal.SIGHUP, _terminated)


def _terminated(number: int, frame: FrameType | None) -> None:
    signal.signal(number, lambda *_: None)  # a pending signal makes SIG_IGN print a traceback
    raise _Terminated


def _print_line(words: object, status: int = 0) -> int:
    """Prints one line; on a terminal it replaces the progress."""
    begin = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(begin + "tmeter: " + visible(" ".join(str(words).split("\n"))), file=sys.stderr)
    return status


def _output(options: argparse.Namespace) -> str:
    """The output folder. It contains all formats, whichever is requested."""
    places = [options.output] if options.output else []
    for argument in options.report:
        kind, equals, place = argument.partition("=")
        if kind not in _FORMATS or not equals or not place:
            raise UsageError(f"--report {argument}: FORMAT=OUT is expected, with one of {', '.join(_FORMATS)}")
        places.append(place)
    if not places:
        raise UsageError("an output folder is missing: -o OUT or --report parquet=OUT")
    if len(set(places)) > 1:
        raise UsageError(f"one output folder is expected, got {', '.join(dict.fromkeys(places))}")
    return str(places[0])


def _analyzed(found: FoundSources, output: str, options: argparse.Namespace) -> FleetResult:
    progress: Callable[..., None] | bool = False if options.quiet else ProgressLine(sys.stderr)
    with_ray = options.ray is not None
    return analyze(
        found.sources,
        output,
        **_arguments(options),
        engine="ray" if with_ray else "auto",
        address=None if options.ray in (None, "local") else options.ray,
        workers=options.workers,
        retries=options.retries,
        resume=not options.no_resume,
        reports=not options.no_reports,
        cache=options.cache,
        progress=progress,
    )


def _arguments(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `analyze` that are passed on to the program."""
    return {
        "plugins": options.plugins,
        "request": options.columns,
        "options": dict(_option(argument) for argument in options.set),
        "hardware": options.hardware,
        "config": options.config,
        "threads": options.threads,
        "timeout": options.timeout,
        "max_memory": options.max_memory,
    }


def _option(argument: str) -> tuple[str, str]:
    key, equals, value = argument.partition("=")
    if not equals:
        raise UsageError(f"--set {argument}: NAME.KEY=VALUE is expected")
    return key, value


def _print_result(result: FleetResult, found: FoundSources, quiet: bool) -> int:
    """Prints failures by kind and a few by name; returns the exit status."""
    kinds: Counter[str] = Counter()
    named: list[str] = []
    for row in result.models:
        if row["status"] != "ok":
            kinds[row["error_kind"]] += 1
            if len(named) < _MAX_NAMED:
                has_name = str(row["error"]).startswith(f"{row['model']}: ")
                named.append(row["error"] if has_name else f"{row['model']}: {row['error']}")
    for line in named:
        _print_line(line)
    if kinds.total() > len(named):
        _print_line(f"{kinds.total() - len(named):,} more failed; {result.output}/models.jsonl has each")
    if not quiet:
        for warning in result.warnings:
            _print_line(warning)
        failed = f", {kinds.total():,} failed" if kinds else ""
        print(visible(f"{counted(len(result.models), 'model')}{failed}: {result.output}/index.html"))
    statuses = {_STATUS_OF.get(kind, 1) for kind in kinds} | ({4} if found.damaged else set())
    return next((status for status in _WORST_FIRST if status in statuses), 0)


def _print_plan(found: FoundSources, output: str, options: argparse.Namespace) -> None:
    """Prints the number of files, bytes and workers; nothing is analysed or written."""
    analyze_arguments = _arguments(options)
    require_sensible(
        workers=options.workers, threads=options.threads, retries=options.retries, timeout=options.timeout
    )
    folder = output_of(output)
    require_our_format(folder)
    identity = identify(program_arguments(**analyze_arguments))
    job = Job(
        (), folder.root, "", identity, timeout=options.timeout, retries=0,
        reports=not options.no_reports, identity_mark=identity.fingerprint(),
    )
    plan = Plan(found.sources, job, None)
    finished, sizes, remote = _counted(plan, EarlierResults(folder, job, not options.no_resume))
    workers = options.workers or processes_for(options.threads)
    print(f"models: {len(plan.names):,} ({len(plan.sharded):,} sharded, {len(plan.same_as):,} the same file as another)")
    print(f"files: {plan.total:,}, {finished:,} of them analysed already")
    print(f"bytes: {sizes:,}" + (f", and {remote:,} remote files of unknown size" if remote else ""))
    print("read: whole files" + ("" if identity.reads_weights else ", without the elements of tensors where they are remote"))
    print("workers: " + (f"Ray at {options.ray}" if options.ray else f"{workers} processes of this machine"))
    print(f"output: {visible(folder.root)}")
    for number, error in plan.errors.items():
        _print_line(f"{plan.names[number]}: {error}")


def _counted(plan: Plan, earlier: EarlierResults) -> tuple[int, int, int]:
    """The number of finished files, the bytes of the other local files, and the number of remote files, which may be finished."""
    finished = sizes = remote = 0
    for unit in plan.units():
        result = earlier.find(unit)
        if result is not None and earlier.validity(result, unit) is Validity.VALID:
            finished += 1
        elif is_url(unit.source):
            remote += 1
        elif os.path.isfile(unit.source):
            sizes += os.stat(unit.source).st_size
    return finished, sizes, remote
