"""Structs that have grown and structs that are cut (docs/abi.md): a plugin of 1.0 works with every later host, a newer plugin
with the current host, and a struct smaller than in 1.0 is refused by name.

tmeter-grown is the current host compiled with headers in which every struct has two more members (grow_headers.py)."""
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import support
from support import BUILD, FIXTURES, MODELS, SOURCE, CliTest, build_c_plugin, build_plugin, main, tmeter

GROWN_TMETER = BUILD / "bin" / "tmeter-grown"
GROWN_HEADERS = BUILD / "tests" / "sdk" / "grown"
HERE = SOURCE.resolve() / "tests" / "sdk"
MODEL = MODELS / "dynamic_mlp.pt2"
TABLES = ["metrics", "options", "op-class", "op-handler", "module-handler", "shape-rule", "analysis", "tensor-analysis", "loader",
          "propagator", "report-writer", "executor", "observer"]


def grown_tmeter(*arguments, **kwargs):
    """The host of the later minor version."""
    current, support.TMETER = support.TMETER, str(GROWN_TMETER)
    try:
        return tmeter(*arguments, **kwargs)
    finally:
        support.TMETER = current


def document(done):
    report = json.loads(done.stdout)
    report.pop("timing")  # seconds
    return report


class GrownTest(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-grown-")
        cls.addClassCleanup(built.cleanup)
        cls.plugin = pathlib.Path(built.name) / "every.tmeter"
        cls.newer = pathlib.Path(built.name) / "newer.tmeter"
        build_plugin(HERE / "every_table.cpp", cls.plugin)
        build_plugin(HERE / "every_table.cpp", cls.newer, "-DGROWN_GARBAGE", include=GROWN_HEADERS)


TIMED = "analysed in|took|seconds|time="  # lines with the time of the run


class TodaysPluginsOnALaterHost(GrownTest):
    def assert_same(self, *arguments):
        now, later = tmeter(*arguments, "--report", "json"), grown_tmeter(*arguments, "--report", "json")
        self.assertEqual((now.returncode, now.stderr), (0, ""))
        self.assertEqual((later.returncode, later.stderr), (0, ""))
        self.assertEqual(document(now), document(later))

    def test_tmeters_plugins_give_the_same_report(self):
        self.assert_same("--plugins=all", MODEL)
        self.assert_same("--plugins=all", MODEL, "--sweep", "x.0=2,4")
        self.assert_same(FIXTURES / "checkpoints" / "training.pt")
        self.assert_same("--plugins=params,param-stats", FIXTURES / "checkpoints" / "model.safetensors.index.json")

    def test_every_writer_writes_the_same(self):
        for format in ("text", "full-text", "xml", "csv", "markdown", "dot", "junit"):
            now, later = (run("--plugins=all", MODEL, "--report", format) for run in (tmeter, grown_tmeter))
            self.assertEqual(later.returncode, 0, later.stderr)
            lines = [[line for line in done.stdout.splitlines() if not re.search(TIMED, line)] for done in (now, later)]
            self.assertEqual(*lines, format)

    def test_a_strangers_tables_and_structs_are_read_and_filled(self):
        now, later = (run(MODEL, "--plugin", self.plugin, "--report", "every") for run in (tmeter, grown_tmeter))
        self.assertEqual((later.returncode, later.stderr), (0, ""))
        self.assertIn("nodes=3 ", later.stdout)
        self.assertEqual(now.stdout, later.stdout)

    def test_a_stranger_runs_and_observes(self):
        def steps(host, plugin):
            done = host(MODEL, "--inference", "--plugins=every", "--plugin", plugin, "--report", "json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            document = json.loads(done.stdout)
            self.assertEqual(document["run"]["engine"] if "run" in document else "a clock", "a clock")
            return document["totals"]["steps"]
        one = steps(tmeter, self.plugin)  # linear, gelu, linear, once per run
        self.assertTrue(one > 0 and one % 3 == 0, one)
        for host, plugin in ((grown_tmeter, self.plugin), (tmeter, self.newer), (grown_tmeter, self.newer)):
            self.assertEqual(steps(host, plugin), one)

    def test_listing_and_describing(self):
        for command in (["list"], ["info", "every"]):
            now, later = (run("plugin", *command, "--plugin", self.plugin) for run in (tmeter, grown_tmeter))
            self.assertEqual((later.returncode, later.stdout), (0, now.stdout), later.stderr)

    def test_a_plugin_in_c_works(self):
        diary = self.folder / "diary.tmeter"
        build_c_plugin("diary.c", diary)
        done = grown_tmeter(MODEL, "--plugin", diary, "--report", "json", env={"DIARY_OFFERS": "metrics handlers"})
        self.assertEqual(json.loads(done.stdout)["totals"]["diary"], 3, done.stderr)  # linear, relu, linear


class ANewerPluginToday(GrownTest):
    def test_additions_of_a_newer_plugin_are_left_out(self):
        old, new = (tmeter(MODEL, "--plugin", p, "--report", "every") for p in (self.plugin, self.newer))
        self.assertEqual((new.returncode, new.stderr), (0, ""))
        self.assertEqual(new.stdout, old.stdout)

    def test_in_c(self):
        diary = self.folder / "diary.tmeter"
        build_c_plugin("diary.c", diary, "-Wno-missing-field-initializers", include=GROWN_HEADERS)
        done = tmeter(MODEL, "--plugin", diary, "--report", "json", env={"DIARY_OFFERS": "metrics handlers"})
        self.assertEqual(json.loads(done.stdout)["totals"]["diary"], 3, done.stderr)

    def test_a_newer_plugin_works_on_a_later_host(self):
        done = grown_tmeter(MODEL, "--plugin", self.newer, "--report", "every")
        self.assertEqual(done.stdout, tmeter(MODEL, "--plugin", self.plugin, "--report", "every").stdout, done.stderr)


class Cut(GrownTest):
    """Structs smaller than in any version are refused, with the names of plugin and table."""

    def refuse(self, cut, *words):
        self.assert_refused(5, [*words, "is too small: struct_size is"], MODEL, "--plugin", self.plugin, env={"CUT": cut})

    def test_entry(self):
        self.refuse("entry", str(self.plugin), "tmeter_plugin_entry_v1")

    def test_info(self):
        self.refuse("info", str(self.plugin), "tmeter_plugin_info")

    def test_every_table(self):
        for table in TABLES:
            with self.subTest(table):
                self.refuse(f"tmeter.{table}/1", "plugin com.acme.every: its table tmeter." + table + "/1")

    def test_items_of_every_table(self):
        for table in TABLES:
            with self.subTest(table):
                self.refuse(f"tmeter.{table}/1 item", f"plugin com.acme.every: its table tmeter.{table}/1, item 0 ")


if __name__ == "__main__":
    main()
