"""Every declaration has an effect: a writer's extension and media type, and the properties in graph.h and report.h."""
import os
import pathlib
import pty
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from support import MODELS, TMETER, CliTest, build_plugin, main, tmeter

MODEL = MODELS / "dynamic_mlp.pt2"

WRITERS = r"""
#include <tmeter/cpp/plugin.hpp>
static void facts(const tmeter::Report& r, tmeter::Output& out, tmeter::Call&) {
  out.print("graph file: {}\n", r.graph().property("file"));
  out.print("command: {}\n", r.property("command"));
}
TMETER_PLUGIN("com.acme.writers", "1.0.0", [](tmeter::Registrar& r) {
  r.writer("facts", "facts", "text/x-facts; charset=utf-8", facts);
  r.writer("bytes", "bin", "application/octet-stream", facts);
  r.writer("drawing", "svg", "image/svg+xml", facts);
});
"""


class WriterTest(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-writers-")
        cls.addClassCleanup(built.cleanup)
        source = pathlib.Path(built.name) / "writers.cpp"
        source.write_text(WRITERS)
        cls.plugin = source.with_suffix(".tmeter")
        build_plugin(source, cls.plugin)

    def assert_written(self, name, beginning):
        path = self.folder / name
        done = tmeter(MODEL, "--plugin", self.plugin, "--report", path)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertTrue(path.read_text().startswith(beginning), path.read_text()[:80])


class Extension(WriterTest):
    def test_a_file_name_alone_chooses_the_writer_that_declares_its_extension(self):
        self.assert_written("out.md", "#")
        self.assert_written("OUT.CSV", "")
        self.assert_written("a.b.facts", "graph file")

    def test_the_format_named_like_the_extension_is_preferred(self):
        self.assert_written("out.json", "{")  # netron and fvcore-json write .json, too
        self.assertIn('"tool"', (self.folder / "out.json").read_text())
        self.assert_written("out.xml", "<?xml")
        self.assertNotIn("testsuite", (self.folder / "out.xml").read_text())

    def test_an_extension_of_several_other_formats_is_refused(self):
        self.assert_refused(2, [".txt files are written by", "full-text", "--report", "=" + str(self.folder / "out.txt")],
                            MODEL, "--report", self.folder / "out.txt")
        self.assertFalse((self.folder / "out.txt").exists())

    def test_an_extension_of_no_format_is_refused(self):
        self.assert_refused(2, ["out.docx", "no format has the extension", "markdown (.md)"],
                            MODEL, "--report", self.folder / "out.docx")
        self.assert_refused(2, ["no format has the extension"], MODEL, "--report", str(self.folder) + "/report")

    def test_a_given_format_overrides_the_extension(self):
        path = self.folder / "numbers.md"
        self.assertEqual(tmeter(MODEL, "--report", f"json={path}").returncode, 0)
        self.assertTrue(path.read_text().startswith("{"))

    def test_two_reports_are_not_written_to_one_file(self):
        path = self.folder / "out.json"
        self.assert_refused(2, ["goes to the same file"], MODEL, "--report", path, "--report", f"xml={path}")


class MediaType(WriterTest):
    def on_terminal(self, *arguments):
        """tmeter with a terminal as its standard output; its status and both outputs."""
        master, slave = pty.openpty()
        environment = {**os.environ, "TMETER_PLUGIN_PATH": "", "XDG_DATA_HOME": "/nonexistent"}
        process = subprocess.Popen([TMETER, *map(str, arguments)], stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        shown = b""
        try:
            while piece := os.read(master, 65536):
                shown += piece
        except OSError:  # the end of a terminal
            pass
        os.close(master)
        return process.wait(timeout=60), shown.decode()

    def test_bytes_are_not_written_to_a_terminal(self):
        status, shown = self.on_terminal(MODEL, "--plugin", self.plugin, "--report", "bytes")
        self.assertEqual(status, 2, shown)
        self.assertIn("application/octet-stream cannot be shown in a terminal", shown)
        self.assertIn("--report bytes=report.bin", shown)

    def test_text_is_written_to_a_terminal(self):
        for format in ("facts", "drawing"):
            status, shown = self.on_terminal(MODEL, "--plugin", self.plugin, "--report", format)
            self.assertEqual(status, 0, shown)
            self.assertIn("graph file", shown)

    def test_bytes_go_into_a_pipe(self):
        done = tmeter(MODEL, "--plugin", self.plugin, "--report", "bytes")
        self.assertEqual(done.returncode, 0)
        self.assertIn("graph file", done.stdout)

    def test_info_shows_the_extension_and_media_type_of_a_writer(self):
        done = tmeter("plugin", "info", "writers", "--plugin", self.plugin)
        self.assertIn("writes: --report bytes  (.bin, application/octet-stream)", done.stdout)


class Properties(WriterTest):
    def test_the_graph_has_its_file_as_a_property(self):
        done = tmeter(MODEL, "--plugin", self.plugin, "--report", "facts")
        self.assertIn("graph file: dynamic_mlp.pt2\n", done.stdout)

    def test_the_report_has_its_command_as_a_property(self):
        done = tmeter(MODEL, "--plugin", self.plugin, "--report", "facts", "--assert", "macs < 1T")
        self.assertIn(f"command: tmeter {MODEL} --plugin {self.plugin} --report facts --assert 'macs < 1T'\n", done.stdout)


if __name__ == "__main__":
    main()
