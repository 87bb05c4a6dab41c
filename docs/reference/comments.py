"""Doxygen's input filter, which turns the plain comments of the C headers into documentation.

    comments.py HEADER

A comment before a declaration, or after it on the same line, describes the declaration. One after the brace
of a struct describes the struct, and the one at the beginning of a file the file. Members with the same
meaning in every struct (USUAL) need none.
"""

import re
import sys

COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
BANNER = re.compile(r"/\* (?P<name>[\w ]+) -{4,} \*/")
OF_STRUCT = re.compile(r"^(typedef struct \w+ \{) /\*(.*?)\*/", re.DOTALL | re.MULTILINE)
SEVERAL = re.compile(r"(\s+)(const )?(\w+) (\*?\w+(?:, \*?\w+)+);(\s*/\*\*<.*)?")
TABLE = re.compile(r"(?:^ \*   +\S.*\n)+", re.MULTILINE)  # lines that are aligned by hand
OPTION = re.compile(r"(?<![`\w-])--[a-z][\w-]*")  # Doxygen would turn it into a dash
USUAL = [  # declarations that mean the same everywhere, and their comments
    (r"\s+uint32_t struct_size;", "Bytes of the struct in the version of its maker (docs/abi.md)."),
    (r"\s+u?int32_t reserved;", "0; a later minor may give it a meaning."),
    (r"\s+uint32_t count;", "The number of items that `get` gives; may be 0."),
    (r"\s+void \*user;", "Passed to the functions of this struct."),
    (r"\s+const [\w ]+\*(const )?\*?ptr;", "The first item; may be null when `len` is 0."),
    (r"\s+size_t len;", "The number of items."),
    (r"#define TMETER_CAP_\w+ .*", "An id for `get_capability` of a plugin."),
    (r"#define TMETER_HOST_\w+ .*", "An id for `get_interface` of the host."),
    (r"\s+const \w+ \*\(TMETER_ABI \*get\)\(uint32_t index, void \*user\);", "[any] An item: index < count. It is valid until `deinit`."),
]


def kind(text: str, match: re.Match) -> str:
    if not text[:match.start()].strip():
        return "/** @file\n *"
    return "/**<" if text[:match.start()].rpartition("\n")[2].strip() else "/**"


def as_table(lines: re.Match) -> str:
    plain = lines[0].replace("\n *", "\n").removeprefix(" *").replace("`", "")
    return f" * @verbatim\n{plain}@endverbatim\n"


def as_shown(words: str) -> str:
    return TABLE.sub(as_table, OPTION.sub(lambda m: f"`{m[0]}`", words))


def of_struct(match: re.Match) -> str:
    """A comment after the brace, as a sentence before the struct."""
    words = match[2].strip().rstrip(".")
    return f"/* {words[0].upper()}{words[1:]}. */ {match[1]}"


def documented(text: str) -> str:
    text = OF_STRUCT.sub(of_struct, BANNER.sub("", text))
    return COMMENT.sub(lambda m: kind(text, m) + as_shown(m[1]) + "*/", text)


def of_each_member(line: str) -> list:
    """`tmeter_str id, title;` as one declaration each."""
    several = SEVERAL.fullmatch(line)
    if not several:
        return [line]
    indent, const, type_, names, comment = several.groups("")
    return [f"{indent}{const}{type_} {name};{comment}" for name in names.split(", ")]


def with_the_usual(line: str) -> str:
    code, _, own = line.partition(" /**<")
    if own.strip(" */") not in ("", "[any]"):
        return line
    words = next((words for what, words in USUAL if re.fullmatch(what, code)), None)
    return f"{code} /**< {words} */" if words else line


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        lines = documented(header.read()).split("\n")
    print("\n".join(with_the_usual(part) for line in lines for part in of_each_member(line)))
