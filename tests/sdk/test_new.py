"""`tmeter plugin new` and `tmeter plugin check`, from an empty folder and against an installed tmeter: a project of each kind
builds, passes its own test and the check, and shows in a report."""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from support import BUILD, HAVE_TORCH, SANITIZED, SOURCE, CliTest, build_plugin, main, tmeter

NO_RIGHTS = '-DROGUE_RIGHTS=""'

# Kind → words of a report with the plugin, for these arguments.
KINDS = {
    "op": (["model.pt2", "--plugins=flops"], "26,624"),  # 4·16·32 + 4·3·32·64 multiply-adds
    "shape": (["model.pt2", "--plugins=params"], "6,688"),  # 16·32 + 32 + 128·32 + 32·64 parameters
    "metric": (["model.pt2", "--plugins=acme_metric"], "384"),  # three results of 4 × 32
    "analysis": (["model.pt2"], "FLOP/B"),
    "advice": (["model.pt2"], "gives 32 features, not a multiple of 64"),
    "tensor": (["weights.safetensors"], "largest"),
    "loader": (["model.acme", "--plugins=params"], "768"),  # 16·32 + 32·8
    "module": (["run.pt2", "--plugins=flops"], "1,024"),  # half of 4·16·32 multiply-adds
    "executor": (["model.pt2", "--inference", "--run-for", "0.2", "--plugins=latency,-allocations", "--report", "json"], "acme_executor 1.0.0"),
    "report": (["model.pt2", "--plugins=params", "--report", "acme_report"], "params=6688"),
}


if HAVE_TORCH:
    KINDS["observer"] = (["run.pt2", "--inference", "--run-for", "0.2"], "fastest")


def run(*command, **kwargs):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **kwargs)


class New(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tmeter-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "pre fix's"
        done = run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        assert done.returncode == 0, done.stderr
        cls.tmeter = cls.prefix / "bin" / "tmeter"
        cls.env = {**os.environ, "XDG_DATA_HOME": str(cls.folder / "data"), "TMETER_PLUGIN_PATH": ""}

    def done(self, *command, **kwargs):
        result = run(*command, env=self.env, **kwargs)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def make(self, kind):
        name = f"acme_{kind}"
        output = self.done(self.tmeter, "plugin", "new", name, "--kind", kind, cwd=self.folder)
        first, *lines = output.splitlines()
        self.assertEqual(first, f"{name}: created. Next:")
        self.assertEqual(len(lines), 3)
        project = self.folder / name
        # The printed lines, unchanged, in the user's shell.
        tested = self.done("sh", "-e", "-c", "\n".join(lines), cwd=self.folder)
        self.assertIn("100% tests passed, 0 tests failed out of 2", tested)
        self.assertNotIn("warning", tested.lower())
        plugin = project / "build" / f"{name}.tmeter"
        checked = self.done(self.tmeter, "plugin", "check", plugin)
        self.assertIn("fine: ", checked)
        self.assertIn("its manifest agrees with it", checked)
        self.assertNotIn("could not be tried", checked)
        return project, plugin


    def test_a_build_with_sanitizers_keeps_its_library(self):
        runtime = run("c++", "-print-file-name=libasan.so").stdout.strip()
        if SANITIZED or not pathlib.Path(runtime).is_absolute():
            self.skipTest("no separate AddressSanitizer library")
        self.done(self.tmeter, "plugin", "new", "watched", "--kind", "op", cwd=self.folder)
        build = self.folder / "watched" / "build"
        self.done("cmake", "-S", build.parent, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_CXX_FLAGS=-fsanitize=address -g")
        built = run("cmake", "--build", build, env=self.env)
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        plugin = build / "watched.tmeter"
        self.assertTrue(plugin.is_file())
        self.assertFalse((build / "watched.tmeter.toml").exists())
        output = " ".join((built.stdout + built.stderr).split())
        self.assertIn("no manifest for", output)
        self.assertIn("is built with AddressSanitizer", output)
        refused = run(self.tmeter, "plugin", "check", plugin, env=self.env)
        self.assertEqual((refused.returncode, refused.stdout), (5, ""))
        self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)
        for words in ("watched.tmeter is built with AddressSanitizer", "LD_PRELOAD=$(c++ -print-file-name=libasan.so)"):
            self.assertIn(words, refused.stderr)
        fine = run(self.tmeter, "plugin", "check", plugin, env={**self.env, "LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"})
        self.assertEqual(fine.returncode, 0, fine.stdout + fine.stderr)
        self.assertIn("handles acme::gated_mlp: macs 192", fine.stdout)

    def test_the_loader_needs_no_exceptions(self):
        self.done(self.tmeter, "plugin", "new", "plain", "--kind", "loader", cwd=self.folder)
        build = self.folder / "plain" / "build"
        self.done("cmake", "-S", build.parent, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_CXX_FLAGS=-fno-exceptions -fno-rtti")
        self.done("cmake", "--build", build)
        plugin = build / "plain.tmeter"
        self.assertIn("values", self.done("ctest", "--test-dir", build))
        checked = self.done(self.tmeter, "plugin", "check", plugin, "--model", build.parent / "model.acme")
        self.assertIn("loader 'plain' reports every refusal of the builder", checked)
        for text, words in (("acme-net 1\nlinear a 3\n", "line 2: no input before 'linear'"), ("acme-net 1\ninput 4 x\n", "line 2: a number of at least 1"),
                            ("acme-net 1\ninput 4 4\nconv a\n", "line 3: 'conv' is not a kind of layer"), ("acme-net 1\n", "the file has no input"),
                            ("acme-net 1\ninput 4 4\nlinear a 3\nlinear a 3\n", "")):  # two modules with one name: the builder refuses
            path = self.folder / "wrong.acme"
            path.write_text(text)
            done = run(self.tmeter, path, "--plugin", plugin, env=self.env)
            self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
            self.assertIn(words, done.stderr)


def add_tests():
    def test(kind, arguments, words):
        def of_kind(self):
            project, plugin = self.make(kind)
            shown = self.done(self.tmeter, *arguments, "--plugin", plugin, cwd=project)
            self.assertIn(words, shown)
        return of_kind
    for kind, (arguments, words) in KINDS.items():
        setattr(New, f"test_{kind}", test(kind, arguments, words))


    if "observer" not in KINDS:  # only `plugin check` runs a model here
        New.test_observer = lambda self: self.make("observer")


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

    def test_existing_files_are_kept(self):
        existing = self.folder / "layers"
        existing.mkdir()
        (existing / "mine.txt").write_text("mine")
        self.refused(["layers exists already"], "layers", "--kind", "op")
        self.refused(["exists already"], "layers", "--kind", "op", "--output", existing / "mine.txt")
        (self.folder / "dangling").symlink_to("nowhere")
        self.refused(["exists already"], "dangling", "--kind", "op")

    def test_the_next_lines_are_for_a_shell(self):
        """Also with a folder name that a shell would split, expand or take for an option."""
        for folder in ("a b", "it's", "-x", "$(touch evil)", "täst"):
            with self.subTest(folder):
                done = tmeter("plugin", "new", "layers", "--kind", "op", "--output=" + folder, cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                first, configure, *_ = done.stdout.splitlines()
                self.assertEqual(first, f"{folder}: created. Next:")
                words = shlex.split(configure)
                self.assertEqual(words[:2], ["cmake", "-S"])
                self.assertTrue((self.folder / words[2] / "CMakeLists.txt").is_file(), words)
                self.assertEqual(pathlib.Path(words[4]), pathlib.Path(words[2]) / "build")
                self.assertTrue(words[5].startswith("-DCMAKE_PREFIX_PATH=/"), words)

    def test_folders_that_cannot_be_made(self):
        self.refused(["cannot be created"], "layers", "--kind", "op", "--output", self.folder / "no" / "such" / "folder")
        self.refused(["cannot be created"], "layers", "--kind", "op", "--output", "/proc/layers")


class Help(CliTest):
    def test_each_subcommand_explains_itself(self):
        listed = tmeter("plugin", "--help").stdout
        for name in ("list", "info", "check", "new", "manifest", "index"):
            self.assertIn(f"\n  {name}", listed)
            for words in ((name, "--help"), (name, "-h"), ("--help", name)):
                done = tmeter("plugin", *words)
                self.assertEqual((done.returncode, done.stderr), (0, ""), words)
                self.assertTrue(done.stdout.startswith(f"Usage: tmeter plugin {name}"), done.stdout)
        for option in ("--model FILE", "--call CALL", "--plugin FILE", "--plugin-path DIR", "--output FILE"):
            self.assertIn(option, tmeter("plugin", "check", "--help").stdout)
        self.assertIn("observer", tmeter("plugin", "new", "--help").stdout)

    def test_unknown_subcommands_and_options_are_refused(self):
        for arguments, words in ((("chek", "x"), ["there are list, info, check, new", "did you mean 'check'"]),
                                 (("check",), ["`tmeter plugin check FILE` is expected", "tmeter plugin check --help"]),
                                 (("list", "flops"), ["`tmeter plugin list` is expected, not more: flops"]),
                                 (("check", "x", "--modle", "y"), ["unknown option '--modle'", "did you mean '--model'"]),
                                 (("new", "x", "--model", "y"), ["unknown option '--model' of `tmeter plugin new NAME`"]),
                                 (("check", "x", "--model"), ["--model needs a value"])):
            with self.subTest(arguments):
                self.assert_refused(2, words, "plugin", *arguments)


class Check(CliTest):
    """A plugin that breaks a rule fails the check by name, and no plugin ends tmeter."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tmeter-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.plugin = pathlib.Path(folder.name) / "rogue.tmeter"
        build_plugin("rogue_plugin.cpp", cls.plugin, NO_RIGHTS)

    def assert_not_fine(self, plugin, identifier, **environment):
        done = tmeter("plugin", "check", plugin, env=environment)
        output = done.stdout + done.stderr
        self.assertEqual(done.returncode, 5, output)
        self.assertIn(identifier, output)
        self.assertNotIn("\nfine: ", output)
        return output

    def test_crashes_and_exits_are_reported(self):
        for where in ("init", "configure", "metric", "analysis", "writer"):
            for end, words in (("segv", "segmentation fault"), ("exit", "ended the process"), ("abort", "abort")):
                with self.subTest(where=where, end=end):
                    output = self.assert_not_fine(self.plugin, "rogue", ROGUE=f"{where}:{end}")
                    self.assertIn(words, output)

    def test_contract_breaches_are_reported(self):
        plugin = self.folder / "contract.tmeter"
        build_plugin("contract_plugin.cpp", plugin)
        for deed, words in (("throw-int", "an exception of unknown type escaped"), ("nan", "was given NaN"),
                            ("negative", "was given a value below 0"), ("no-value", "gives no value"),
                            ("foreign-axis", "for another table"), ("severity", "unknown severity, 99")):
            with self.subTest(deed=deed):
                self.assertIn(words, self.assert_not_fine(plugin, "com.rogue.contract", CONTRACT=deed))

    def built(self, does):
        plugin = self.folder / f"{does}.tmeter"
        build_plugin(SOURCE.resolve() / "tests" / "sdk" / "checked_plugin.cpp", plugin, f"-DDOES={does}")
        return plugin

    def test_changes_of_the_process_are_reported(self):
        for does, words in (("signal", "it changed what happens at signal 12"), ("environment", "environment")):
            with self.subTest(does):
                self.assertIn(words, self.assert_not_fine(self.built(does), "com.acme.checked"))
        for does in ("itimer", "timer"):  # the sandbox has no timers
            with self.subTest(does):
                self.assertIn("timer", self.assert_not_fine(self.built(does), "com.acme.checked", TMETER_SANDBOX="off"))

    def test_values_that_do_not_follow_the_signature_are_reported(self):
        output = self.assert_not_fine(self.built("counts"), "com.acme.checked")
        self.assertIn("acme::same: checked is 1 and then 2 for the same call, although the handler declares that it depends only on the signature", output)
        done = tmeter("plugin", "check", self.built("counts_unclaimed"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("note  acme::same: checked is 1 and then 2 for the same call\n", done.stdout)

    def test_loaders_that_swallow_refusals_are_reported(self):
        model = self.file("model.checked", b"CHECKED1")
        done = tmeter("plugin", "check", self.built("nothing"), "--model", model)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("reads " + str(model) + ": 1 operators, 0 tensors", done.stdout)
        self.assertIn("loader 'checked' reports every refusal of the builder: 7 pushes", done.stdout)
        done = tmeter("plugin", "check", self.built("swallows"), "--model", model)
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("refused", done.stdout)
        self.assertIn("push 7", done.stdout)

    def test_given_calls(self):
        plugin = self.built("nothing")
        call = "acme::same(x=f32[4,8])"
        done = tmeter("plugin", "check", plugin, "--call", call, "--call", "acme::same(i64[])")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for words in (f"{call} gives f32[4, 8]", f"handles {call}: checked 32", "acme::same(i64[]) gives i64[]", "handles acme::same(i64[]): checked 1"):
            self.assertIn(words, done.stdout)
        done = tmeter("plugin", "check", plugin, "--call", "acme::other(x=f32[1])")
        self.assertEqual(done.returncode, 5)
        self.assertIn("acme::other(x=f32[1]): the plugin has no handler and no shape rule for acme::other", done.stdout)
        done = tmeter("plugin", "check", plugin, "--call", "acme::same(y=f32[1])")
        self.assertIn("is refused: the schema has no argument 'y'", done.stdout)

    def test_invalid_calls(self):
        plugin = self.built("nothing")
        for call, words in (("acme::f", "'(' is expected at character 8"), ("f(x=1)", "the name of an operator, such as acme::mlp, is expected"),
                            ("::f()", "the name of an operator"), ("acme::f(x=)", "a value is expected"), ("acme::f(x=f32[1)", "',' is expected"),
                            ("acme::f(x=f32[-1])", "a size, 0 or more, is expected"), ("acme::f(x=f32[1.5])", "a size, 0 or more, is expected"),
                            ("acme::f(x=1, x=2)", "the argument 'x' occurs twice"), ("acme::f(" + "[" * 60, "nested too deeply"),
                            ("acme::f(x=1) ->", "a value is expected"), ("acme::f(x=1) z", "the end is expected"), ('acme::f(x="a)', "a string is not closed"),
                            ("acme::f(x=1e999)", "a value is expected"), ("acme::f(x=nan)", "a value is expected"), ("acme::f(x=q7[1])", "a value is expected"),
                            ("acme::f(x=f32[" + "1," * 80 + "1])", "more than 64 dims"), ("acme::f(" + "1," * 9000 + "1)", "longer than 10000 characters"),
                            ("acme::\x1b[31mf()", "is expected"), ("", "the name of an operator")):
            with self.subTest(call[:40]):
                self.assert_refused(2, [words], "plugin", "check", plugin, "--call", call)

    def test_given_models(self):
        plugin = self.built("nothing")
        template = SOURCE / "sdk" / "template" / "common" / "model.pt2"
        done = tmeter("plugin", "check", plugin, "--model", template)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{template} is read by org.tmeter.pt2, not by this plugin", done.stdout)
        self.assertIn(f"ok    runs on {template}", done.stdout)
        for path in (self.folder / "none.pt2", self.folder, self.file("damaged.checked", b"CHECKED2")):
            done = tmeter("plugin", "check", plugin, "--model", path)
            self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
            self.assertIn("BAD   " + str(path), done.stdout)

    def test_the_manifest_of_another_build_is_reported(self):
        plugin = self.folder / "moved.tmeter"
        plugin.write_bytes(self.plugin.read_bytes())
        manifest = self.folder / "moved.tmeter.toml"
        manifest.write_text(tmeter("plugin", "manifest", plugin).stdout)
        self.assertIn("its manifest agrees with it", tmeter("plugin", "check", plugin).stdout)
        build_plugin("rogue_plugin.cpp", plugin, NO_RIGHTS, "-O2", "-g")
        self.assertIn("another build", self.assert_not_fine(plugin, "rogue"))

    def test_tmeters_own_plugins_pass(self):
        for plugin in sorted((BUILD / "lib" / "tmeter" / "plugins").glob("*.tmeter")):
            with self.subTest(plugin=plugin.name):
                done = tmeter("plugin", "check", plugin)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("fine: ", done.stdout)

    def test_files_that_are_not_plugins(self):
        for path, words in ((self.file("x.tmeter", "text"), "not a shared library"), (self.folder, "is a folder"),
                            (self.folder / "none.tmeter", "does not exist"), ("/dev/zero", "not a regular file")):
            self.assert_refused(5, [words], "plugin", "check", path)


if __name__ == "__main__":
    main()
