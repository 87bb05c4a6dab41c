"""The mutants of a source file: small faults in one line each, made by universalmutator."""

import contextlib
import io
import random
from dataclasses import dataclass
from pathlib import Path

# The library's rules for any language, for C and for C++, and our rules for faults that these lack. The library accepts paths
# of its own files and of other files.
RULES = ["universal.rules", "c_like.rules", "cpp.rules", str(Path(__file__).parent / "tmeter.rules")]


@dataclass(frozen=True)
class Mutant:
    """A file with one line replaced."""

    line: int  # from 1
    text: str  # its replacement, with the line end

    def applied(self, source: list[str]) -> str:
        return "".join([*source[: self.line - 1], self.text, *source[self.line :]])

    def diff(self, source: list[str]) -> str:
        before, after = source[self.line - 1].rstrip(), self.text.rstrip().replace("\n", "\n    +")
        return f"    -{before}\n    +{after}"


def mutants_of(source: list[str], seed: int) -> list[Mutant]:
    """All mutants, in an order that the seed determines. Words inside messages stay unchanged."""
    from universalmutator import mutator  # imported here, because no other part needs a library

    with contextlib.redirect_stdout(io.StringIO()):
        made = mutator.mutants_regexp(
            source, ruleFiles=RULES, ignorePatterns=[], ignoreStringOnly=True
        )
    mutants = list(dict.fromkeys(Mutant(line, text) for line, text, *_ in made))
    random.Random(seed).shuffle(mutants)
    return mutants
