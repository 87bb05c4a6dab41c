"""./dev prose: phrases of the project's comments, messages and pages that a native speaker would not have written.

python tests/docs/prose.py [PATHS…]   prints `path:line: found → instead`, exit status 1 if there is a line to print

Without PATHS the rooms in prose_rooms.txt are read. prose_patterns.txt has the phrases, prose_allowed.txt the correct uses of
some of them. Sources are searched in comments and string literals, pages outside code blocks and `code`.
"""
import bisect
import io
import pathlib
import re
import subprocess
import sys
import tokenize
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]

# Raw strings hold scripts and tables, which are searched like any text.
CPP = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\ ]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
TYPESCRIPT = re.compile(r'//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
HASH = re.compile(r'(?:^|(?<=\s))#[^\n]*|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.MULTILINE)
QUOTED = re.compile(r"^( *)(```|~~~).*?^\1\2[^\n]*$|`[^`\n]+`|https?://\S+|\]\([^)\s]+\)", re.DOTALL | re.MULTILINE)
# The text between two lines of one sentence: the line break, and the mark of a comment or literal that continues.
JOINT = re.compile(r'"[ \t]*\n\s*"|[ \t]*\n[ \t]*(?:(?://+|\*|#)[ \t]*)?')
# The start of a sentence or clause: "^" in a phrase.
START = r"""(?:(?<=[.:;–—(/*#|> ] )|(?<=["'(`]))"""


class Pattern(NamedTuple):
    found: re.Pattern
    instead: str
    example: str


class Finding(NamedTuple):
    path: str
    line: int
    found: str
    instead: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.found} → {self.instead}"


def rows(name):
    """The lines of a table without comments, split at " → "."""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield [part.strip() for part in line.split(" → ")]


def patterns():
    def compiled(found):
        start = found.startswith("^")
        blank = rf"(?:{found[start:]})".replace(" ", r"\s")
        return re.compile((START if start else r"\b") + blank, re.IGNORECASE)
    return [Pattern(compiled(found), instead, example) for found, instead, example in rows("prose_patterns.txt")]


def blanked(text, span):
    """`text` with blanks in place of the characters of `span`; line breaks stay."""
    start, end = span
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def python_pieces(text):
    """Adjacent comments are one piece."""
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in kinds:
                yield starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
    except (tokenize.TokenError, SyntaxError):
        return


def prose_of(path, text):
    """`text` with blanks in place of everything but prose, so that positions do not change."""
    if path.suffix == ".md":
        for quoted in reversed(list(QUOTED.finditer(text))):
            text = blanked(text, quoted.span())
        return text
    if path.suffix == ".py":
        spans = list(python_pieces(text))
    else:
        grammar = CPP if path.suffix in CPP_SUFFIXES else TYPESCRIPT if path.suffix in (".ts", ".js") else HASH
        spans = [match.span() for match in grammar.finditer(text)]
    pieces, place = [], 0
    for start, end in spans:
        pieces += [re.sub(r"\S", "\0", text[place:start]), text[start:end]]
        place = end
    return "".join([*pieces, re.sub(r"\S", "\0", text[place:])])


CPP_SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp"}
SUFFIXES = CPP_SUFFIXES | {".py", ".md", ".ts", ".js", ".cmake", ".sh", ".toml", ".txt", ".in"}
NOT_OURS = ("tests/docs/prose", "tests/docs/test_prose", "tests/abi/1.0/", "tests/abi/1.1/", "build/")


def joined(prose):
    """The prose as one line, and the position in `prose` of each of its characters."""
    text, places, place = [], [], 0
    for joint in JOINT.finditer(prose):
        blank = "" if joint[0].startswith('"') else " "
        text += [prose[place:joint.start()], blank]
        places += [*range(place, joint.start()), *[joint.start()] * len(blank)]
        place = joint.end()
    return "".join([*text, prose[place:]]), [*places, *range(place, len(prose))]


def findings_in(path, name, phrases):
    text = path.read_text(encoding="utf-8", errors="replace")
    line, places = joined(prose_of(path, text))
    starts = [m.start() for m in re.finditer("^", text, re.MULTILINE)]
    for pattern in phrases:
        for match in pattern.found.finditer(line):
            found = " ".join(match[0].split())
            yield Finding(name, bisect.bisect_right(starts, places[match.start()]), found, pattern.instead)


def files(paths):
    """The files below the paths that git tracks or would add."""
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *paths],
                            capture_output=True, text=True, check=True).stdout.split("\n")
    for name in sorted(set(listed)):
        path = SOURCE / name
        is_searched = path.suffix in SUFFIXES or path.name in ("dev", "run")
        if name and is_searched and path.is_file() and not name.startswith(NOT_OURS):
            yield name, path


def findings(paths=None):
    phrases = patterns()
    allowed = {(file, phrase.lower()) for file, phrase, _ in rows("prose_allowed.txt")}
    for name, path in files(paths or [room for [room] in rows("prose_rooms.txt")]):
        found = [f for f in findings_in(path, name, phrases) if (name, f.found.lower()) not in allowed]
        yield from sorted(found, key=lambda f: f.line)


def main():
    count = 0
    for finding in findings(sys.argv[1:]):
        print(finding)
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
