"""``python -m tmeter.compat.torchstat -f net.py -m Net -s 3x224x224``"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from typing import Any

from ...errors import Error, UsageError
from . import stat


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tmeter.compat.torchstat", description="torchstat's table of a model's layers"
    )
    parser.add_argument("-f", "--file", required=True, help="Python file with the model")
    parser.add_argument("-m", "--model", required=True, help="class or function that makes the model")
    parser.add_argument(
        "-s", "--size", default="3x224x224", help="channels x height x width (default: 3x224x224)"
    )
    options = parser.parse_args()
    try:
        sizes = tuple(_size(text) for text in options.size.split("x"))
        stat(_model(options.file, options.model), sizes)
    except Error as error:
        print(f"tmeter: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _model(file: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location("models", file)
    if spec is None or spec.loader is None:
        raise UsageError(f"--file: {file!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        make = getattr(module, name)
        return make()
    except AttributeError as error:
        if hasattr(module, name):
            raise
        classes = ", ".join(n for n in vars(module) if n[:1].isupper())
        raise UsageError(f"--model: there is no {name!r} in {file}; there are {classes}") from error
    except OSError as error:
        raise UsageError(f"--file: {error}") from error


def _size(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise UsageError(f"--size: {text!r} is not a size; 3x224x224 is expected")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
