#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <tmeter/cpp/nearest.hpp>

#include "style.hpp"

namespace text_report {
namespace {

constexpr int kText = TMETER_OPTION_TEXT, kInt = TMETER_OPTION_INT, kBool = TMETER_OPTION_BOOL,
              kChoice = TMETER_OPTION_CHOICE;
constexpr double kMaxWidth = 10'000, kMaxLines = 100;

// --- strings into values; the host has checked whole numbers, truth values and choices ---

bool parse_bool(std::string_view text) {
  return text == "true" || text == "1" || text == "yes" || text == "on";
}

size_t number(std::string_view text) {
  size_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

template <class Enum>
Enum one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  const auto* it = std::find(names.begin(), names.end(), text);
  return static_cast<Enum>(it == names.end() ? 0 : it - names.begin());
}

// One number for all sides; top and bottom, left and right; or top, right, bottom, left.
Padding padding(std::string_view text) {
  constexpr size_t kMaxPadding = 100;
  std::vector<size_t> n;
  for (size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    auto item = text.substr(at, comma - at);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    size_t value = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc() || end != item.data() + item.size() || value > kMaxPadding)
      throw Mistake{at, "padding takes whole numbers up to 100"};
    n.push_back(value);
    at = comma + 1;
  }
  if (n.size() == 1) return {n[0], n[0], n[0], n[0]};
  if (n.size() == 2) return {n[0], n[1], n[0], n[1]};
  if (n.size() == 4) return {n[0], n[1], n[2], n[3]};
  throw Mistake{0,
                "padding takes one number, two (top and bottom, left and right) or four (top, "
                "right, bottom, left)"};
}

// "params, macs": ids between commas.
Ids ids(std::string_view text, size_t given) {
  Ids out{{}, given};
  for (size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    auto id = text.substr(at, comma - at);
    while (!id.empty() && id.front() == ' ') id.remove_prefix(1);
    while (!id.empty() && id.back() == ' ') id.remove_suffix(1);
    if (!id.empty()) out.ids.emplace_back(id);
    at = comma + 1;
  }
  return out;
}

const Box* box(std::string_view text) {
  if (text == "none" || text.empty()) return nullptr;
  if (const auto* found = find_box(text)) return found;
  std::string names;
  for (const auto name : box_names()) names.append(names.empty() ? "" : ", ").append(name);
  throw Mistake{0, "there is no box '" + plugins::readable(text) + "'" +
                       tmeter::did_you_mean(text, box_names()) + "; there are " + names};
}

// --- setters ---

using Target = const OptionTarget&;
using Sv = std::string_view;

Written written(Target t, Sv text) { return {parse_template(text, t.look.theme), t.given}; }
LevelSettings& level(Target t) { return t.look.levels[std::string(t.name)]; }
ColumnSettings& column(Target t) { return t.look.columns[std::string(t.name)]; }

constexpr auto kSides = "auto left center right";
Justify justify(Sv text) { return one_of<Justify>(text, {"auto", "left", "center", "right"}); }

template <Role Of>
void set_role(Target t, Sv text) {
  const auto style = parse_style(text);
  if (style.role != Role::kPlain) throw Mistake{0, "a colour of the theme cannot name another one"};
  t.look.theme[static_cast<size_t>(Of)] = style;
}

const auto kOptions = std::to_array<Option>({
    {{"fold", kBool, "true", "draw identical siblings once"},
     [](Target t, Sv x) { t.look.fold = parse_bool(x); }},
    {{"fold-from",
      kInt,
      "2",
      "smallest number of identical siblings that are drawn once",
      {},
      2,
      1'000'000},
     [](Target t, Sv x) { t.look.fold_from = number(x); }},
    {{"notes", kChoice, "short",
      "lines below the table: short (lines that may differ from run to run), all (as with -v), or "
      "none",
      "short all none"},
     [](Target t, Sv x) {
       t.look.notes = one_of<NoteChoice>(x, {"short", "all", "none"});
     }},
    {{"columns", kText, kTableColumns,
      "columns of the table without --columns, in addition to metrics of plugins that run on "
      "request"},
     [](Target t, Sv x) { t.look.columns_by_default = ids(x, t.given); }},
    {{"totals", kText, kTableTotals, "totals below the table without --columns"},
     [](Target t, Sv x) { t.look.totals = ids(x, t.given); }},
    {{"ascii", kBool, "false", "ASCII only"}, [](Target t, Sv x) { t.look.ascii = parse_bool(x); }},
    {{"tree-style", kChoice, "short", "lines of the tree; all but short are styles of anytree",
      "short ascii cont cont-round cont-bold double"},
     [](Target t, Sv x) {
       t.look.tree = std::find_if(kTreeStyles.begin(), kTreeStyles.end() - 1,
                                  [x](const TreeStyle& style) { return style.name == x; });
     }},

    // The theme first, because templates depend on it.
    {{"theme.strong", kText, "bold",
      "the model, totals. Styles: bold dim italic underline blink reverse strike, 'not bold', a "
      "colour (green, gray35, #8090a0, rgb(1,2,3), color(17), default), 'on' a colour, a name of "
      "this table, none"},
     set_role<Role::kStrong>},
    {{"theme.quiet", kText, "dim", "ids, lines of the tree, units, zeros, explanations"},
     set_role<Role::kQuiet>},
    {{"theme.type", kText, "cyan", "types of modules"}, set_role<Role::kType>},
    {{"theme.bar", kText, "blue", "bars and histograms"}, set_role<Role::kBar>},
    {{"theme.good", kText, "green", "advice, bounds that hold"}, set_role<Role::kGood>},
    {{"theme.warning", kText, "yellow", "unknown values, warnings"}, set_role<Role::kWarning>},
    {{"theme.number", kText, "bold cyan", "numbers where highlight is on"},
     set_role<Role::kNumber>},
    {{"theme.quoted", kText, "green", "quoted strings where highlight is on"},
     set_role<Role::kQuoted>},
    {{"theme.word", kText, "italic", "True, False and None where highlight is on"},
     set_role<Role::kWord>},

    {{"level.*.label", kText, "<name>[quiet]<marks>[/]",
      "a row of the tree. [STYLE]…[/] is a style, \\\\[ a bracket; <id> <name> <marks> (×n †) "
      "<type> <full_type> <path> <text> (as PyTorch prints it) <kernel_size> <input_size> "
      "<output_size> <calls> <children> <parent> <is_leaf> <level> <repeat_time> <repeat_winsz> "
      "<share>, and every metric by its id, such as <macs>"},
     [](Target t, Sv x) { level(t).label = written(t, x); }},
    {{"level.*.style", kText, "none", "style of the label"},
     [](Target t, Sv x) { level(t).style = parse_style(x); }},
    {{"level.*.guide-style", kText, "quiet", "style of the lines to the level below"},
     [](Target t, Sv x) { level(t).guide = parse_style(x); }},
    {{"level.*.highlight", kBool, "false", "colour numbers and quoted strings"},
     [](Target t, Sv x) { level(t).highlight = parse_bool(x); }},
    {{"level.*.hide-root", kBool, "false", "of level 0: hide the row of the model"},
     [](Target t, Sv x) { level(t).hide_root = parse_bool(x); }},
    {{"level.*.expanded", kBool, "true", "show the levels below; --depth has precedence"},
     [](Target t, Sv x) { level(t).expanded = parse_bool(x); }},
    {{"level.0.label", kText, "[strong]<name>[/][quiet]<marks>[/]",
      "row of the model; other levels in the same way, 'all' for all of them"},
     [](Target t, Sv x) { level(t).label = written(t, x); }},

    {{"repeat.title", kText, "repeat <repeat_time> ×",
      "above repeated rows. Also <first> and <last>, the ids at both ends, and <repeat_winsz>, the "
      "siblings of one repetition"},
     [](Target t, Sv x) { t.look.repeat.title = written(t, x); }},
    {{"repeat.title-align", kChoice, "center", "alignment of the title in the box",
      "left center right"},
     [](Target t, Sv x) { t.look.repeat.title_align = justify(x); }},
    {{"repeat.subtitle", kText, "", "text in the lower line of the box"},
     [](Target t, Sv x) { t.look.repeat.subtitle = written(t, x); }},
    {{"repeat.subtitle-align", kChoice, "center", "alignment of the subtitle in the box",
      "left center right"},
     [](Target t, Sv x) { t.look.repeat.subtitle_align = justify(x); }},
    {{"repeat.footer", kText, "", "a separate line below repeated rows"},
     [](Target t, Sv x) { t.look.repeat.footer = written(t, x); }},
    {{"repeat.style", kText, "none", "style of the content of the box"},
     [](Target t, Sv x) { t.look.repeat.style = parse_style(x); }},
    {{"repeat.highlight", kBool, "false", "colour numbers and quoted strings"},
     [](Target t, Sv x) { t.look.repeat.highlight = parse_bool(x); }},
    {{"repeat.box", kText, "none",
      "none; or rounded, square, heavy, heavy-edge, double, double-edge, ascii, ascii2, "
      "horizontals, minimal, simple, "
      "markdown …"},
     [](Target t, Sv x) { t.look.repeat.box = box(x); }},
    {{"repeat.border-style", kText, "quiet", "style of the box"},
     [](Target t, Sv x) { t.look.repeat.border = parse_style(x); }},
    {{"repeat.width",
      kInt,
      "0",
      "width of the box in columns; 0: as wide as its content",
      {},
      0,
      kMaxWidth},
     [](Target t, Sv x) { t.look.repeat.width = number(x); }},
    {{"repeat.height", kInt, "0", "smallest height of the box in lines", {}, 0, kMaxLines},
     [](Target t, Sv x) { t.look.repeat.height = number(x); }},
    {{"repeat.padding", kText, "0, 1",
      "padding inside the box: lines, columns; or top, right, bottom, left", "list"},
     [](Target t, Sv x) { t.look.repeat.padding = padding(x); }},
    {{"repeat.expand", kBool, "false", "make the box as wide as the tree"},
     [](Target t, Sv x) { t.look.repeat.expand = parse_bool(x); }},

    {{"column.*.title", kText, "",
      "title of the column; empty: the metric's. Columns of values inherit from 'default'; id, "
      "name and type of the tree do not"},
     [](Target t, Sv x) { column(t).title = Sv(x); }},
    {{"column.*.style", kText, "none", "style of its values"},
     [](Target t, Sv x) { column(t).style = parse_style(x); }},
    {{"column.*.header-style", kText, "quiet", "style of its title"},
     [](Target t, Sv x) { column(t).header = parse_style(x); }},
    {{"column.*.justify", kChoice, "auto",
      "auto: values right-aligned, their units below each other", kSides},
     [](Target t, Sv x) { column(t).justify = justify(x); }},
    {{"column.*.vertical", kChoice, "top", "vertical alignment in a row of several lines",
      "top middle bottom"},
     [](Target t, Sv x) {
       column(t).vertical = one_of<Vertical>(x, {"top", "middle", "bottom"});
     }},
    {{"column.*.overflow", kChoice, "auto",
      "values that are too wide; auto: names end in …; a column of values is left out as a whole, "
      "and the report says so",
      "auto fold crop ellipsis"},
     [](Target t, Sv x) {
       column(t).overflow = one_of<Overflow>(x, {"auto", "fold", "crop", "ellipsis"});
     }},
    {{"column.*.no-wrap", kBool, "false", "keep values on one line, regardless of overflow"},
     [](Target t, Sv x) { column(t).no_wrap = parse_bool(x); }},
    {{"column.*.width",
      kInt,
      "0",
      "width in columns of the terminal; 0: as wide as its content",
      {},
      0,
      kMaxWidth},
     [](Target t, Sv x) { column(t).width = number(x); }},
    {{"column.*.show", kChoice, "auto", "auto: <id> and <type> in labels replace these columns",
      "auto always never"},
     [](Target t, Sv x) {
       column(t).show = one_of<Show>(x, {"auto", "always", "never"});
     }},
    {{"column.id.style", kText, "quiet",
      "style of the column id; the columns of the tree are id, name and type"},
     [](Target t, Sv x) { column(t).style = parse_style(x); }},
    {{"column.type.style", kText, "type", "style of the column type"},
     [](Target t, Sv x) { column(t).style = parse_style(x); }},

    {{"table.title", kText, "",
      "title above the table: <name> <file> <type> and the totals, such as <macs>"},
     [](Target t, Sv x) { t.look.table.title = written(t, x); }},
    {{"table.title-style", kText, "bold", "style of the title"},
     [](Target t, Sv x) { t.look.table.title_style = parse_style(x); }},
    {{"table.title-justify", kChoice, "center", "alignment of the title", "left center right"},
     [](Target t, Sv x) { t.look.table.title_justify = justify(x); }},
    {{"table.caption", kText, "",
      "caption below the table, with the same placeholders as the title"},
     [](Target t, Sv x) { t.look.table.caption = written(t, x); }},
    {{"table.caption-style", kText, "none", "style of the caption"},
     [](Target t, Sv x) { t.look.table.caption_style = parse_style(x); }},
    {{"table.caption-justify", kChoice, "center", "alignment of the caption", "left center right"},
     [](Target t, Sv x) { t.look.table.caption_justify = justify(x); }},
    {{"table.style", kText, "none", "style of the table"},
     [](Target t, Sv x) { t.look.table.style = parse_style(x); }},
    {{"table.highlight", kBool, "false", "colour numbers and quoted strings"},
     [](Target t, Sv x) { t.look.table.highlight = parse_bool(x); }},
    {{"table.box", kText, "none", "box around the table; see repeat.box"},
     [](Target t, Sv x) { t.look.table.box = box(x); }},
    {{"table.border-style", kText, "quiet", "style of the box"},
     [](Target t, Sv x) { t.look.table.border = parse_style(x); }},
    {{"table.tree", kChoice, "beside", "draw the tree beside the box or inside it",
      "beside inside"},
     [](Target t, Sv x) {
       t.look.table.tree = one_of<TreePlace>(x, {"beside", "inside"});
     }},
    {{"table.gap",
      kInt,
      "2",
      "columns between the tree and the values beside it",
      {},
      0,
      kMaxLines},
     [](Target t, Sv x) { t.look.table.gap = number(x); }},
    {{"table.width",
      kInt,
      "0",
      "width of tree and table; 0: as wide as the content, at most the terminal",
      {},
      0,
      kMaxWidth},
     [](Target t, Sv x) { t.look.table.width = number(x); }},
    {{"table.min-width", kInt, "0", "smallest width of tree and table", {}, 0, kMaxWidth},
     [](Target t, Sv x) { t.look.table.min_width = number(x); }},
    {{"table.expand", kBool, "false", "make the table as wide as the terminal"},
     [](Target t, Sv x) { t.look.table.expand = parse_bool(x); }},
    {{"table.padding", kText, "0, 1",
      "padding of a cell: lines, columns; or top, right, bottom, left", "list"},
     [](Target t, Sv x) { t.look.table.padding = padding(x); }},
    {{"table.collapse-padding", kBool, "false", "keep only the wider padding between two cells"},
     [](Target t, Sv x) { t.look.table.collapse_padding = parse_bool(x); }},
    {{"table.pad-edge", kBool, "true", "add padding at the outer lines of the box as well"},
     [](Target t, Sv x) { t.look.table.pad_edge = parse_bool(x); }},
    {{"table.leading", kInt, "0", "empty lines between rows", {}, 0, kMaxLines},
     [](Target t, Sv x) { t.look.table.leading = number(x); }},
    {{"table.show-header", kBool, "true", "show the titles of columns"},
     [](Target t, Sv x) { t.look.table.show_header = parse_bool(x); }},
    {{"table.header-style", kText, "none",
      "style of the titles; column.*.header-style has precedence"},
     [](Target t, Sv x) { t.look.table.header = parse_style(x); }},
    {{"table.show-footer", kBool, "false", "repeat the totals as the last row"},
     [](Target t, Sv x) { t.look.table.show_footer = parse_bool(x); }},
    {{"table.footer-style", kText, "italic", "style of the last row"},
     [](Target t, Sv x) { t.look.table.footer = parse_style(x); }},
    {{"table.show-lines", kBool, "false", "draw lines of the box between rows"},
     [](Target t, Sv x) { t.look.table.show_lines = parse_bool(x); }},
    {{"table.row-styles", kText, "", "styles of rows in turn, such as \"none, dim\"", "list"},
     [](Target t, Sv x) { t.look.table.rows = parse_styles(x); }},
    {{"table.show-edge", kBool, "true", "draw the outer lines of the box"},
     [](Target t, Sv x) { t.look.table.show_edge = parse_bool(x); }},
});

}  // namespace

std::span<const Option> all_options() { return kOptions; }

}  // namespace text_report
