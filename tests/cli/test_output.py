"""Destinations of reports: standard output under all of its names, terminals, pipes, files that are replaced; and the
files that remain when a run is interrupted."""
import os
import pathlib
import pty
import signal
import stat
import subprocess
import tempfile
import threading
import time
import tty
import unittest

from support import MODELS, SANITIZED, SOURCE, TMETER, CliTest, build_plugin, main

TIED, RESNET = MODELS / "tied.pt2", MODELS / "resnet50.pt2"
SIGNALS = (signal.SIGPIPE, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGQUIT, signal.SIGXCPU, signal.SIGVTALRM,
           signal.SIGIO, signal.SIGRTMIN + 3)


def shell(command, **kwargs):
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "T": os.path.abspath(TMETER), "M": str(TIED)}, **kwargs)


class StandardOutput(CliTest):
    NAMES = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link", "log", "hard", "soft")

    def test_is_appended_to_and_never_replaced_under_any_name(self):
        for name in self.NAMES:
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                done = shell(f"echo before > log; ln log hard; ln -s log soft; ln -s /dev/stdout link; "
                             f"$T $M --report csv={name} >> log && echo after >> log", cwd=folder)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                lines = pathlib.Path(folder, "log").read_text().splitlines()
                self.assertEqual((lines[0], lines[-1]), ("before", "after"))
                self.assertTrue(lines[1].startswith("id,path"), lines[1])
                self.assertEqual(len(lines), len({*lines}), "once")
                self.assertEqual(sorted(os.listdir(folder)), ["hard", "link", "log", "soft"])

    def test_another_descriptor_is_written_at_its_position(self):
        done = shell("exec 5> log; echo before >&5; $T $M --report csv=/dev/fd/5; echo after >&5", cwd=self.folder)
        self.assertEqual(done.stderr, "")
        lines = (self.folder / "log").read_text().splitlines()
        self.assertEqual((lines[0], lines[-1]), ("before", "after"))

    def test_standard_error_is_not_replaced_by_a_report(self):
        done = shell("$T $M -v --report csv=log 2> log", cwd=self.folder)
        text = (self.folder / "log").read_text()
        self.assertIn("id,path", text)
        self.assertIn("tmeter: ", text)
        self.assertEqual(done.returncode, 0)

    def test_process_substitution_works(self):
        done = shell("$T $M --report csv=>(cat > copy; touch done); while [ ! -e done ]; do sleep 0.01; done", cwd=self.folder)
        self.assertTrue((self.folder / "copy").read_text().startswith("id,path"), done.stderr)

    def test_may_be_closed_when_nothing_is_written_to_it(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed), tempfile.TemporaryDirectory() as folder:
                done = shell(f"$T $M --report csv=r.csv {closed}", cwd=folder)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                self.assertTrue(pathlib.Path(folder, "r.csv").read_text().startswith("id,path"))
        done = shell("$T $M >&-; echo $?", cwd=self.folder)
        self.assertEqual(done.stdout, "2\n")
        self.assertEqual(done.stderr, "tmeter: standard output cannot be written: Bad file descriptor\n")

    def test_a_reader_that_stops_costs_no_other_report(self):
        done = shell(f"$T {RESNET} --report json --report csv=r.csv | head -c 1; echo ${{PIPESTATUS[0]}}", cwd=self.folder)
        self.assertEqual((done.stdout, done.stderr), ("{141\n", ""))
        self.assertTrue((self.folder / "r.csv").read_text().startswith("id,path"))


class Terminals(CliTest):
    """Only text reaches a terminal, through whichever descriptor or name."""

    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-escape-")
        cls.addClassCleanup(built.cleanup)
        cls.plugin = pathlib.Path(built.name) / "escape.tmeter"
        source = pathlib.Path(built.name) / "escape.cpp"
        source.write_text(r'''
#include <tmeter/cpp/plugin.hpp>
TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "com.acme.escape", .version = "1.0.0", .name = "escape"}),
  [](tmeter::Registrar& r) {
    r.writer("escape", "txt", "text/plain", [](const tmeter::Report&, tmeter::Output& out, tmeter::Call&) {
      out.write("\x1b]0;title\x07\n");
      for (int i = 0; i < 30000; ++i) out.write("\u20ac\U0001f600");
      out.write("\nend\n");
    });
  })''')
        build_plugin(source, cls.plugin)

    def seen(self, target, **kwargs):
        master, slave = pty.openpty()
        tty.setraw(slave)
        seen = []

        def read():
            try:
                while piece := os.read(master, 65536):
                    seen.append(piece)
            except OSError:
                pass

        reader = threading.Thread(target=read)
        reader.start()
        streams = {"stdin": slave, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **kwargs}
        done = subprocess.run([TMETER, "--plugin", self.plugin, "--report", target.format(os.ttyname(slave)), TIED],
                              **{k: slave if v == "tty" else v for k, v in streams.items()}, timeout=60, start_new_session=True,
                              preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(slave)
        reader.join()
        os.close(master)
        self.assertEqual(done.returncode, 0)
        return b"".join(seen).decode()

    def test_get_no_escapes_and_whole_characters(self):
        expected = "\\x1b]0;title\\x07\n" + 30000 * "€😀" + "\nend\n"
        for target, streams in (("escape", {"stdout": "tty"}), ("escape=/dev/stdout", {"stdout": "tty"}),
                                ("escape=/dev/stderr", {"stderr": "tty"}), ("escape=/dev/tty", {}), ("escape={}", {}),
                                ("escape=/dev/fd/0", {})):
            with self.subTest(target=target):
                self.assertEqual(self.seen(target, **streams), expected)


class Files(CliTest):
    def report(self, target, **kwargs):
        return subprocess.run([TMETER, TIED, "--report", target], capture_output=True, text=True, timeout=60, **kwargs)

    def test_replaced_files_keep_mode_and_owner(self):
        file = self.file("r.csv", "old")
        file.chmod(0o640)
        if os.geteuid() == 0:
            os.chown(file, 12345, 23456)
        before = file.stat()
        self.assertEqual(self.report(f"csv={file}").returncode, 0)
        after = file.stat()
        self.assertEqual((after.st_mode, after.st_uid, after.st_gid), (before.st_mode, before.st_uid, before.st_gid))
        self.assertNotEqual(after.st_ino, before.st_ino, "replaced, not written over")

    def test_links_stay_links(self):
        target, link, dangling = self.file("target", "old"), self.folder / "link", self.folder / "dangling"
        link.symlink_to(target)
        dangling.symlink_to("made")
        for name in (link, dangling):
            self.assertEqual(self.report(f"csv={name}").returncode, 0)
            self.assertTrue(name.is_symlink())
            self.assertTrue(name.read_text().startswith("id,path"))

    def test_an_unusable_temporary_folder_does_no_harm(self):
        for folder in ("/nonexistent", "relative", "/dev/null", ""):
            with self.subTest(TMPDIR=folder):
                done = self.report("json", env={**os.environ, "TMPDIR": folder})
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_signals_leave_no_named_temporary_files(self):
        """As on file systems without O_TMPFILE: the run waits for a FIFO; its other report is in a named temporary
        file."""
        library = self.folder / "no_tmpfile.so"
        source = self.file("no_tmpfile.c", r'''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int refuse(const char *name, const char *path, int flags, va_list rest) {
  if ((flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
  return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name))(path, flags, va_arg(rest, int));
}
int open(const char *path, int flags, ...) { va_list a; va_start(a, flags); return refuse("open", path, flags, a); }
int open64(const char *path, int flags, ...) { va_list a; va_start(a, flags); return refuse("open64", path, flags, a); }
''')
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        for number in SIGNALS:
            with self.subTest(signal=number), tempfile.TemporaryDirectory() as folder:
                os.mkfifo(f"{folder}/fifo")
                process = subprocess.Popen([os.path.abspath(TMETER), TIED, "--report", "json=fifo", "--report", "csv=r.csv"], cwd=folder,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                           env={**os.environ, "LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"})
                until = time.monotonic() + 20
                while len(os.listdir(folder)) < 2 and time.monotonic() < until:
                    time.sleep(0.005)
                self.assertEqual(len(os.listdir(folder)), 2, "a named temporary file")
                time.sleep(2 if SANITIZED else 0.1)
                process.send_signal(number)
                if number == signal.SIGPIPE:  # a reader that leaves is an error of writing
                    time.sleep(0.05)
                    process.send_signal(signal.SIGTERM)
                _, err = process.communicate(timeout=20)
                self.assertEqual((process.returncode, err), (130, "tmeter: interrupted; nothing written\n"))
                self.assertEqual(os.listdir(folder), ["fifo"])


def may_unmount_proc():
    return subprocess.run(["unshare", "--mount", "umount", "-l", "/proc"], capture_output=True).returncode == 0


@unittest.skipIf(SANITIZED, "sanitizers read /proc")
@unittest.skipUnless(may_unmount_proc(), "only root can do without /proc")
class WithoutProc(CliTest):
    def run_it(self, arguments):
        return subprocess.run(["unshare", "--mount", "bash", "-c", f'umount -l /proc && cd "{self.folder}" && "$T" {arguments}'],
                              capture_output=True, text=True, timeout=60, env={**os.environ, "T": os.path.abspath(TMETER)})

    def test_reports_are_written_and_replaced(self):
        for arguments in (f"{TIED} --report csv=r.csv", f"{TIED} --report csv=r.csv", f"{TIED} --report csv=/dev/stdout",
                          f"{RESNET} --report json"):
            with self.subTest(arguments=arguments):
                done = self.run_it(arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.folder / "r.csv").read_text().startswith("id,path"))
        self.assertEqual(os.listdir(self.folder), ["r.csv"])


class Again(CliTest):
    """The plugin dies while it writes its report, when another writer's report is already complete."""

    def written_twice(self, place):
        plugin = self.folder / "rogue.tmeter"
        build_plugin("rogue_plugin.cpp", plugin, '-DROGUE_RIGHTS=""')
        done = subprocess.run([TMETER, "--plugins=params,rogue", "--plugin", plugin, "--report", f"csv={place}", "--report", f"rogue={self.folder}/r", TIED],
                              capture_output=True, text=True, timeout=60, env={**os.environ, "ROGUE": "writer:abort"})
        self.assertEqual(done.returncode, 5, done.stderr)

    def test_a_second_attempt_writes_a_pipe_once(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True)
        self.written_twice(fifo)
        text, _ = reader.communicate(timeout=20)
        self.assertEqual(text.count("id,path"), 1)
        self.assertTrue(stat.S_ISFIFO(fifo.stat().st_mode))

    def test_a_second_attempt_writes_a_terminal_once(self):
        master, slave = pty.openpty()
        tty.setraw(slave)
        self.written_twice(os.ttyname(slave))
        os.write(slave, b"end\n")
        text = b""
        while not text.endswith(b"end\n"):
            text += os.read(master, 65536)
        for end in (master, slave):
            os.close(end)
        self.assertEqual(text.count(b"id,path"), 1)


if __name__ == "__main__":
    main()
