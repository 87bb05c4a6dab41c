"""`tmeter plugin new` and `tmeter plugin check`, from an empty folder and against an installed tmeter: a project of each
kind builds, passes its own test, is found fine, and shows in a report."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from support import BUILD, CliTest, build_plugin, main, tmeter

NO_RIGHTS = '-DROGUE_RIGHTS=""'

# Kind → what a report with the plugin says, given these arguments.
KINDS = {
    "op": (["model.pt2", "--plugins=flops"], "26,624"),  # 4·16·32 + 4·3·32·64 multiply-adds
    "shape": (["model.pt2", "--plugins=params"], "6,688"),  # 16·32 + 32 + 128·32 + 32·64 parameters
    "metric": (["model.pt2", "--plugins=acme_metric"], "384"),  # three results of 4 × 32
    "analysis": (["model.pt2"], "FLOP/B"),
    "advice": (["model.pt2"], "gives 32 features, not a multiple of 64"),
    "tensor": (["weights.safetensors"], "largest"),
    "loader": (["model.acme", "--plugins=params"], "768"),  # 16·32 + 32·8
    "report": (["model.pt2", "--plugins=params", "--report", "acme_report"], "params=6688"),
}


def run(*command, **kwargs):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **kwargs)


class New(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tmeter-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        done = run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        assert done.returncode == 0, done.stderr
        cls.tmeter = cls.prefix / "bin" / "tmeter"
        cls.env = {**os.environ, "XDG_DATA_HOME": str(cls.folder / "data"), "TMETER_PLUGIN_PATH": "",
                   "PATH": f"{cls.prefix / 'bin'}:{os.environ['PATH']}"}

    def done(self, *command, **kwargs):
        result = run(*command, env=self.env, **kwargs)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def make(self, kind):
        name = f"acme_{kind}"
        self.done(self.tmeter, "plugin", "new", name, "--kind", kind, cwd=self.folder)
        project = self.folder / name
        self.done("cmake", "-S", project, "-B", project / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                  f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.done("cmake", "--build", project / "build")
        tested = self.done("ctest", "--test-dir", project / "build", "--output-on-failure")
        self.assertIn("100% tests passed, 0 tests failed out of 2", tested)
        plugin = project / "build" / f"{name}.tmeter"
        checked = self.done(self.tmeter, "plugin", "check", plugin)
        self.assertIn("fine: ", checked)
        self.assertIn("its manifest says what it says", checked)
        self.assertNotIn("could not be tried", checked)
        return project, plugin


def add_tests():
    def test(kind, arguments, words):
        def of_kind(self):
            project, plugin = self.make(kind)
            shown = self.done(self.tmeter, *arguments, "--plugin", plugin, cwd=project)
            self.assertIn(words, shown)
        return of_kind
    for kind, (arguments, words) in KINDS.items():
        setattr(New, f"test_{kind}", test(kind, arguments, words))


add_tests()


class NewRefused(CliTest):
    def refused(self, words, *arguments):
        before = sorted(self.folder.rglob("*"))
        self.assert_refused(2, words, "plugin", "new", *arguments, cwd=self.folder)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_names_and_kinds(self):
        self.refused(["--kind", "op, metric, analysis"], "layers")
        self.refused(["no such kind", "did you mean 'metric'"], "layers", "--kind", "metrc")
        for name in ("", "Layers", "9lives", "a-b", "../up", "a b", "x" * 41, "\x1b[31mred", "naïve"):
            self.refused(["a name begins with a small letter"], name, "--kind", "op")

    def test_what_is_there_stays(self):
        kept = self.folder / "layers"
        kept.mkdir()
        (kept / "mine.txt").write_text("mine")
        self.refused(["layers is there already"], "layers", "--kind", "op")
        self.refused(["is there already"], "layers", "--kind", "op", "--output", kept / "mine.txt")
        (self.folder / "dangling").symlink_to("nowhere")
        self.refused(["is there already"], "dangling", "--kind", "op")

    def test_folders_that_cannot_be_made(self):
        self.refused(["cannot be made"], "layers", "--kind", "op", "--output", self.folder / "no" / "such" / "folder")
        self.refused(["cannot be made"], "layers", "--kind", "op", "--output", "/proc/layers")


class Check(CliTest):
    """A plugin that does what it may not is not fine, and is named; none ends tmeter with it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tmeter-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.plugin = pathlib.Path(folder.name) / "rogue.tmeter"
        build_plugin("rogue_plugin.cpp", cls.plugin, NO_RIGHTS)

    def assert_not_fine(self, plugin, identifier, **environment):
        done = tmeter("plugin", "check", plugin, env=environment)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 5, said)
        self.assertIn(identifier, said)
        self.assertNotIn("\nfine: ", said)
        return said

    def test_what_kills_the_process_is_told(self):
        for where in ("init", "configure", "metric", "analysis", "writer"):
            for what, words in (("segv", "segmentation fault"), ("exit", "ended the process"), ("abort", "abort")):
                with self.subTest(where=where, what=what):
                    said = self.assert_not_fine(self.plugin, "rogue", ROGUE=f"{where}:{what}")
                    self.assertIn(words, said)

    def test_what_breaks_the_contract_is_told(self):
        plugin = self.folder / "contract.tmeter"
        build_plugin("contract_plugin.cpp", plugin)
        for deed, words in (("throw-int", "it let an exception of unknown type out"), ("nan", "was given NaN"),
                            ("negative", "was given less than 0"), ("no-value", "gives no value"),
                            ("foreign-axis", "for another table"), ("severity", "unknown severity, 99")):
            with self.subTest(deed=deed):
                self.assertIn(words, self.assert_not_fine(plugin, "com.rogue.contract", CONTRACT=deed))

    def test_another_builds_manifest_is_told(self):
        plugin = self.folder / "moved.tmeter"
        plugin.write_bytes(self.plugin.read_bytes())
        manifest = self.folder / "moved.tmeter.toml"
        manifest.write_text(tmeter("plugin", "manifest", plugin).stdout)
        self.assertIn("its manifest says what it says", tmeter("plugin", "check", plugin).stdout)
        build_plugin("rogue_plugin.cpp", plugin, NO_RIGHTS, "-O2", "-g")
        self.assertIn("another build", self.assert_not_fine(plugin, "rogue"))

    def test_our_own_are_fine(self):
        for plugin in sorted((BUILD / "lib" / "tmeter" / "plugins").glob("*.tmeter")):
            with self.subTest(plugin=plugin.name):
                done = tmeter("plugin", "check", plugin)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("fine: ", done.stdout)

    def test_files_that_are_no_plugins(self):
        for path, words in ((self.file("x.tmeter", "text"), "not a shared library"), (self.folder, "is a folder"),
                            (self.folder / "none.tmeter", "does not exist"), ("/dev/zero", "no regular file")):
            self.assert_refused(5, [words], "plugin", "check", path)


if __name__ == "__main__":
    main()
