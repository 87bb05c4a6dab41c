"""Lines and files of each room, at one commit beside another, as the table of docs/dev/rooms.md.

python tests/bench/rooms.py eeb74c3 HEAD
"""

import subprocess
import sys
from collections import defaultdict

#: Folders whose subfolders are rooms. Others are one room each.
_OF_ROOMS = {"core", "plugins", "apps", "plugins/metrics", "plugins/advice", "plugins/loaders", "plugins/reports"}
_SOURCES = (".cpp", ".hpp", ".h", ".inc", ".c", ".py", ".ts", ".mjs", ".css", ".html", ".toml")
_FEW_LINES = 50


def room_of(path: str) -> str:
    parts = path.split("/")[:-1]
    depth = 1
    while depth < len(parts) and "/".join(parts[:depth]) in _OF_ROOMS:
        depth += 1
    return "/".join(parts[:depth])


def sources(commit: str) -> dict[str, int]:
    """Lines by path."""
    names = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", commit, "core", "plugins", "sdk", "apps", "tests"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    wanted = [n for n in names if n.endswith(_SOURCES) and not n.startswith("tests/fixtures")]
    asked = "".join(f"{commit}:{n}\n" for n in wanted).encode()
    out = subprocess.run(["git", "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
    lines = {}
    for name in wanted:
        header, out = out.split(b"\n", 1)
        size = int(header.split()[-1])
        lines[name] = out[:size].count(b"\n")
        out = out[size + 1 :]
    return lines


def rooms(lines: dict[str, int]) -> dict[str, tuple[int, int, int]]:
    """Lines, files and the longest file by room; "all" without the tests."""
    found = defaultdict(list)
    for path, count in lines.items():
        found[room_of(path)].append(count)
        if not path.startswith("tests/"):
            found["all but tests"].append(count)
    return {room: (sum(c), len(c), max(c)) for room, c in found.items()}


def main() -> None:
    before, after = sys.argv[1:3]
    commits = [sources(before), sources(after)]
    tables = [rooms(c) for c in commits]
    print(f"| room | lines {before} | {after} | files {before} | {after} | longest {before} | {after} |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for room in sorted(set(tables[0]) | set(tables[1])):
        pairs = zip(*(t.get(room, ("–", "–", "–")) for t in tables))
        cells = " | ".join(f"{a:,} | {b:,}" if "–" not in (a, b) else f"{a} | {b}" for a, b in pairs)
        print(f"| {room} | {cells} |")
    few = [sum(n < _FEW_LINES for p, n in c.items() if not p.startswith("tests/")) for c in commits]
    print(f"\nFiles of fewer than {_FEW_LINES} lines, tests apart: {few[0]}, {few[1]}.")


if __name__ == "__main__":
    main()
