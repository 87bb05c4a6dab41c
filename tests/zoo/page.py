"""Writes docs/dev/zoo.md, zoo.csv and zoo.svg from the cache: prepared models, tmeter's answers, comparison."""

import collections
import csv
import datetime
import os
import platform
from pathlib import Path

import chart
import measure
import verdict
from table import Entry
from verdict import CLOSE, DIFFERENT, EXACT, FAILED, NO_REFERENCE

FORMS = {"pt2": "`.pt2`", "scripted": "scripted"}
HOW = {"cpu": "cpu", "no_grad": "cpu, no_grad"}
LIBRARIES = ("torchvision", "timm", "transformers")


class Zoo:
    """The data of the page."""

    def __init__(self, cache: Path, entries: dict[str, Entry], answers: dict, tmeter: str, complete: bool):
        self.records = {id: measure.read_record(cache, id) for id in entries}
        self.records = {id: r for id, r in self.records.items() if "reference" in r}
        self.entries = {id: e for id, e in entries.items() if id in self.records}
        self.tmeter, self.complete = tmeter, complete
        self.explanations = verdict.explanations()
        self.verdicts: list[verdict.Verdict] = []
        self.refused: list[tuple[str, str, str]] = []  # id, step, PyTorch's own message
        for id, record in self.records.items():
            for form in self.entries[id].forms:
                result = record.get(form, {})
                if "error" in result:
                    self.refused.append((id, form, result["error"]))
                elif form in answers.get(id, {}):
                    answer = answers[id][form]
                    self.verdicts.append(
                        verdict.judge(id, form, answer, record["reference"], self.explanations)
                    )
            if "error" in record["reference"]:
                self.refused.append((id, "reference", record["reference"]["error"]))

    def of(self, kind: str) -> list[verdict.Verdict]:
        return [v for v in self.verdicts if v.kind == kind]

    def unused_explanations(self) -> list[dict]:
        """Explanations without effect; only a run of all models can find them."""
        if not self.complete:
            return []
        used = [e for v in self.verdicts for e in v.reasons] + [
            e for e in self.explanations if e["form"] == "published"
        ]
        return [e for e in self.explanations if e not in used]


def write(zoo: Zoo, path: Path) -> None:
    sections = [
        header(zoo), summary(zoo), published(zoo), inference(zoo), differences(zoo), failures(zoo),
        refusals(zoo),
    ]  # fmt: skip
    path.write_text("\n\n".join("\n".join(lines) for lines in sections if lines) + "\n")
    table = path.with_suffix(".csv")
    write_table(zoo, table)
    with table.open(newline="") as file:
        path.with_suffix(".svg").write_text(chart.svg(list(csv.DictReader(file))))


def header(zoo: Zoo) -> list[str]:
    versions = collections.Counter(
        tuple(sorted(r["versions"].items())) for r in zoo.records.values() if "versions" in r
    )
    version_text = "; ".join(", ".join(f"{k} {v}" for k, v in key) for key, _ in versions.most_common())
    counts = ", ".join(f"{n} of {lib}" for lib, n in per_library(zoo).items())
    return [
        "# The zoo",
        "",
        "Written by `./dev zoo` (`tests/zoo/zoo.py`); do not edit.",
        "",
        f"{len(zoo.records)} models ({counts}) are exported, and scripted where the library supports it. tmeter reads the "
        "files. The reference for parameters is `sum(p.numel() for p in model.parameters())`, which counts tied parameters once. "
        "The reference for MACs is half of FlopCounterMode's FLOPs in gradient mode. Its runs use meta tensors or "
        "FakeTensorMode; those marked *cpu* in the table use data.",
        "",
        f"Versions: {zoo.tmeter}, {version_text}. Measured {datetime.date.today()} on {os.cpu_count()} × {cpu()}. Times are "
        "of a whole process (`--plugins=params,flops --report=json`) and grow with other work on the machine.",
        "",
        "[zoo.csv](zoo.csv) lists for each file its inputs, values, reference, unknown operators, time, and the inputs that tmeter "
        "infers without `--input`.",
        "",
        "![MACs of tmeter over the reference: on the diagonal except for the files explained below](zoo.svg)",
    ]


def cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), platform.machine())


def per_library(zoo: Zoo) -> dict[str, int]:
    count = collections.Counter(e.library for e in zoo.entries.values())
    return {lib: count[lib] for lib in LIBRARIES if count[lib]}


def summary(zoo: Zoo) -> list[str]:
    lines = [
        "## Summary",
        "",
        "| files | loaded | params exact | MACs exact | within 0.1 % | different | of these explained | failed | no reference |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    groups = [(f"{lib}, {FORMS[f]}", [v for v in zoo.verdicts if v.form == f and v.id.startswith(lib + "/")])
              for lib in LIBRARIES for f in FORMS]  # fmt: skip
    for label, verdicts in [*groups, ("all", zoo.verdicts)]:
        if verdicts:
            lines.append(summary_row(label, verdicts))
    all_, ok = len(zoo.verdicts), len(zoo.verdicts) - len(zoo.of(FAILED))
    compared = ok - len(zoo.of(NO_REFERENCE))
    lines += [
        "",
        f"tmeter loads {share(ok, all_)} files that PyTorch can make. Parameters are exact in "
        f"{share(sum(v.params_exact for v in zoo.verdicts), compared)}, MACs in "
        f"{share(len(zoo.of(EXACT)), compared)}.",
    ]
    unexplained = [v for v in zoo.of(CLOSE) + zoo.of(DIFFERENT) if not v.explained]
    if unexplained:
        lines += ["", "**Not explained:** " + ", ".join(f"{v.id} ({v.form})" for v in unexplained)]
    if unused := zoo.unused_explanations():
        lines += ["", "**Explanations that explain nothing:** " + ", ".join(str(e["models"]) for e in unused)]
    return lines


def summary_row(label: str, verdicts: list[verdict.Verdict]) -> str:
    count = collections.Counter(v.kind for v in verdicts)
    explained = sum(v.explained for v in verdicts if v.kind in (CLOSE, DIFFERENT))
    ok = len(verdicts) - count[FAILED]
    return (
        f"| {label} | {ok} / {len(verdicts)} | {sum(v.params_exact for v in verdicts)} | {count[EXACT]} "
        f"| {count[CLOSE]} | {count[DIFFERENT]} | {explained} | {count[FAILED]} | {count[NO_REFERENCE]} |"
    )


def share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / whole:.1%})" if whole else "none"


def published(zoo: Zoo) -> list[str]:
    """torchvision's own `_ops`, by weights and file form."""
    pairs = [
        (v, p)
        for v in zoo.verdicts
        if v.kind != FAILED
        for p in verdict.published(v.id, v.answer["macs"], v.reference, zoo.explanations)
    ]
    if not pairs:
        return []
    matched = sum(p.equal for _, p in pairs)
    lines = ["## torchvision's published `_ops`", "",
             "tmeter's MACs, rounded to three decimals, equal torchvision's value for "
             f"{share(matched, len(pairs))} pairs of weights and file form."]  # fmt: skip
    if matched < len(pairs):
        lines += ["", "| weights | form | published, G | tmeter, G | why |", "|---|---|--:|--:|---|"]
    return lines + [
        f"| {p.weights} | {FORMS[v.form]} | {p.ops} | {p.macs / 1e9:.3f} | {reasons(p.reasons)} |"
        for v, p in pairs
        if not p.equal
    ]


def inference(zoo: Zoo) -> list[str]:
    scripted = [v for v in zoo.verdicts if "without_input" in v.answer]
    found = [v for v in scripted if v.answer["without_input"].get("status") == 0]
    if not scripted:
        return []
    return ["## Inferred inputs", "",
            "A scripted file does not record its inputs. tmeter infers them for "
            f"{share(len(found), len(scripted))}. The inferred sizes may differ from those of the row, and then the MACs differ, too."]  # fmt: skip


def differences(zoo: Zoo) -> list[str]:
    """Differences by explanation; unexplained ones first."""
    groups: dict[int, list[verdict.Verdict]] = {}
    for v in zoo.of(CLOSE) + zoo.of(DIFFERENT) + [v for v in zoo.of(EXACT) if not v.params_exact]:
        for index in [zoo.explanations.index(e) for e in v.reasons] or [-1]:
            groups.setdefault(index, []).append(v)
    lines = ["## Differences"] if groups else []
    for index, verdicts in sorted(groups.items()):
        entry = zoo.explanations[index] if index >= 0 else {"operator": "?", "why": "**Not explained.**"}
        lines += ["", f"### `{entry['operator']}`", "", entry["why"], ""]
        lines += ["| model | form | tmeter MACs | reference | difference | ratio | calculation |"]
        lines += ["|---|---|--:|--:|--:|--:|---|", *(difference_row(v, entry) for v in verdicts)]
    return lines


def difference_row(v: verdict.Verdict, entry: dict) -> str:
    ours, theirs = v.answer["macs"], v.reference["macs"]
    ratio = f"{ours / theirs:.4f}" if theirs else "–"
    params = "" if v.params_exact else f"; params {v.answer['params']:,} / {v.reference['params']:,}"
    formula = entry.get("macs", {}).get(v.id, "").replace("*", "×")
    for head, rows in v.reference.get("rows", {}).items():
        formula = formula.replace(head, f"{rows}")
    return (
        f"| {v.id} | {FORMS[v.form]} | {ours:,} | {theirs:,}{params} | {ours - theirs:+,} | {ratio} | {formula} |"
    )


def reasons(entries: list[dict]) -> str:
    return " ".join(f"`{e['operator']}`: {e['why']}." for e in entries) or "**not explained**"


def failures(zoo: Zoo) -> list[str]:
    failed = zoo.of(FAILED)
    if not failed:
        return []
    return ["## Failed", "", "| model | form | exit status | message |", "|---|---|--:|---|"] + [
        f"| {v.id} | {FORMS[v.form]} | {v.answer['status']} | {cell(v.answer.get('message', ''))} |" for v in failed
    ]


def refusals(zoo: Zoo) -> list[str]:
    if not zoo.refused:
        return []
    return ["## Failures of PyTorch itself", "", "| model | step | PyTorch's message |", "|---|---|---|"] + [
        f"| {id} | {step} | {cell(message)} |" for id, step, message in zoo.refused
    ]


def cell(text: str) -> str:
    """The text for a table cell, without bars, line breaks and tags."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("`", "'")[:260]


COLUMNS = ("model", "form", "input", "params", "reference_params", "macs", "reference_macs", "reference_by", "unknown_operators",
           "milliseconds", "inputs_found")


def write_table(zoo: Zoo, path: Path) -> None:
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(row(v) for v in sorted(zoo.verdicts, key=lambda v: LIBRARIES.index(v.id.split("/")[0])))


def row(v: verdict.Verdict) -> list:
    a, r = v.answer, v.reference
    return [
        v.id,
        v.form,
        ", ".join("×".join(map(str, i["shape"])) for i in r.get("inputs", [])),
        a.get("params"),
        r.get("params"),
        a.get("macs"),
        r.get("macs"),
        HOW.get(r.get("device"), "meta"),
        ", ".join(f"{u['op']} ×{u['count']}" for u in a.get("unknown", [])),
        round(a["seconds"] * 1e3),
        alone(a),
    ]


def alone(answer: dict) -> str:
    """The inputs that tmeter infers without `--input`."""
    if "without_input" not in answer:
        return "recorded"
    found = answer["without_input"]
    if found.get("status") != 0:
        return "no"
    return ", ".join("×".join(map(str, i["shape"] or [])) for i in found.get("inputs") or []) or "yes"
