"""Compares tmeter's answer for a file with the reference, and looks up the reason of a difference."""

import dataclasses
import fnmatch
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
    return Verdict(id, form, kind, params_exact, answer, reference, [] if kind == EXACT else reasons)


def published_matches(answer: dict, reference: dict) -> list[tuple[str, float, bool]]:
    """(weights, published G multiply-adds, equal within its rounding)."""
    return [
        (p["weights"], p["ops_G"], abs(answer["macs"] / 1e9 - p["ops_G"]) <= 0.0005 + 1e-9)
        for p in reference.get("published", [])
    ]
