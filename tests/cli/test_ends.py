"""Every run ends on request in any state: while a reader of its output has stopped, on a FIFO without a reader, with a
worker that reports its end and sleeps, in a flood of messages, in TorchScript that never returns. And the cause of a
worker's end is found: a forged message, or a crash without an owner."""
import concurrent.futures
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from support import HAVE_TORCH, MODELS, SANITIZED, SOURCE, TMETER, CliTest, build_plugin, main, tmeter

RESNET = MODELS / "resnet50.pt2"
MACS = 4089184256  # torchvision's ResNet-50 at 224 × 224: FlopCounterMode / 2, tests/fixtures/expected
MOMENTS = int(os.environ.get("MOMENTS", "30"))
AT_ONCE = 4
ENOUGH = 2  # seconds
INTERRUPTED, NOT_READ, PLUGIN, RUN = 130, 4, 5, 6
SIGNALS = {"Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}


class ForgerTest(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-forger-")
        cls.addClassCleanup(built.cleanup)
        cls.plugin = pathlib.Path(built.name) / "forger.tmeter"
        build_plugin("forger_plugin.cpp", cls.plugin)

    def forged(self, deed, *arguments, env=None, **kwargs):
        return tmeter("--plugins=params,flops,forger", "--plugin", self.plugin, *arguments, RESNET,
                      env={"FORGER": deed, **(env or {})}, **kwargs)


def full_pipe():
    """Both ends of a full pipe."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(writer, True)
    return reader, writer


def is_set_up(process):
    """Waits until tmeter handles signals. Before that, the kernel ends it like any program that has just started."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return True
    bits = {key: int(value, 16) for key, value in (line.split(":\t") for line in status.splitlines()
                                                     if line.startswith(("SigBlk", "SigCgt")))}
    handled = sum(1 << (number - 1) for number in SIGNALS.values())
    return (bits["SigBlk"] | bits["SigCgt"]) & handled == handled


class Situation:
    """A run that waits forever in a folder of its own and writes a report to a file in it."""

    def __init__(self, plugin):
        self.plugin = plugin
        self.arguments, self.deed, self.stdout, self.stderr, self.open = [RESNET], "", subprocess.DEVNULL, subprocess.PIPE, []
        self.at_timeout = NOT_READ

    def forger(self, deed):
        self.deed, self.at_timeout = deed, PLUGIN
        self.arguments = ["--plugins=params,flops,forger", "--plugin", self.plugin, RESNET]
        return self

    def close(self):
        for end in self.open:
            os.close(end)

    def blocked(self, which):
        reader, writer = full_pipe()
        self.open = [reader, writer]
        setattr(self, which, writer)
        return self

    def start(self, folder, *more):
        arguments = ["fifo" if a == "FIFO" else a for a in self.arguments]
        if "--report=json=fifo" in arguments:
            os.mkfifo(folder / "fifo")
        return subprocess.Popen([os.path.abspath(TMETER), *map(str, arguments), "--report", "csv=r.csv", *more], cwd=folder, stdin=subprocess.DEVNULL,
                                stdout=self.stdout, stderr=self.stderr,
                                env={**os.environ, "FORGER": self.deed, "TMETER_PLUGIN_PATH": os.environ.get("TMETER_PLUGIN_PATH", "")})


def blocked_stdout(plugin):
    s = Situation(plugin).blocked("stdout")
    s.arguments = ["--report=json", RESNET]
    return s


def blocked_stderr(plugin):
    s = Situation(plugin).blocked("stderr")
    s.arguments = ["-v", RESNET]
    return s


def fifo(plugin):
    s = Situation(plugin)
    s.arguments = ["--report=json=fifo", RESNET]
    return s


def torchscript(model):
    s = Situation(None)
    s.arguments, s.at_timeout = ["--set=torch-backend.timeout=600", "--input=2x3", model], RUN
    return s


class Ends(ForgerTest):
    """Each of six situations at random moments, by a signal or by --timeout."""

    def situations(self):
        yield "blocked stdout", blocked_stdout
        yield "blocked stderr", blocked_stderr
        yield "FIFO", fifo
        yield "finished and asleep", lambda plugin: Situation(plugin).forger("analysis:all-done")
        for deed in ("frames", "messages", "short-messages", "print", "print-line"):
            yield f"flood of {deed}", lambda plugin, deed=deed: Situation(plugin).forger(f"analysis:{deed}")
        if HAVE_TORCH:
            model = self.endless_model()
            yield "TorchScript", lambda _: torchscript(model)

    def endless_model(self):
        sys.path.insert(0, str(SOURCE / "tests/torchscript"))
        from archives import Archive
        return Archive("i = 0\nwhile True:\n  i = torch.add(i, 1)\nreturn x").write(self.folder / "endless.pt")

    def test_every_run_ends_in_time_with_its_status_and_without_a_file(self):
        for name, make in self.situations():
            moments = MOMENTS if not name.startswith("flood") else MOMENTS // 5
            todo = [(how, number) for how, number in SIGNALS.items() for _ in range(moments)] + moments * [("--timeout", None)]
            random.Random(27).shuffle(todo)
            with self.subTest(situation=name), concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                failures = [f for found in pool.map(lambda one: list(self.end(make, *one)), todo) for f in found]
                self.assertEqual(failures, [])

    def end(self, make, how, number):
        """Ends one run; yields the deviations from its promise."""
        situation = make(self.plugin)
        moment = random.uniform(0, 0.3)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            seconds = random.uniform(0.5, 1)  # by then the plugin is at work
            process = situation.start(folder, *([] if number else ["--timeout", f"{seconds:.3f}"]))
            begin = time.monotonic()
            if number:
                while not is_set_up(process):
                    time.sleep(0.001)
                time.sleep(moment)
                begin = time.monotonic()
                process.send_signal(number)
            try:
                process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                yield how, moment, "does not end"
                return
            finally:
                situation.close()
            took = time.monotonic() - begin - (0 if number else seconds)
            if took > ENOUGH:
                yield how, moment, f"took {took:.2f} s"
            status = INTERRUPTED if number else situation.at_timeout
            # A timeout while the file is read gives status 4, while its code runs status 6 (docs/reliability.md).
            if process.returncode != status and not (status == RUN and not number and process.returncode == NOT_READ):
                yield how, moment, f"status {process.returncode} instead of {status}"
            files = {p.name for p in folder.iterdir()} - {"fifo"}
            whole = {"r.csv"} if status == PLUGIN else set()  # the report without the plugin
            if files != whole:
                yield how, moment, f"files {files}"


class Contract(ForgerTest):
    """A worker that sends messages at a time when it may not, or does not exit."""

    WORDS = {
        "metric:finished": "it finishes although a report is missing",
        "metric:status": "its status 7 does not exist",
        "metric:large-status": "its status 1099511627776 does not exist",
        "metric:target": "it reports to a target that does not exist",
        "metric:place": "it hands over a report without bytes",
        "metric:half": "a report is incomplete",
        "metric:model": "it runs the model, which was not requested",
        "metric:kind": "a stray write or close",
        "writer:finished": "it finishes although a report is missing",
        "analysis:offenders": "it blames a second plugin",
        "analysis:blame-and-exit": "it ended abnormally",
    }

    def test_a_contract_breach_is_named_and_costs_only_the_plugin(self):
        plain = json.loads(tmeter("--plugins=params,flops", RESNET, "--report", "json").stdout)["totals"]
        for deed, words in self.WORDS.items():
            with self.subTest(deed=deed):
                done = self.forged(deed, "--report", "json", *(["--report", f"forged={self.folder}/r.txt"] if "writer" in deed else []))
                self.assertEqual(done.returncode, PLUGIN, done.stderr)
                self.assertRegex(done.stderr.splitlines()[0], rf"\Atmeter: plugin com.forger.all .*({words})")
                totals = json.loads(done.stdout)["totals"]
                self.assertEqual({k: v for k, v in totals.items() if k in plain}, plain)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_blaming_another_plugin_does_not_exclude_it(self):
        plain = json.loads(tmeter("--plugins=params,flops", RESNET, "--report", "json").stdout)["totals"]
        for deed in ("analysis:blame", "metric:blame"):
            with self.subTest(deed=deed):
                done = self.forged(deed, "--report", "json")
                self.assertEqual(done.returncode, PLUGIN, done.stderr)
                self.assertRegex(done.stderr, r"it (sends frames after it blamed a|blames a second) plugin.*: com\.forger\.all\n")
                totals = json.loads(done.stdout)["totals"]
                self.assertEqual({k: v for k, v in totals.items() if k in plain}, plain)

    def test_a_worker_that_stays_after_its_end_is_ended_without_a_timeout(self):
        for deed in ("analysis:both-done", "deinit:hang"):
            with self.subTest(deed=deed):
                begin = time.monotonic()
                done = self.forged(deed, "--report", "json", "--report", f"csv={self.folder}/r.csv")
                self.assertLess(time.monotonic() - begin, 20)
                self.assertEqual(done.returncode, PLUGIN, done.stderr)
                self.assertIn("plugin com.forger.all ", done.stderr)
                self.assertEqual(json.loads(done.stdout)["totals"]["macs"], MACS)
                self.assertEqual([p.name for p in self.folder.iterdir()], ["r.csv"])


class Ownerless(ForgerTest):
    """Changes to the process that end a worker later or elsewhere."""

    HELD = ("timer", "posix-timer", "profiling-timer", "no-files", "no-memory", "no-time")  # prevented by the sandbox

    def test_timers_and_limits_are_not_set_in_the_sandbox(self):
        for deed in self.HELD:
            with self.subTest(deed=deed):
                done = self.forged(f"analysis:{deed}", "--report", "json")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(json.loads(done.stdout)["totals"]["forged"], 175)

    def test_the_work_is_repeated_without_third_party_plugins(self):
        for deed in ("timer", "posix-timer", "heap", "close-all", "no-files", "no-memory", "no-time", "environment"):
            env = {"TMETER_SANDBOX": "off"} if deed in self.HELD else {}
            for place in ("metric", "analysis"):
                with self.subTest(deed=deed, place=place):
                    done = self.forged(f"{place}:{deed}", "--report", "json", env=env)
                    self.assertEqual(done.returncode, PLUGIN, done.stderr)
                    self.assertIn("com.forger.all", done.stderr)
                    for line in done.stderr.splitlines():
                        self.assertTrue(line.startswith("tmeter: "), done.stderr)
                    self.assertEqual(json.loads(done.stdout)["totals"]["macs"], MACS)

    def test_overwriting_shared_memory_costs_only_the_plugin(self):
        """The page records the worker's present step. Once it is damaged, it determines no status, blame or message."""
        for deed in ("page-of-ones", "page-of-zeros", "page-of-letters", "page-of-noise", "page-and-sleep"):
            for place in ("metric", "analysis", "writer"):
                with self.subTest(deed=deed, place=place):
                    report = [f"--report=forged={self.folder}/r.txt"] if place == "writer" else []
                    done = self.forged(f"{place}:{deed}", "--report", "json", *report, "--timeout=3" if "sleep" in deed else "--timeout=60")
                    self.assertEqual(done.returncode, PLUGIN, done.stderr[:500])
                    self.assertIn("the work is done again without plugins that are not tmeter's own: com.forger.all\n", done.stderr)
                    self.assertEqual(json.loads(done.stdout)["totals"]["macs"], MACS)
                    self.assertEqual(list(self.folder.iterdir()), [])

    def test_tmeters_own_plugins_are_never_left_out_as_suspects(self):
        for deed, words in (("names-another", "com.forger.all, org.tmeter.flops"), ("accomplices", "it names more plugins than there can be")):
            with self.subTest(deed=deed):
                done = self.forged(f"analysis:{deed}", "--report", "json")
                self.assertEqual(done.returncode, PLUGIN, done.stderr[:500])
                self.assertIn(words, done.stderr)
                self.assertEqual(json.loads(done.stdout)["totals"]["macs"], MACS)

    def test_a_plugin_cannot_switch_the_sandbox_off(self):
        done = self.forged("metric:sandbox-off", "--report", "json")
        self.assertEqual(done.returncode, PLUGIN, done.stderr)
        self.assertNotIn("off", json.loads(done.stdout)["run"]["sandbox"] if "run" in json.loads(done.stdout) else "")


class Bounded(ForgerTest):
    def test_three_gigabytes_of_messages_take_no_memory(self):
        peak = self.folder / "peak"
        done = subprocess.run(
            ["python3", "-c", "import os,sys; r=os.spawnvp(os.P_NOWAIT,sys.argv[2],sys.argv[2:]); _,s,u=os.wait4(r,0);"
             "open(sys.argv[1],'w').write(str(u.ru_maxrss)); sys.exit(os.waitstatus_to_exitcode(s))",
             peak, TMETER, "--plugins=params,flops,forger", "--plugin", self.plugin, MODELS / "tied.pt2"],
            capture_output=True, text=True, timeout=300, env={**os.environ, "FORGER": "analysis:3-gigabytes"})
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        self.assertLess(len(done.stderr), 8 << 20)
        self.assertRegex(done.stderr, r"tmeter: note: \d+ more messages are not shown\n\Z")
        freed = 256 if SANITIZED else 0  # MiB of freed memory that the address sanitizer keeps
        self.assertLess(int(peak.read_text()), (200 + freed) * 1024)


if __name__ == "__main__":
    main()
