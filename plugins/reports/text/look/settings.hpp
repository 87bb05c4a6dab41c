// The look of the report: the configuration's tables [plugin.text.…] over the built-in one, and the
// boxes around tables and repeats.
#pragma once
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "markup.hpp"

namespace text_report {

/// One line of a box, as four characters: left, fill, between columns, right.
struct BoxLine {
  std::string_view left, fill, divider, right;
};

struct Box {
  std::string_view name;
  // Lines with columns are head, mid and foot; the others are between them.
  BoxLine top, head, head_row, mid, row, foot_row, foot, bottom;
};

/// By name, in upper or lower case, with '-' or '_'; null for an unknown name and for "none".
const Box* find_box(std::string_view name);

std::vector<std::string_view> box_names();

// The look of the report: tables [plugin.text.…] of the configuration, over built-in defaults.

enum class Justify : uint8_t { kAuto, kLeft, kCenter, kRight };
enum class Vertical : uint8_t { kTop, kMiddle, kBottom };
enum class Overflow : uint8_t { kAuto, kFold, kCrop, kEllipsis };
enum class Show : uint8_t { kAuto, kAlways, kNever };
enum class NoteChoice : uint8_t { kShort, kAll, kNone };
enum class TreePlace : uint8_t { kBeside, kInside };

/// The lines that lead to a row: past a further sibling, to a row with a further sibling, to the
/// last one.
struct TreeStyle {
  std::string_view name, on, branch, last, blank;
};

/// `short`, the styles of the Python library anytree, and the bold one of bigtree.
inline constexpr std::array kTreeStyles{TreeStyle{"short", "│  ", "├─ ", "└─ ", "   "},
                                        TreeStyle{"ascii", "|   ", "|-- ", "+-- ", "    "},
                                        TreeStyle{"cont", "│   ", "├── ", "└── ", "    "},
                                        TreeStyle{"cont-round", "│   ", "├── ", "╰── ", "    "},
                                        TreeStyle{"cont-bold", "┃   ", "┣━━ ", "┗━━ ", "    "},
                                        TreeStyle{"double", "║   ", "╠══ ", "╚══ ", "    "}};

struct Padding {
  size_t top = 0, right = 1, bottom = 0, left = 1;
};

/// A template and the index of its option among the given ones.
struct Written {
  Template text;
  size_t given = std::numeric_limits<size_t>::max();
};

struct ColumnLook {
  std::string title;  // empty: the metric's
  Style style, header;
  Justify justify = Justify::kAuto;
  Vertical vertical = Vertical::kTop;
  Overflow overflow = Overflow::kAuto;
  bool no_wrap = false;
  size_t width = 0;
  Show show = Show::kAuto;
};

struct LevelLook {
  Written label;
  Style style, guide;
  bool highlight = false, hide_root = false, expanded = true;
};

struct RepeatLook {
  Written title, subtitle, footer;
  Justify title_align = Justify::kCenter, subtitle_align = Justify::kCenter;
  Style style, border;
  bool highlight = false, expand = false;
  const Box* box = nullptr;
  size_t width = 0, height = 0;
  Padding padding;
};

struct TableLook {
  TreePlace tree = TreePlace::kBeside;
  size_t gap = 2;
  const Box* box = nullptr;
  Style style, border, header, footer;
  std::vector<Style> rows;  // used in turn
  Written title, caption;
  Style title_style, caption_style;
  Justify title_justify = Justify::kCenter, caption_justify = Justify::kCenter;
  bool highlight = false, expand = false, collapse_padding = false, pad_edge = true;
  bool show_header = true, show_footer = false, show_lines = false, show_edge = true;
  size_t width = 0, min_width = 0, leading = 0;
  Padding padding;
};

/// An option of a table, given by the user or built in.
struct GivenText {
  std::string path, text;
};

/// The table and its totals without --columns.
inline constexpr std::string_view kTableColumns = "output_size,params,macs",
                                  kTableTotals = "params,macs,param_bytes,predicted_peak_bytes";

/// A list of ids and the index of its option among the given ones.
struct Ids {
  std::vector<std::string> ids;
  size_t given = std::numeric_limits<size_t>::max();
  bool built_in() const { return given == std::numeric_limits<size_t>::max(); }
};

/// The settings of a level or column that are set.
struct LevelSettings {
  std::optional<Written> label;
  std::optional<Style> style, guide;
  std::optional<bool> highlight, hide_root, expanded;
};
struct ColumnSettings {
  std::optional<std::string> title;
  std::optional<Style> style, header;
  std::optional<Justify> justify;
  std::optional<Vertical> vertical;
  std::optional<Overflow> overflow;
  std::optional<bool> no_wrap;
  std::optional<size_t> width;
  std::optional<Show> show;
};

class Look {
 public:
  /// Reports an error at a byte of the option `given`; does not return.
  using Fail = std::function<void(size_t given, size_t at, const std::string& what)>;
  using IsMetric = std::function<bool(std::string_view id)>;

  /// The defaults, changed by `given`. Errors in the given text go to `fail`.
  static Look make(const std::vector<GivenText>& given = {}, Fail fail = {},
                   IsMetric is_known = {});

  bool ascii = false, fold = true;
  const TreeStyle* tree = kTreeStyles.data();
  size_t fold_from = 2;  // repetitions that are drawn once
  NoteChoice notes = NoteChoice::kShort;
  Ids columns_by_default, totals;
  Theme theme = default_theme();
  RepeatLook repeat;
  TableLook table;

  LevelLook level(size_t depth) const;
  /// Columns of the tree (id, name, type) do not inherit from "default".
  ColumnLook column(std::string_view name) const;
  /// The number of levels below the root that `expanded` shows.
  std::optional<size_t> depth() const;
  /// The labels of all levels with their own settings, and one for the others.
  std::vector<const Written*> labels() const;

  [[noreturn]] void fail(size_t given, size_t at, const std::string& what) const;
  bool is_metric(std::string_view id) const { return is_known_metric_ && is_known_metric_(id); }
  /// Columns that the user has set, with the index of the option.
  const std::map<std::string, size_t, std::less<>>& named_columns() const { return named_; }

  std::map<std::string, LevelSettings, std::less<>> levels;    // "default", "all", "0", …
  std::map<std::string, ColumnSettings, std::less<>> columns;  // "default", "macs", …

 private:
  void set(const GivenText& option, size_t given);
  Fail fail_;
  IsMetric is_known_metric_;
  std::map<std::string, size_t, std::less<>> named_;
  ColumnSettings built_in_;  // settings of all other columns
};

/// The options of the tables with their defaults, as `tmeter config` prints them.
std::vector<tmeter::OptionSpec> option_tables();

}  // namespace text_report
