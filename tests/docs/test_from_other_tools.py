"""docs/from-other-tools.md: each feature of the four older tools has its call here and a test that exists; none is left for later."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import SOURCE, main, tmeter  # noqa: E402

PAGE = (SOURCE / "docs" / "from-other-tools.md").read_text(encoding="utf-8")
FOUR = ("torchstat", "torchmeter", "Comprehensive PyTorch Model Analyzer", "torch_profiling_utils")


def rows(tool):
    section = re.search(rf"^## {re.escape(tool)}.*?(?=^## |\Z)", PAGE, re.M | re.S)[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table[2:]]


class FromOtherTools(unittest.TestCase):
    def test_every_row_has_a_test_that_exists(self):
        for tool in FOUR:
            listed = rows(tool)
            self.assertGreaterEqual(len(listed), 7, tool)
            for row in listed:
                with self.subTest(tool=tool, row=row[0]):
                    self.assertEqual(len(row), 3)
                    names = re.findall(r"`([^`]+)`", row[2])
                    self.assertTrue(names or "no GPU" in row[2])
                    folder = None
                    for name in names:
                        path = SOURCE / name if "/" in name else folder / name
                        folder = path.parent
                        self.assertTrue(path.exists(), path)

    def test_nothing_is_left_for_later(self):
        self.assertNotIn("not yet", PAGE.lower())

    def test_metrics_and_plugins_are_there(self):
        """What rows ask for by --columns and --plugins."""
        known = tmeter("completion", "bash").stdout
        for words in re.findall(r"--(?:columns|plugins)[= ]\n?([\w,-]+)", PAGE):
            for word in words.split(","):
                self.assertIn(word, known + " kernel_size input_size output_size")


if __name__ == "__main__":
    main()
