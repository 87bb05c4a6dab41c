"""The elements of tensors as a third-party plugin receives them: the promises of streaming."""
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

from support import MODELS, TMETER, CliTest, build_plugin, main, report, tmeter

MIB = 1 << 20


def safetensors(tensors):
    """The bytes of a safetensors file of float32 tensors: name → (shape, bytes)."""
    data = b"".join(content for _, content in tensors.values())
    return header({name: (shape, len(content)) for name, (shape, content) in tensors.items()}) + data


def header(tensors):
    """name → (shape, bytes)"""
    entries, at = {}, 0
    for name, (shape, size) in tensors.items():
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text


class Streaming(CliTest):
    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.built = tempfile.TemporaryDirectory(prefix="tmeter-zeros-")
        cls.addClassCleanup(cls.built.cleanup)
        cls.plugin = f"{cls.built.name}/zeros.tmeter"
        build_plugin("zeros_plugin.cpp", cls.plugin)

    def model(self, mebibytes=2):
        """`big` alternates between 0 and 1; `small` is [0, 2, 0, 3]; `ids` has integers."""
        big = struct.pack("<ff", 0, 1) * (mebibytes * MIB // 8)
        small = struct.pack("<4f", 0, 2, 0, 3)
        return self.file("m.safetensors", safetensors({"big": ([mebibytes, MIB // 4], big), "small": ([4], small)}))

    def zeros(self, *arguments, **kwargs):
        return tmeter(*arguments, "--plugins=zeros", "--plugin", self.plugin, **kwargs)

    def test_every_element_is_seen_and_threads_change_nothing(self):
        path = self.model(40)
        seen = []
        for threads in (1, 2, 7):
            document = report(path, "--plugins=zeros", "--plugin", self.plugin, "--threads", threads)
            seen.append({t["name"]: t["values"]["zeros"] for t in document["tensors"]})
        self.assertEqual(seen, [{"big": 40 * MIB // 8, "small": 2}] * 3)

    def test_the_text_report_has_a_table_of_tensors(self):
        done = self.zeros(self.model())
        self.assertRegex(done.stdout, r"big +f32\[2, 262144\] +524.29 K +262.14 K")
        alone = self.zeros(self.model(), "--by", "tensor", "--raw").stdout
        self.assertRegex(alone, r"small +f32\[4\] +4 +2")
        self.assertNotIn("share of", alone)

    def test_a_file_without_weights_gives_a_reason_instead_of_a_value(self):
        document = report(MODELS / "resnet50.pt2", "--plugins=zeros", "--plugin", self.plugin)
        self.assertIsNone(document["totals"]["zeros"])
        self.assertIn("zeros", document["tensors"][0]["unavailable"])
        self.assertIn("saved without weights", " ".join(document["warnings"]))

    def test_ctrl_c_ends_cleanly(self):
        out = self.folder / "r.json"
        self.assert_refused(130, ["interrupted"], self.model(40), "--plugins=zeros", "--plugin", self.plugin,
                            "--report", f"json={out}", env={"ZEROS_MEANWHILE": "interrupt"})
        self.assertFalse(out.exists())

    def test_a_file_that_shrinks_while_it_is_read(self):
        path, out = self.model(40), self.folder / "r.json"
        self.assert_refused(4, ["m.safetensors", "became shorter"], path, "--plugins=zeros", "--plugin", self.plugin,
                            "--report", f"json={out}", env={"ZEROS_MEANWHILE": f"cut {path}", "TMETER_SANDBOX": "off"})
        self.assertFalse(out.exists())

    def test_a_shard_that_shrinks_while_it_is_read(self):
        shards = {"small": "a.safetensors", "big": "m.safetensors"}
        self.file("a.safetensors", safetensors({"small": ([4], struct.pack("<4f", 0, 2, 0, 3))}))
        big = struct.pack("<ff", 0, 1) * (40 * MIB // 8)
        cut = self.file("m.safetensors", safetensors({"big": ([40, MIB // 4], big)}))
        index = self.file("model.safetensors.index.json", json.dumps({"weight_map": shards}).encode())
        for path in (index, self.folder):
            cut.write_bytes(safetensors({"big": ([40, MIB // 4], big)}))
            self.assert_refused(4, ["m.safetensors", "became shorter"], path, "--plugins=zeros", "--plugin", self.plugin,
                                env={"ZEROS_MEANWHILE": f"cut {cut}", "TMETER_SANDBOX": "off"})

    def test_a_plugin_that_fails_is_named_with_the_tensor_and_costs_its_own_column(self):
        done = tmeter(self.model(40), "--plugins=params,zeros", "--plugin", self.plugin, "--report", "json",
                      env={"ZEROS_MEANWHILE": "fail"})
        why = "plugin com.acme.zeros failed in 'zeros' on tensor 'big': the plugin has had enough"
        self.assertEqual((done.returncode, done.stderr), (5, f"tmeter: {why}\n"))
        document = json.loads(done.stdout)
        self.assertEqual(document["totals"]["params"], 40 * MIB // 4 + 4)
        column = next(m for m in document["metrics"] if m["id"] == "zeros")
        self.assertEqual(column["provenance"], {"kind": "unavailable", "text": why})

    def test_threads_must_be_a_number(self):
        self.assert_refused(2, ["--threads many", "1 to 1024"], self.model(), "--threads", "many")

    def progress(self, *arguments):
        return self.on_terminal(self.model(20), "--plugins=zeros", "--plugin", self.plugin, "--threads", "1", *arguments)

    def on_terminal(self, *arguments):
        """The standard error of a run that takes more than a second, as a terminal receives it."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            self.skipTest(f"no terminal available: {error}")
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 25, 80, 0, 0))
        process = subprocess.Popen([TMETER, *arguments],
                                   stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "ZEROS_MEANWHILE": "slow"})
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        return seen.decode()

    def test_a_terminal_shows_progress_and_removes_it(self):
        seen = self.progress()
        self.assertRegex(seen, r"\d+\.\d\d of 20\.97 MB, \d+\.\d\d MB/s, \d+ s left")
        self.assertTrue(seen.endswith("\r\x1b[K"), repr(seen[-40:]))
        self.assertEqual(self.progress("--quiet"), "")

    def test_progress_of_an_analysis_is_shown(self):
        plugin = self.folder / "slow.tmeter"
        build_plugin("slow_plugin.cpp", plugin)
        seen = self.on_terminal(MODELS / "tied.pt2", "--plugins=slow", "--plugin", plugin)
        self.assertRegex(seen, r"1\d of 20 naps\\x1b\[31m")  # the escape sequence is spelled out
        self.assertTrue(seen.endswith("\r\x1b[K"), repr(seen[-40:]))
        done = tmeter(MODELS / "tied.pt2", "--plugins=slow", "--plugin", plugin)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_without_a_terminal_there_is_no_progress(self):
        done = self.zeros(self.model(20), "--threads", "1", env={"ZEROS_MEANWHILE": "slow"})
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    main()
