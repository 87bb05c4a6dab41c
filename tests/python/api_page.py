"""Writes docs/python-api.md from the package's own signatures and docstrings.

python tests/python/api_page.py > docs/python-api.md      (test_package.py compares the two)
"""

import enum
import importlib
import inspect
import sys

#: Module → its public names; None: the names of its __all__.
PAGE = {
    "tmeter": ["analyze", "Result"],
    "tmeter.result": ["ExportInfo"],
    "tmeter.module_tree": ["ModuleNode"],
    "tmeter.totals": ["Totals"],
    "tmeter.diff": ["Diff"],
    "tmeter.errors": None,
    "tmeter.fleet.analysis": ["analyze"],
    "tmeter.fleet.result": ["load", "FleetResult"],
    "tmeter.fleet.schedule": ["Progress"],
    "tmeter.loggers": None,
    "tmeter.pytest_plugin": ["tmeter_budget"],
    "tmeter.compat.torchinfo": ["summary", "ModelStatistics"],
    "tmeter.compat.torchinfo.layers": ["LayerInfo"],
    "tmeter.compat.torchmeter": ["Meter", "get_config", "Settings"],
    "tmeter.compat.fvcore": [
        "FlopCountAnalysis",
        "ActivationCountAnalysis",
        "flop_count_table",
        "flop_count_str",
        "parameter_count",
        "parameter_count_table",
    ],
    "tmeter.compat.thop": ["profile", "clever_format"],
    "tmeter.compat.ptflops": ["get_model_complexity_info"],
    "tmeter.compat.torchstat": ["stat"],
    "tmeter.compat.calflops": ["calculate_flops", "calculate_flops_hf"],
}

#: Modules whose names users import from another module.
SHOWN = {f"tmeter.fleet.{part}": f"tmeter.fleet ({part})" for part in ("analysis", "result", "schedule")}


def public(module):
    found = [
        (name, value)
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (inspect.isclass(value) or inspect.isfunction(value))
    ]
    return [name for name, _ in found]


class Raw:
    """An annotation as written; the package's annotations are strings."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text if isinstance(self.text, str) else inspect.formatannotation(self.text)


def signature(value, name, indent=""):
    """On one line if it fits, else one argument per line."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return indent + name
    empty = inspect.Parameter.empty
    parameters = [
        p if p.annotation is empty else p.replace(annotation=Raw(p.annotation))
        for p in found.parameters.values()
        if p.name not in ("self", "cls")
    ]
    result = found.return_annotation
    made = found.replace(parameters=parameters, return_annotation=result if result is empty else Raw(result))
    line = indent + name + str(made)
    if len(line) <= 100:
        return line
    inside = indent + "    "
    parts, star = [], False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not star and not any(q.kind is q.VAR_POSITIONAL for q in parameters):
            parts.append(f"{inside}*,")
            star = True
        parts.append(f"{inside}{p},")
    return "\n".join([f"{indent}{name}(", *parts, f"{indent}) -> {Raw(result)}"])


def described(value, indent=""):
    text = inspect.getdoc(value) or ""
    return [indent + line if line else "" for line in text.splitlines()]


def section(name, value):
    value = inspect.unwrap(value) if callable(value) else value
    if inspect.isclass(value):
        bases = [b.__name__ for b in value.__bases__ if b is not object]
        lines = [f"class {name}" + (f"({', '.join(bases)})" if bases else ""), *described(value, "    ")]
        if not issubclass(value, (Exception, enum.Enum)):
            for member, attribute in vars(value).items():
                lines += method(member, attribute)
    else:
        lines = [signature(value, f"def {name}"), *described(value, "    ")]
    return lines


def method(name, attribute):
    if name.startswith("_") and name != "__call__":
        return []
    inner = attribute.__func__ if isinstance(attribute, (classmethod, staticmethod)) else attribute
    if isinstance(inner, property):
        return ["", f"    {name}  (property)", *described(inner, "        ")]
    if inspect.isfunction(inner):
        return ["", signature(inner, name, "    "), *described(inner, "        ")]
    return []


def main():
    print(page(), end="")


def page():
    text = "# Python: every call\n\nFrom the package's own docstrings, by `tests/python/api_page.py`. Introduction: "
    text += "[`python.md`](python.md); fleets: [`fleet.md`](fleet.md).\n"
    for module_name, names in PAGE.items():
        module = importlib.import_module(module_name)
        parts = [section(n, getattr(module, n)) for n in (names or public(module))]
        shown = "\n\n\n".join("\n".join(part) for part in parts)
        text += f"\n## `{SHOWN.get(module_name, module_name)}`\n\n```\n{shown}\n```\n"
    return text + command()


def command():
    """`tmeter fleet --help`, as in a terminal of 100 columns."""
    import os

    from tmeter.fleet.command import _parser

    os.environ["COLUMNS"] = "100"
    return f"\n## `tmeter fleet`, `python -m tmeter fleet`\n\n```\n{_parser().format_help()}```\n"


if __name__ == "__main__":
    sys.exit(main())
