#!/usr/bin/env python3
"""The samples in README.md, docs/tour.md and docs/reports: each equals tmeter's output.

usage: make_samples.py [--check]

Below every line "<!-- sample: tmeter ARGUMENTS -->" or "… ARGUMENTS | N lines -->" is a code block with
the standard output of that command (its first N lines). Rewrites these blocks; --check only compares, and
exits 1 if one differs. TMETER is the binary, as in the tests.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PAGES = [ROOT / "README.md", ROOT / "docs" / "tour.md", *sorted(FOLDER.glob("*.md"))]
TMETER = os.environ.get("TMETER", str(ROOT / "build/release/bin/tmeter"))
SAMPLE = re.compile(r"(<!-- sample: tmeter ([^|\n]*?)(?: \| (\d+) lines)? -->\n\n)(`{3,})(\w*)\n.*?\n\4\n", re.DOTALL)
# Different in every run.
TIMES = ((re.compile(r'(analysis-seconds|time)="[0-9.e-]+"'), r'\1="0.01"'),
         (re.compile(r'("analysis_seconds":)[0-9.e-]+'), r"\g<1>0.01"),
         (re.compile(r"The analysis itself took [0-9.]+ \w+"), "The analysis itself took 10.00 ms"),
         (re.compile(r"^analysed in [0-9.]+ \w+", re.MULTILINE), "analysed in 10.00 ms"),
         (re.compile(r" +analysed in [0-9.]+ \w+"), f"{' ' * 44}analysed in 10.00 ms"))  # at the right edge


def output(arguments, lines):
    environment = {**os.environ, "TMETER_PLUGIN_PATH": "", "XDG_DATA_HOME": "/nonexistent"}
    done = subprocess.run([TMETER, *shlex.split(arguments)], capture_output=True, text=True, cwd=ROOT, env=environment)
    if done.returncode not in (0, 3):  # 3: an assertion does not hold
        sys.exit(f"tmeter {arguments}: {done.stderr}")
    text = done.stdout.replace("\r\n", "\n")
    for pattern, replacement in TIMES:
        text = pattern.sub(replacement, text)
    all_lines = text.rstrip("\n").split("\n")
    if lines and len(all_lines) > int(lines):
        all_lines = [*all_lines[:int(lines)], "…"]
    return "\n".join(line.rstrip() for line in all_lines)


def renewed(match):
    head, arguments, lines, fence, language = match.groups()
    return f"{head}{fence}{language}\n{output(arguments, lines)}\n{fence}\n"


def main(check):
    stale, samples = [], 0
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new, count = SAMPLE.subn(renewed, old)
        samples += count
        if count != old.count("<!-- sample:"):
            sys.exit(f"{page}: a sample has no code block below it")
        if new == old:
            continue
        stale.append(page.name)
        if not check:
            page.write_text(new, encoding="utf-8")
    if check and stale:
        print(f"outdated: {', '.join(stale)}; run {__file__}", file=sys.stderr)
        return 1
    print(f"{samples} samples, {len(stale)} rewritten")
    return 0 if samples else 1


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
