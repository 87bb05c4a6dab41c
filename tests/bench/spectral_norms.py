"""Spectral norms of the weights in all fixtures, compared with NumPy's SVD in double precision.

    build/release/python/venv/bin/python tests/bench/spectral_norms.py --before OLD/bin/tmeter \\
        --same 'qemu-x86_64 -cpu Haswell build/release/bin/tmeter'

The Python needs torch and safetensors, which read the weights. The norms of `--same` must be equal to the last digit. Prints
a table for an entry of docs/dev/weights.md: relative errors for each folder of fixtures. The exit status is 1 if a norm is
off by more than 1e-6, is further from NumPy's than before, or differs between processors. Packed weights are left out,
because torch does not decode them.
"""

import argparse
import json
import pickle
import shlex
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import safetensors.torch
import torch
from torch.utils import _pytree

FIXTURES = Path(__file__).parents[1] / "fixtures"
SUFFIXES = (".pt2", ".pt", ".bin", ".safetensors")
#: Files that torch reads only with torchvision's operators or the class of a tensor.
LEFT_OUT = ("evil", "torchscript/faster_rcnn.pt", "torchscript/mask_rcnn.pt", "checkpoints/packed.pt")
TOLERANCE = 1e-6  # of Lanczos' method, as documented
ROUNDING = 1e-13  # errors below it are rounding of double precision

Norms = dict[str, float]


@dataclass
class Errors:
    """Relative errors of a file's norms by tensor. `before`: errors of an older program, if there is one."""

    now: Norms = field(default_factory=dict)
    before: Norms = field(default_factory=dict)
    other_digits: list[str] = field(default_factory=list)  # "COMMAND: TENSOR"

    def problems(self) -> list[str]:
        found = [f"{name}: off by {e:.1e}" for name, e in self.now.items() if e > TOLERANCE]
        found += [f"{name}: off by {self.now[name]:.1e}, before by {e:.1e}"
                  for name, e in self.before.items() if self.now[name] > max(e, ROUNDING)]  # fmt: skip
        return found + self.other_digits


def norms_of(command: str, file: Path) -> Norms:
    """The spectral norms of tensors that are not packed, by name; empty if there are none or tmeter refuses the file."""
    arguments = ["--plugins=param-stats", "--columns=spectral_norm", "--set", "checkpoint.key=.", "--report", "json", str(file)]
    done = subprocess.run([*shlex.split(command), *arguments], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return {}
    plain = [t for t in json.loads(done.stdout)["tensors"] if "encoding" not in t]
    norms = {t["name"]: t.get("values", {}).get("spectral_norm") for t in plain}
    return {name: norm for name, norm in norms.items() if norm is not None}


def add_stand_in() -> None:
    """Lets torch read a program that returns an object of a class of transformers."""
    name = "transformers.modeling_outputs.ImageClassifierOutput"
    _pytree.register_pytree_node(type("Output", (dict,), {}), lambda d: (list(d.values()), list(d)),
                                 lambda values, keys: dict(zip(keys, values)), serialized_type_name=name)  # fmt: skip


class Unpickler(pickle.Unpickler):
    """Replaces missing classes, such as those of fixtures, by an empty module."""

    def find_class(self, module: str, name: str) -> object:
        try:
            return super().find_class(module, name)
        except (AttributeError, ImportError):
            return type(name, (torch.nn.Module,), {})


def tensors_in(value: object, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors of an unpickled object, named as tmeter names them."""
    if isinstance(value, torch.Tensor):
        yield path, value
    items: list[tuple[object, object]] = []
    if isinstance(value, torch.nn.Module):  # the state_dict may lack some tensors
        items = [*value.named_parameters(remove_duplicate=False), *value.named_buffers(remove_duplicate=False)]
        items += [(n, t) for n, t in vars(value).items() if isinstance(t, torch.Tensor)]
    elif isinstance(value, dict):
        items = [*value.items()]
    elif isinstance(value, list | tuple):
        items = [*enumerate(value)]
    for key, item in items:
        yield from tensors_in(item, f"{path}.{key}" if path else str(key))


def weights_of(file: Path) -> dict[str, torch.Tensor]:
    if file.suffix == ".safetensors":
        return safetensors.torch.load_file(file)
    if file.suffix == ".pt2":
        program = torch.export.load(file)
        return {**program.state_dict, **dict(tensors_in(program.constants))}
    try:
        return dict(tensors_in(torch.jit.load(file, map_location="cpu")))
    except RuntimeError:
        lenient = types.SimpleNamespace(Unpickler=Unpickler, load=pickle.load, __name__="lenient")
        return dict(tensors_in(torch.load(file, map_location="cpu", weights_only=False, pickle_module=lenient)))


def exact_norm(tensor: torch.Tensor) -> float:
    """The norm of the tensor as a matrix [dim 0, other dims]. Dividing by a power of two keeps squares in range."""
    matrix = tensor.detach().to(torch.float64).reshape(tensor.shape[0], -1).numpy()
    scale = 2.0 ** numpy.floor(numpy.log2(numpy.abs(matrix).max() or 1))
    return float(numpy.linalg.svd(matrix / scale, compute_uv=False)[0] * scale)


def errors_of(file: Path, command: str, before: str | None = None, same: tuple[str, ...] = ()) -> Errors:
    """Raises KeyError if torch has no tensor of a name."""
    now = norms_of(command, file)
    weights = weights_of(file) if now else {}
    exact = {name: exact_norm(weights[name]) for name in now}

    def relative(norms: Norms) -> Norms:
        return {name: abs(norm - exact[name]) / (exact[name] or 1) for name, norm in norms.items() if name in exact}

    out = Errors(relative(now), relative(norms_of(before, file)) if before and now else {})
    for other in same if now else ():
        digits = norms_of(other, file)
        out.other_digits += [f"{other}: {name}" for name in now if digits.get(name) != now[name]]
    return out


def fixtures() -> list[Path]:
    found = [f for f in sorted(FIXTURES.rglob("*")) if f.suffix in SUFFIXES]
    return [f for f in found if not f.relative_to(FIXTURES).as_posix().startswith(LEFT_OUT)]


def table(found: dict[Path, Errors]) -> str:
    """One row per folder of fixtures with spectral norms, and one for all."""
    folders: dict[str, list[Errors]] = {}
    for file, errors in found.items():
        if errors.now:
            folders.setdefault(file.relative_to(FIXTURES).parts[0], []).append(errors)
    rows = [*folders.items(), ("all", [e for errors in folders.values() for e in errors])]

    def largest(norms: list[Norms]) -> str:
        return f"{max((e for n in norms for e in n.values()), default=0):.0e}"

    lines = ["| fixtures | files | norms | largest error before | now |", "|---|--:|--:|--:|--:|"]
    for folder, errors in rows:
        before = largest([e.before for e in errors]) if any(e.before for e in errors) else "–"
        lines.append(f"| {folder} | {len(errors)} | {sum(len(e.now) for e in errors)} | {before} | {largest([e.now for e in errors])} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tmeter", default="build/release/bin/tmeter")
    parser.add_argument("--before", help="an older tmeter")
    parser.add_argument("--same", action="append", default=[], metavar="COMMAND", help="must give the same digits; repeatable")
    options = parser.parse_args()
    add_stand_in()
    found = {file: errors_of(file, options.tmeter, options.before, tuple(options.same)) for file in fixtures()}
    print(table(found))
    problems = [f"{file}: {problem}" for file, errors in found.items() for problem in errors.problems()]
    print("\n".join(problems), file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
