"""Writes docs/dev/zoo-live.md and zoo-live.csv from the results of live.py."""

import collections
import csv
import statistics
from pathlib import Path

import verdict

TOOLS = ("torchinfo", "fvcore", "calflops", "thop")
#: torch alone: a call of the model with data, and without.
TORCH = ("forward", "forward on meta")
LIBRARIES = ("torchvision", "timm", "transformers")


class Row:
    """One model's answer, compared with the reference."""

    def __init__(self, answer: dict):
        self.answer, self.id = answer, answer["id"]
        self.reference, self.ours = answer.get("reference", {}), answer.get("tmeter", {})
        self.runs = "macs" in self.reference
        self.measured = "tmeter" in answer
        self.works = self.measured and "error" not in self.ours
        self.params_exact = self.works and self.ours["params"] == self.reference.get("params")
        self.macs_exact = self.works and self.ours["macs"] == self.reference.get("macs")

    @property
    def library(self) -> str:
        return self.id.split("/")[0]

    @property
    def why_not(self) -> str:
        complete = self.answer.get("complete", {})
        reason = self.ours.get("error") or complete.get("not built") or complete.get("skipped") or self.answer.get("ended")
        return plain(str(reason or self.reference.get("error")))


def plain(text: str, limit: int = 220) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")[:limit]


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def summary(rows: list[Row]) -> list[str]:
    lines = ["| models | forward runs | analysed | params exact | MACs exact | dispatch | export, strict or not | traced | scripted |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for library in (*LIBRARIES, "all"):
        of = [r for r in rows if r.runs and library in (r.library, "all")]
        ways = collections.Counter(way_of(r) for r in of if r.works)
        counts = [len(of), *(sum(getattr(r, what) for r in of) for what in ("works", "params_exact", "macs_exact"))]
        lines.append(f"| {library} | " + " | ".join(map(str, counts)) + " | "
                     + " | ".join(str(ways[w]) for w in ("dispatch", "export", "trace", "script")) + " |")
    return lines


def way_of(row: Row) -> str:
    way = row.ours["way"]
    return next((w for w in ("dispatch", "script", "trace") if w in way), "export")


def differences(rows: list[Row]) -> list[str]:
    entries = verdict.explanations()
    lines = []
    for r in rows:
        if not r.works or not r.runs or (r.params_exact and r.macs_exact):
            continue
        ours, theirs = r.ours["macs"], r.reference["macs"]
        explaining = [e for form in ("pt2", "scripted") for e in verdict.reasons_for(r.id, form, entries)]
        gap = "" if ours is None else f"{ours - theirs:+,}"
        why = explaining[0]["why"] if explaining else "not explained yet"
        shown = f"{ours:,}" if ours is not None else f"– ({r.ours['status']['macs']})"
        lines.append(f"| {r.id} | {r.ours['way']} | {shown} | {theirs:,} | {gap} | {plain(why, 400)} |")
    if not lines:
        return ["None."]
    return ["| model | way | MACs | FlopCounterMode | difference | why |", "|---|---|--:|--:|--:|---|", *lines]


def ratios(rows: list[Row], tool: str) -> list[float]:
    return [r.ours["cpu_seconds"] / r.answer[tool]["cpu_seconds"] for r in rows]


def times(rows: list[Row]) -> list[str]:
    """Processor seconds, including the native program, because other work on the machine does not change them."""
    timed = [r for r in rows if r.works and "cpu_seconds" in r.ours and any(tool in r.answer for tool in TOOLS)]
    lines = ["| tool, or torch alone | models timed | it fails on | its median time | tmeter's on these | median of tmeter's / its | quartiles |",
             "|---|--:|--:|--:|--:|--:|--:|"]
    for tool in (*TOOLS, *TORCH):
        ran = [r for r in timed if tool in r.answer and "error" not in r.answer[tool]]
        failed = sum(tool in r.answer and "error" in r.answer[tool] for r in timed)
        if len(ran) < 2:
            continue
        low, middle, high = statistics.quantiles(ratios(ran, tool), n=4)
        theirs, ours = (statistics.median(seconds) for seconds in
                        ([r.answer[tool]["cpu_seconds"] for r in ran], [r.ours["cpu_seconds"] for r in ran]))  # fmt: skip
        lines.append(f"| {tool} | {len(ran)} | {failed} | {theirs:.2f} s | {ours:.2f} s | {middle:.2f} | {low:.1f} to {high:.1f} |")
    return lines


def counted(rows: list[Row], tool: str) -> tuple[int, int]:
    """The numbers of models on which the tool ran, and on which it gave FlopCounterMode's count."""
    ran = [r for r in rows if r.works and r.runs and tool in r.answer and "error" not in r.answer[tool]]
    return len(ran), sum(int(r.answer[tool]["macs"]) == r.reference["macs"] for r in ran)


def write(answers: dict[str, dict], earlier: dict[str, dict], path: Path) -> None:
    fresh = set(answers)
    before = len(earlier.keys() - fresh)
    answers = earlier | answers
    rows = sorted((Row(a) for a in answers.values()), key=lambda r: (LIBRARIES.index(r.library), r.id))
    runs = [r for r in rows if r.runs and r.measured]
    works = [r for r in runs if r.works]
    versions = rows[-1].answer["versions"]
    taken = sum(r.reference.get("device") == "recorded" for r in runs)
    left_out = [r for r in rows if not (r.runs and r.measured)]
    failed = [r for r in runs if not r.works]
    text = [
        "# The zoo, live", "",
        "Written by `tests/zoo/live.py --page`; do not edit.", "",
        f"`tmeter.analyze(model, inputs=…)` analyses {len(rows)} live models of torchvision, timm and transformers (from config). "
        "Each has a process of its own with the libraries and tools imported, and one thread. Other work ran on the machine. The "
        f"reference is FlopCounterMode in gradient mode and `sum(p.numel())`: for {taken} models `./dev zoo` had recorded it in "
        f"`zoo.csv` with the same versions, for {len(runs) - taken} it was counted in this run.", "",
        *([f"The answers for {before} models are those of an earlier run, without times.", ""] if before else []),
        "Versions: " + ", ".join(f"{k} {v}" for k, v in versions.items()) + ".", "",
        f"`analyze` succeeds on {share(len(works), len(runs))} models whose forward runs. Parameters are exact on "
        f"{share(sum(r.params_exact for r in works), len(works))} analysed models, MACs on "
        f"{share(sum(r.macs_exact for r in works), len(runs))}.",
        "", *summary(runs), "",
        "## Failures", "",
        *([f"* {r.id}: {r.why_not}" for r in failed] or ["Nothing."]), "",
        "## Differences", "", *differences(runs), "",
        "## Left out", "",
        *([f"* {r.id}: {r.why_not}" for r in left_out] or ["Nothing."]), "",
        "## Time", "", *times([r for r in works if r.id in fresh]), "",
        "Times are processor seconds of one thread. Each call runs in a process of its own, forked after the libraries were imported "
        "and the model was built. *forward* is one call of the model in evaluation mode, which every tool makes. *forward on meta* is "
        "the same call without data, in which torch only computes the sizes of all results. The tools run the model once with hooks. "
        "tmeter records the operators of one call on fake tensors, without weights (`docs/python.md`). This takes about a tenth of a "
        "millisecond per operator, whatever its size, plus 10 ms for the native program. An analysis of a small network therefore takes "
        "longer than its forward, and one of a large network less. Where torch.export is needed, it takes most of the time, because it "
        "traces every operator several times. In return, tmeter counts every operator, not only the modules a tool knows:", "",
        *[f"* {tool}: FlopCounterMode's MACs on {same} of {ran} models" for tool in TOOLS for ran, same in [counted(works, tool)]], "",
        "The conventions of the tools count biases, norms or activations (`docs/conventions.md`). An existing file takes only the native "
        "program's milliseconds, as does the second analysis of an exported model.", "",
        "[zoo-live.csv](zoo-live.csv) lists every analysed model.",
    ]  # fmt: skip
    path.write_text("\n".join(text) + "\n")
    with path.with_suffix(".csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("model", "params", "reference_params", "macs", "reference_macs", "way", "seconds"))
        table.writerows((r.id, r.ours["params"], r.reference["params"], r.ours["macs"], r.reference["macs"], way_of(r), f"{r.ours['seconds']:.1f}")
                        for r in works)
