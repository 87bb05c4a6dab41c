"""docs/from-torchmeter.md: every key of torchmeter's configuration has a row, and our key has the effect that the row promises.

Effects are searched in the text report on ResNet-50. Expected values are written by hand, not taken from a run.
"""
import pathlib
import re
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import MODELS, SOURCE, CliTest, main, tmeter  # noqa: E402

PAGE = SOURCE / "docs" / "from-torchmeter.md"
MODEL = MODELS / "resnet50.pt2"

# torchmeter 0.1.0, torchmeter/config.py, DEFAULT_CFG; "all" is from its cheat sheet.
KEYS = {
    "render_interval": "", "tree_fold_repeat": "", "combine": "horizon_gap",
    "tree_repeat_block_args": "title title_align subtitle subtitle_align style highlight box border_style width height padding expand",
    "tree_levels_args": "default all 0", "tree_levels_args.*": "label style guide_style highlight hide_root expanded",
    "table_column_args": "style justify vertical overflow no_wrap",
    "table_display_args": "style highlight width min_width expand padding collapse_padding pad_edge leading title title_style title_justify "
                          "caption caption_style caption_justify show_header header_style show_footer footer_style show_lines row_styles "
                          "show_edge box safe_box border_style"}
WHY_NOT = {"render_interval"}
RED, BLUE = "\x1b[31m", "\x1b[34m"
BOX, REPEAT = "table.box=square", "repeat.box=square"
COLUMNS = "params,macs,flops,param_bytes,output_bytes"
FOLDED = ("column.macs.width=6", "column.macs.overflow=fold")


def has(text):
    """The text is in the report with the key and not in the one without."""
    return lambda case, before, after: (case.assertNotIn(text, before), case.assertIn(text, after))


def matches(pattern):
    return lambda case, before, after: (case.assertNotRegex(before, pattern), case.assertRegex(after, pattern))


def lacks(text):
    return lambda case, before, after: (case.assertIn(text, before), case.assertNotIn(text, after))


def widest(width):
    """The lines of the table's box have this width."""
    def check(case, before, after):
        lines = [line for line in after.splitlines() if line.endswith(("│", "┐"))]
        case.assertTrue(lines)
        case.assertEqual({len(line) for line in lines}, {width})
        case.assertNotEqual({len(line) for line in before.splitlines() if line.endswith("│")}, {width})
    return check


# Their key: our key with a value, other settings (in both runs), and the effect. Colours are compared where `color` is set.
EFFECTS = {
    "tree_fold_repeat": ("fold=false", (), lacks("repeat 3 ×")),
    "tree_repeat_block_args.title": ("repeat.title=<repeat_time> of them", (), has("└─ 3 of them")),
    "tree_repeat_block_args.title_align": ("repeat.title-align=left", (REPEAT, "repeat.width=30"), has("┌─ repeat 3 × ──────────")),
    "tree_repeat_block_args.subtitle": ("repeat.subtitle=<first> to <last>", (REPEAT,), has("─ 6.2 to 6.4 ─")),
    "tree_repeat_block_args.subtitle_align": ("repeat.subtitle-align=right", (REPEAT, "repeat.width=30", "repeat.subtitle=end"), has("───────── end ─┘")),
    "tree_repeat_block_args.style": ("repeat.style=red", (REPEAT, "color"), has(RED + " 1 ")),
    "tree_repeat_block_args.highlight": ("repeat.highlight=true", ("color",), has("repeat \x1b[1;36m3\x1b[0m ×")),
    "tree_repeat_block_args.box": ("repeat.box=HEAVY_EDGE", (), matches("└─ ┏━ repeat 3 × ━┓")),
    "tree_repeat_block_args.border_style": ("repeat.border-style=red", (REPEAT, "color"), has(RED + "┌─")),
    "tree_repeat_block_args.width": ("repeat.width=40", (REPEAT,), has("└" + "─" * 38 + "┘")),
    "tree_repeat_block_args.height": ("repeat.height=4", (REPEAT,), matches(r"\n +│ +│ {14}│\n")),
    "tree_repeat_block_args.padding": ("repeat.padding=0, 5", (REPEAT,), matches("│     1 +│ +Bottleneck")),
    "tree_repeat_block_args.expand": ("repeat.expand=true", (REPEAT, "level.1.label=<name> of a name as long as that"), matches(r"│     └─{20,}┘")),
    "tree_levels_args.default": ("level.default.label=any", (), has("├─ any")),
    "tree_levels_args.all": ("level.all.label=any", (), matches(r"(?m)^0 +any ")),
    "tree_levels_args.0": ("level.0.label=any", (), matches(r"(?m)^0 +any ")),
    "tree_levels_args.*.label": ("level.2.label=[red](<node_id>)[/] <name> <type> <macs>", ("color",), has(RED + "(5.1)\x1b[0m 0 Bottleneck 231.21 M")),
    "tree_levels_args.*.style": ("level.1.style=red", ("color",), has(RED + "conv1")),
    "tree_levels_args.*.guide_style": ("level.1.guide-style=red", ("color",), has(RED + "├─ ")),
    "tree_levels_args.*.highlight": ("level.1.highlight=true", ("color", "level.1.label=<name> 12"), has("\x1b[1;36m12\x1b[0m")),
    "tree_levels_args.*.hide_root": ("level.0.hide-root=true", (), matches(r"(?m)^1 +conv1 ")),
    "tree_levels_args.*.expanded": ("level.1.expanded=false", (), lacks("Bottleneck")),
    "table_column_args.style": ("column.default.style=red", ("color",), has(RED + "118.01")),
    "table_column_args.justify": ("column.default.justify=left", (), matches(r"BatchNorm2d {8}128 {7}0 ")),
    "table_column_args.vertical": ("column.default.vertical=bottom", FOLDED, matches(r"conv1 +Conv2d +118.01\n +9.41 K +M ")),
    "table_column_args.overflow": ("column.default.overflow=crop", ("column.macs.width=4",), matches(r"Conv2d +9.41 K  118\.  ")),
    "table_column_args.no_wrap": ("column.default.no-wrap=true", FOLDED, matches(r"conv1 .*\n2 ")),
    "table_display_args.style": ("table.style=red", ("color",), matches("\x1b\\[31m +118.01")),
    "table_display_args.highlight": ("table.highlight=true", ("color",), has("\x1b[1;36m118.01\x1b[0m")),
    "table_display_args.width": ("table.width=150", (BOX,), widest(150)),
    "table_display_args.min_width": ("table.min-width=150", (BOX,), widest(150)),
    "table_display_args.expand": ("table.expand=true", (BOX,), None),  # a terminal is needed: test_expand
    "table_display_args.padding": ("table.padding=[0, 3]", (BOX,), has("│   118.01 M   │")),
    "table_display_args.collapse_padding": ("table.collapse-padding=true", ("table.padding=0, 3", BOX), has("│118.01 M   │")),
    "table_display_args.pad_edge": ("table.pad-edge=false", (BOX,), has("│  params │")),
    "table_display_args.leading": ("table.leading=1", (), matches(r"\n +│\n2 +├─ bn1")),
    "table_display_args.title": ("table.title=All of <name>: <macs>", (), matches(r"\n {20,}All of ResNet: 4.09 G\n")),
    "table_display_args.title_style": ("table.title-style=red", ("color", "table.title=above"), has(RED + "above")),
    "table_display_args.title_justify": ("table.title-justify=left", ("table.title=above",), has("\nabove\n")),
    "table_display_args.caption": ("table.caption=below", (), matches(r"Linear .*\n {20,}below\n")),
    "table_display_args.caption_style": ("table.caption-style=red", ("color", "table.caption=below"), has(RED + "below")),
    "table_display_args.caption_justify": ("table.caption-justify=left", ("table.caption=below",), has("\nbelow\n")),
    "table_display_args.show_header": ("table.show-header=false", (), lacks("output mem  share")),
    "table_display_args.header_style": ("table.header-style=red", ("color", "column.default.header-style=none"), matches("\x1b\\[31m +params")),
    "table_display_args.show_footer": ("table.show-footer=true", (), matches(r"Linear .*\n +total +25\.56 M +4\.09 G")),
    "table_display_args.footer_style": ("table.footer-style=red", ("color", "table.show-footer=true"), matches("total.*\x1b\\[1;31m25.56")),
    "table_display_args.show_lines": ("table.show-lines=true", (BOX,), matches(r"2.9 % ▎ +│\n +│ +├─+┼")),
    "table_display_args.row_styles": ("table.row-styles=['none', 'red']", ("color",), has(RED + "conv1")),
    "table_display_args.show_edge": ("table.show-edge=false", (BOX,), lacks("┐")),
    "table_display_args.box": ("table.box=DOUBLE", (), has("╠")),
    "table_display_args.safe_box": ("ascii=true", (), matches(r"\n1 +\+- conv1 ")),
    "table_display_args.border_style": ("table.border-style=red", (BOX, "color"), has(RED + "┌")),
    "combine.horizon_gap": ("table.gap=9", (), matches(r"AdaptiveAvgPool2d {13,}–")),
}


def toml(settings):
    """A configuration of "table.key=value" settings."""
    lines = []
    for setting in settings:
        path, _, value = setting.partition("=")
        plain = value in ("true", "false") or re.fullmatch(r"\d+|\[.*\]", value)
        lines.append(f"{path} = {value if plain else chr(34) + value + chr(34)}")
    return "[plugin.text]\n" + "\n".join(lines) + "\n"


class Keys(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.page = PAGE.read_text(encoding="utf-8")
        cls.own_keys = set()

        def walk(table, path):
            for key, value in table.items():
                cls.own_keys.add(path + key)
                if isinstance(value, dict):
                    walk(value, path + key + ".")
        walk(tomllib.loads(tmeter("config").stdout)["plugin"]["text"], "")

    def rows(self, header):
        lines = self.page[self.page.index(f"| {header} |"):].split("\n\n")[0].splitlines()[2:]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    def text(self, *settings):
        settings = list(settings)
        color = "color" in settings
        path = self.file("c.toml", toml(s for s in settings if s != "color"))
        done = tmeter(MODEL, "--config", path, "--columns", COLUMNS, *(["--color", "always"] if color else []))
        self.assertEqual((done.returncode, done.stderr), (0, ""), settings)
        return done.stdout

    def test_every_key_has_a_row_and_an_effect_or_a_reason(self):
        their_keys = {f"{group}.{key}" if key else group for group, keys in KEYS.items() for key in (keys.split() or [""])}
        rows = {key.strip("`"): (ours.strip("`"), remark) for key, ours, remark in self.rows("key | here |")}
        self.assertEqual(set(rows), their_keys)
        self.assertEqual(set(EFFECTS) | WHY_NOT, their_keys)
        for key, (ours, remark) in rows.items():
            if key in WHY_NOT:
                self.assertIn("why not", remark, key)
                continue
            self.assertIn(ours.replace(".*", ".default").replace("level.all", "level.0"), self.own_keys, key)
            pattern = re.escape(ours).replace(r"\*", r"\w+")
            self.assertRegex(EFFECTS[key][0], rf"^{pattern}(\.label)?=", key)

    def test_every_key_has_its_effect(self):
        for key, (setting, others, check) in EFFECTS.items():
            if check is None:
                continue
            with self.subTest(key):
                check(self, self.text(*others), self.text(*others, setting))

    def test_the_look_of_the_page(self):
        block = re.search(r"```toml\n(.*?)```", self.page, re.DOTALL)[1]
        done = tmeter(MODEL, "--config", self.file("c.toml", block), "--color", "always")
        self.assertEqual(done.returncode, 0, done.stderr)
        # "Repeat" italic in the box's colour, the number bold and highlighted.
        self.assertIn("\x1b[3;38;5;136mRepeat [\x1b[0m\x1b[1;3;36m3\x1b[0m\x1b[3;38;5;136m] Times", done.stdout)
        self.assertIn("\x1b[1;38;5;240m(", done.stdout)

    def test_the_mistake_of_the_page(self):
        path = self.file("tmeter.toml", '[plugin.text.level.0]\nlabel = "[b gren]<name>[/]"\n')
        message = self.assert_refused(2, [], MODEL, "--config", path).stderr.strip().removeprefix(f"tmeter: {self.folder}/")
        self.assertIn("tmeter: " + message, self.page)


if __name__ == "__main__":
    main()
