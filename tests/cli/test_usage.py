"""The command line as a user meets it: help, mistakes, exit statuses, output files."""
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from support import FIXTURES, MODELS, TMETER, CliTest, main, report, tmeter

RESNET = MODELS / "resnet50.pt2"


class Help(CliTest):
    def test_help_fits_two_screens_and_shows_every_exit_status(self):
        done = tmeter("--help")
        self.assertEqual(done.returncode, 0)
        self.assertLessEqual(len(done.stdout.splitlines()), 60)
        for word in ("--plugins", "--input", "--report", "0 fine", "6 the model could not be run"):
            self.assertIn(word, done.stdout)

    def test_version(self):
        for typed in (["--version"], ["-V"], ["version"]):
            self.assertRegex(tmeter(*typed).stdout, r"^tmeter \d+\.\d+\.\d+$")

    def test_every_spelling_of_help_is_accepted(self):
        text = tmeter("--help").stdout
        for typed in ("-h", "help", "show --help", "diff --help", "merge -h", "hardware --help",
                      "config --help"):
            with self.subTest(typed=typed):
                done = tmeter(*typed.split())
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, text, ""))

    def test_default_configuration_can_be_used_as_a_configuration(self):
        config = tmeter("config")
        self.assertEqual(config.returncode, 0)
        self.assertIn("[plugin.flops]", config.stdout)
        path = self.file("all.toml", config.stdout)
        self.assertEqual(tmeter(RESNET, "--config", path).returncode, 0)


class Mistakes(CliTest):
    def test_no_model(self):
        self.assert_refused(2, ["no model file", "--help"])

    def test_two_models(self):
        self.assert_refused(2, ["one model file"], "a", "b")

    def test_unknown_option_names_the_nearest(self):
        self.assert_refused(2, ["--plugin-s", "did you mean '--plugins'"], "--plugin-s=flops", RESNET)
        self.assert_refused(2, ["--hardwear", "'--hardware'"], "--hardwear=x", RESNET)

    def test_unknown_plugin_names_the_nearest(self):
        self.assert_refused(2, ["unknown plugin 'flop'", "did you mean 'flops'", "plugin list"], RESNET, "--plugins=flop")

    def test_unknown_plugin_option(self):
        self.assert_refused(2, ["convension", "did you mean 'convention'"], RESNET, "--set", "flops.convension=torch")
        self.assert_refused(2, ["no plugin 'flopz'", "did you mean 'flops'"], RESNET, "--set", "flopz.convention=torch")
        self.assert_refused(2, ["torch fvcore torchvision full"], RESNET, "--set", "flops.convention=deepspeed")

    def test_unknown_report_format(self):
        self.assert_refused(2, ["unknown report format 'jason'", "did you mean 'json'"], RESNET, "--report", "jason")

    def test_unknown_hardware(self):
        self.assert_refused(2, ["unknown hardware profile", "horowitz-45nm"], RESNET, "--hardware=horowitz")

    def test_malformed_values(self):
        self.assert_refused(2, ["--input", "is not a size"], RESNET, "--input", "1xax3")
        self.assert_refused(2, ["--input", "unknown dtype"], RESNET, "--input", "1x3:f33")
        self.assert_refused(2, ["--bind"], RESNET, "--bind", "batch")
        self.assert_refused(2, ["--by"], RESNET, "--by", "modul")
        self.assert_refused(2, ["--depth"], RESNET, "--depth", "-x")
        self.assert_refused(2, ["--color", "did you mean 'never'"], RESNET, "--color", "neverr")

    def test_configuration_errors_have_file_line_and_column(self):
        path = self.file("c.toml", "hardware = 'horowitz-45nm'\nplugin = 3\n")
        self.assert_refused(2, ["c.toml:2:"], RESNET, "--config", path)


class Reports(CliTest):
    def test_report_goes_to_the_file_and_stdout_stays_empty(self):
        path = self.folder / "r.json"
        done = tmeter(RESNET, "--report", f"json={path}")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(json.loads(path.read_text())["schema"], "tmeter-report/1")

    def test_an_unwritable_file_is_wrong_usage_and_leaves_no_file(self):
        self.assert_refused(2, ["/nonexistent/r.json"], RESNET, "--report", "json=/nonexistent/r.json")
        before = os.listdir(self.folder)
        self.assert_refused(2, ["cannot be written"], RESNET, "--report", f"json={self.folder}")
        self.assertEqual(os.listdir(self.folder), before)

    def test_failed_analysis_keeps_the_old_report(self):
        path = self.file("r.json", "old")
        tmeter(self.folder / "missing.pt2", "--report", f"json={path}")
        self.assertEqual(path.read_text(), "old")

    def test_a_full_disk_is_reported(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([TMETER, str(RESNET)], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("No space left", done.stderr)

    def test_a_full_disk_keeps_the_old_report_and_leaves_no_other_file(self):
        path = self.file("r.json", "old")

        def no_room():  # emulates a full disk for write(2)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        done = subprocess.run([TMETER, RESNET, "--report", f"json={path}"], capture_output=True, text=True,
                              preexec_fn=no_room, restore_signals=False)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("cannot be written completely", done.stderr)
        self.assertEqual(path.read_text(), "old")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["r.json"])

    def test_several_reports_at_once(self):
        path = self.folder / "r.json"
        done = tmeter(RESNET, "--report", "text", "--report", f"json={path}")
        self.assertIn("ResNet", done.stdout)
        self.assertTrue(path.exists())

    def test_two_reports_into_one_file_are_refused(self):
        old = self.file("old.json", "old")
        (self.folder / "link.json").symlink_to("old.json")
        (self.folder / "hard.json").hardlink_to(old)
        for first, second in (("new", "new"), ("new", "./new"), ("new", f"{self.folder}/new"), ("old.json", "link.json"),
                              ("old.json", "hard.json")):
            with self.subTest(first=first, second=second):
                self.assert_refused(2, [f"csv={second}", f"json={first}", "same file"], RESNET.resolve(),
                                    "--report", f"json={first}", "--report", f"csv={second}", cwd=self.folder)
        self.assertEqual(old.read_text(), "old")
        self.assertEqual(sorted(os.listdir(self.folder)), ["hard.json", "link.json", "old.json"])

    def test_a_device_may_be_named_twice(self):
        self.assertEqual(tmeter(RESNET, "--report", "json=/dev/null", "--report", "csv=/dev/null").returncode, 0)

    def test_a_report_onto_the_model_is_refused(self):
        content = RESNET.read_bytes()
        model = self.file("m.pt2", content)
        (self.folder / "link").symlink_to("m.pt2")
        (self.folder / "hard").hardlink_to(model)
        for target in ("m.pt2", "./m.pt2", model, "link", "hard"):
            with self.subTest(target=target):
                self.assert_refused(2, [f"json={target}", "the model file itself"],
                                    "m.pt2", "--report", f"json={target}", cwd=self.folder)
        self.assertEqual(model.read_bytes(), content)

    def test_no_colour_by_default(self):
        self.assertNotIn("\x1b[", tmeter(RESNET).stdout)
        self.assertIn("\x1b[", tmeter(RESNET, "--color=always").stdout)

    def test_the_text_report_shows_size_cost_places_and_coverage(self):
        text = tmeter(RESNET).stdout
        for word in ("25.56 M", "4.09 G", "[1, 1000]", "97.49 MiB", "predicted peak", "layer1", "54 counted", "0 unknown"):
            self.assertIn(word, text)
        for word in ("FLOPs", "output mem", "activations take"):
            self.assertNotIn(word, text)
        text = tmeter(RESNET, "--columns", "flops,output_bytes").stdout
        for word in ("8.18 G", "1 MAC = 2 FLOPs", "output mem"):
            self.assertIn(word, text)

    def test_a_requested_plugin_shows_its_metrics(self):
        self.assertIn("8.18 G", tmeter(RESNET, "--plugins=flops").stdout)
        self.assertIn("energy", tmeter(RESNET, "--plugins=params,flops,memory,energy").stdout)

    def test_the_lists_of_columns_and_totals_are_options(self):
        text = tmeter(RESNET, "--set", "text.columns=params, flops", "--set", "text.totals=macs").stdout
        self.assertIn("share of FLOPs", text)
        self.assertNotIn("output shape", text)
        self.assertRegex(text, r"\nMACs 4,089,184,256 · params 25,557,032 · FLOPs 8,178,368,512\n")
        self.assert_refused(2, ["text.columns", "no metric 'marcs'"], RESNET, "--set", "text.columns=params,marcs")

    def test_titles_and_ids_name_a_metric(self):
        text = tmeter(RESNET, "--columns", "macs,PARAM MEM", "--sort", "flops", "--assert", "MACs <= 5G").stdout
        self.assertRegex(text, r"MACs +param mem +FLOPs +share of FLOPs")
        self.assertIn("holds: MACs <= 5G (4,089,184,256)", text)
        self.assertIn("param mem (param_bytes): ", tmeter(RESNET, "-v").stdout)

    def test_modules_without_operators_and_tensors_have_no_rows(self):
        # VisionTransformer: the attention around out_proj reads its weight, so out_proj must not show ×0.
        text = tmeter(MODELS / "vit_b_16.pt2", "--depth", "all").stdout
        self.assertIn("out_proj", text)
        self.assertNotIn("×0", text)

    def test_quiet_prints_no_report(self):
        done = tmeter(RESNET, "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertIn('"macs"', tmeter(RESNET, "-q", "--report", "json").stdout)

    def test_the_reason_for_missing_values_replaces_empty_rows(self):
        text = tmeter(FIXTURES / "trained/model.safetensors", "--plugins=flops").stdout
        self.assertIn("the file holds weights only", text.splitlines()[2])
        self.assertNotIn("stem", text)

    def test_width_colour_and_characters_follow_the_environment(self):
        narrow = tmeter(RESNET, env={"COLUMNS": "70"}).stdout
        self.assertLessEqual(max(map(len, narrow.splitlines())), 70)
        self.assertGreater(max(map(len, tmeter(RESNET, env={"COLUMNS": "many"}).stdout.splitlines())), 80)
        self.assertIn("\x1b[", tmeter(RESNET, env={"FORCE_COLOR": "1"}).stdout)
        self.assertNotIn("\x1b[", tmeter(RESNET, env={"FORCE_COLOR": "0"}).stdout)
        self.assertNotIn("\x1b[", tmeter(RESNET, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout)
        self.assertTrue(tmeter(RESNET, env={"LC_ALL": "C"}).stdout.isascii())
        self.assertTrue(tmeter(RESNET, env={"LC_ALL": "", "LC_CTYPE": "de_DE.ISO-8859-1"}).stdout.isascii())
        self.assertIn("├─", tmeter(RESNET, env={"LC_ALL": "de_DE.utf8"}).stdout)
        self.assertIn("├─", tmeter(RESNET, "--set", "text.ascii=false", env={"LC_ALL": "C"}).stdout)

    def test_every_text_follows_the_environment(self):
        """One decision on characters and width applies to every writer."""
        mlp = MODELS / "dynamic_mlp.pt2"
        texts = {"text": (RESNET, "--depth=1"), "full-text": (RESNET, "--report=full-text"), "diff": ("diff", RESNET, mlp)}
        for plugin, command in texts.items():
            with self.subTest(plugin=plugin):
                self.assertFalse(tmeter(*command).stdout.isascii())
                self.assertTrue(tmeter(*command, env={"LC_ALL": "C"}).stdout.isascii())
                self.assertTrue(tmeter(*command, "--set", f"{plugin}.ascii=true").stdout.isascii())
                self.assertFalse(tmeter(*command, "--set", f"{plugin}.ascii=false", env={"LC_ALL": "C"}).stdout.isascii())
        self.assertIn("\n... 140 modules below: --depth 2 to 4\n", tmeter(*texts["text"], env={"LANG": "C"}).stdout)
        for columns in (20, 40, 80, 200):
            lines = tmeter(*texts["diff"], "--assert=diff.macs<=0", env={"COLUMNS": str(columns)}).stdout.splitlines()
            self.assertLessEqual(max(map(len, lines)), columns)


class Browser(CliTest):
    def test_the_page_is_written_and_opened(self):
        browser = self.file("browser", "#!/bin/sh\necho \"$1\" > opened.new; mv opened.new opened\n")
        browser.chmod(0o755)
        env = {"BROWSER": str(browser), "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = tmeter(RESNET.resolve(), "--open", cwd=self.folder, env=env)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        page = self.folder / "cache/tmeter/report.html"
        self.assertEqual(done.stderr, f"tmeter: the page is {page}\n")
        self.assertIn("<!doctype html>", page.read_text()[:200].lower())
        for _ in range(500):
            if (self.folder / "opened").exists():
                break
            time.sleep(0.01)
        self.assertEqual((self.folder / "opened").read_text(), f"{page}\n")

    def test_without_a_browser_the_file_is_named(self):
        env = {"BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}
        done = tmeter(RESNET.resolve(), "--open", "--report", "html=own.html", cwd=self.folder, env=env)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn(f"no display for a browser; the page is {self.folder / 'own.html'}", done.stderr)
        done = tmeter(RESNET.resolve(), "--open", "--report", "html=own.html", cwd=self.folder, env={"BROWSER": "/nonexistent"})
        self.assertIn("/nonexistent cannot be started; the page is", done.stderr)

    def test_raw_numbers_are_plain(self):
        text = tmeter(RESNET, "--raw").stdout
        self.assertIn("4089184256", text.replace(",", ""))


class Assertions(CliTest):
    def test_a_bound_that_holds_changes_nothing(self):
        self.assertEqual(tmeter(RESNET, "--assert", "macs<=5G", "--assert", "coverage==100%").returncode, 0)

    def test_a_bound_that_does_not_hold_exits_3_after_the_report(self):
        done = tmeter(RESNET, "--assert", "macs<=4G")
        self.assertEqual(done.returncode, 3)
        self.assertIn("macs is 4.089 G", done.stderr)
        self.assertIn("ResNet", done.stdout)

    def test_an_unknown_metric_is_wrong_usage(self):
        self.assertEqual(tmeter(RESNET, "--assert", "mac<=5G").returncode, 2)

    def test_an_unknown_metric_is_reported_before_any_output(self):
        path = self.file("r.json", "old")
        self.assert_refused(2, ["--assert 'mac<=5G'", "did you mean 'macs'"],
                            RESNET, "--assert", "macs<=4G", "--assert", "mac<=5G", "--report", "text", "--report", f"json={path}")
        self.assertEqual(path.read_text(), "old")

    def test_an_invalid_assertion_is_reported_before_the_model_is_read(self):
        self.assert_refused(2, ["--assert 'macs=>5'"], self.folder / "nosuch.pt2", "--assert", "macs=>5")


class Dynamic(CliTest):
    def test_bound_symbols_change_the_numbers(self):
        model = MODELS / "dynamic_mlp.pt2"
        symbols = report(model)["symbols"]
        self.assertTrue(symbols)
        name = symbols[0]["name"]
        one, four = (report(model, "--bind", f"{name}={n}")["totals"]["macs"] for n in (2, 8))
        self.assertEqual(four, 4 * one)

    def test_unknown_symbol_and_range(self):
        self.assert_refused(2, ["no symbol 'nosuch'"], MODELS / "dynamic_mlp.pt2", "--bind", "nosuch=3")
        self.assert_refused(2, ["all its sizes are fixed"], RESNET, "--bind", "batch=3")


if __name__ == "__main__":
    main()
