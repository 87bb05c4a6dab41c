"""Runs the tests on the mutants of one source and records the mutants that they catch."""

import functools
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from building import Build, DoesNotBuild, Workbench
from checks import Check, Outcome, Place, run_check, seconds_of
from mutants import Mutant, mutants_of

OPTIMISED = "-O3"
SUSPICIOUS = 50  # mutants in a row that do not compile: perhaps the file itself does not compile


@dataclass
class Result:
    """The results of a file's mutants. Mutants that do not compile are not counted, and neither are those with the object
    code of the unchanged file or of an earlier mutant."""

    file: str
    made: int = 0  # by the rules
    refused: int = 0  # by compiler or linker
    same: int = 0
    killed: int = 0
    stalled: int = 0  # among the killed: a test did not end and used no processor time
    survivors: list[Mutant] = field(default_factory=list)

    @property
    def counted(self) -> int:
        return self.killed + len(self.survivors)

    def save(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.place(folder, self.file).write_text(json.dumps(asdict(self), indent=1))

    @staticmethod
    def place(folder: Path, file: str) -> Path:
        return folder / f"{file.replace('/', '_')}.json"

    @classmethod
    def load(cls, folder: Path, file: str) -> "Result":
        saved = json.loads(cls.place(folder, file).read_text())
        return cls(**saved | {"survivors": [Mutant(**m) for m in saved["survivors"]]})


def progress(result: Result, tried: int) -> None:
    """Reports every tenth mutant on standard error, because a file takes minutes."""
    if tried % 10 == 0:
        print(f"{result.file}: {tried} of {result.made} tried, {result.counted} count, {result.killed} killed",
              file=sys.stderr, flush=True)  # fmt: skip


class Trial:
    """A source, its tests in order, and the time limit of each."""

    def __init__(self, build: Build, place: Place, source: Path, checks: list[Check]):
        self.source, self.place = source, place
        self.lines = source.read_text().splitlines(keepends=True)
        artefacts = list(dict.fromkeys(a for check in checks for a in check.needs))
        build.make(artefacts)
        self.checks = [(check, seconds_of(check, place)) for check in checks]
        self.refused_in_a_row = 0
        self.bench = Workbench(build, place.source / source, artefacts)
        if not self.bench.objects:
            raise SystemExit(f"mutate: no test of {source} is linked with it; see tests/mutate/areas.toml")

    def run(self, seed: int, sample: int | None) -> Iterator[Result]:
        """Yields after each result, until `sample` mutants are counted."""
        mutants = mutants_of(self.lines, seed)
        result = Result(str(self.source), len(mutants))
        with self.bench:
            text = "".join(self.lines)
            seen = {digest(self.bench.compiled(text))}
            for tried, mutant in enumerate(mutants):
                if sample is not None and result.counted >= sample:
                    return
                progress(result, tried)
                self.judge(mutant, result, seen)
                yield result

    def judge(self, mutant: Mutant, result: Result, seen: set[str]) -> None:
        text = mutant.applied(self.lines)
        try:
            code = digest(self.bench.compiled(text))
            self.refused_in_a_row = 0
            if code in seen:
                result.same += 1
                return
            seen.add(code)
            if not self.survives(text, result):
                result.killed += 1
            elif digest(self.bench.compiled(text, level=OPTIMISED)) == self.optimised:
                result.same += 1
            else:
                result.survivors.append(mutant)
        except DoesNotBuild:
            result.refused += 1
            self.refused_in_a_row += 1
            if self.refused_in_a_row % SUSPICIOUS == 0:
                self.bench.check()

    @functools.cached_property
    def optimised(self) -> str:
        """The digest of the unchanged file's object code."""
        return digest(self.bench.compiled("".join(self.lines), level=OPTIMISED))

    def again(self, result: Result) -> Iterator[Result]:
        """Tries only the survivors of the last run; the file must be unchanged since."""
        survivors, result.survivors = result.survivors, []
        with self.bench:
            for mutant in survivors:
                if self.survives(mutant.applied(self.lines), result):
                    result.survivors.append(mutant)
                else:
                    result.killed += 1
                yield result

    def survives(self, text: str, result: Result) -> bool:
        linked: set[str] = set()
        for check, seconds in self.checks:
            for artefact in check.needs:
                if artefact not in linked:
                    self.bench.put(text, artefact)
                    linked.add(artefact)
            outcome = run_check(check, self.place, seconds)
            result.stalled += outcome is Outcome.STALLED
            if outcome is not Outcome.PASSED:
                return False
        return True


def digest(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()
