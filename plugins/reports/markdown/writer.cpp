#include "writer.hpp"

#include <algorithm>
#include <tmeter/cpp/vocabulary.hpp>

#include "../common/cells.hpp"
#include "../common/charts.hpp"
#include "../common/columns.hpp"
#include "../common/describe.hpp"
#include "../common/groups.hpp"
#include "../common/rows.hpp"
#include "markup.hpp"
#include "plugins/common/wording.hpp"

namespace markdown_report {
namespace {

using tmeter::Cell;
using tmeter::Metric;
using tmeter::Report;

constexpr size_t kTargetsShown = 3;

class Writer {
 public:
  Writer(const Report& report, const Options& options, tmeter::Output& out)
      : report_(report),
        graph_(report.graph()),
        options_(options),
        out_(out),
        metrics_(reports::chosen_metrics(
            report, [&](const Metric& m) { return reports::is_readable(report, m); })),
        main_(main_metric()) {}

  void write() {
    heading();
    totals();
    if (report_.sweep().symbols.len == 0) stacks();
    assertions();
    warnings();
    findings();
    curves();
    sweep();
    if (report_.sweep().symbols.len == 0) {
      heaviest_modules();
      heaviest_operators();
      module_tree();
    }
    formulas();
    conventions();
    out_.flush();
  }

 private:
  // Position of the metric that rows are sorted by: --sort, or the metric of cost.
  std::optional<size_t> main_metric() {
    const auto id = report_.view("sort");
    const auto metric = id.empty() ? reports::main_metric(metrics_)
                                   : std::optional(reports::find_metric(report_, id, "--sort"));
    if (!metric) return std::nullopt;
    const auto same = [&](const Metric& m) { return m.index() == metric->index(); };
    auto it = std::find_if(metrics_.begin(), metrics_.end(), same);
    if (it == metrics_.end()) it = metrics_.insert(it, *metric);
    return static_cast<size_t>(it - metrics_.begin());
  }

  void heading() {
    const auto& title = options_.title;
    out_ << "## " << escaped(title.empty() ? reports::model_name(report_) : title) << "\n\n";
    std::vector<std::string> facts{code(report_.property("model.file"))};
    for (const auto& text : {reports::file_size(report_), reports::format_of(report_),
                             std::string(report_.property("sizes"))})
      if (!text.empty()) facts.push_back(escaped(text));
    for (size_t i = 0; i < graph_.inputs().size() && i < options_.rows; ++i)
      facts.push_back("input " + code(reports::describe_input(graph_, i)));
    std::erase(facts, "");
    for (size_t i = 0; i < facts.size(); ++i) out_ << (i ? " · " : "") << facts[i];
    out_ << (facts.empty() ? "" : "\n\n");
  }

  void totals() {
    Table table{0, {}, {{}}};
    for (size_t i = 0; i < metrics_.size(); ++i) {
      table.titles.push_back(escaped(metrics_[i].title()));
      table.rows[0].push_back(reports::shown_in_full(report_.total(metrics_[i]), metrics_[i]));
    }
    if (!metrics_.empty()) write_table(table, out_);
    if (const auto coverage = reports::describe_coverage(report_); !coverage.empty())
      out_ << coverage << (report_.coverage().unknown ? " ⚠" : "") << "\n\n";
    if (const auto unknown = reports::describe_unknown(report_); !unknown.empty())
      out_ << "⚠ " << escaped(unknown) << "\n\n";
  }

  void stacks() {
    constexpr size_t kWidth = 76;
    for (const auto& stack : reports::stacks_of(report_)) {
      out_ << "```\n"
           << reports::heading_of(stack) << "\n"
           << reports::drawn(stack, kWidth) << "\n";
      for (const auto& line : reports::legend_of(stack)) out_ << line << "\n";
      out_ << "```\n\n";
    }
  }

  void curves() {
    for (const auto& family : reports::curve_families(report_)) {
      Table table{0, {escaped(family.x_title)}, {}};
      for (const auto& member : family.members) table.titles.push_back(member);
      for (const auto& [x, values] : family.rows) {
        table.rows.push_back({reports::shown_number(x)});
        for (const auto& y : values)
          table.rows.back().push_back(y ? reports::shown_y(*y, family) : "–");
      }
      put(escaped(reports::heading_of(family)), table, table.rows.size());
    }
  }

  void assertions() {
    Table table{2, {"", "assertion", "is"}, {}};
    for (const auto& a : report_.assertions())
      table.rows.push_back({a.holds() ? "✅" : "❌", code(a.expression()),
                            escaped(reports::describe_value(report_, a))});
    if (!table.rows.empty()) write_table(table, out_);
  }

  void warnings() {
    for (const auto& text : report_.warnings()) out_ << "> ⚠ " << escaped(text) << "\n>\n";
    if (report_.warnings().size() > 0) out_ << "\n";
  }

  void findings() {
    const auto all = report_.findings();
    if (all.size() == 0) return;
    begin_details(plugins::count_of(all.size(), "finding"), out_);
    for (size_t i = 0; i < all.size() && i < options_.rows; ++i) finding(all[i]);
    if (all.size() > options_.rows)
      out_ << "- … " << std::to_string(all.size() - options_.rows) << " more\n";
    out_ << "\n";
    end_details(out_);
  }

  void finding(const tmeter::FindingView& f) {
    out_ << "- **" << std::string(tmeter::vocabulary::kSeverities.word(f.severity()))
         << "**: " << escaped(f.text());
    if (!f.evidence().empty()) out_ << " – " << escaped(f.evidence());
    for (const auto& change : f.changes())
      if (const auto text = reports::describe_change(report_, change); !text.empty())
        out_ << "; " << escaped(text);
    if (!f.action().empty()) out_ << " → " << escaped(f.action());
    const auto targets = f.targets();
    if (!targets.empty())
      out_ << " (" << plugins::listed(targets.size(), kTargetsShown, [&](size_t i) {
        return code(reports::describe_target(graph_, targets[i]));
      }) << ")";
    out_ << "\n";
  }

  /// Modules and operators have no values of the model as a whole.
  static bool is_of_parts(const Metric& m) { return m.axis() != TMETER_AXIS_MODEL; }

  std::vector<std::string> titles(std::vector<std::string> words) const {
    for (const auto& m : metrics_)
      if (is_of_parts(m)) words.push_back(escaped(m.title()));
    if (main_) words.push_back("share of " + escaped(metrics_[*main_].title()));
    return words;
  }

  void add_values(const std::vector<Cell>& values, std::vector<std::string>& cells) const {
    for (size_t i = 0; i < metrics_.size(); ++i)
      if (is_of_parts(metrics_[i])) cells.push_back(reports::shown(values[i], metrics_[i]));
    if (main_) cells.push_back(share(values[*main_]));
  }

  std::string share(const tmeter::Cell& cell) const {
    const double whole = report_.total(metrics_[*main_]).real();
    return cell.known() && whole > 0 ? plugins::percent(cell.real() / whole) : "–";
  }

  /// A row without its text, which most rows do not need.
  struct Candidate {
    size_t index;
    double weight;
  };

  std::vector<size_t> heaviest(std::vector<Candidate> all) const {
    const auto shown = std::min(all.size(), options_.rows);
    const auto middle = all.begin() + static_cast<ptrdiff_t>(shown);
    std::partial_sort(all.begin(), middle, all.end(), [](const auto& a, const auto& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.index < b.index;
    });
    std::vector<size_t> indices;
    for (size_t i = 0; i < shown; ++i) indices.push_back(all[i].index);
    return indices;
  }

  // Sorted by values without inner modules, because leaves have the cost of a tree of containers.
  void heaviest_modules() {
    if (!main_ || graph_.modules().size() < 2) return;
    const auto own = reports::own_sums(report_, metrics_);
    const auto chosen = reports::chosen_modules(report_);
    std::vector<Candidate> all;
    for (size_t i = 0; i < own.size(); ++i)
      if (const auto weight = own[i][*main_].result().real(); weight > 0 && chosen[i])
        all.push_back({i, weight});
    if (all.empty()) return;
    Table table{2, titles({"module", "type"}), {}};
    const auto count = all.size();
    for (const auto i : heaviest(std::move(all))) {
      const auto m = graph_.modules()[i];
      table.rows.push_back(
          {i ? code(m.path()) + reports::calls_mark(m) : "(root)", code(m.type())});
      add_values(reports::cells_of(own[i]), table.rows.back());
    }
    put("Heaviest modules", table, count);
  }

  void heaviest_operators() {
    const auto groups = reports::by_operator(report_, metrics_);
    if (!main_ || groups.all().empty()) return;
    std::vector<Candidate> all;
    for (size_t i = 0; i < groups.all().size(); ++i)
      all.push_back({i, groups.all()[i].sums[*main_].result().real()});
    Table table{2, titles({"operator", "calls"}), {}};
    for (const auto i : heaviest(std::move(all))) {
      const auto& group = groups.all()[i];
      table.rows.push_back({code(group.name), std::to_string(group.count)});
      add_values(reports::cells_of(group.sums), table.rows.back());
    }
    put("Operators", table, groups.all().size());
  }

  void module_tree() {
    const auto root = graph_.modules().size() ? graph_.root() : tmeter::Module();
    if (!root || root.child_count() == 0) return;
    Table table{2, titles({"module", "type"}), {}};
    const auto chosen = reports::chosen_modules(report_);
    size_t all = 0;
    for (size_t i = 0; i < root.child_count(); ++i) {
      const auto m = root.child(i);
      if (!chosen[m.index()] || ++all > 4 * options_.rows) continue;
      std::vector<Cell> cells;
      for (const auto& metric : metrics_) cells.push_back(reports::module_cell(report_, metric, m));
      table.rows.push_back({code(m.path()) + reports::calls_mark(m), code(m.type())});
      add_values(cells, table.rows.back());
    }
    put("Parts of the model", table, all);
  }

  void sweep() {
    if (report_.sweep().symbols.len == 0) return;
    const auto words = reports::row_titles(report_);
    Table table{words.size(), {}, {}};
    for (const auto& w : words) table.titles.push_back(code(w));
    for (const auto& m : metrics_) table.titles.push_back(escaped(m.title()));
    reports::for_each_row(report_, metrics_, {}, [&](const reports::Row& row) {
      table.rows.push_back(row.words);
      for (size_t i = 0; i < metrics_.size(); ++i)
        table.rows.back().push_back(reports::shown(row.cells[i], metrics_[i]));
    });
    write_table(table, out_);
  }

  void put(std::string_view what, const Table& table, size_t all) {
    std::string summary(what);
    if (all > table.rows.size())
      summary += " (" + std::to_string(table.rows.size()) + " of " + std::to_string(all) + ")";
    begin_details(summary, out_);
    write_table(table, out_);
    end_details(out_);
  }

  void formulas() {
    std::vector<std::string> lines;
    for (const auto& f : report_.formulas()) {
      const auto shown = [&](const Metric& m) { return m.index() == f.metric; };
      const auto metric = std::find_if(metrics_.begin(), metrics_.end(), shown);
      if (f.module != 0 || metric == metrics_.end()) continue;
      lines.push_back("- " + escaped(metric->title()) +
                      (f.flags & TMETER_FORMULA_PARTIAL ? " ≥ " : " = ") +
                      code(tmeter::to_view(f.text)));
    }
    if (lines.empty()) return;
    begin_details("Costs by size", out_);
    for (const auto& line : lines) out_ << line << "\n";
    out_ << "\n";
    end_details(out_);
  }

  void conventions() {
    begin_details("How it was counted", out_);
    for (const auto& m : metrics_) {
      out_ << "- **" << escaped(m.title()) << "**: " << escaped(m.convention());
      if (m.provenance() != TMETER_PROVENANCE_COMPUTED)
        out_ << " (" << std::string(tmeter::vocabulary::kProvenances.word(m.provenance())) << ": "
             << escaped(m.provenance_text()) << ")";
      out_ << "\n";
    }
    out_ << "\n"
         << reports::kLegend << "\n\ntmeter " << escaped(report_.property("tool.version"))
         << "\n\n";
    end_details(out_);
  }

  const Report& report_;
  const tmeter::Graph graph_;
  const Options& options_;
  reports::Buffer out_;
  std::vector<Metric> metrics_;
  std::optional<size_t> main_;
};

}  // namespace

void write(const Report& report, const Options& options, tmeter::Output& out) {
  Writer(report, options, out).write();
}

}  // namespace markdown_report
