"""docs/from-other-tools.md: each feature of the four older tools has its call here and a test that exists; no row is open.

Every option and command of a row is run unchanged, and every attribute of `Meter` and `result` is looked up.
"""
import pathlib
import re
import shlex
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import HAVE_TORCH, MODELS, SOURCE, CliTest, main, tmeter  # noqa: E402

PAGE = (SOURCE / "docs" / "from-other-tools.md").read_text(encoding="utf-8")
#: The four, and the number of features, options, columns and outputs that were found in their sources.
FOUR = {"torchstat": 29, "torchmeter": 72, "Comprehensive PyTorch Model Analyzer": 91, "torch_profiling_utils": 44}
PACKAGE = SOURCE / "apps/python/tmeter"
#: The classes behind `Meter.…` and `result.…` of the page, and the files that define them.
OBJECTS = {"Meter": PACKAGE / "compat/torchmeter/meter.py", "result": PACKAGE / "result.py"}


def rows(tool):
    section = re.search(rf"^## {re.escape(tool)}.*?(?=^## |\Z)", PAGE, re.M | re.S)[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table[2:]]


def called(cell):
    """The program's arguments in a cell, except options without a value and inputs that ResNet-50 does not have."""
    for span in re.findall(r"`([^`]+)`", cell):
        words = shlex.split(span)
        if words[-1] in ("--bind", "--sweep", "--input") or "ids=" in span:
            continue
        if span.startswith("-"):
            yield ["model.pt2", *words]
        elif words[0] == "tmeter" and len(words) > 1:
            yield words[1:]


class FromOtherTools(CliTest):
    def test_every_row_has_a_test_that_exists(self):
        for tool, least in FOUR.items():
            listed = rows(tool)
            self.assertGreaterEqual(len(listed), least, tool)
            for row in listed:
                with self.subTest(tool=tool, row=row[0]):
                    self.assertEqual(len(row), 3)
                    names = re.findall(r"`([^`]+)`", row[2])
                    self.assertTrue(names or row[2] in ("none here: no GPU", "none: Windows"))
                    folder = None
                    for name in names:
                        path = SOURCE / name if "/" in name else folder / name
                        folder = path.parent
                        self.assertTrue(path.exists(), path)

    def test_every_call_runs(self):
        finished, ran = {}, 0
        for tool in re.findall(r"^## (.+)$", PAGE, re.M)[1:]:
            for row in rows(tool):
                for arguments in called(row[1]):
                    runs = {"--inference", "--profile"} & set(arguments)
                    if runs and not HAVE_TORCH:
                        continue
                    model = "tied" if runs else "resnet50"
                    line = [str(MODELS / f"{model}.pt2") if word == "model.pt2" else word.replace("FILE", str(self.folder / "file"))
                            for word in arguments]
                    line = [str(self.folder / word) if re.fullmatch(r"(analysis|model|report)\.\w+", word) else word for word in line]
                    if runs and "--run-for" not in line:
                        line += ["--run-for", "0.02"]
                    if tuple(line) not in finished:
                        finished[tuple(line)] = tmeter(*line)
                        ran += 1
                    done = finished[tuple(line)]
                    with self.subTest(tool=tool, row=row[0]):
                        self.assertEqual(done.returncode, 0, f"{' '.join(arguments)}: {done.stderr}")
        self.assertGreaterEqual(ran, 90 if HAVE_TORCH else 70)

    def test_every_attribute_exists(self):
        for tool in FOUR:
            for row in rows(tool):
                for owner, name in re.findall(r"`(Meter|result)\.(\w+)", row[1]):
                    self.assertRegex(OBJECTS[owner].read_text(), rf"\b(def {name}\b|{name}: |self\.{name}\b|\"{name}\")", row[0])

    def test_no_row_is_left_open(self):
        self.assertNotIn("not yet", PAGE.lower())

    def test_metrics_and_plugins_exist(self):
        """The columns and plugins that rows request by --columns and --plugins."""
        script = tmeter("completion", "bash").stdout
        for words in re.findall(r"--(?:columns|plugins)[= ]\n?([\w,-]+)", PAGE):
            for word in words.split(","):
                self.assertIn(word, script + " kernel_size input_size output_size")


if __name__ == "__main__":
    main()
