"""``python -m tmeter export``: a file for the native program, from a library's model by name."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .errors import CannotRunError, Error, ExportError, InputError, ModelError, UsageError
from .export import Exported, export_and_use, require_torch
from .source import analyse

_DESCRIPTION = """\
Writes a .pt2 file of a model without its weights: nothing is downloaded, memory stays small.

  timm:resnet50              a model of timm
  torchvision:resnet50       a model of torchvision
  hf:DIR_OR_CONFIG           a model of transformers, from a folder with config.json, that file, or a
                             name on the Hub (only config.json is fetched)
  package.module:factory     the result of a function of yours; the current folder is searched, too
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tmeter export",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", help="LIBRARY:NAME or MODULE:FACTORY")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", type=Path)
    parser.add_argument(
        "-i",
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]SHAPE[:DTYPE]",
        help="an input, as in 1x3x224x224 or input_ids=1x128:i64; once per input (default: from "
        "the model's configuration)",
    )
    parser.add_argument(
        "--dynamic-batch", action="store_true", help="leave the batch size open (2 or more)"
    )
    return parser


def export_command(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        _export(options.model, options.input, options.output, options.dynamic_batch)
    except (UsageError, InputError) as error:
        return _print_error(error, 2)
    except ModelError as error:
        return _print_error(error, 4)
    except (ExportError, CannotRunError) as error:
        return _print_error(error, 6)
    except Error as error:
        return _print_error(error, 1)
    except KeyboardInterrupt:
        return 130
    return 0


def _print_error(error: Error, status: int) -> int:
    print(f"tmeter: {error}", file=sys.stderr)
    return status


def _export(name: str, input_options: Sequence[str], output: Path, dynamic_batch: bool) -> None:
    if not output.resolve().parent.is_dir():
        raise UsageError(f"{output}: there is no folder {output.resolve().parent}")
    require_torch()
    from .factories import build

    model, default_inputs = build(name)
    inputs = _inputs(input_options) if input_options else default_inputs
    with tempfile.TemporaryDirectory(prefix="tmeter-") as folder:
        _, info = export_and_use(
            model,
            inputs,
            Path(folder),
            lambda exported: _write_output(exported, output),
            dynamic_batch=dynamic_batch,
            via="torch.export",  # torch can load the file, too
        )
    print(f"{output}: {info}", file=sys.stderr)


def _write_output(exported: Exported, output: Path) -> None:
    """The file gets its name once it is complete and the native program can read it."""
    analyse(exported.path, exported.arguments)
    part = output.with_name(f"{output.name}.part-{os.getpid()}")
    try:
        shutil.copyfile(exported.path, part)
        part.replace(output)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _inputs(input_options: Sequence[str]) -> dict[str, str] | tuple[str, ...]:
    named = dict(s.split("=", 1) for s in input_options if "=" in s)
    unnamed = tuple(s for s in input_options if "=" not in s)
    if named and unnamed:
        raise UsageError("--input: either all inputs have names or none")
    return named or unnamed
