"""A short run of each target (targets.hpp): the corpus, then mutations of it from a fixed seed. `./dev fuzz` runs them for a
given time, with libFuzzer and sanitizers."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
FUZZ = pathlib.Path(os.environ["BUILD"]) / "tests" / "fuzz_driver"
SECONDS = "2"


class Fuzz(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tmeter-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([sys.executable, HERE / "make_corpus.py", cls.folder], check=True)

    def test_every_target_has_a_corpus(self):
        names = {t for line in (HERE / "CMakeLists.txt").read_text().split("set(targets")[1].split(")")[:1] for t in line.split()}
        self.assertEqual({p.name for p in self.folder.iterdir() if p.is_dir()}, names)

    def test_targets(self):
        for corpus in sorted(p for p in self.folder.iterdir() if p.is_dir()):
            with self.subTest(target=corpus.name):
                done = subprocess.run([FUZZ, corpus.name, SECONDS, *sorted(corpus.iterdir())], cwd=self.folder,
                                      capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr} see {corpus.name}.crash")
                self.assertGreater(int(done.stdout.split()[1]), len(list(corpus.iterdir())))


if __name__ == "__main__":
    unittest.main(verbosity=2)
