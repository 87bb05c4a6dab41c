#!/usr/bin/env python3
"""Writes derivatives_data.inc: which arguments of an operator have a gradient, and which tensors autograd keeps for it.

Usage: generate_derivatives.py, with a Python that has the required version of torch. The source is derivatives.yaml as
torch's own code generator reads it (torchgen/packaged/autograd), so attributes such as `self.sym_sizes()` are not
tensors here either. The guards are those of gen_variable_type.py (`guard_for`): a tensor that only one gradient
needs is kept only if that gradient is required.
"""
import pathlib
import re

import torch
import torchgen
from torchgen.api.types import BaseCType, ListCType, OptionalCType, tensorT
from torchgen.packaged.autograd.load_derivatives import load_derivatives

PACKAGED = pathlib.Path(torchgen.__file__).parent / "packaged"
OUTPUT = pathlib.Path(__file__).with_name("derivatives_data.inc")


def holds_tensors(ctype) -> bool:
    if isinstance(ctype, (OptionalCType, ListCType)):
        return holds_tensors(ctype.elem)
    name = str(getattr(ctype, "type", ctype))
    return "Tensor" in name and "Options" not in name and "Geometry" not in name


def variable(attribute) -> str:
    return str(getattr(attribute.nctype.name, "name", attribute.nctype.name))


def guard(info, attribute) -> list[str]:
    """The input is kept if one of these arguments requires a gradient; empty: if any argument does."""
    args = info.args_with_derivatives
    has_list = any("List" in str(a.type) or "TensorList" in str(a.type) for a in args)
    if has_list or "backward" in info.name or len(args) <= 1 or attribute.nctype.type != BaseCType(tensorT):
        return []
    used_in = [d for d in info.derivatives if attribute in d.saved_inputs]
    if len(used_in) != 1:
        return []
    if len(used_in[0].var_names) == 1:
        return list(used_in[0].var_names)
    wrapped = re.search(rf"wrap_opt_if\({variable(attribute)},(.*?)\)", used_in[0].formula)
    if not wrapped:
        return []
    return [used_in[0].var_names[int(i)] for i in re.findall(r"grad_input_mask\[(\d+)\]", wrapped.group(1))]


def result_name(info, name: str) -> str:
    """`result`, `result1` or a named result → "#1"."""
    returns = [r.name for r in info.func.func.returns]
    if name in returns:
        return f"#{returns.index(name)}"
    return f"#{name.removeprefix('result') or 0}"


def row(info) -> str:
    names = [n for d in info.derivatives for n in d.var_names]
    kept = []
    for a in info.all_saved_inputs:
        if holds_tensors(a.nctype.type):
            kept.append(variable(a) + "<" + ",".join(guard(info, a)))
    for a in info.all_saved_outputs:
        if holds_tensors(a.nctype.type):
            kept.append(result_name(info, variable(a)) + "<")
    name = str(info.func.func.name)
    if info.name.endswith("_") and not name.endswith("_"):
        name = info.name
    return f'    {{"{info.name if "." in info.name else name}", "{" ".join(dict.fromkeys(names))}", "{" ".join(dict.fromkeys(kept))}"}},'


def main() -> None:
    native = PACKAGED / "ATen" / "native"
    infos, _ = load_derivatives(PACKAGED / "autograd" / "derivatives.yaml", native / "native_functions.yaml",
                                native / "tags.yaml")
    rows = {}
    for schema, per_key in infos.items():
        info = per_key.get("Default") or next(iter(per_key.values()))
        if any(d.var_names for d in info.derivatives):
            name = str(schema.name)
            text = row(info)
            rows[name] = f'    {{"{name}",' + text.split('",', 1)[1]
    lines = [f"// torch {torch.__version__.split('+')[0]}, derivatives.yaml. Written by generate_derivatives.py; do not edit."]
    lines += [f"{rows[n]}" for n in sorted(rows, key=str.encode)]
    OUTPUT.write_text("\n".join(lines) + "\n")
    print(f"{len(rows)} operators")


if __name__ == "__main__":
    main()
