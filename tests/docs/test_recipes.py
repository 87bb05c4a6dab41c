"""docs/cookbook.md and docs/from-other-tools.md are correct.

docs/cookbook.md: runs every command in it, and compares its output with that of the page.

A block of a recipe is "$ tmeter …" with the output below it. A line "…" represents any lines; the lines between
two of them are consecutive. Without a line below it a command writes nothing. A remark after the command gives the exit
status if it is not 0, and states whether the command needs LibTorch. Standard error follows standard output.

The network before and after pruning (tests/fixtures/make_pruned.py), by hand, on 1 × 3 × 32 × 32:
    conv1 3·16·9 = 432 weights · 32·32 places         =   442,368 MACs
    conv2 16·F·9 = 4,608 or 3,456 · 16·16             = 1,179,648 or 884,736
    conv3 F·64·9 = 18,432 or 13,824 · 8·8             = 1,179,648 or 884,736
    fc    64·10 = 640                                 =       640
    norms 2·(16 + F + 64) = 224 or 208 parameters, fc's bias 10
for F = 32 or 24 filters.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, HAVE_TORCH, SOURCE, TMETER, build_plugin, main, report, tmeter  # noqa: E402

PAGE = SOURCE / "docs" / "cookbook.md"
OTHERS = SOURCE / "docs" / "from-other-tools.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TIME = re.compile(r" *analysed in [0-9.]+ \w+")
GAP = "…"


class Recipe(NamedTuple):
    arguments: list
    status: int
    needs_torch: bool
    quoted: list


def recipe(lines):
    command, _, remark = lines[0].partition("  # ")
    status = re.search(r"exit status (\d+)", remark)
    words = shlex.split(command)
    if words[:2] != ["$", "tmeter"] or (remark and not status and "LibTorch" not in remark):
        raise ValueError(f"not understood: {lines[0]}")
    return Recipe(words[2:], int(status[1]) if status else 0, "LibTorch" in remark, lines[1:])


def recipes(page):
    """The commands of all blocks that begin with one."""
    found = []
    for language, block in BLOCK.findall(page):
        if language:
            continue
        starts = [n for n, line in enumerate(block.splitlines()) if line.startswith("$ ")]
        lines = block.splitlines()
        for start, end in zip(starts, [*starts[1:], len(lines)]):
            found.append(recipe(lines[start:end]))
    return found


def plain(text):
    return [TIME.sub(" analysed", line).rstrip() for line in text.splitlines()]


def missing(quoted, written):
    """The first quoted lines that are not written at the place the page shows; None if all are."""
    place, anywhere, parts = 0, False, []
    for line in plain("\n".join(quoted)):
        if line == GAP:
            parts.append([])
        else:
            parts = parts or [[]]
            parts[-1].append(line)
    begins_open = bool(quoted) and quoted[0] == GAP
    ends_open = bool(quoted) and quoted[-1] == GAP
    for number, part in enumerate(parts):
        anywhere = number > 0 or begins_open
        last = len(written) - len(part)
        places = range(place, last + 1) if anywhere else range(0, min(1, last + 1))
        at = next((n for n in places if written[n:n + len(part)] == part), None)
        if at is None:
            return part
        place = at + len(part)
    return written[place:] if not ends_open and place != len(written) else None


class Checker(unittest.TestCase):
    """Changes of the page that the test must notice."""
    WRITTEN = ["head", "a 1", "b 2", "tail"]

    def test_written_lines_are_found(self):
        for quoted in (self.WRITTEN, ["head", "…"], ["…", "b 2", "…"], ["…", "tail"], ["head", "…", "b 2", "tail"], ["…"]):
            self.assertIsNone(missing(quoted, self.WRITTEN), quoted)

    def test_missing_lines_are_reported(self):
        for quoted in (["…", "a 2", "…"], ["…", "b 2"], ["a 1", "…"], ["…", "b 2", "…", "a 1", "…"], ["…", "head", "b 2", "…"], [],
                       ["head", "a 1", "b 2"], ["…", "a", "…"]):
            self.assertIsNotNone(missing(quoted, self.WRITTEN), quoted)

    def test_times_may_differ_counts_may_not(self):
        self.assertIsNone(missing(["3 unknown    analysed in 1.00 ms"], plain("3 unknown  analysed in 12.34 ms")))
        self.assertIsNotNone(missing(["3 unknown    analysed in 1.00 ms"], plain("2 unknown  analysed in 1.00 ms")))

    def test_commands_are_read(self):
        one, two = recipes("```\n$ tmeter a --assert 'x < 1'  # exit status 3\nout\n$ tmeter b  # needs LibTorch\n```\n")
        self.assertEqual(one, Recipe(["a", "--assert", "x < 1"], 3, False, ["out"]))
        self.assertEqual(two, Recipe(["b"], 0, True, []))
        with self.assertRaises(ValueError):
            recipes("```\n$ tmeter a  # whatever\n```\n")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tmeter-recipes-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "tests").mkdir()
        (cls.folder / "tests" / "fixtures").symlink_to(FIXTURES.resolve())
        # The page only links to the instructions for building this plugin.
        build_plugin(SOURCE.resolve() / "docs/examples/in-house-layers/acme_layers.cpp", cls.folder / "acme_layers.tmeter")
        cls.page = PAGE.read_text(encoding="utf-8")

    def test_every_command_prints_the_quoted_output(self):
        """In the page's order and in one folder, because later recipes read files of earlier ones."""
        for one in recipes(self.page):
            if one.needs_torch and not HAVE_TORCH:
                continue
            with self.subTest(command=shlex.join(one.arguments)):
                done = tmeter(*one.arguments, cwd=self.folder)
                self.assertEqual(done.returncode, one.status, done.stderr)
                lost = missing(one.quoted, plain(done.stdout + done.stderr))
                self.assertIsNone(lost, f"{lost} differs from the output:\n{done.stdout}{done.stderr}")

    def test_no_command_is_skipped(self):
        """Each "$ tmeter" of the page is in a block that is run, and each kind of recipe exists."""
        found = recipes(self.page)
        self.assertEqual(len(found), len(re.findall(r"^\$ ", self.page, re.MULTILINE)))
        text = " ".join(shlex.join(one.arguments) for one in found)
        for word in ("--assert", "github", "junit", "diff", "show", "--sweep", "--bind", "--plugin ", "coverage==100%",
                     "quantization-advice", "pruning-advice", "markdown"):
            self.assertIn(word, text)

    def test_the_python_of_the_page(self):
        blocks = BLOCK.findall(self.page)
        index = next(n for n, (language, _) in enumerate(blocks) if language == "python")
        environment = {**os.environ, "PYTHONPATH": str(SOURCE.resolve() / "apps" / "python"), "TMETER_PROGRAM": str(pathlib.Path(TMETER).resolve())}
        done = subprocess.run([sys.executable, "-B", "-c", blocks[index][1]], capture_output=True, text=True, cwd=self.folder, env=environment,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, blocks[index + 1][1])

    def test_links(self):
        anchors = {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in self.page.splitlines() if line.startswith("##")}
        for target in re.findall(r"\]\(([^)]+)\)", self.page):
            file, _, anchor = target.partition("#")
            self.assertTrue((PAGE.parent / file).exists(), target)
            if not file:
                self.assertIn(anchor, anchors)


class OtherTools(unittest.TestCase):
    """docs/from-other-tools.md"""

    @classmethod
    def setUpClass(cls):
        cls.page = OTHERS.read_text(encoding="utf-8")

    def rows(self, header):
        """The cells of the table below a header row."""
        lines = self.page[self.page.index(f"| {header} |"):].split("\n\n")[0].splitlines()[2:]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    def test_the_values_are_those_of_tmeter_and_of_the_tools(self):
        recorded = json.loads((FIXTURES / "expected" / "resnet50.json").read_text())
        theirs = {**json.loads((FIXTURES / "formulas.json").read_text())["models"]["resnet50"],
                  "torch": recorded["flop_counter"]["total_flops"], "fvcore": recorded["fvcore"]["total"]}
        rows = self.rows("convention")
        self.assertEqual(len(rows), 9)
        for name, tmeter_value, tool_value, why in rows:
            name = name.strip("`")
            totals = report(FIXTURES / "models" / "resnet50.pt2", "--plugins=flops", "--set", f"flops.convention={name}")["totals"]
            self.assertEqual(f"{totals['flops']:,}", tmeter_value, name)
            if name in theirs:
                self.assertEqual(f"{theirs[name]:,}", tool_value.split(" ")[0], name)
            self.assertEqual(bool(why), tmeter_value != tool_value.split(" ")[0] and name != "torchvision", name)

    def test_named_options_exist(self):
        """Options of the commands and cells; test_from_other_tools.py runs them."""
        help_text = tmeter("--help").stdout
        for option in set(re.findall(r"(--[a-z][a-z-]*)", re.sub(r"python -m tmeter[^`]*|gh pr[^`]*", "", self.page))):
            self.assertIn(option, help_text)

    def test_links(self):
        for target in re.findall(r"\]\(([^)]+)\)", self.page):
            self.assertTrue((OTHERS.parent / target.partition("#")[0]).exists(), target)


class Pruned(unittest.TestCase):
    def test_by_hand(self):
        for name, filters in (("before", 32), ("after", 24)):
            totals = report(FIXTURES / "pruned" / f"{name}.pt2")["totals"]
            weights = (3 * 16 * 9, 16 * filters * 9, filters * 64 * 9, 640)
            self.assertEqual(totals["macs"], weights[0] * 1024 + weights[1] * 256 + weights[2] * 64 + weights[3])
            self.assertEqual(totals["params"], sum(weights) + 2 * (16 + filters + 64) + 10)


if __name__ == "__main__":
    main()
