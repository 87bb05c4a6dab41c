"""docs/how-it-works.md: each step names files and functions that exist."""
import pathlib
import re
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGE = (SOURCE / "docs" / "how-it-works.md").read_text(encoding="utf-8")
STEP = re.compile(r"`([\w/.]+/[\w.]+)`: ((?:`\w+`(?:, )?)+)")


def steps():
    """(file, functions) in the page's order."""
    return [(file, re.findall(r"`(\w+)`", names)) for file, names in STEP.findall(PAGE)]


class Walk(unittest.TestCase):
    def test_each_file_has_the_functions(self):
        self.assertGreater(len(steps()), 20)
        for file, functions in steps():
            with self.subTest(file):
                text = (SOURCE / file).read_text(encoding="utf-8")
                for function in functions:
                    self.assertTrue(re.search(rf"\b{function}\b", text), f"{file} has no {function}")

    def test_each_section_names_a_file(self):
        for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
            self.assertRegex(section, STEP, section.splitlines()[0])


if __name__ == "__main__":
    unittest.main()
