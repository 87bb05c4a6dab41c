#!/usr/bin/env python3
"""A qualified name is one type: definitions of two types in different files break the one definition rule.

No compiler sees both, and the linker keeps one destructor for the two types. Usage: check_types.py REPOSITORY. Prints every name that
is defined twice and exits 1 if there is one. Types of unnamed namespaces and of functions, and nested types, do not count.
"""
import collections
import pathlib
import re
import sys

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TOKEN = re.compile(r"""
    "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])'
  | namespace\s+(?P<space>[\w:]*)\s*\{
  | \b(?:struct|class)\s+(?P<type>\w+)(?:\s+final)?\s*(?::(?!:)[^{;()]*)?\{
  | [{}]""", re.VERBOSE)


def types(text: str):
    """Qualified names of the types that are defined at namespace scope."""
    open_braces = []  # names of namespaces, None for other braces and unnamed namespaces
    for token in TOKEN.finditer(COMMENT.sub("", text)):
        if token["type"] and None not in open_braces:
            yield "::".join([*open_braces, token["type"]])
        if token[0].endswith("{"):
            open_braces.append(token["space"] or None)
        elif token[0] == "}" and open_braces:
            open_braces.pop()


def violations(repository: pathlib.Path):
    places = collections.defaultdict(set)
    for room in ("apps", "core", "plugins", "sdk/include"):
        for file in (repository / room).glob("**/*.[ch]pp"):
            for name in types(file.read_text()):
                places[name].add(file.relative_to(repository).as_posix())
    for name, files in sorted(places.items()):
        if len(files) > 1:
            yield f"{name} is defined in {' and in '.join(sorted(files))}; rename one"


if __name__ == "__main__":
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "every name is one type")
    sys.exit(bool(found))
