#include "writer.hpp"

#include <algorithm>
#include <tmeter/cpp/nearest.hpp>

#include "paragraphs.hpp"
#include "tables.hpp"
#include "tree.hpp"
#include "tree_lines.hpp"

namespace text_report {
namespace {

using tmeter::Report;

constexpr size_t kTextWidth = 120;  // width of running text; longer lines are hard to read

Tree make_tree(const Report& report, const Columns& columns, const View& view) {
  switch (view.by) {
    case By::kOperator:
      return operator_tree(report, columns, view);
    case By::kType:
    case By::kFamily:
      return type_tree(report, columns, view);
    default:
      return module_tree(report, columns, view);
  }
}

// Whether a row below the root could have a value, at this depth or below.
bool has_values(const Report& report, const Tree& tree, const Columns& columns, size_t c) {
  const auto& branches = tree.root.children;
  const auto has = [c](const Branch& b) { return !b.cells[c].empty(); };
  if (std::any_of(branches.begin(), branches.end(), has)) return true;
  const auto modules = report.graph().modules();
  if (modules.size() <= 1) return tree.root.cells.size() > c && has(tree.root);
  for (size_t i = 1; i < modules.size(); ++i)
    if (!report.cell(columns.shown[c], TMETER_AXIS_MODULE, i).empty()) return true;
  return false;
}

// Leaves out columns with only a total, such as the parameters of operators: totals are in the
// footer.
std::vector<size_t> rows_to_show(const Report& report, const Tree& tree, const Columns& columns,
                                 const View& view) {
  std::vector<size_t> kept;
  for (size_t c = 0; c < columns.shown.size(); ++c) {
    const bool fits = view.by != By::kOperator || columns.shown[c].axis() == TMETER_AXIS_NODE;
    if (view.columns || (fits && has_values(report, tree, columns, c))) kept.push_back(c);
  }
  return kept;
}

// "output shape"
std::string fact_title(std::string key) {
  if (key.ends_with("_size") && !key.starts_with("kernel")) key.replace(key.size() - 4, 4, "shape");
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

class TableMaker {
 public:
  TableMaker(const Report& report, const Columns& columns, const View& view, const Look& look)
      : report_(report), columns_(columns), view_(view), look_(look) {}

  Table make(const Tree& tree, const Labels& labels, const std::vector<size_t>& kept) {
    Table table;
    for (const auto& key : columns_.facts_of_modules)
      table.columns.push_back({fact_title(key), std::string(kFacts), false, key});
    for (const size_t c : kept) {
      const auto& metric = columns_.shown[c];
      table.columns.push_back({column_title(metric, view_.raw), std::string(metric.plugin()),
                               columns_.bar && c == *columns_.bar, std::string(metric.id())});
    }
    if (draws_bars(kept)) {
      table.short_share_title = "of " + std::string(columns_.shown[*columns_.bar].title());
      table.share_title = "share " + table.short_share_title;
    }
    const bool bars = !table.share_title.empty();
    for (auto& line : draw_tree(tree.root, labels, look_, 0)) {
      table.rows.push_back(line.branch ? row(*line.branch, line.branch == &tree.root, kept, bars)
                                       : frame_row(table.columns.size()));
      take_names(line, table.rows.back());
    }
    if (look_.table.show_footer) {
      table.total = row(tree.root, true, kept, false);
      table.total->id.clear();
      for (size_t i = 0; i < columns_.facts_of_modules.size(); ++i) table.total->values[i] = {};
      table.total->name = Text("total", Style::kStrong);
    }
    table.title = labels.over_table(tree.root);
    table.caption = labels.under_table(tree.root);
    table.refit_names = [&tree, &labels, this](std::vector<Table::Row>& rows, size_t width) {
      auto lines = draw_tree(tree.root, labels, look_, width, true);
      for (size_t i = 0; i < rows.size(); ++i) take_names(lines[i], rows[i]);
    };
    return table;
  }

 private:
  static void take_names(TreeLine& line, Table::Row& row) {
    row.name = std::move(line.name);
    row.more = std::move(line.more);
    row.above = std::move(line.above);
  }

  static Table::Row frame_row(size_t columns) {
    Table::Row row;
    row.frame = true;
    row.values.resize(columns);
    return row;
  }

  bool draws_bars(const std::vector<size_t>& kept) {
    if (!columns_.bar || view_.raw) return false;
    if (std::find(kept.begin(), kept.end(), *columns_.bar) == kept.end()) return false;
    whole_ = report_.total(columns_.shown[*columns_.bar]).real();
    return whole_ > 0;
  }

  Table::Row row(const Branch& branch, bool root, const std::vector<size_t>& kept,
                 bool bars) const {
    Table::Row row;
    row.id = branch.id;
    row.strong = root;
    row.type = branch.type;
    row.values.resize(columns_.facts_of_modules.size());
    for (size_t i = 0; i < branch.facts.size(); ++i) row.values[i].number = branch.facts[i];
    for (const size_t c : kept)
      row.values.push_back(shown_value(branch.cells[c], columns_.shown[c], view_.raw));
    if (bars && !root) {
      const auto& cell = branch.cells[*columns_.bar];
      if (cell.known() && cell.real() > 0) row.share = cell.real() / whole_;
    }
    return row;
  }

  const Report& report_;
  const Columns& columns_;
  const View& view_;
  const Look& look_;
  double whole_ = 0;  // the total of the bars
};

// The table, its title, and the columns that it lacks.
struct Shown {
  std::vector<Text> lines;
  Tree tree;
  Omissions omissions;
  bool without_values = false;  // lines with the reason replace empty rows
};

Shown show_tree(const Report& report, const Columns& columns, const View& view, const Look& look,
                size_t terminal) {
  Shown out{{}, make_tree(report, columns, view), {{}, {}, terminal}};
  const auto kept = rows_to_show(report, out.tree, columns, view);
  const bool bare = kept.empty() && columns.facts_of_modules.empty();
  if (bare && has_tensor_table(report, columns, view)) return {{}, {}, {{}, {}, terminal}};
  if (bare && !view.columns && !columns.unavailable.empty()) {
    out.tree = {};
    out.without_values = true;
    for (const auto& note : unavailable_notes(columns, view))
      for (auto& line : flow(note, terminal, 2)) out.lines.push_back(std::move(line));
    return out;
  }
  const Labels labels(report, columns, look, view, out.tree.depth);
  TableMaker maker(report, columns, view, look);
  auto table = draw(maker.make(out.tree, labels, kept), terminal, look);
  out.lines = std::move(table.lines);
  const size_t words = columns.facts_of_modules.size();
  for (const size_t c : table.left_out)
    out.omissions.no_room.push_back(c < words
                                        ? fact_title(columns.facts_of_modules[c])
                                        : std::string(columns.shown[kept[c - words]].title()));
  for (size_t c = 0; c < columns.shown.size(); ++c)
    if (std::find(kept.begin(), kept.end(), c) == kept.end()) out.omissions.no_values.push_back(c);
  return out;
}

Shown show_sweep(const Report& report, const Columns& columns, const View& view, const Look& look,
                 size_t terminal) {
  const auto metrics = sweep_metrics(columns, view);
  auto table = draw(sweep_table(report, metrics, view.raw), terminal, look);
  Shown out{std::move(table.lines), {}, {{}, {}, terminal}};
  const size_t symbols = report.sweep().symbols.len;
  for (const size_t c : table.left_out)
    if (c >= symbols) out.omissions.no_room.emplace_back(metrics[c - symbols].title());
  return out;
}

struct ShownTensors {
  std::vector<Text> lines;
  std::vector<std::string> no_room;
};

ShownTensors show_tensors(const Report& report, const Columns& columns, const View& view,
                          const Look& look, size_t terminal) {
  ShownTensors out;
  if (!has_tensor_table(report, columns, view)) return out;
  const auto made = tensor_table(report, columns, view);
  auto drawn = draw(made.table, terminal, look);
  out.lines = std::move(drawn.lines);
  if (made.hidden > 0) {
    out.lines.push_back(
        Text("… " + std::to_string(made.hidden) + " more tensors: --by tensor", Style::kQuiet));
  }
  for (const size_t c : drawn.left_out)
    if (c >= 1 && c <= columns.of_tensors.size())
      out.no_room.emplace_back(columns.of_tensors[c - 1].title());
  return out;
}

/// Options of the view from the configuration, unless the command line sets them.
void apply(const Look& look, View& view) {
  view.fold = view.fold && look.fold;
  view.fold_from = look.fold_from;
  view.all_notes = view.all_notes || look.notes == NoteChoice::kAll;
  view.no_notes = !view.all_notes && look.notes == NoteChoice::kNone;
  if (!view.depth) view.deepest = look.depth();
}

/// [plugin.text.column.mcas]
void refuse_unknown_columns(const Report& report, const Look& look) {
  std::vector<std::string_view> names{"default",    "id",         "name",      "type",
                                      "share",      "elements",   "histogram", "kernel_size",
                                      "input_size", "output_size"};
  for (const auto& m : report.metrics()) names.push_back(m.id());
  for (const auto& [name, given] : look.named_columns()) {
    if (std::find(names.begin(), names.end(), name) != names.end() || look.is_metric(name))
      continue;
    look.fail(given, 0, "there is no column '" + name + "'" + tmeter::did_you_mean(name, names));
  }
}

}  // namespace

void write(const Report& report, tmeter::Output& out, const Look& look) {
  View view = read_view(report);
  apply(look, view);
  Columns columns = choose_columns(report, view, look);
  refuse_unknown_columns(report, look);
  const auto terminal = static_cast<size_t>(std::max(0, out.columns()));
  const size_t text_width = terminal ? std::min(terminal, kTextWidth) : kTextWidth;
  const bool tree = view.by != By::kTensor;
  auto shown = has_sweep(report) ? show_sweep(report, columns, view, look, terminal)
               : tree            ? show_tree(report, columns, view, look, terminal)
                                 : Shown{{}, {}, {{}, {}, terminal}};
  const auto tensors = show_tensors(report, columns, view, look, terminal);
  if (shown.without_values) columns.unavailable.clear();
  auto& no_room = shown.omissions.no_room;
  no_room.insert(no_room.end(), tensors.no_room.begin(), tensors.no_room.end());

  const Rendering how{out.color(), look.ascii, &look.theme};
  std::string text;
  const auto add = [&](const std::vector<Text>& lines) {
    // Indented lines may not fit a terminal of a few columns.
    for (const auto& line : lines)
      text += render(terminal && line.width() > terminal ? line.cut(terminal) : line, how);
  };
  add(header(report, text_width));
  text += '\n';
  add(shown.lines);
  if (!shown.lines.empty() && !tensors.lines.empty()) text += '\n';
  add(tensors.lines);
  text += '\n';
  auto curves = view.summary ? std::vector<Text>() : curve_tables(report, look, terminal);
  add(footer(report, columns, shown.tree, shown.omissions, view, std::move(curves), text_width));
  out.write(text);
}

}  // namespace text_report
