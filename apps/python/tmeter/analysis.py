"""`tmeter.analyze`."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from .errors import Error, InputError, UsageError
from .program import Completed
from .result import ExportInfo, Result
from .source import analyse
from .specs import command_line_inputs
from .wording import in_python

#: Plugins that read the elements of weights: only they get the weights of a live module.
_WEIGHT_READING_PLUGINS = frozenset({"param-stats", "quantization-advice", "pruning-advice", "all"})

#: Plugins that try sizes other than those of the inputs.
_SIZE_CHANGING_PLUGINS = frozenset({"fit", "all"})


def analyze(
    model: Any,
    inputs: Any = None,
    *,
    plugins: str | Sequence[str] | None = None,
    request: str | Sequence[str] | None = None,
    options: Mapping[str, object] | None = None,
    hardware: str | os.PathLike[str] | None = None,
    bind: Mapping[str, int] | None = None,
    weights: bool | Literal["auto"] = "auto",
    dynamic_batch: bool | Literal["auto"] = "auto",
    via: Literal["auto", "torch.export", "all"] = "auto",
    mode: Literal["eval", "train", "same"] = "eval",
    threads: int | None = None,
    timeout: float | None = None,
    max_memory: int | str | None = None,
    trust: bool = False,
    root: str | None = None,
    full: bool = False,
    inference: bool = False,
    profile: bool = False,
    device: str | None = None,
    run_for: float | None = None,
    seed: int | None = None,
) -> Result:
    """Parameters, MACs, FLOPs, memory and more of a model.

    Args:
        model: a live ``torch.nn.Module``, an ``ExportedProgram``, a ``ScriptModule``, a ``state_dict``
            (only parameters, because it has no operators), or the path of a file. A live module is neither run
            nor changed: a copy without weights is exported. Its weights may be on any device, including
            ``meta``.
        inputs: the arguments of ``forward``: a tensor; a shape such as ``(1, 3, 224, 224)`` or
            ``"1x128:i64"``; a dict of keyword arguments; a list or tuple of positional ones. The shape
            ``(3, 224, 224)`` gets a batch of one if the first layer is a convolution. None: the inputs
            in the configuration of a transformers or timm model. For a file: shapes that replace the
            recorded ones, as with ``--input``.
        plugins: names, or one string of names, as for ``--plugins``; default ``params,flops,memory``.
        request: metrics that are computed on request only, e.g. ``"spectral_norm"``, as for ``--columns``.
        options: options of plugins, e.g. ``{"flops.convention": "fvcore"}``, as for ``--set``.
        hardware: profile by name or file, for estimates of time (seconds) and energy (joules).
        bind: sizes of dynamic dimensions, e.g. ``{"x.0": 8}``.
        weights: whether a live module's weights are written to a temporary file for the program.
            ``"auto"``: if a plugin named above reads them, or the model is run.
        dynamic_batch: whether to export with an open batch size, so that ``bind`` can change it and the
            report contains formulas; that takes ten times as long. All tensors need the same first
            size, two or more. ``"auto"``: if they have it, and ``bind`` or the plugin ``fit`` needs
            other sizes.
        via: ``"auto"`` records the operators of one call on fake tensors if no size is left open and
            no weights are needed. That gives the result of torch.export in a fraction of its time;
            torch.export is used where the record is uncertain. ``"torch.export"`` always uses it.
            ``"all"`` exports in every way that works, takes the values of the first and compares
            parameters, MACs and FLOPs: `Result.export` and a warning say where two ways disagree.
        mode: ``"eval"`` or ``"train"``: the mode of a live module for the export; ``"same"``: each of its
            modules keeps its mode.
        threads: number of threads that read weights and run operators; default one for each core.
        timeout: seconds for the native program; it does not bound exporting.
        max_memory: bytes, or text such as ``"4GiB"``, for the native program.
        trust: accept a TorchScript file that runs code while it is loaded.
        root: dot path or id of a module: the result describes only this part.
        full: every plugin that applies; with ``inference`` also those that measure.
        inference: run the model, to measure its time, throughput and memory (docs/running.md). A live
            module is run by LibTorch from the exported file, with its own weights if they are in
            memory. Inputs are generated.
        profile: ``inference`` with counters, threads and the load of the system.
        device: device of the runs, ``"cpu"`` or ``"cuda:1"``.
        run_for: seconds for all runs together; default 10.
        seed: seed of generated inputs and weights; default 0.

    Raises:
        InputError: inputs are missing, or the model does not accept them.
        ExportError: no way of exporting worked; the message names all.
        TorchError: the model is a live module, and torch is missing or too old.
        ModelError, CannotRunError, PluginError, UsageError, CrashError: as the program reports.
    """
    if via not in ("auto", "torch.export", "all"):
        raise UsageError(f"via={via!r}: 'auto', 'torch.export' or 'all' is expected")
    if mode not in ("eval", "train", "same"):
        raise UsageError(f"mode={mode!r}: 'eval', 'train' or 'same' is expected")
    names = _names(plugins)
    arguments = _arguments(
        names, request, options, hardware, bind, threads, timeout, max_memory, trust
    )
    if root is not None:
        arguments.append(f"--root={root}")
    if full:
        arguments.append("--full")
        names = [*names, "all"]
    if dynamic_batch == "auto" and not bind and not _SIZE_CHANGING_PLUGINS & set(names):
        dynamic_batch = False
    arguments += _run_arguments(inference, profile, device, run_for, seed)
    try:
        return _analyzed(
            model, inputs, arguments, names, weights, dynamic_batch, via, mode, inference or profile
        )
    except Error as error:
        error.args = tuple(in_python(a) if isinstance(a, str) else a for a in error.args)
        raise


def _run_arguments(
    inference: bool, profile: bool, device: str | None, run_for: float | None, seed: int | None
) -> list[str]:
    arguments = ["--inference"] if inference else []
    if profile:
        arguments.append("--profile")
    run_options = {"device": device, "run-for": run_for, "seed": seed}
    arguments += [f"--{name}={value}" for name, value in run_options.items() if value is not None]
    return arguments


def _analyzed(
    model: Any,
    inputs: Any,
    arguments: list[str],
    names: Sequence[str],
    weights: bool | Literal["auto"],
    dynamic_batch: bool | Literal["auto"],
    via: Literal["auto", "torch.export", "all"],
    mode: Literal["eval", "train", "same"],
    runs: bool,
) -> Result:
    if isinstance(model, (str, os.PathLike)):
        return _result(analyse(Path(model), [*arguments, *command_line_inputs(inputs)]))
    if isinstance(model, type):
        raise InputError(f"an instance is expected, got the class {model.__name__}; call it first")
    from .export import Exported, export_and_use, export_every_way

    def analysed(exported: Exported) -> _Analysed:
        return analyse(exported.path, [*exported.arguments, *arguments])

    wants_weights = bool(_WEIGHT_READING_PLUGINS & set(names)) or (runs and _has_weights(model))
    with_weights = wants_weights if weights == "auto" else weights
    with tempfile.TemporaryDirectory(prefix="tmeter-") as folder:
        if via == "all":
            return _compared(
                *export_every_way(
                    model,
                    inputs,
                    Path(folder),
                    analysed,
                    weights=with_weights,
                    dynamic_batch=dynamic_batch,
                    mode=mode,
                )
            )
        report, export = export_and_use(
            model,
            inputs,
            Path(folder),
            analysed,
            weights=with_weights,
            dynamic_batch=dynamic_batch,
            via=via,
            mode=mode,
        )
    return _result(report, export)


def _has_weights(model: Any) -> bool:
    """Whether all parameters are in memory, so that a run can use them."""
    parameters = getattr(model, "parameters", None)
    return callable(parameters) and not any(p.is_meta for p in parameters())


def _compared(exports: list[tuple[str, _Analysed]], export: ExportInfo) -> Result:
    """The values of the first export, and a comparison with the others."""
    (way, first), *others = exports
    compared = []
    for other, (report, _) in others:
        differs = _differences(first[0], report)
        agrees = "the same " + ", ".join(_COMPARED)
        compared.append((other, f"differs: {differs}" if differs else agrees))
        if differs:
            text = f"exported by {other} the model has values that differ from those by {way}: {differs}"
            first[0]["warnings"].append(text)
    if not others:
        compared.append(("nothing to compare", "no other way works"))
    return _result(first, replace(export, compared=tuple(compared)))


#: Totals that do not depend on the way of the export.
_COMPARED = ("params", "macs", "flops")


def _differences(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Such as "macs 12 instead of 10"."""

    def shown(report: dict[str, Any], metric: str) -> str:
        value, status = report["totals"].get(metric), report["totals_status"].get(metric)
        return f"{value}" + (f" ({status})" if status else "")

    pairs = [(m, shown(other, m), shown(one, m)) for m in _COMPARED]
    return ", ".join(f"{m} {a} instead of {b}" for m, a, b in pairs if a != b)


def command_line_of(
    plugins: str | Sequence[str] | None,
    request: str | Sequence[str] | None,
    options: Mapping[str, object] | None,
    hardware: str | os.PathLike[str] | None,
    threads: int | None,
    timeout: float | None,
    max_memory: int | str | None,
) -> list[str]:
    """The program's arguments for the analysis, for files on other machines."""
    return _arguments(
        _names(plugins), request, options, hardware, None, threads, timeout, max_memory, False
    )


_Analysed = tuple[dict[str, Any], Completed]


def _result(analysed: _Analysed, export: ExportInfo | None = None) -> Result:
    report, completed = analysed
    for message in completed.messages:
        warnings.warn(in_python(message), stacklevel=4)
    return Result(report, export, completed.messages)


def _names(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str):
        names = names.split(",")
    return [name.strip() for name in names if name.strip()]


def _arguments(
    plugins: Sequence[str],
    request: str | Sequence[str] | None,
    options: Mapping[str, object] | None,
    hardware: str | os.PathLike[str] | None,
    bind: Mapping[str, int] | None,
    threads: int | None,
    timeout: float | None,
    max_memory: int | str | None,
    trust: bool,
) -> list[str]:
    arguments = [f"--plugins={','.join(plugins)}"] if plugins else []
    requested = _names(request)
    if requested:
        arguments.append(f"--columns={','.join(requested)}")
    for key, value in (options or {}).items():
        if "." not in key:
            raise UsageError(f"option {key!r}: PLUGIN.KEY is expected, as in flops.convention")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        arguments.append(f"--set={key}={text}")
    arguments += [f"--bind={symbol}={size}" for symbol, size in (bind or {}).items()]
    if hardware is not None:
        arguments.append(f"--hardware={os.fspath(hardware)}")
    if threads is not None:
        arguments.append(f"--threads={threads}")
    if timeout is not None:
        arguments.append(f"--timeout={timeout}")
    if max_memory is not None:
        arguments.append(f"--max-memory={max_memory}")
    return [*arguments, "--trust"] if trust else arguments
