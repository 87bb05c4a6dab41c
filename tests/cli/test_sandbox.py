"""The sandbox, tried from a plugin: what a worker has given up fails, the report is complete all the same, and with the
sandbox off the same attempts succeed, so that these tests can fail."""
import json
import os
import pathlib
import subprocess
import tempfile

from support import MODELS, NO_LEAKS, SOURCE, TMETER, CliTest, build_plugin, main, tmeter

RESNET = MODELS / "resnet50.pt2"
REFUSED = ("Permission denied", "Operation not permitted", "Function not implemented")


class Sandbox(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-rogue-")
        cls.addClassCleanup(built.cleanup)
        cls.folder_of_plugins = pathlib.Path(built.name)
        cls.plugin = cls.folder_of_plugins / "rogue.tmeter"
        build_plugin("rogue_plugin.cpp", cls.plugin, '-DROGUE_RIGHTS=""')

    def setUp(self):
        super().setUp()
        self.secret = self.file("secret", "for nobody\n")
        self.victim = self.file("victim", "as it was\n")

    def attempts(self):
        return {
            "write": self.folder / "new",
            "append": self.victim,
            "truncate": self.victim,
            "chmod": self.victim,
            "mkdir": self.folder / "made",
            "symlink": self.folder / "link",
            "rename": self.file("moves"),
            "unlink": self.file("goes"),
            "read": self.secret,
            "execve": "/nonexistent-program",
            "fork": "",
            "system": "true",
            "socket": "",
            "unix": "",
            "signal": "",
            "unshare": "",
            "memfd": "",
        }

    def outcomes(self, attempts, plugin=None, env=None):
        """What came of each, from the findings of a report that is complete."""
        wishes = ";".join(f"{what} {argument}" for what, argument in attempts.items())
        done = tmeter("--plugins=params,flops,rogue", "--plugin", plugin or self.plugin, "--report", "json", RESNET,
                      env={"ROGUE_TRY": wishes, **(env or {})})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.document, self.stderr = json.loads(done.stdout), done.stderr
        self.assertEqual(self.document["totals"]["macs"], 4089184256)
        self.assertEqual(self.document["totals"]["rogue"], 175)
        return {f["rule"]: f["text"].split(": ", 1)[1] for f in self.document["findings"] if f["plugin"] == "com.rogue.all"}

    def test_nothing_but_computing_is_possible(self):
        outcomes = self.outcomes(self.attempts())
        self.assertEqual(set(outcomes), set(self.attempts()))
        for what, outcome in outcomes.items():
            self.assertIn(outcome, REFUSED, what)
        self.assertEqual(self.victim.read_text(), "as it was\n")
        self.assertEqual(self.victim.stat().st_mode & 0o777, 0o644 & ~self.umask())
        self.assertFalse(any((self.folder / name).exists() for name in ("new", "made", "link", "moves.moved")))

    @staticmethod
    def umask():
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_the_same_succeeds_with_the_sandbox_off_and_the_report_says_so(self):
        attempts = self.attempts()
        del attempts["execve"], attempts["signal"], attempts["unshare"]  # no such program; harmless either way
        outcomes = self.outcomes(attempts, env={"TMETER_SANDBOX": "off"})
        self.assertEqual(outcomes, {what: "done" for what in attempts})
        self.assertTrue(any("the sandbox is off" in w for w in self.document["warnings"]), self.document["warnings"])

    def test_execve_is_refused_and_not_just_missing(self):
        self.assertEqual(self.outcomes({"execve": "/nonexistent-program"}, env={"TMETER_SANDBOX": "off"}),
                         {"execve": "No such file or directory"})

    def test_ptrace_is_refused(self):
        self.assertIn(self.outcomes({"ptrace": ""})["ptrace"], REFUSED)

    def test_system_files_outside_the_list_are_not_read(self):
        for path in ("/etc/shadow", "/etc/passwd", "/proc/1/environ", "/root", str(pathlib.Path.home())):
            self.assertIn(self.outcomes({"read": path})["read"], REFUSED, path)

    def test_what_computing_needs_still_works(self):
        self.assertEqual(self.outcomes({"thread": "", "read": RESNET}), {"thread": "done", "read": "done"})
        self.assertEqual(self.outcomes({"read": "/proc/self/status"}), {"read": "done"})

    def test_the_rights_a_plugin_declares_are_shown_and_given_and_no_others(self):
        declaring = self.folder_of_plugins / "declaring.tmeter"
        build_plugin("rogue_plugin.cpp", declaring, '-DROGUE_RIGHTS="network files"')
        outcomes = self.outcomes({"socket": "", "write": self.folder / "new", "fork": ""}, plugin=declaring)
        self.assertEqual((outcomes["socket"], outcomes["write"]), ("done", "done"))
        self.assertIn(outcomes["fork"], REFUSED)
        self.assertIn("may use what it declares: network files", self.stderr)
        info = tmeter("plugin", "info", "rogue", "--plugin", declaring)
        self.assertIn("may use, beyond computing: network files", info.stdout)

    def test_rights_of_a_plugin_nobody_named_are_not_given(self):
        folder = self.folder / "plugins"
        folder.mkdir()
        build_plugin("rogue_plugin.cpp", folder / "declaring.tmeter", '-DROGUE_RIGHTS="network files"')
        done = tmeter("--plugin-path", folder, "-v", RESNET)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("may use what it declares", done.stderr)
        self.assertIn("no network", done.stderr)

    def test_unknown_rights_are_the_plugins_error(self):
        odd = self.folder / "odd.tmeter"
        build_plugin("rogue_plugin.cpp", odd, '-DROGUE_RIGHTS="everything"')
        self.assert_refused(5, ["com.rogue.all", "'everything'", "network, files, processes and threads"], "--plugin", odd, RESNET)

    def without(self, what, attempts):
        """Outcomes, and what --verbose says, on a kernel without `what`."""
        wrapper = self.folder / "kernel_without"
        subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", wrapper, SOURCE / "tests" / "cli" / "kernel_without.c"], check=True)
        wishes = ";".join(f"{a} {argument}" for a, argument in attempts.items())
        done = subprocess.run([wrapper, what, TMETER, "-v", "--plugins=params,flops,rogue", "--plugin", self.plugin, "--report", "json",
                               RESNET], capture_output=True, text=True, env={**os.environ, "ROGUE_TRY": wishes})
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["totals"]["macs"], 4089184256)
        return {f["rule"]: f["text"].split(": ", 1)[1] for f in document["findings"] if f["plugin"] == "com.rogue.all"}, done.stderr

    def test_a_kernel_without_landlock_holds_the_rest_and_says_what_does_not(self):
        attempts = self.attempts()
        del attempts["read"]
        outcomes, words = self.without("landlock", {**attempts, "read": self.secret})
        self.assertEqual(outcomes.pop("read"), "done")
        for what, outcome in outcomes.items():
            self.assertIn(outcome, REFUSED, what)
        self.assertIn("any file this user can read can be read (this kernel has no Landlock)", words)
        self.assertIn("(seccomp)", words)

    def test_a_container_that_forbids_seccomp_holds_the_files_and_says_what_does_not(self):
        outcomes, words = self.without("seccomp", {"read": self.secret, "write": self.folder / "new", "append": self.victim,
                                                   "truncate": self.victim, "execve": "/bin/true", "socket": ""})
        self.assertEqual(outcomes.pop("socket"), "done")
        for what, outcome in outcomes.items():
            self.assertIn(outcome, REFUSED, what)
        self.assertIn("system calls are not limited (no seccomp here)", words)

    def test_a_kernel_without_both_still_works(self):
        outcomes, words = self.without("both", {"read": self.secret})
        self.assertEqual(outcomes, {"read": "done"})
        self.assertIn("no Landlock", words)
        self.assertIn("no seccomp", words)

    def test_a_traced_run_works(self):
        """As under a debugger: a tracer follows the worker."""
        tracer = self.folder / "tracer"
        subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", tracer, SOURCE / "tests" / "cli" / "tracer.c"], check=True)
        done = subprocess.run([tracer, TMETER, "--report", "json", RESNET], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **NO_LEAKS})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["totals"]["macs"], 4089184256)

    def test_verbose_says_what_holds(self):
        done = tmeter("-v", RESNET)
        self.assertIn("tmeter: sandbox: ", done.stderr)
        self.assertIn("seccomp", done.stderr)


if __name__ == "__main__":
    main()
