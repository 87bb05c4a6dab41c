"""Every row of docs/reliability.md about a plugin, a file, an output or an end names a test that the suite runs."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import SOURCE, main  # noqa: E402

TESTS = SOURCE / "tests"
PAGE = (SOURCE / "docs" / "reliability.md").read_text(encoding="utf-8")
IN_PYTHON = re.compile(r"`([a-z_]+\.[a-z_.]+)\.(test_\w+)`")
IN_CPP = re.compile(r"`([A-Z]\w+)\.([A-Z]\w+)`")
# Tables of measurements name their test above the table; the other tables describe rights and system calls.
WITH_TESTS = 8


def script_of(suite):
    """The text of `cli.ends`: tests/cli/test_ends.py."""
    folder, name = suite.split(".", 1)
    file = TESTS / folder / f"test_{name}.py"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def tables():
    """Heading row and rows of each table of the page, as lists of cells."""
    for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        lines = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in table.splitlines()]
        yield lines[0], lines[2:]


class Reliability(unittest.TestCase):
    def test_rows_name_their_tests(self):
        count = 0
        for head, rows in tables():
            if head[-1] != "test":
                continue
            count += 1
            for row in rows:
                with self.subTest(row[0]):
                    self.assertEqual(len(row), len(head), row)
                    self.assertTrue(IN_PYTHON.search(row[-1]) or IN_CPP.search(row[-1]), row[-1])
        self.assertEqual(count, WITH_TESTS)

    def test_the_named_tests_exist(self):
        unit = "".join(file.read_text(encoding="utf-8") for file in (TESTS / "unit").rglob("*_test.cpp"))
        for suite, name in IN_PYTHON.findall(PAGE):
            with self.subTest(f"{suite}.{name}"):
                self.assertTrue(re.search(rf"\n    def {name}\(self\):", script_of(suite)))
        for suite, name in IN_CPP.findall(PAGE):
            with self.subTest(f"{suite}.{name}"):
                self.assertTrue(re.search(rf"\nTEST(?:_F)?\({suite}, {name}\)", unit))
        for suite in re.findall(r"`((?:cli|sdk)\.[a-z_]+)`", PAGE):
            self.assertTrue(script_of(suite), suite)


if __name__ == "__main__":
    main()
