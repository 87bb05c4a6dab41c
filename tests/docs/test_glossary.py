"""docs/glossary.md has each metric of our plugins, with its unit and axis, and no other."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import SOURCE, main, tmeter  # noqa: E402

METRIC = re.compile(r"^  (\w+)  \[([^]]*)\] of (the model|\w+(?: \w+)?), ", re.MULTILINE)


def metrics():
    """(unit, axis) of each metric that an installed plugin declares, by id."""
    found = {}
    for line in tmeter("plugin", "list").stdout.splitlines():
        if "metrics " in line:
            found |= {name: (unit, axis.removeprefix("the ")) for name, unit, axis in METRIC.findall(tmeter("plugin", "info", line.split()[0]).stdout)}
    return found


def rows():
    """The rows of the page's table; `a`, `b` in one row share the rest."""
    page = (SOURCE / "docs" / "glossary.md").read_text(encoding="utf-8")
    table = page[page.index("| metric | unit |"):].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


class Glossary(unittest.TestCase):
    def test_metrics(self):
        declared, listed = metrics(), {}
        for names, unit, axis, meaning in rows():
            self.assertTrue(meaning, names)
            for name in re.findall(r"`([^`]+)`", names):
                ids = [i for i in declared if i.startswith(name[:-1])] if name.endswith("*") else [name]
                for one in ids:
                    self.assertNotIn(one, listed)
                    listed[one] = (unit.replace("–", ""), axis)
        self.assertGreater(len(declared), 100)
        self.assertEqual(listed, declared)


if __name__ == "__main__":
    main()
