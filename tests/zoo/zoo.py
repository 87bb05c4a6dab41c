"""Checks tmeter on hundreds of library models: prepares them, analyses them, writes docs/dev/zoo.md.

    python3 zoo.py --python VENV/bin/python [--tmeter FILE] [--only GLOB ...] [--jobs N]

Needs only the standard library; `--python` has the packages of requirements.txt. Prepared models stay
in the cache, so an interrupted run continues where it stopped.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import measure
import page
import table

HERE = Path(__file__).parent
DEFAULT_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tmeter" / "zoo"


def prepare(options, ids: list[str]) -> None:
    """`--jobs` processes share the rows; rows that are complete take no time."""
    shares = [ids[n :: options.jobs] for n in range(options.jobs)]
    command = [options.python, "-B", HERE / "prepare.py", "--cache", options.cache, "--limit", str(options.limit)]
    if options.again:
        command.append("--again")
    running = [subprocess.Popen([*command, *ids_]) for ids_ in shares if ids_]
    if any([process.wait() for process in running]):
        sys.exit("zoo: preparing failed; see above")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev zoo", description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="GLOB", action="append", default=[],
                        help="these models, as in 'timm/*' or resnet50; repeatable; the page is not written")
    parser.add_argument("--measure", action="store_true", help="run tmeter only, on prepared models")
    parser.add_argument("--fixtures", action="store_true", help="write tests/fixtures/zoo from the prepared models")
    parser.add_argument("--again", action="store_true", help="prepare all models again")
    parser.add_argument("--jobs", type=int, default=1, help="processes that prepare (default 1)")
    parser.add_argument("--limit", type=int, default=240, help="seconds for each step of a model (default 240)")
    parser.add_argument("--list", action="store_true", help="list the models")
    parser.add_argument("--python", type=Path, help="interpreter with requirements.txt")
    parser.add_argument("--tmeter", type=Path, default=Path("build/release/bin/tmeter"))
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--output", type=Path, help="page to write, with .csv and .svg beside it (default docs/dev/zoo.md)")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    entries = table.chosen(options.only)
    if not entries:
        sys.exit(f"zoo: no model is called {' or '.join(options.only)}; --list shows all")
    if options.list:
        print("\n".join(entries))
        return
    if options.fixtures:
        import fixtures

        fixtures.write(options.cache, HERE.parent / "fixtures" / "zoo")
        return
    if not options.measure:
        if not options.python:
            sys.exit("zoo: --python is needed to prepare models")
        prepare(options, list(entries))
    answers = measure.measure(options.tmeter.absolute(), options.cache, list(entries))
    tmeter = measure.version(options.tmeter.absolute())
    zoo = page.Zoo(options.cache, entries, answers, tmeter, complete=not options.only)
    print("\n".join(page.summary(zoo) + [""] + page.differences(zoo) + [""] + page.failures(zoo)))
    output = options.output or (None if options.only else HERE.parents[1] / "docs" / "dev" / "zoo.md")
    if output:
        page.write(zoo, output)


if __name__ == "__main__":
    main()
