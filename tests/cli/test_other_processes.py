"""--inference while other processes run, as with `stress-ng --cpu N`: text, JSON and HTML report that the times cannot be trusted. On an idle
machine none of them does."""
import base64
import contextlib
import json
import os
import re
import subprocess
import sys
import time
import unittest
import zlib

from support import HAVE_TORCH, MODELS, CliTest, main, tmeter

DOUBT = "the measured times cannot be trusted"


@contextlib.contextmanager
def burning(count):
    """Processes that each keep a processor busy; they end with this one."""
    code = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(1_000_000))"
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def used_by_all():
    """Seconds that the processors have worked since the start of the machine."""
    with open("/proc/stat") as stat:
        user, nice, system = map(int, stat.readline().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def is_idle():
    start = used_by_all()
    time.sleep(1)
    return used_by_all() - start < 0.05


@unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
class OtherProcesses(CliTest):
    def measured(self):
        """The text report, the findings of the JSON report about times, and the data of the page."""
        files = [self.folder / f"report.{kind}" for kind in ("txt", "json", "html")]
        reports = [f"--report={kind}={file}" for kind, file in zip(("text", "json", "html"), files)]
        done = tmeter(MODELS / "lstm.pt2", "--inference", "--run-for=3s", *reports)
        self.assertEqual(done.returncode, 0, done.stderr)
        text, document, page = (file.read_text() for file in files)
        blocks = re.findall(r'<script type="application/octet-stream" id="tmeter-[^"]*">([^<]*)<', page)
        shown = "".join(zlib.decompress(base64.b64decode(block), -15).decode() for block in blocks)
        return text, [f for f in json.loads(document)["findings"] if f["rule"] == "unreliable-times"], shown

    def test_busy_processors(self):
        processors = len(os.sched_getaffinity(0))
        with burning(2 * processors):
            text, findings, page = self.measured()
        self.assertIn(f"warning: {DOUBT}", text)
        self.assertRegex(" ".join(text.split()), rf"other processes kept [\d.]+ of {processors} processors busy")
        self.assertEqual([(f["severity"], f["text"]) for f in findings], [("warning", DOUBT)])
        self.assertIn("measure again on an idle machine", findings[0]["action"])
        self.assertIn(DOUBT, page)

    def test_an_idle_machine(self):
        if not is_idle():
            self.skipTest("other processes are at work")
        text, findings, page = self.measured()
        if not is_idle():
            self.skipTest("other processes came")
        self.assertEqual((findings, DOUBT in text, DOUBT in page), ([], False, False))


if __name__ == "__main__":
    main()
