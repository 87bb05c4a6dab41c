"""LibTorch's short start (plugins/torch_backend/start): nothing but the time may tell it from the whole one.

Expected values are those of the whole start, TMETER_TORCH_START=full, in which LibTorch does everything itself.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import os
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import CliTest, FIXTURES, MODELS, main, tmeter  # noqa: E402

DUMP = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None
FULL = {"TMETER_TORCH_START": "full"}


def is_torchscript(path):
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith("/constants.pkl") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def dump(env=None, names=()):
    """What the dispatcher and the compiler know, and how many names waited for it."""
    done = subprocess.run([DUMP, *names], capture_output=True, text=True, check=True, timeout=120,
                          env={**os.environ, **(env or {})})
    return done.stdout, int(done.stderr.split()[0])


def without_times(value):
    """A report without what no two runs have in common."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in ("timing", "command")}
    if isinstance(value, list):
        return [without_times(v) for v in value]
    return re.sub(r"Memory at most \d+ MiB", "", value) if isinstance(value, str) else value


@unittest.skipUnless(DUMP, "the dump is given by ctest")
class Registry(unittest.TestCase):
    """All that LibTorch has entered, once it has been asked for."""

    @classmethod
    def setUpClass(cls):
        cls.whole, waited = dump(FULL)
        assert waited == 0, waited
        cls.overloads = re.findall(r"^operator (\S+)$", cls.whole, re.M)

    def test_schemas_kernels_tables_and_the_order_of_overloads_are_the_same(self):
        short, waited = dump()
        if waited == 0:
            self.skipTest("this LibTorch is not one that is known to start short")
        self.assertGreater(waited, 1500)
        self.assertEqual(len(self.whole), len(short))
        self.assertTrue(self.whole == short, "they differ; compare the output of torch_start_dump by hand")

    def test_there_is_something_to_compare(self):
        self.assertGreater(len(self.overloads), 3000)
        self.assertRegex(self.whole, r"(?m)^overload aten::add\.Tensor\(.* of the dispatcher alias")
        self.assertRegex(self.whole, r"(?m)^overload prim::\w+\(")
        self.assertNotIn("tmeter", self.whole)  # no stand-in for a schema is left anywhere

    def test_threads_that_ask_at_once_get_the_same(self):
        names = random.Random(0).sample(self.overloads, 400)
        self.assertTrue(dump(names=names)[0] == self.whole)


class Reports(CliTest):
    def left(self, model, *options, **env):
        done = tmeter(model, "-v", *options, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = re.search(r"started short: (\d+) names", done.stderr)
        return int(told[1]) if told else 0

    def test_the_plugin_starts_short_and_in_full_when_told_to(self):
        model = MODELS / "lstm.scripted.pt"
        self.assertEqual(self.left(model, **FULL), 0)
        if dump()[1] == 0:
            self.skipTest("this LibTorch is not one that is known to start short")
        self.assertGreater(self.left(model), 1000)

    def test_another_version_of_libtorch_is_let_alone_and_named(self):
        """Its objects have other layouts: nothing may look into them before the plugin says what is wrong."""
        source = self.file("version.c", "unsigned long aoti_torch_abi_version(void) { return (2UL << 8 | 99) << 48; }")
        library = self.folder / "version.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        self.assertEqual(dump({"LD_PRELOAD": str(library)})[1], 0)
        done = tmeter(MODELS / "lstm.scripted.pt", env={"LD_PRELOAD": str(library)})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("finds torch 2.99", done.stderr)

    def test_every_report_is_the_same(self):
        files = [f for f in sorted(FIXTURES.rglob("*.pt")) if is_torchscript(f)]
        self.assertGreater(len(files), 60)
        for file in files:
            with self.subTest(file=str(file)):
                short = tmeter(file, "--report", "json")
                whole = tmeter(file, "--report", "json", env=FULL)
                self.assertEqual((short.returncode, short.stderr), (whole.returncode, whole.stderr))
                if whole.returncode == 0:
                    self.assertEqual(*(without_times(json.loads(r.stdout)) for r in (short, whole)))

    def test_constants_of_classes_are_what_the_compiler_makes_of_them(self):
        """Written out in their type they are read without it; whatever else, and mistakes, are the compiler's."""
        ended = set()
        source, line = MODELS / "resnet50.scripted.pt", b"  out_channels : Final[int] = 64\n"
        for constant in ("Final[int] = 128", "Final[int] = -1", "Final[int] = 0x10", "Final[int] = 1 + 2", "Final[int] = 64.",
                         "Final[int] = True", "Final[int] = None", "Final[int] = 99999999999999999999", 'Final[int] = "64"',
                         "Final[float] = 64", "Final[float] = 0.5", "Final[float] = 1e999", "Final[bool] = False", "Final[bool] = 1",
                         'Final[str] = "a\\nb\\u00e9"', "Final[NoneType] = None", "Final[Optional[int]] = 3", "Final[Optional[int]] = None",
                         "Final[Tuple[int, int]] = (3, 4)", "Final[Tuple[int, int]] = (3, 4, 5)", "Final[Tuple[int]] = (3,)",
                         "Final[Tuple[int, float]] = (3, 4)", "Final[Tuple[int, float]] = (3, 4.)", "Final[Tuple[Tuple[int]]] = ((3,),)",
                         "Final[Tuple[()]] = ()", "Final[List[int]] = [3, 4]", "Final[complex] = 2j", "Final[Nothing] = 3", "Final[Tensor] = 3"):
            changed = self.folder / "changed.pt"
            with zipfile.ZipFile(source) as old, zipfile.ZipFile(changed, "w") as new:
                for info in old.infolist():
                    content = old.read(info.filename)
                    if "/code/" in info.filename:
                        content = content.replace(line, f"  out_channels : {constant}\n".encode(), 1)
                    new.writestr(info.filename, content)
            with self.subTest(constant=constant):
                short = tmeter(changed, "--report", "json")
                whole = tmeter(changed, "--report", "json", env=FULL)
                self.assertEqual((short.returncode, short.stderr), (whole.returncode, whole.stderr))
                ended.add(whole.returncode)
                if whole.returncode == 0:
                    self.assertEqual(*(without_times(json.loads(r.stdout)) for r in (short, whole)))
        self.assertGreater(len(ended), 1)  # LibTorch minded some of them

    def test_what_a_run_computes_is_the_same(self):
        for name in ("lstm.scripted.pt", "detr_like.scripted.pt", "mobilenet_v2.pt2"):
            with self.subTest(model=name):
                options = (MODELS / name, "--inference", "--run-for", "0.01s", "--set", "torch-backend.output-digest=true",
                           "--plugins=latency", "--report", "json")
                digests = []
                for env in ({}, FULL):
                    done = tmeter(*options, env=env)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    digests.append(sorted(re.findall(r"\b[0-9a-f]{64}\b", done.stdout)))
                self.assertTrue(digests[0])
                self.assertEqual(*digests)


if __name__ == "__main__":
    main()
