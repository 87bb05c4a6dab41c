"""`tmeter completion` and `tmeter manual`: scripts and a page made from the options and the installed plugins."""
import re
import shutil
import subprocess
import unittest

from support import CliTest, main, tmeter

ASK = """source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_tmeter
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Bash(CliTest):
    def setUp(self):
        super().setUp()
        done = tmeter("completion", "bash")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.script = self.file("tmeter.bash", done.stdout)

    def complete(self, *words):
        done = subprocess.run(["bash", "--norc", "-c", ASK, "bash", self.script, "tmeter", *words], capture_output=True, text=True,
                              cwd=self.folder, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_options_commands_and_files(self):
        self.file("model.pt2")
        self.assertEqual(self.complete("--inp"), ["--input", "--input-file"])
        self.assertEqual(self.complete("sh"), ["show"])
        self.assertEqual(self.complete("mod"), ["model.pt2"])
        self.assertEqual(self.complete("show", "mod"), ["model.pt2"])
        self.assertEqual(self.complete("plugin", "l"), ["list"])
        self.assertEqual(self.complete("hardware", ""), ["list", "info", "measure"])

    def test_all_commands_of_the_help_are_completed(self):
        for line in tmeter("--help").stdout.splitlines():
            if match := re.match(r"  tmeter ([a-z, ]+?)(?= \[|  | [a-z]+\|)", line):
                for command in match[1].split(", "):
                    self.assertIn(command, self.complete(command[:3]), line)
        listed = re.findall(r"^  ([a-z]+)", tmeter("plugin", "--help").stdout, re.MULTILINE)
        self.assertEqual(self.complete("plugin", ""), listed)
        for command in ("hardware", "completion"):
            for word in self.complete(command, ""):
                self.assertIn(word, tmeter(command).stderr)

    def test_values_of_options_are_completed(self):
        self.assertEqual(self.complete("--by", "t"), ["type", "tensor"])
        self.assertEqual(self.complete("--by", "=", "t"), ["type", "tensor"])  # bash cuts words at '='
        self.assertEqual(self.complete("-p", "flo"), ["flops"])
        self.assertEqual(self.complete("-p", "params,mem"), ["params,memory"])
        self.assertEqual(self.complete("--hardware", "nvidia-a"), ["nvidia-a100", "nvidia-a100-80gb", "nvidia-a100-80gb-pcie", "nvidia-a100-pcie", "nvidia-a40"])
        self.assertIn("json", self.complete("--report", ""))
        self.assertEqual(self.complete("--sort", "backward_m"), ["backward_macs"])
        self.assertEqual(self.complete("--set", "flops.conv"), ["flops.convention="])

    def test_plugins_of_the_user_cannot_inject_commands(self):
        (self.folder / "evil.toml").write_text('[plugin]\nname = "x$(touch pwned)"\n')
        done = tmeter("completion", "bash", env={"TMETER_PLUGIN_PATH": str(self.folder)})
        self.assertNotIn("pwned", done.stdout)


class Shells(CliTest):
    def options(self):
        return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", tmeter("--help").stdout)) - {"--index", "--update", "--why"}

    def test_every_option_is_in_each(self):
        for shell, form in (("bash", "{}"), ("zsh", "*{}"), ("fish", "-l {}")):
            text = tmeter("completion", shell).stdout
            for option in self.options():
                name = option[2:] if shell == "fish" else option
                self.assertIn(form.format(name), text, shell)

    def test_each_shell_reads_its_own_script(self):
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell):
                path = self.file(f"tmeter.{shell}", tmeter("completion", shell).stdout)
                done = subprocess.run([shell, "-n", path], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)

    def test_quotes_are_balanced(self):
        for shell in ("zsh", "fish"):
            for line in tmeter("completion", shell).stdout.splitlines():
                plain = re.sub(r"\\.|'\\''", "", line)
                self.assertEqual(plain.count("'") % 2, 0, line)

    def test_zsh_has_the_values_of_options(self):
        text = tmeter("completion", "zsh").stdout
        self.assertNotIn("…", re.sub(r"\[[^]]*\]", "", text))
        for word in ("nvidia-v100-pcie", "workspace_bytes", "flops.convention=", "xml)"):
            self.assertIn(word, text)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes(self):
        script = self.file("tmeter.fish", tmeter("completion", "fish").stdout)
        for typed, expected in (("--plugins=flops,energy-", {"--plugins=flops,energy-advice"}), ("-p params,lay", {"params,layout-advice"}),
                                ("--columns macs,backward_m", {"macs,backward_macs"}), ("--by t", {"tensor", "type"}),
                                ("--set flops.conv", {"flops.convention="}), ("comp", {"completion"})):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C 'tmeter {typed}'"], capture_output=True, text=True,
                                  cwd=self.folder, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}, timeout=60)
            self.assertEqual({line.split("\t")[0] for line in done.stdout.splitlines()}, expected, typed)

    def test_mistakes(self):
        self.assert_refused(2, ["bash, zsh or fish"], "completion")
        self.assert_refused(2, ["bash, zsh or fish"], "completion", "powershell")
        self.assert_refused(2, ["takes no arguments"], "manual", "bash")


class Manual(CliTest):
    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_the_manual_page_has_the_options_of_the_help(self):
        page = self.file("tmeter.1", tmeter("manual").stdout)
        done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                              env={"MANWIDTH": "200", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        words = " ".join(done.stdout.split())
        for line in tmeter("--help").stdout.splitlines():
            match = re.match(r"  (?:-\w \[ )?(--[a-z-]+)", line)
            if match:
                self.assertIn(match[1], words)
        for word in ("status 3 unless it holds: 'macs<=5G', 'coverage==100%'", "EXIT STATUS", "130 interrupted", "SYNOPSIS"):
            self.assertIn(word, words)


if __name__ == "__main__":
    main()
