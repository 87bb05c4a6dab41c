#include "writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <tmeter/cpp/module_ids.hpp>
#include <vector>

namespace csv_report {
namespace {

using tmeter::Metric;
using tmeter::Report;

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (comma != 0) parts.push_back(list.substr(0, comma));
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
  }
  return parts;
}

std::vector<Metric> chosen_metrics(const Report& report) {
  std::vector<Metric> all, chosen;
  for (const auto& m : report.metrics()) all.push_back(m);
  const auto ids = split(report.view("columns"));
  if (ids.empty()) return all;
  for (const auto id : ids) {
    if (id == "all") return all;
    const auto it =
        std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.id() == id; });
    if (it != all.end())
      chosen.push_back(*it);
    else if (id != "none")
      throw tmeter::Error(TMETER_BAD_USAGE,
                          "--columns: this report has no metric '" + std::string(id) + "'");
  }
  return chosen;
}

/// Rows into one text, which a large model makes long.
class Rows {
 public:
  explicit Rows(tmeter::Output& out) : out_(out) {}
  Rows& put(std::string_view already_a_field) {
    if (!fresh_) text_ += ',';
    fresh_ = false;
    text_ += already_a_field;
    return *this;
  }
  void end() {
    text_ += "\r\n";
    fresh_ = true;
    if (text_.size() >= kFlushBytes) flush();
  }
  void flush() {
    out_.write(text_);
    text_.clear();
  }

 private:
  static constexpr size_t kFlushBytes = 1 << 16;
  tmeter::Output& out_;
  std::string text_;
  bool fresh_ = true;
};

void write_sweep(const Report& report, const std::vector<Metric>& metrics, Rows& rows) {
  const auto sweep = report.sweep();
  const auto graph = report.graph();
  const auto symbols = graph.symbols();
  for (size_t i = 0; i < sweep.symbols.len; ++i)
    rows.put(field(tmeter::to_view(symbols[static_cast<size_t>(sweep.symbols.ptr[i])].name)));
  for (const auto& m : metrics) rows.put(field(m.id()));
  rows.end();
  for (size_t p = 0; p < sweep.point_count; ++p) {
    const auto point = report.sweep_point(p);
    for (size_t i = 0; i < point.len; ++i) rows.put(std::to_string(point.ptr[i]));
    for (const auto& m : metrics) rows.put(figure(report.sweep_total(p, m)));
    rows.end();
  }
}

void write_modules(const Report& report, const std::vector<Metric>& metrics, Rows& rows) {
  const auto sizes = report.property("sizes");  // a column only where there is something to say
  for (const char* title : {"id", "path", "type", "calls"}) rows.put(title);
  for (const auto& m : metrics) rows.put(field(m.id()));
  if (!sizes.empty()) rows.put("sizes");
  rows.end();
  const auto graph = report.graph();
  const auto ids = tmeter::module_ids(graph);
  for (const auto& module : graph.modules()) {
    rows.put(ids[module.index()]).put(field(module.path())).put(field(module.type()));
    rows.put(std::to_string(module.calls()));
    for (const auto& m : metrics)
      rows.put(figure(module.index() == 0 ? report.total(m) : report.cell(m, module)));
    if (!sizes.empty()) rows.put(field(sizes));
    rows.end();
  }
}

}  // namespace

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

std::string figure(const tmeter::Cell& cell) {
  if (cell.empty()) return "";
  if (cell.is_unknown() || cell.is_unavailable()) return "n/a";
  if (cell.is_int()) return std::to_string(cell.count().value());
  if (cell.is_zero_by_rule()) return "0";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), cell.real()).ptr;
  return {buffer.data(), end};
}

void write(const Report& report, tmeter::Output& out) {
  const auto metrics = chosen_metrics(report);
  Rows rows(out);
  if (report.sweep().symbols.len > 0)
    write_sweep(report, metrics, rows);
  else
    write_modules(report, metrics, rows);
  rows.flush();
}

}  // namespace csv_report
