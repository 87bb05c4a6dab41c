"""Compares tmeter's answer for a file with the reference, and looks up the reason for a difference."""

import ast
import dataclasses
import fnmatch
import operator
import tomllib
from pathlib import Path

EXACT, CLOSE, DIFFERENT, FAILED, NO_REFERENCE = "exact", "within 0.1 %", "different", "failed", "no reference"
CLOSE_ENOUGH = 1e-3


@dataclasses.dataclass
class Verdict:
    id: str
    form: str
    kind: str
    params_exact: bool
    answer: dict
    reference: dict
    reasons: list[dict]  # entries of explained.toml

    @property
    def explained(self) -> bool:
        return bool(self.reasons)


def explanations() -> list[dict]:
    text = (Path(__file__).parent / "explained.toml").read_text()
    entries = tomllib.loads(text).get("difference", [])
    for entry in entries:
        missing = {"models", "form", "operator", "why"} - entry.keys()
        assert not missing, f"explained.toml: an entry lacks {missing}: {entry}"
    return entries


def reasons_for(id: str, form: str, entries: list[dict]) -> list[dict]:
    return [
        e for e in entries
        if any(fnmatch.fnmatchcase(id, glob) for glob in e["models"]) and fnmatch.fnmatchcase(form, e["form"])
    ]  # fmt: skip


def calculated(id: str, entry: dict, reference: dict) -> int | None:
    """The difference in MACs by the entry's formula (`macs`), if it has one.

    Names in the formula are the numbers of boxes in the reference's run.
    """
    text = entry.get("macs", {}).get(id)
    rows = reference.get("rows", {})
    return None if text is None else arithmetic(ast.parse(text, mode="eval").body, rows)


OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def arithmetic(node: ast.expr, names: dict[str, int]) -> int:
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](arithmetic(node.left, names), arithmetic(node.right, names))
    if isinstance(node, ast.Name):
        return names[node.id]
    assert isinstance(node, ast.Constant) and isinstance(node.value, int), ast.dump(node)
    return node.value


def explains(id: str, difference: int, entries: list[dict], reference: dict) -> bool:
    """Whether the entry explains the difference: by name, and by its formula if it has one."""
    amounts = [calculated(id, e, reference) for e in entries]
    return bool(entries) and (None in amounts or sum(amounts) == difference)


def judge(id: str, form: str, answer: dict, reference: dict, entries: list[dict]) -> Verdict:
    reasons = reasons_for(id, form, entries)
    if answer["status"] != 0:
        return Verdict(id, form, FAILED, False, answer, reference, reasons)
    if "error" in reference:
        return Verdict(id, form, NO_REFERENCE, False, answer, reference, reasons)
    params_exact = answer["params"] == reference["params"]
    ours, theirs = answer["macs"], reference["macs"]
    kind = EXACT if ours == theirs else DIFFERENT
    if kind == DIFFERENT and theirs and abs(ours - theirs) <= CLOSE_ENOUGH * theirs:
        kind = CLOSE
    if kind == EXACT or not explains(id, ours - theirs, reasons, reference):
        reasons = []
    return Verdict(id, form, kind, params_exact, answer, reference, reasons)


@dataclasses.dataclass
class Published:
    """torchvision's own value for one set of weights."""

    weights: str
    ops: float  # in units of 10^9
    macs: int
    reasons: list[dict]

    @property
    def equal(self) -> bool:
        return self.within_rounding(self.macs)

    def within_rounding(self, macs: int) -> bool:
        return abs(macs / 1e9 - self.ops) <= 0.0005 + 1e-9


def published(id: str, macs: int, reference: dict, entries: list[dict]) -> list[Published]:
    """torchvision's values for the model; a formula must give a difference within the value's rounding."""
    found = []
    for p in reference.get("published", []):
        one = Published(p["weights"], p["ops_G"], macs, [])
        reasons = [] if one.equal else reasons_for(id, "published", entries)
        amounts = [calculated(id, e, reference) for e in reasons]
        if None in amounts or one.within_rounding(macs - sum(amounts)):
            one.reasons = reasons
        found.append(one)
    return found
