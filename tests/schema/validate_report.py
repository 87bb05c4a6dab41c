#!/usr/bin/env python3
"""Checks JSON reports against the published schema, and rules that a schema cannot express.

usage: validate_report.py REPORT SCHEMA

Exit status 0 when the report is valid; 1 with one line per problem; 2 when a file cannot be read.
Needs python3-jsonschema (4.10 of Debian 12 or newer).
"""
import fractions
import json
import math
import sys

import jsonschema

STATUSES_WITHOUT_VALUE = ("unknown", "unavailable", "in_module", "not_finite")


def schema_problems(report, schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for error in sorted(validator.iter_errors(report), key=lambda e: list(map(str, e.path))):
        place = "/".join(map(str, error.absolute_path)) or "(top)"
        yield f"{place}: {error.message[:300]}"


def value_problems(report):
    """Every null has an explanation, every explanation has a null, every metric is declared."""
    metrics = [m["id"] for m in report["metrics"]]
    if len(set(metrics)) != len(metrics):
        yield "metrics: an id is used twice"
    if list(report["totals"]) != metrics:
        yield "totals: not exactly the declared metrics in their order"
    for section in ("modules", "nodes", "tensors"):
        for i, row in enumerate(report[section]):
            place = f"{section}/{i}"
            values = row["values"]
            if not set(values) <= set(metrics):
                yield f"{place}: values of undeclared metrics"
            explained = {m for s in STATUSES_WITHOUT_VALUE for m in row.get(s, [])}
            if explained != {m for m, v in values.items() if v is None}:
                yield f"{place}: nulls and their explanations differ"
            if any(values.get(m) != 0 for m in row.get("zero_by_rule", [])):
                yield f"{place}: zero by rule, but not 0"


def tree_problems(report):
    modules = report["modules"]
    ids = [m["id"] for m in modules]
    if len(set(ids)) != len(ids):
        yield "modules: an id is used twice"
    if modules and (ids[0] != "0" or modules[0]["parent"] is not None):
        yield "modules/0: not the root"
    by_id = dict(zip(ids, modules))
    for i, module in enumerate(modules):
        for n, child in enumerate(module["children"], 1):
            if child not in by_id or by_id[child]["parent"] != module["id"]:
                yield f"modules/{i}: child {child} does not name it as its parent"
            expected = str(n) if module["id"] == "0" else f"{module['id']}.{n}"
            if child != expected:
                yield f"modules/{i}: child {n} has id {child}, not {expected}"


def reference_problems(report):
    paths = {m["path"] for m in report["modules"]}
    tensors = {t["name"] for t in report["tensors"]}
    for i, node in enumerate(report["nodes"]):
        if node["index"] != i:
            yield f"nodes/{i}: index {node['index']}"
        if node["module"] is not None and node["module"] not in paths:
            yield f"nodes/{i}: no module {node['module']}"
        for origin in origins(list(node["arguments"].values())):
            if origin.get("node", -1) >= i:
                yield f"nodes/{i}: uses a result of the later node {origin['node']}"
            if "tensor" in origin and origin["tensor"] not in tensors:
                yield f"nodes/{i}: no tensor {origin['tensor']}"
    for i, tensor in enumerate(report["tensors"]):
        if tensor["owner"] is not None and tensor["owner"] not in paths:
            yield f"tensors/{i}: no module {tensor['owner']}"
        if tensor.get("tied_to", tensor["name"]) not in tensors:
            yield f"tensors/{i}: tied to no tensor of the model"


def origins(values):
    for value in values:
        if isinstance(value, list):
            yield from origins(value)
        elif isinstance(value, dict):
            yield value


def coverage_problems(report):
    coverage = report["coverage"]
    if coverage is None:
        return
    if sum(op["count"] for op in coverage["unknown_ops"]) != coverage["unknown"]:
        yield "coverage: unknown_ops do not add up to unknown"
    total = coverage["counted"] + coverage["zero_by_rule"] + coverage["unknown"]
    if total != len(report["nodes"]):
        yield f"coverage: {total} operators, but {len(report['nodes'])} nodes"


def size_problems(report):
    """Formulas give the values of this report. Of several formulas for one value each is a lower bound, and the largest gives
    the value. A sweep has a total for every point."""
    sizes = {s["name"]: s["value"] for s in report["symbols"]}
    by_module = {m["path"]: m["values"] for m in report["modules"]}
    values = {}
    for formula in report["formulas"]:
        value = fractions.Fraction(0)
        for term in formula["terms"]:
            powers = [sizes[symbol] ** power for symbol, power in term["powers"].items()]
            value += fractions.Fraction(term["coefficient"], term.get("denominator", 1)) * math.prod(powers)
        values.setdefault((formula["metric"], formula["module"]), []).append((value, formula.get("partial", False)))
    for (metric, module), pieces in values.items():
        reported = by_module[module][metric] if module else report["totals"][metric]
        if max(value for value, _ in pieces) != reported:
            yield f"formulas: {metric} of '{module}' is {max(pieces)[0]}, not {reported}"
        if len(pieces) > 1 and not all(partial for _, partial in pieces):
            yield f"formulas: {metric} of '{module}' has several, but one is not a lower bound"
    sweep = report["sweep"] or {"symbols": [], "points": [], "totals": {}}
    if not set(sweep["symbols"]) <= set(sizes):
        yield "sweep: a symbol is not declared"
    if any(len(point) != len(sweep["symbols"]) for point in sweep["points"]):
        yield "sweep: a point lacks a value"
    if any(len(totals) != len(sweep["points"]) for totals in sweep["totals"].values()):
        yield "sweep: a point lacks a total"


def problems(report, schema):
    found = list(schema_problems(report, schema))
    if found:
        return found
    for check in (value_problems, tree_problems, reference_problems, coverage_problems, size_problems):
        found += check(report)
    return found


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            report = json.load(file)
        with open(arguments[1], encoding="utf-8") as file:
            schema = json.load(file)
    except (OSError, ValueError) as error:
        print(f"{error}", file=sys.stderr)
        return 2
    found = problems(report, schema)
    for line in found:
        print(f"{arguments[0]}: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
