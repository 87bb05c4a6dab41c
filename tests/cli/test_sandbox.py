"""The sandbox, tried from a plugin: forbidden actions fail, and the report is complete nevertheless. With the sandbox off
the same actions succeed, so the tests are able to fail."""
import contextlib
import hashlib
import json
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from support import MODELS, NO_LEAKS, SANITIZED, SOURCE, TMETER, CliTest, build_plugin, main, report, tmeter

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
        self.secret = self.file("secret", "a secret\n")
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
            "setuid": self.victim,
            "setxattrat": self.victim,
            "removexattrat": self.victim,
            "file_setattr": self.victim,
            "set-flags": self.victim,
            "shared-memory": "",
            "queue": "",
            "posix-queue": "tmeter-test",
            "type": "/dev/null",
            "own-signals": "",
            "signal-kind": "",
            "outlive": "",
            "daemon": "",
            "others-group": "",
        }

    def outcomes(self, attempts, plugin=None, env=None):
        """The outcome of each action, from the findings of a complete report."""
        wishes = ";".join(f"{action} {argument}" for action, argument in attempts.items())
        done = tmeter("--plugins=params,flops,rogue", "--plugin", plugin or self.plugin, "--report", "json", RESNET,
                      env={"ROGUE_TRY": wishes, **(env or {})})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.document, self.stderr = json.loads(done.stdout), done.stderr
        self.assertEqual(self.document["totals"]["macs"], 4089184256)
        self.assertEqual(self.document["totals"]["rogue"], 175)
        return {f["rule"]: f["text"].split(": ", 1)[1] for f in self.document["findings"] if f["plugin"] == "com.rogue.all"}

    def test_only_computing_is_possible(self):
        outcomes = self.outcomes(self.attempts())
        self.assertEqual(set(outcomes), set(self.attempts()))
        for action, outcome in outcomes.items():
            self.assertIn(outcome, REFUSED, action)
        self.assertEqual(self.victim.read_text(), "as it was\n")
        self.assertEqual(self.victim.stat().st_mode & 0o777, 0o644 & ~self.umask())
        self.assertFalse(any((self.folder / name).exists() for name in ("new", "made", "link", "moves.moved")))

    @staticmethod
    def umask():
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_actions_succeed_with_the_sandbox_off_and_the_report_states_it(self):
        attempts = self.attempts()
        del attempts["execve"], attempts["signal"], attempts["unshare"]  # no such program; harmless in either case
        # Actions that this kernel or file system may lack, that leave something behind, or that need a terminal.
        for action in ("setxattrat", "removexattrat", "file_setattr", "set-flags", "shared-memory", "queue", "posix-queue", "type",
                       "outlive", "setuid"):
            del attempts[action]
        outcomes = self.outcomes(attempts, env={"TMETER_SANDBOX": "off"})
        self.assertEqual(outcomes, {action: "done" for action in attempts})
        self.assertTrue(any("the sandbox is off" in w for w in self.document["warnings"]), self.document["warnings"])

    def test_execve_is_refused_and_not_just_missing(self):
        self.assertEqual(self.outcomes({"execve": "/nonexistent-program"}, env={"TMETER_SANDBOX": "off"}),
                         {"execve": "No such file or directory"})

    def test_ptrace_is_refused(self):
        self.assertIn(self.outcomes({"ptrace": ""})["ptrace"], REFUSED)

    def test_system_files_outside_the_list_are_not_read(self):
        for path in ("/etc/shadow", "/etc/passwd", "/proc/1/environ", "/root", str(pathlib.Path.home())):
            self.assertIn(self.outcomes({"read": path})["read"], REFUSED, path)

    def test_threads_and_permitted_files_work(self):
        self.assertEqual(self.outcomes({"thread": "", "read": RESNET}), {"thread": "done", "read": "done"})
        self.assertEqual(self.outcomes({"read": "/proc/self/status"}), {"read": "done"})

    def test_only_declared_rights_are_shown_and_given(self):
        declaring = self.folder_of_plugins / "declaring.tmeter"
        build_plugin("rogue_plugin.cpp", declaring, '-DROGUE_RIGHTS="network files"')
        outcomes = self.outcomes({"socket": "", "write": self.folder / "new", "fork": ""}, plugin=declaring)
        self.assertEqual((outcomes["socket"], outcomes["write"]), ("done", "done"))
        self.assertIn(outcomes["fork"], REFUSED)
        self.assertIn("may use its declared rights: network files", self.stderr)
        info = tmeter("plugin", "info", "rogue", "--plugin", declaring)
        self.assertIn("may use, beyond computing: network files", info.stdout)

    def test_rights_of_an_unnamed_plugin_are_not_given(self):
        folder = self.folder / "plugins"
        folder.mkdir()
        build_plugin("rogue_plugin.cpp", folder / "declaring.tmeter", '-DROGUE_RIGHTS="network files"')
        done = tmeter("--plugin-path", folder, "-v", RESNET)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("may use its declared rights", done.stderr)
        self.assertIn("no network", done.stderr)

    def test_a_constructor_that_hangs_costs_ten_seconds_and_its_plugin(self):
        folder = self.folder / "plugins"
        folder.mkdir()
        source = self.file("hangs.cpp", '#include "%s/tests/cli/digest_plugin.cpp"\n#include <unistd.h>\n'
                           '__attribute__((constructor)) static void hang() { for (;;) pause(); }\n' % SOURCE.resolve())
        build_plugin(source, folder / "hangs.tmeter")
        expected = report("--plugins=params,flops", RESNET)["totals"]
        start = time.monotonic()
        found = tmeter("--plugin-path", folder, "--plugins=params,flops", "--report", "json", RESNET)
        self.assertLess(time.monotonic() - start, 25)
        self.assertEqual(json.loads(found.stdout)["totals"], expected)
        self.assertIn("did not finish within 10 s", found.stderr)
        named = tmeter("--plugin", folder / "hangs.tmeter", "--plugins=params,flops", "--report", "json", RESNET)
        self.assertEqual((named.returncode, json.loads(named.stdout)["totals"]), (5, expected), named.stderr)
        self.assertIn("hangs.tmeter did not finish within 10 s", named.stderr)

    def test_unknown_rights_are_the_plugins_error(self):
        odd = self.folder / "odd.tmeter"
        build_plugin("rogue_plugin.cpp", odd, '-DROGUE_RIGHTS="everything"')
        self.assert_refused(5, ["com.rogue.all", "'everything'", "network, files, processes and threads"], "--plugin", odd, RESNET)

    def without(self, feature, attempts):
        """The outcomes and the output of --verbose on a kernel without `feature`."""
        wrapper = self.folder / "kernel_without"
        subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", wrapper, SOURCE / "tests" / "cli" / "kernel_without.c"], check=True)
        wishes = ";".join(f"{a} {argument}" for a, argument in attempts.items())
        done = subprocess.run([wrapper, feature, TMETER, "-v", "--plugins=params,flops,rogue", "--plugin", self.plugin, "--report", "json",
                               RESNET], capture_output=True, text=True, env={**os.environ, "ROGUE_TRY": wishes})
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["totals"]["macs"], 4089184256)
        return {f["rule"]: f["text"].split(": ", 1)[1] for f in document["findings"] if f["plugin"] == "com.rogue.all"}, done.stderr

    def test_without_landlock_the_other_restrictions_hold_and_gaps_are_listed(self):
        attempts = self.attempts()
        del attempts["read"]
        outcomes, words = self.without("landlock", {**attempts, "read": self.secret})
        self.assertEqual(outcomes.pop("read"), "done")
        for action, outcome in outcomes.items():
            self.assertIn(outcome, REFUSED, action)
        self.assertIn("any file this user can read can be read (this kernel has no Landlock)", words)
        self.assertIn("(seccomp)", words)

    def test_without_seccomp_restrictions_of_files_hold_and_gaps_are_listed(self):
        outcomes, words = self.without("seccomp", {"read": self.secret, "write": self.folder / "new", "append": self.victim,
                                                   "truncate": self.victim, "execve": "/bin/true", "socket": ""})
        self.assertEqual(outcomes.pop("socket"), "done")
        for action, outcome in outcomes.items():
            self.assertIn(outcome, REFUSED, action)
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

    def test_a_manifest_makes_no_folder_readable(self):
        """The sandbox grants the library folders that it finds itself, not those that a manifest declares, except for
        tmeter's own plugins."""
        plugin = self.folder / "rogue.tmeter"
        shutil.copy(self.plugin, plugin)
        manifest = self.folder / "rogue.tmeter.toml"
        self.assertEqual(tmeter("plugin", "manifest", plugin, "--output", manifest).returncode, 0)
        manifest.write_text("library_folders = [ '/etc' ]\n" + manifest.read_text())
        self.assertIn(self.outcomes({"read": "/etc/passwd"}, plugin=plugin)["read"], REFUSED)

    def test_a_library_opened_by_descriptor_keeps_its_name(self):
        self.assertEqual(self.outcomes({"named": self.plugin}), {"named": "done"})

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    @unittest.skipIf(SANITIZED, "gdb takes minutes for a sanitized program")
    def test_a_debugger_finds_the_code_of_a_plugin(self):
        plugin = self.folder / "debugged.tmeter"
        build_plugin("rogue_plugin.cpp", plugin, "-g", '-DROGUE_RIGHTS=""')
        done = subprocess.run(
            ["gdb", "-q", "-batch", "-nx", "-ex", "set follow-fork-mode child", "-ex", "set breakpoint pending on",
             "-ex", "break rogue_plugin.cpp:misbehave", "-ex", "run", "-ex", "backtrace 2",
             "--args", TMETER, "--plugins=params", "--plugin", plugin, RESNET], capture_output=True, text=True, timeout=300,
            env={**os.environ, "DEBUGINFOD_URLS": ""})
        self.assertRegex(done.stdout, r'hit Breakpoint 1.*misbehave \(where=.*"init"\)')

    def test_a_plugin_cannot_type_into_the_terminal(self):
        """With a controlling terminal, as for a user."""
        wishes = {"ROGUE_TRY": "terminal ", "TMETER_SANDBOX": "off"}
        arguments = ["--plugins=params,flops,rogue", "--plugin", self.plugin, "--report", f"json={self.folder / 'r.json'}", RESNET]
        program, ends = [TMETER, *map(str, arguments)], []
        for run in (program, ["head", "-c0", "/dev/tty"]):
            pid, terminal = pty.fork()
            if pid == 0:
                os.execvpe(run[0], run, {**os.environ, **wishes})
            try:
                while os.read(terminal, 4096):
                    pass
            except OSError:
                pass  # the other end is closed
            ends.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            os.close(terminal)
        self.assertEqual(ends, [0, 0], "a program without tmeter has the terminal")
        findings = json.loads((self.folder / "r.json").read_text())["findings"]
        self.assertIn("terminal: No such device or address", [f["text"] for f in findings])

    def test_no_process_outlives_the_run(self):
        before = self.own_processes()
        self.assertEqual(self.outcomes({"daemon": ""}, env={"TMETER_SANDBOX": "off"}), {"daemon": "done"})
        declaring = self.folder_of_plugins / "forking.tmeter"
        build_plugin("rogue_plugin.cpp", declaring, '-DROGUE_RIGHTS="processes"')
        self.assertEqual(self.outcomes({"daemon": ""}, plugin=declaring), {"daemon": "done"})
        self.assertEqual(self.own_processes() - before, set())

    @staticmethod
    def own_processes():
        """Processes that run this tmeter with a plugin of this class."""
        found = set()
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if b"tmeter-rogue-" in (entry / "cmdline").read_bytes() and os.path.samefile(entry / "exe", TMETER):
                    found.add(entry.name)
        return found

    def test_verbose_lists_the_restrictions(self):
        done = tmeter("-v", RESNET)
        self.assertIn("tmeter: sandbox: ", done.stderr)
        self.assertIn("seccomp", done.stderr)


class Early(CliTest):
    """Code of a library can run while the library is loaded. For every command it runs in the sandbox."""

    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-early-")
        cls.addClassCleanup(built.cleanup)
        cls.evidence = pathlib.Path(built.name)
        cls.plugins = cls.evidence / "plugins"
        cls.plugins.mkdir()
        cls.plugin = cls.plugins / "early.tmeter"
        build_plugin("early_plugin.cpp", cls.plugin, f'-DEVIDENCE="{built.name}/evidence-"')
        cls.saved = cls.evidence / "saved.json"
        cls.saved.write_text(tmeter("--report", "json", RESNET).stdout)

    def setUp(self):
        super().setUp()
        for left in self.evidence.glob("evidence-*"):
            left.unlink()

    def left(self):
        return {path.name.removeprefix("evidence-") for path in self.evidence.glob("evidence-*")}

    def commands(self):
        plugin_options = ("--plugin", self.plugin)
        saved = self.saved
        return {
            "analyse": (*plugin_options, RESNET),
            "in a folder": ("--plugin-path", self.plugins, RESNET),
            "show": ("show", *plugin_options, saved),
            "its report": (*plugin_options, "--report", "early", RESNET),
            "diff": ("diff", *plugin_options, saved, saved),
            "merge": ("merge", *plugin_options, saved, saved, "--index"),
            "config": ("config",),
            "list": ("plugin", "list", *plugin_options),
            "info": ("plugin", "info", "early", *plugin_options),
            "manifest": ("plugin", "manifest", self.plugin),
            "check": ("plugin", "check", self.plugin),
        }

    def test_nothing_runs_outside_the_sandbox(self):
        for name, arguments in self.commands().items():
            with self.subTest(name):
                done = tmeter(*arguments, env={"TMETER_PLUGIN_PATH": str(self.plugins)})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.left(), set())

    def test_the_plugin_runs_in_every_command_without_the_sandbox(self):
        """Without the sandbox each command leaves evidence; otherwise the test above would prove nothing."""
        for name, arguments in self.commands().items():
            with self.subTest(name):
                self.setUp()
                done = tmeter(*arguments, env={"TMETER_PLUGIN_PATH": str(self.plugins), "TMETER_SANDBOX": "off"})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.left(), {"resolver", "constructor", "init"})
                self.assertEqual((self.evidence / "evidence-init").read_bytes(), pathlib.Path("/etc/passwd").read_bytes()[:64])

    def test_the_plugin_gives_its_values_in_the_sandbox(self):
        done = tmeter("--plugin", self.plugin, "--report", "json", RESNET)
        self.assertEqual(json.loads(done.stdout)["totals"]["early"], 42 * 175)

    def test_a_description_has_only_the_texts_of_the_plugin(self):
        """The requesting process writes the manifest. The plugin, in another process, supplies only its own texts."""
        manifest = self.folder / "early.tmeter.toml"
        done = tmeter("plugin", "manifest", self.plugin, "--output", manifest)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("com.rogue.early", manifest.read_text())
        self.assertEqual(self.left(), set())

    def test_a_plugin_linked_to_a_library_of_its_own_is_described_in_the_sandbox(self):
        """Through $ORIGIN, an absolute path, and another library."""
        folder = self.folder / "linked"
        (folder / "plugins").mkdir(parents=True)
        (folder / "far").mkdir()
        far, near = self.file("far.c", "int far_answer(void) { return 40; }\n"), self.file(
            "near.c", "int far_answer(void);\nint near_answer(void) { return far_answer() + 2; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "far" / "libfar.so", far], check=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libnear.so", near, "-L", folder / "far", "-lfar",
                        "-Wl,-rpath,$ORIGIN/far"], check=True)
        source = self.file("linked.cpp", f'#include "{SOURCE}/tests/cli/digest_plugin.cpp"\n'
                           'extern "C" int near_answer();\nstatic const int kept = near_answer();\n'
                           '__attribute__((used)) static int use() { return kept + near_answer(); }\n')
        for name, path in (("origin", "$ORIGIN/.."), ("absolute", str(folder))):
            plugin = folder / "plugins" / f"{name}.tmeter"
            build_plugin(source, plugin, "-L", folder, "-lnear", f"-Wl,-rpath,{path}", "-Wl,-rpath-link," + str(folder / "far"),
                         "-Wl,--no-as-needed", "-lnear")
            with self.subTest(name):
                done = tmeter("--plugin", plugin, "--report", "json", RESNET)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                shown = tmeter("plugin", "manifest", plugin)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                self.assertIn(str(folder / "far"), shown.stdout)
            plugin.unlink()


class ByDescriptor(CliTest):
    """A library is opened once: the same open file is checked, hashed and loaded."""

    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-exchange-")
        cls.addClassCleanup(built.cleanup)
        cls.built = pathlib.Path(built.name)
        build_plugin("early_plugin.cpp", cls.built / "early.tmeter", f'-DEVIDENCE="{built.name}/evidence-"')
        build_plugin("rogue_plugin.cpp", cls.built / "good.tmeter", '-DROGUE_RIGHTS=""')

    def test_an_exchange_of_files_does_not_pass_the_allow_list(self):
        """While another process swaps the files continually, and while the file itself is rewritten."""
        good, bad, plugin = self.built / "good.tmeter", self.built / "early.tmeter", self.folder / "p.tmeter"
        config = self.file("config.toml", f'plugin-sha256 = ["{hashlib.sha256(good.read_bytes()).hexdigest()}"]\n')
        for how in ("renamed", "written"):
            shutil.copy(good, plugin)
            stop = threading.Event()

            def exchange():
                while not stop.is_set():
                    for source in (bad, good):
                        if how == "renamed":
                            shutil.copy(source, self.folder / "next")
                            os.replace(self.folder / "next", plugin)
                        else:
                            plugin.write_bytes(source.read_bytes())

            thread = threading.Thread(target=exchange)
            thread.start()
            try:
                outcomes = {0: 0, 5: 0}
                for _ in range(30):
                    done = tmeter("--plugin", plugin, "--config", config, "--report", "json", RESNET, env={"TMETER_SANDBOX": "off"})
                    self.assertIn(done.returncode, outcomes, done.stderr)
                    outcomes[done.returncode] += 1
                    if done.returncode == 0:
                        self.assertIn("rogue", json.loads(done.stdout)["totals"])
                    self.assertEqual(list(self.built.glob("evidence-*")), [], how)
            finally:
                stop.set()
                thread.join()

    def test_folders_of_others_and_links_into_them_are_refused(self):
        shared = self.folder / "shared"
        shared.mkdir()
        plugin = shared / "p.tmeter"
        shutil.copy(self.built / "good.tmeter", plugin)
        link, chain = self.folder / "link.tmeter", self.folder / "chain.tmeter"
        link.symlink_to(plugin)
        (shared / "back.tmeter").symlink_to(self.built / "good.tmeter")
        chain.symlink_to(shared / "back.tmeter")
        through = self.folder / "through"
        through.symlink_to(shared)
        for mode in (0o777, 0o1777):
            shared.chmod(mode)
            for path in (plugin, link, chain, through / "p.tmeter"):
                with self.subTest(path=path, mode=oct(mode)):
                    self.assert_refused(5, [str(path), "anybody on this machine can change it"], RESNET, "--plugin", path)
        shared.chmod(0o755)
        for path in (plugin, link, chain, through / "p.tmeter"):
            self.assertEqual(tmeter(RESNET, "--plugin", path).returncode, 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_files_of_other_users_are_refused(self):
        shared = self.folder / "shared"
        shared.mkdir()
        plugin = shared / "p.tmeter"
        shutil.copy(self.built / "good.tmeter", plugin)
        os.chown(plugin, 12345, -1)
        self.assert_refused(5, [str(plugin), "belongs to another user (12345)"], RESNET, "--plugin", plugin)
        os.chown(plugin, 0, -1)
        os.chown(shared, 12345, -1)
        self.assert_refused(5, [str(shared), "belongs to another user (12345)"], RESNET, "--plugin", plugin)
        self.assert_refused(2, [str(shared), "belongs to another user (12345)"], RESNET, "--plugin-path", shared)
        done = tmeter(RESNET, env={"TMETER_PLUGIN_PATH": str(shared)})
        self.assertEqual(done.returncode, 0)
        self.assertIn("belongs to another user (12345)", done.stderr)


if __name__ == "__main__":
    main()
