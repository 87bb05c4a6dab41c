#include <algorithm>
#include <array>
#include <tmeter/cpp/nearest.hpp>

#include "../common/describe.hpp"
#include "columns.hpp"
#include "look/look.hpp"
#include "tree_lines.hpp"

namespace text_report {
namespace {

using tmeter::Metric;
using tmeter::Module;

/// The source of placeholders.
struct Subject {
  const tmeter::Report& report;
  const Branch& branch;
  size_t depth;
  Module module;  // empty for groups and runs
};

std::string number(size_t n) { return std::to_string(n); }
std::string python_bool(bool b) { return b ? "True" : "False"; }
std::string fact(const Subject& s, std::string_view key) {
  return s.module ? std::string(s.report.fact(s.module, key)) : std::string();
}
std::string first_id(const Subject& s) {
  return s.branch.children.empty() || !s.branch.run ? s.branch.id : s.branch.children.front().id;
}
std::string last_id(const Subject& s) {
  const auto dash = s.branch.id.rfind("–");
  if (dash == std::string::npos || !s.branch.run) return s.branch.id;
  const auto first = s.branch.id.substr(0, dash);
  const auto dot = first.rfind('.');
  return (dot == std::string::npos ? "" : first.substr(0, dot + 1)) +
         s.branch.id.substr(dash + std::string_view("–").size());
}
size_t children(const Subject& s) {
  return s.module ? s.module.child_count() : s.branch.children.size();
}

/// "5 layer1": id and name of the module around it; empty for the root.
std::string parent_of(const Subject& s) {
  const bool is_run = !s.module && !s.branch.children.empty();
  const auto module = is_run && s.branch.children.front().module != Branch::kNoModule
                          ? s.report.graph().modules()[s.branch.children.front().module]
                          : s.module;
  const auto parent = module ? module.parent() : tmeter::Module();
  if (!parent) return {};
  const auto dot = s.branch.id.rfind('.');
  const auto id = dot == std::string::npos ? "0" : s.branch.id.substr(0, dot);
  return id + " " + std::string(parent.index() == 0 ? model_name(s.report) : parent.name());
}

/// "5.1, 5.2": the ids of the modules directly inside, as in JSON.
std::string children_of(const Subject& s) {
  const auto prefix = s.branch.id == "0" ? std::string() : s.branch.id + ".";
  std::string ids;
  for (size_t i = 1; s.module && i <= s.module.child_count(); ++i)
    ids += (i > 1 ? ", " : "") + prefix + std::to_string(i);
  return ids;
}

struct Placeholder {
  std::string_view name;
  std::string (*value)(const Subject&);
};

// The fields of torchmeter's nodes have aliases with its names.
constexpr std::array<Placeholder, 25> kPlaceholders{{
    {"id", [](const Subject& s) { return s.branch.id; }},
    {"node_id", [](const Subject& s) { return s.branch.id; }},
    {"name", [](const Subject& s) { return s.branch.label; }},
    {"marks", [](const Subject& s) { return s.branch.note.empty() ? "" : " " + s.branch.note; }},
    {"type",
     [](const Subject& s) {
       return s.branch.type.empty() && s.module ? std::string(s.module.type()) : s.branch.type;
     }},
    {"full_type",
     [](const Subject& s) {
       return s.module ? std::string(s.module.qualified_type()) : std::string();
     }},
    {"path",
     [](const Subject& s) { return s.module ? std::string(s.module.path()) : std::string(); }},
    {"text", [](const Subject& s) { return fact(s, "text"); }},
    {"module_repr", [](const Subject& s) { return fact(s, "text"); }},
    {"operation", [](const Subject& s) { return fact(s, "text"); }},
    {"kernel_size", [](const Subject& s) { return fact(s, "kernel_size"); }},
    {"input_size", [](const Subject& s) { return fact(s, "input_size"); }},
    {"output_size", [](const Subject& s) { return fact(s, "output_size"); }},
    {"calls", [](const Subject& s) { return s.module ? number(s.module.calls()) : std::string(); }},
    {"children", [](const Subject& s) { return number(children(s)); }},
    {"childs", children_of},
    {"parent", parent_of},
    {"is_leaf", [](const Subject& s) { return python_bool(children(s) == 0); }},
    {"level", [](const Subject& s) { return number(s.depth); }},
    {"repeat_time", [](const Subject& s) { return number(s.branch.times); }},
    {"repeat_winsz", [](const Subject& s) { return number(s.branch.window); }},
    {"first", first_id},
    {"last", last_id},
    {"file", [](const Subject& s) { return std::string(s.report.property("model.file")); }},
    {"share", nullptr},
}};

constexpr size_t kShare = kPlaceholders.size() - 1;
constexpr size_t kAbsent = kPlaceholders.size();       // a metric that this run does not have
constexpr size_t kMetrics = kPlaceholders.size() + 1;  // and their indices

const auto* find_placeholder(std::string_view name) {
  return std::find_if(kPlaceholders.begin(), kPlaceholders.end(),
                      [&](const Placeholder& p) { return p.name == name; });
}

std::optional<size_t> find_metric(const std::vector<Metric>& metrics, std::string_view id) {
  for (size_t i = 0; i < metrics.size(); ++i)
    if (metrics[i].id() == id) return i;
  return std::nullopt;
}

std::string percent_of(double share) {
  const auto text = std::to_string(static_cast<int>(share * 1000 + 0.5));
  return (text.size() < 2 ? "0" : text.substr(0, text.size() - 1)) + "." + text.back() + " %";
}

}  // namespace

Labels::Labels(const tmeter::Report& report, const Columns& columns, const Look& look,
               const View& view, size_t tree_depth)
    : report_(report),
      columns_(columns),
      look_(look),
      raw_(view.raw),
      repeat_(look.repeat),
      title_(look.table.title),
      caption_(look.table.caption) {
  for (const auto* label : look.labels()) {
    auto copy = *label;
    resolve(copy);
  }
  // Levels without a table use the first of these.
  for (size_t depth = 0; depth <= tree_depth; ++depth) {
    levels_.push_back(look.level(depth));
    resolve(levels_.back().label);
  }
  for (auto* written : {&repeat_.title, &repeat_.subtitle, &repeat_.footer, &title_, &caption_})
    resolve(*written);
}

void Labels::resolve(Written& written) const {
  for (auto& part : written.text.parts) {
    if (!part.placeholder) continue;
    const auto* row = find_placeholder(part.text);
    if (row != kPlaceholders.end()) {
      part.number = static_cast<size_t>(row - kPlaceholders.begin());
    } else if (const auto metric = find_metric(columns_.cells, part.text)) {
      part.number = kMetrics + *metric;
    } else if (look_.is_metric(part.text)) {
      part.number = kAbsent;
    } else {
      std::vector<std::string_view> names;
      for (const auto& p : kPlaceholders) names.push_back(p.name);
      for (const auto& m : report_.metrics()) names.push_back(m.id());
      look_.fail(written.given, part.at,
                 "there is no placeholder <" + plugins::readable(part.text) + ">" +
                     tmeter::did_you_mean(part.text, names));
    }
  }
}

std::string Labels::metric(size_t index, const Branch& branch) const {
  const auto& metric = columns_.cells[index];
  auto cell = index < branch.cells.size() ? branch.cells[index] : Cell();
  if (cell.empty() && branch.module == 0) cell = report_.total(metric);
  const auto shown = shown_value(cell, metric, raw_);
  return shown.unit.empty() ? shown.number : shown.number + " " + shown.unit;
}

std::string Labels::value(const Template::Part& part, const Branch& branch, size_t depth) const {
  if (part.number >= kMetrics) return metric(part.number - kMetrics, branch);
  if (part.number == kAbsent) return "–";
  if (part.number == kShare) {
    if (!columns_.bar) return {};
    const auto& cell = branch.cells[*columns_.bar];
    const auto whole = report_.total(columns_.shown[*columns_.bar]).real();
    return cell.known() && whole > 0 ? percent_of(cell.real() / whole) : std::string();
  }
  const bool one = branch.module < report_.graph().modules().size();
  const Subject subject{report_, branch, depth,
                        one ? report_.graph().modules()[branch.module] : Module()};
  return kPlaceholders[part.number].value(subject);
}

Text Labels::expanded(const Written& written, const Branch& branch, size_t depth, Style base,
                      bool highlight) const {
  auto text = expand(written.text, [&](const Template::Part& part, Text& out) {
    out.add(value(part, branch, depth), part.style);
  });
  if (highlight) text = highlighted(text, look_.theme);
  return base.plain() ? text : text.on(base, look_.theme);
}

Text Labels::of(const Branch& branch, size_t depth) const {
  const auto& look = level(depth);
  return expanded(look.label, branch, depth, look.style, look.highlight);
}

Text Labels::repeat(const Written& written, const Branch& run, size_t depth) const {
  return expanded(written, run, depth, repeat_.style, repeat_.highlight);
}

Text Labels::over_table(const Branch& root) const {
  return expanded(title_, root, 0, look_.table.title_style, false);
}
Text Labels::under_table(const Branch& root) const {
  return expanded(caption_, root, 0, look_.table.caption_style, false);
}

std::vector<Metric> metrics_of_labels(const tmeter::Report& report, const Look& look,
                                      const std::vector<Metric>& shown) {
  auto written = look.labels();
  for (const auto* w : {&look.repeat.title, &look.repeat.subtitle, &look.repeat.footer,
                        &look.table.title, &look.table.caption})
    written.push_back(w);
  std::vector<Metric> all = shown;
  for (const auto* w : written)
    for (const auto& part : w->text.parts) {
      if (!part.placeholder || find_placeholder(part.text) != kPlaceholders.end()) continue;
      if (find_metric(all, part.text)) continue;
      for (const auto& m : report.metrics())
        if (m.id() == part.text) all.push_back(m);
    }
  return all;
}

}  // namespace text_report
