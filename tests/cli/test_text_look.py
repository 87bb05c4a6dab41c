"""The text report's look: the configuration's tables and mistakes in them, terminals of 60, 100 and 200 columns, sinks that fail."""
import fcntl
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import termios
import time
import tomllib
import unicodedata

from support import FIXTURES, MODELS, TMETER, CliTest, main, tmeter

RESNET = MODELS / "resnet50.pt2"
TRAINED = FIXTURES / "trained" / "model.safetensors"
COLOR = re.compile(r"\x1b\[[0-9;]*m")
TIME = re.compile(r" *(?:\x1b\[2m)?analysed in [0-9.]+ \w+")
# Looks that must fit terminals of any width.
LOOKS = {
    "built in": "",
    "boxes": '[plugin.text]\nrepeat.box = "heavy-edge"\nrepeat.footer = "from <first> to <last>"\ntable.box = "rounded"\n',
    "torchmeter": '[plugin.text]\nlevel.default.label = "[b gray35](<node_id>)[/] [green]<name>[/] [cyan]<type>[/]"\n'
                  'table.box = "square"\ntable.tree = "inside"\ncolumn.default.overflow = "fold"\ncolumn.name.overflow = "fold"\n',
    "lines": '[plugin.text]\ntable.show-lines = true\ntable.expand = true\ntable.box = "double"\nrepeat.box = "ascii"\nrepeat.expand = true\n',
    "wide": '[plugin.text]\ntable.width = 10000\ntable.gap = 100\ntable.title = "<name> of <file>"\ntable.leading = 1\nrepeat.width = 9999\n',
}


def width_of(text):
    """Columns, from Python's own tables."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def on_terminal(columns, *arguments, env=None):
    """The output on a terminal with this number of columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TMETER_PLUGIN_PATH": "", "XDG_DATA_HOME": "/nonexistent", **(env or {})}
    environment.pop("NO_COLOR", None) if not env else None
    with subprocess.Popen([TMETER, *map(str, arguments)], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            written += part
    os.close(ours)
    return process.returncode, written.decode().replace("\r\n", "\n")


class Terminals(CliTest):
    def test_no_line_is_wider_than_the_terminal_in_any_look(self):
        for name, look in LOOKS.items():
            path = self.file("look.toml", look)
            for columns in (1, 20, 60, 100, 200):
                for model in (RESNET, MODELS / "dynamic_mlp.pt2"):
                    with self.subTest(look=name, columns=columns, model=model.name):
                        status, text = on_terminal(columns, model, "--config", path)
                        self.assertEqual(status, 0, text)
                        for line in text.splitlines():
                            self.assertLessEqual(width_of(COLOR.sub("", line)), columns, line)

    def test_each_width_has_the_columns_that_fit(self):
        lines = {columns: COLOR.sub("", on_terminal(columns, RESNET)[1]) for columns in (60, 88, 200)}
        self.assertRegex(lines[200], r"5\.1 +│  ├─ 0 +Bottleneck +\[1, 256, 56, 56\] +75\.01 K .* 5\.7 % ▋\n")
        self.assertRegex(lines[88], r"\n5\.1 +│  ├─ 0 +Bottleneck +\[1, 256, 56, 56\] +75\.01 K +231\.21 M\n")
        self.assertNotIn("▋", lines[88])
        self.assertRegex(lines[60], r"\n5\.1 +│  ├─ 0 +Bottlene")
        self.assertIn("… no room in 60 columns for: output shape (--columns", lines[60])  # the output shape is left out first
        self.assertRegex(lines[60], r"\n10 +└─ fc +Linear +2\.05 M +2\.05 M\n")
        for columns in (88, 200):
            self.assertNotIn("no room", lines[columns])

    def test_tensors_and_operators_fit_too(self):
        for columns in (60, 100, 200):
            for arguments in ((TRAINED, "--plugins=param-stats"), (RESNET, "--by", "operator", "--depth", "2")):
                status, text = on_terminal(columns, *arguments)
                self.assertEqual(status, 0, text)
                for line in text.splitlines():
                    self.assertLessEqual(width_of(COLOR.sub("", line)), columns, line)

    def test_a_terminal_gets_colours_unless_no_color_is_set(self):
        self.assertIn("\x1b[36mConv2d\x1b[0m", on_terminal(100, RESNET)[1])
        plain = on_terminal(100, RESNET, env={"NO_COLOR": "1"})[1]
        self.assertNotIn("\x1b", plain)
        self.assertNotIn("\x1b", tmeter(RESNET).stdout)

    def test_the_default_look_needs_sixteen_colours(self):
        codes = {code for sequence in re.findall(r"\x1b\[([0-9;]+)m", on_terminal(200, RESNET)[1]) for code in sequence.split(";")}
        self.assertLessEqual(codes, {"0", "1", "2", *map(str, range(30, 38))})

    def test_every_colour_ends_on_its_line(self):
        text = on_terminal(100, RESNET, "--config", self.file("c.toml", LOOKS["torchmeter"]))[1]
        for line in text.splitlines():
            self.assertEqual(len(re.findall(r"\x1b\[0m", line)) * 2, line.count("\x1b["), line)


class Configuration(CliTest):
    def refused(self, words, text):
        self.assert_refused(2, words, RESNET, "--config", self.file("c.toml", text))

    def test_the_printed_configuration_equals_the_built_in_one(self):
        printed = tmeter("config").stdout
        table = tomllib.loads(printed)["plugin"]["text"]
        self.assertLessEqual({"theme", "level", "repeat", "column", "table"}, set(table))
        for line, before in zip(printed.splitlines()[1:], printed.splitlines()):
            if " = " in line and not line.startswith("#") and printed.index(line) > printed.index("[plugin."):
                self.assertTrue(before.startswith("# "), f"no comment: {line}")
        path = self.file("c.toml", printed)
        for options in ((), ("--depth", "all"), ("--by", "operator"), ("--color", "always"), ("--raw",)):
            with_it, without = (TIME.sub("", tmeter(RESNET, *options, *config).stdout) for config in (("--config", path), ()))
            self.assertEqual(with_it, without, options)

    def test_mistakes_are_reported_with_line_and_column(self):
        head = "[plugin.text.level.0]\n"
        for place, words, text in (
                ("2:13", ["'gren'", "did you mean 'green'"], head + 'label = "[b gren]<name>[/]"\n'),
                ("2:19", ["<nmae>", "did you mean 'name'"], head + 'label = "größer[b]<nmae>"\n'),
                ("2:9, character 5: ", ["<nix>"], head + 'label = "\\u00fcber<nix>"\n'),
                ("2:10", ["no ']'"], head + "label = '[b green <name>'\n"),
                ("2:11", ["no opening tag"], head + "label = 'x[/]'\n"),
                ("2:10", ["no option 'level.0.lable'", "did you mean 'level.0.label'"], head + 'lable = "x"\n'),
                ("2:9", ["not a list"], head + 'label = ["a", "b"]\n'),
                ("2:10", ["there is no level 'first'"], '[plugin.text.level.first]\nlabel = "x"\n'),
                ("2:10", ["there is no level '-1'"], '[plugin.text.level.-1]\nlabel = "x"\n'),
                ("2:9", ["0 … 10000"], "[plugin.text.table]\nwidth = -1\n"),
                ("2:9", ["0 … 10000"], "[plugin.text.table]\nwidth = 9223372036854775807\n"),
                ("2:9", ["whole number"], "[plugin.text.table]\nwidth = 1.5\n"),
                ("2:10", ["whole number"], '[plugin.text.table]\nwidth = "a"\n'),
                ("2:14", ["true or false"], "[plugin.text.table]\nshow-lines = 7\n"),
                ("2:8", ["'roundd'", "did you mean 'rounded'"], '[plugin.text.table]\nbox = "roundd"\n'),
                ("2:11", ["padding takes"], "[plugin.text.table]\npadding = [0, 1, 2]\n"),
                ("2:14", ["'dmi'", "did you mean 'dim'"], '[plugin.text.table]\nrow-styles = ["none", "dmi"]\n'),
                ("2:10", ["there is no column 'mcas'", "did you mean 'macs'"], '[plugin.text.column.mcas]\nstyle = "red"\n'),
                ("2:12", ["auto left center right"], '[plugin.text.column.macs]\njustify = "middle"\n'),
                ("2:12", ["no option 'column.macs.more.justify'"], '[plugin.text.column.macs.more]\njustify = "left"\n'),
                ("2:10", ["theme"], '[plugin.text.theme]\nquiet = "type"\n'),
                ("2:", ["there is no plugin 'txt'", "did you mean 'text'"], '[plugin.txt.table]\nbox = "none"\n'),
                ("2:9", ["a string, a number or true/false"], head + "label = 1979-05-27\n"),
                ("2:", ["no option 'level'"], '[plugin.text]\nlevel = "x"\n')):
            with self.subTest(text):
                self.refused([f"c.toml:{place}", *words], text)

    def test_mistakes_on_the_command_line_are_reported_with_the_option(self):
        self.assert_refused(2, ["--set text.table.box=x: there is no box 'x'"], RESNET, "--set", "text.table.box=x")
        self.assert_refused(2, ["--set text.level.0.label=ab[b", "character 3", "no ']'"], RESNET, "--set", "text.level.0.label=ab[b")
        self.assert_refused(2, ["has no option 'table'"], RESNET, "--set", "text.table=x")
        done = tmeter(RESNET, "--set", "org.tmeter.text.level.0.label=full id", "--depth", "0")
        self.assertRegex(done.stdout, r"(?m)^0 +full id ")

    def test_missing_metrics_are_dashes_not_mistakes(self):
        path = self.file("c.toml", '[plugin.text]\nlevel.0.label = "<energy>!"\ncolumn.energy.style = "red"\n')
        self.assertRegex(tmeter(RESNET, "--config", path).stdout, r"(?m)^0 +–! ")
        self.assertRegex(tmeter(RESNET, "--config", path, "--plugins=energy").stdout, r"(?m)^0 +88\.12 mJ! ")

    def test_values_in_labels_equal_the_columns_also_for_repeats(self):
        path = self.file("c.toml", '[plugin.text]\nrepeat.title = "<repeat_time> × <repeat_winsz>: <macs>"\nlevel.2.label = "<name>=<params>"\n')
        text = tmeter(RESNET, "--config", path, "--columns", "macs").stdout
        self.assertRegex(text, r"└─ 3 × 1: 655\.10 M +655\.10 M")
        self.assertRegex(text, r"├─ 0=75\.01 K +Bottleneck +231\.21 M")

    def test_the_tree_has_the_styles_of_anytree(self):
        """The lines of anytree 2.13's AsciiStyle, ContStyle, ContRoundStyle and DoubleStyle, and bigtree 0.14's const_bold."""
        styles = {"ascii": ("|   ", "|-- ", "+-- "), "cont": ("│   ", "├── ", "└── "),
                  "cont-round": ("│   ", "├── ", "╰── "), "cont-bold": ("┃   ", "┣━━ ", "┗━━ "), "double": ("║   ", "╠══ ", "╚══ ")}
        for name, (on, branch, last) in styles.items():
            text = tmeter(RESNET, "--set", f"text.tree-style={name}").stdout
            self.assertIn(f"5.1    {on}{branch}0 ", text, name)
            self.assertIn(f"10     {last}fc", text, name)
            self.assertIn(f"8.2    {on}    {last}1", text, name)
        self.assert_refused(2, ["text.tree-style", "cont-round"], RESNET, "--set", "text.tree-style=round")

    def test_saved_reports_have_the_same_look(self):
        saved = self.folder / "r.json"
        self.assertEqual(tmeter(RESNET, "--report", f"json={saved}").returncode, 0)
        path = self.file("c.toml", LOOKS["boxes"])
        shown = tmeter("show", saved, "--config", path).stdout
        self.assertIn("━ repeat 3 × ━", shown)
        self.assertEqual(TIME.sub("", shown), TIME.sub("", tmeter(RESNET, "--config", path).stdout))


class Hostile(CliTest):
    def look(self, text, *arguments):
        started = time.monotonic()
        done = tmeter(RESNET, "--config", self.file("c.toml", text), *arguments, timeout=60)
        self.assertLess(time.monotonic() - started, 60)
        return done

    def test_templates_of_a_megabyte_are_refused_in_a_line(self):
        for text in ("x" * 1_000_000, "[b]" * 330_000, "<name>" * 170_000):  # a configuration may have 1 MiB
            done = self.look(f"[plugin.text.level.default]\nlabel = '{text}'\n")
            self.assertEqual(done.returncode, 2)
            self.assertIn("at most 10000 bytes", done.stderr)
            self.assertLess(len(done.stderr), 500)
            done = tmeter(RESNET, "--set", f"text.level.default.label={text[:100_000]}")
            self.assertEqual(done.returncode, 2)
            self.assertLess(len(done.stderr), 500)

    def test_the_longest_template_and_the_widest_table_are_written(self):
        self.assertEqual(self.look(f"[plugin.text.level.default]\nlabel = '{'<text>' * 1600}'\n", "--depth", "all").returncode, 0)
        self.assertEqual(self.look("[plugin.text]\ntable.width = 10000\ntable.padding = [100, 100, 100, 100]\ntable.leading = 100\n"
                                   "repeat.height = 100\nrepeat.padding = 100\nrepeat.box = 'square'\ntable.box = 'square'\n").returncode, 0)

    def test_control_characters_and_bidi_in_the_configuration_do_not_reach_the_terminal(self):
        text = ('[plugin.text]\nlevel.0.label = "\\u001b[2J\\u202eevil\\u0007"\ntable.title = "\\u001b]0;x\\u0007"\n'
                'column.macs.title = "\\u009b31m\\nx"\nrepeat.footer = "\\u2066\\r\\b"\n')
        done = self.look(text)
        self.assertEqual(done.returncode, 0, done.stderr)
        for c in "\x1b\x07\u202e\u2066\x9b\r\b":
            self.assertNotIn(c, done.stdout)
        self.assertIn("\ufffd[2J\ufffdevil\ufffd", done.stdout)

    def test_a_thousand_levels_and_columns(self):
        levels = "\n".join(f"level.{i}.label = '{i} <name>'\ncolumn.c{i}.title = 'x'" for i in range(1000))
        self.assertIn("there is no column 'c0'", self.look(f"[plugin.text]\n{levels}\n").stderr)
        levels = re.sub("column.*", "", levels)
        done = self.look(f"[plugin.text]\n{levels}\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"├─ 2 0 ")

    def test_nesting_of_tables_is_limited(self):
        deep = ".".join(["a"] * 200)
        self.assertEqual(self.look(f"[plugin.text.{deep}]\nb = 1\n").returncode, 2)


class Sinks(CliTest):
    def test_a_full_disk_is_reported_in_any_look(self):
        path = self.file("c.toml", LOOKS["boxes"])
        with open("/dev/full", "w") as full:
            done = subprocess.run([TMETER, str(RESNET), "--config", str(path)], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("No space left", done.stderr)

    def test_a_disk_that_fills_up_keeps_the_old_report(self):
        old = self.file("r.txt", "old")

        def no_room():  # emulates a full disk for write(2)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        done = subprocess.run([TMETER, str(RESNET), "--depth", "all", "--report", f"text={old}"], capture_output=True, text=True, preexec_fn=no_room)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(old.read_text(), "old")
        self.assertEqual(os.listdir(self.folder), ["r.txt"])

    def test_a_reader_that_goes_away_ends_the_run(self):
        ours, theirs = os.pipe()
        os.close(ours)
        done = subprocess.run([TMETER, str(RESNET), "--depth", "all"], stdout=theirs, stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(theirs)
        self.assertNotEqual(done.returncode, 0)
        self.assertLessEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    main()
