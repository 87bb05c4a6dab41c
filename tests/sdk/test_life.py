"""A plugin's life as the contract defines it (abi/entry.h): started once, configured before each run, ended once. The user gets
the reason that its init gives, and every callback gets its own `user`."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from support import MODELS, CliTest, build_c_plugin, build_plugin, main, tmeter

MODEL = MODELS / "tied.pt2"  # fixed sizes: one run
ALL = "metrics handlers analyses writers"


class LifeTest(CliTest):
    def setUp(self):
        super().setUp()
        self.plugin = self.folder / "diary.tmeter"
        build_c_plugin("diary.c", self.plugin)

    def live(self, *arguments, offers=ALL, **environment):
        """Runs tmeter without the sandbox, which forbids writing; returns it and the diary."""
        diary = self.folder / "diary.txt"
        diary.unlink(missing_ok=True)
        done = tmeter(*arguments, env={"DIARY": str(diary), "DIARY_OFFERS": offers, "TMETER_SANDBOX": "off", **environment})
        return done, diary.read_text().splitlines() if diary.exists() else []

    def assert_life(self, life, *arguments, described=1, **kwargs):
        """The plugin has no manifest, so a process of its own first describes it and ends without `deinit`. life None: it is not
        used afterwards."""
        done, diary = self.live(*arguments, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        init = f"init {self.plugin}"
        self.assertEqual(diary, [init] * described + ([] if life is None else [init, *life, "deinit"]))
        return done


class Life(LifeTest):
    # assert_life compares the whole diary: destructors of static objects and atexit handlers must write nothing.

    def test_listing_starts_a_plugin_once_with_its_path(self):
        self.assert_life(None, "plugin", "list", "--plugin", self.plugin)

    def test_info_starts_a_plugin_once_and_ends_it(self):
        self.assert_life([], "plugin", "info", "diary", "--plugin", self.plugin)

    def test_a_manifest_is_made_with_one_start(self):
        self.assert_life(None, "plugin", "manifest", self.plugin)

    def test_a_run_starts_configures_and_ends_a_plugin_once(self):
        self.assert_life(["configure pages=7", "analysis"], MODEL, "--plugin", self.plugin)

    def test_a_library_found_in_two_ways_is_described_and_started_once(self):
        self.assert_life(["configure pages=7", "analysis"], MODEL, "--plugin", self.plugin, "--plugin-path", self.folder)

    def test_a_run_that_ends_with_an_error_ends_the_plugin_too(self):
        done, diary = self.live("--plugin", self.plugin, "--assert", "macs < 1", MODEL)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(diary[-1], "deinit")

    def test_a_plugin_is_configured_before_every_size_of_a_sweep(self):
        done, diary = self.live("--plugin", self.plugin, "--sweep", "x.0=2,4", MODELS / "dynamic_mlp.pt2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(diary.count("configure pages=7"), 3, diary)
        self.assertEqual(diary.count(f"init {self.plugin}"), 2)  # once for the description, once for its use


class Configure(LifeTest):
    """Each plugin is configured, even one without metrics."""

    def test_a_plugin_that_only_analyses_is_configured(self):
        self.assert_life(["configure pages=3", "analysis"], MODEL, "--plugin", self.plugin, "--set", "diary.pages=3",
                         offers="analyses")

    def test_a_plugin_used_only_as_a_writer_is_not_configured(self):
        self.assert_life(["writer"], MODEL, "--plugin-path", self.folder, "--report", "diary", offers="writers")


class Init(LifeTest):
    def test_the_reason_of_init_is_shown(self):
        done, _ = self.live(MODEL, "--plugin", self.plugin, DIARY_INIT="no licence file in /opt/acme")
        self.assertEqual(done.returncode, 5)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("diary.tmeter could not be started: no licence file in /opt/acme", done.stderr)

    def test_the_reason_of_init_is_a_note_for_a_plugin_in_a_folder(self):
        done, _ = self.live(MODEL, "--plugin-path", self.folder, DIARY_INIT="no licence file in /opt/acme")
        self.assertEqual(done.returncode, 0)
        self.assertIn("note: plugin " + str(self.plugin) + " could not be started: no licence file", done.stderr)

    def test_a_failure_without_a_reason_is_reported(self):
        done, _ = self.live(MODEL, "--plugin", self.plugin, DIARY_INIT="-")
        self.assertEqual(done.returncode, 5)
        self.assertIn("without saying why (status 7)", done.stderr)

    def test_a_plugin_that_could_not_start_is_not_ended(self):
        _, diary = self.live("plugin", "list", "--plugin-path", self.folder, DIARY_INIT="no")
        self.assertEqual(diary, [f"init {self.plugin}"])

    def test_a_warning_of_init_is_in_the_report(self):
        done, _ = self.live(MODEL, "--plugin", self.plugin, "--report", "json")
        self.assertIn("the diary begins", json.loads(done.stdout)["warnings"])

    def test_the_text_of_an_exception_in_the_cpp_wrapper_is_shown(self):
        source = self.file("throws.cpp", """
#include <tmeter/cpp/plugin.hpp>
TMETER_PLUGIN("com.acme.throws", "1.0.0", [](tmeter::Registrar&) { throw tmeter::Error("the licence has expired"); });
""")
        plugin = self.folder / "throws.tmeter"
        build_plugin(source, plugin)
        self.assert_refused(5, ["throws.tmeter could not be started: the licence has expired"], MODEL, "--plugin", plugin)


class Users(LifeTest):
    def test_every_callback_gets_its_own_user_pointer(self):
        done, _ = self.live(MODEL, "--plugin", self.plugin, "--report", "json")
        nodes = json.loads(done.stdout)["totals"]["diary"]
        self.assertGreater(nodes, 0)  # one for each operator, from a handler that checks its user
        done, _ = self.live(MODEL, "--plugin", self.plugin, "--report", "diary")
        self.assertEqual(done.stdout, "Dear diary\n")


if __name__ == "__main__":
    main()
