// Report and Output: the input and the destination of a report writer.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "call.hpp"
#include "units.hpp"

TMETER_SDK_BEGIN

/// One column: a metric's descriptor with convention and provenance resolved for this run.
class Metric {
 public:
  Metric(size_t index, const tmeter_metric_info& info) : index_(index), info_(info) {}
  size_t index() const { return index_; }
  std::string_view id() const { return to_view(info_.id); }
  std::string_view title() const { return to_view(info_.title); }
  std::string_view unit() const { return to_view(info_.unit); }
  int32_t unit_kind() const { return info_.unit_kind; }
  int32_t axis() const { return info_.axis; }
  int32_t aggregation() const { return info_.aggregation; }
  int32_t better() const { return info_.better; }
  bool detail() const { return (info_.flags & TMETER_METRIC_DETAIL) != 0; }
  /// A column of the table of tensors, not of the module tree.
  bool of_tensors() const { return (info_.flags & TMETER_METRIC_TENSORS) != 0; }
  /// A part that is summed with the plugin's other parts, and the capacity for that sum.
  bool is_part() const { return (info_.flags & TMETER_METRIC_PART) != 0; }
  bool is_capacity() const { return (info_.flags & TMETER_METRIC_CAPACITY) != 0; }
  int32_t provenance() const { return info_.provenance; }
  std::string_view provenance_text() const { return to_view(info_.provenance_text); }
  std::string_view convention() const { return to_view(info_.convention); }
  std::string_view description() const { return to_view(info_.description); }
  std::string_view plugin() const { return to_view(info_.plugin); }

 private:
  size_t index_;
  tmeter_metric_info info_;
};

/// A bound of --assert and whether it holds; lives as long as the report.
class AssertionView {
 public:
  explicit AssertionView(const tmeter_assertion& a) : a_(a) {}
  bool holds() const { return a_.holds != 0; }
  std::string_view expression() const { return to_view(a_.expression); }
  std::string_view subject() const { return to_view(a_.subject); }
  std::string_view comparison() const { return to_view(a_.comparison); }
  Cell value() const { return Cell(a_.value); }
  Cell limit() const { return Cell(a_.limit); }
  /// False for "coverage" and "unknown", which are not metrics.
  bool of_metric() const { return a_.metric != SIZE_MAX; }
  size_t metric() const { return a_.metric; }  // index
  size_t module() const { return a_.module; }  // index; 0: the whole model

 private:
  tmeter_assertion a_;
};

class Report {
 public:
  explicit Report(const tmeter_report* h) : h_(h) {}
  const tmeter_report* handle() const { return h_; }
  Graph graph() const { return Graph(api().graph(h_)); }
  std::string_view property(std::string_view key) const {
    return to_view(api().property(h_, to_abi(key)));
  }
  /// Properties of the model's runs: "device", "weights", …; empty if it was not run.
  std::vector<std::pair<std::string_view, std::string_view>> run_facts() const {
    std::vector<std::pair<std::string_view, std::string_view>> out;
    auto keys = property("runs");
    while (!keys.empty()) {
      const auto key = keys.substr(0, keys.find(' '));
      keys.remove_prefix(std::min(keys.size(), key.size() + 1));
      out.emplace_back(key, property("run." + std::string(key)));
    }
    return out;
  }
  std::string_view view(std::string_view key) const { return to_view(api().view(h_, to_abi(key))); }

  auto metrics() const {
    auto at = [h = h_](size_t i) {
      tmeter_metric_info info{};
      info.struct_size = sizeof info;
      check(api().metric_at(h, i, &info));
      return Metric(i, info);
    };
    return IndexRange<Metric, decltype(at)>(api().metric_count(h_), at);
  }
  Cell cell(const Metric& m, int32_t axis, size_t index) const {
    return Cell(api().cell(h_, m.index(), axis, index));
  }
  Cell cell(const Metric& m, const Node& n) const { return cell(m, TMETER_AXIS_NODE, n.index()); }
  Cell cell(const Metric& m, const Module& x) const {
    return cell(m, TMETER_AXIS_MODULE, x.index());
  }
  Cell cell(const Metric& m, const Tensor& t) const {
    return cell(m, TMETER_AXIS_TENSOR, t.index());
  }
  Cell total(const Metric& m) const { return cell(m, TMETER_AXIS_MODEL, 0); }

  tmeter_coverage coverage() const {
    tmeter_coverage c{};
    c.struct_size = sizeof c;
    check(api().coverage(h_, &c));
    return c;
  }
  struct UnknownOp {
    std::string_view op;
    uint64_t nodes;
  };
  auto unknown_ops() const {
    auto at = [h = h_](size_t i) {
      tmeter_str op{};
      uint64_t nodes = 0;
      check(api().unknown_at(h, i, &op, &nodes));
      return UnknownOp{to_view(op), nodes};
    };
    return IndexRange<UnknownOp, decltype(at)>(api().unknown_count(h_), at);
  }
  auto warnings() const {
    auto at = [h = h_](size_t i) { return to_view(api().warning_at(h, i)); };
    return IndexRange<std::string_view, decltype(at)>(api().warning_count(h_), at);
  }
  /// Values as polynomials in the symbols; see abi/report.h.
  auto formulas() const {
    auto at = [h = h_](size_t i) {
      tmeter_formula f{};
      f.struct_size = sizeof f;
      check(api().formula_at(h, i, &f));
      return f;
    };
    return IndexRange<tmeter_formula, decltype(at)>(api().formula_count(h_), at);
  }
  tmeter_term term(size_t formula, size_t i) const {
    tmeter_term t{};
    t.struct_size = sizeof t;
    check(api().term_at(h_, formula, i, &t));
    return t;
  }
  /// The sweep of sizes; it has no symbols if the run has no sweep.
  tmeter_sweep sweep() const {
    tmeter_sweep s{};
    s.struct_size = sizeof s;
    check(api().sweep(h_, &s));
    return s;
  }
  tmeter_i64_span sweep_point(size_t i) const { return api().sweep_point(h_, i); }
  Cell sweep_total(size_t point, const Metric& m) const {
    return Cell(api().sweep_total(h_, point, m.index()));
  }
  using Pair = std::pair<std::string_view, std::string_view>;
  /// Resolved options: ("flops.convention", "torch").
  auto config() const {
    auto at = [h = h_](size_t i) {
      tmeter_str k{}, v{};
      check(api().config_at(h, i, &k, &v));
      return Pair{to_view(k), to_view(v)};
    };
    return IndexRange<Pair, decltype(at)>(api().config_count(h_), at);
  }
  /// Most severe first.
  auto findings() const {
    auto at = [h = h_](size_t i) {
      tmeter_finding f{};
      f.struct_size = sizeof f;
      check(api().finding_at(h, i, &f));
      return FindingView(f, to_view(api().finding_plugin(h, i)));
    };
    return IndexRange<FindingView, decltype(at)>(api().finding_count(h_), at);
  }
  /// As plugins gave them; see abi/distribution.h.
  auto distributions() const {
    auto at = [h = h_](size_t i) {
      tmeter_distribution d{};
      d.struct_size = sizeof d;
      check(api().distribution_at(h, i, &d));
      return d;
    };
    return IndexRange<tmeter_distribution, decltype(at)>(api().distribution_count(h_), at);
  }
  auto series() const {
    auto at = [h = h_](size_t i) {
      tmeter_series s{};
      s.struct_size = sizeof s;
      check(api().series_at(h, i, &s));
      return s;
    };
    return IndexRange<tmeter_series, decltype(at)>(api().series_count(h_), at);
  }
  /// In the user's order; empty on a host that is too old for them.
  auto assertions() const {
    auto at = [h = h_](size_t i) {
      tmeter_assertion a{};
      a.struct_size = sizeof a;
      check(api().assertion_at(h, i, &a));
      return AssertionView(a);
    };
    return IndexRange<AssertionView, decltype(at)>(api().assertion_count(h_), at);
  }
  /// "text", "kernel_size", "input_size", "output_size": see abi/report.h. Empty if there is
  /// none.
  std::string_view fact(const Module& m, std::string_view key) const {
    return to_view(api().module_fact(h_, m.index(), to_abi(key)));
  }
  /// "Conv2d(3, 64, kernel_size=(7, 7), …)" if the file has enough data; else the type.
  std::string_view module_text(const Module& m) const { return fact(m, "text"); }
  /// The run of identical siblings that begins at a module.
  struct Repeat {
    size_t window = 0, times = 0;
    explicit operator bool() const { return times > 1; }
  };
  Repeat repeat(const Module& m) const {
    Repeat r;
    return api().module_repeat(h_, m.index(), &r.window, &r.times) ? r : Repeat{};
  }
  /// (id, version) of every plugin that took part.
  auto plugins() const {
    auto at = [h = h_](size_t i) {
      tmeter_str k{}, v{};
      check(api().plugin_at(h, i, &k, &v));
      return Pair{to_view(k), to_view(v)};
    };
    return IndexRange<Pair, decltype(at)>(api().plugin_count(h_), at);
  }

 private:
  static const tmeter_report_api& api() { return detail::report_api(); }
  const tmeter_report* h_;
};

/// The destination. Writing may be partial and repeated; a failure throws.
class Output {
 public:
  explicit Output(tmeter_output* h) : h_(h) {}
  void write(std::string_view text) {
    check(detail::output_api().write(h_,
                                     {reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  }
  /// Replaces each `{}` in turn by text, a number, or the text of a cell (`plain` of units.hpp).
  template <class... Args>
  void print(std::string_view format, const Args&... args) {
    std::string out;
    ((format = put_until_placeholder(out, format), put(out, args)), ...);
    out += format;
    write(out);
  }
  bool color() const { return detail::output_api().color(h_) != 0; }
  /// Width of the terminal; 0: the output is not a terminal.
  int columns() const { return detail::output_api().columns(h_); }

 private:
  static std::string_view put_until_placeholder(std::string& out, std::string_view format) {
    const auto at = format.find("{}");
    out += format.substr(0, at);
    return at == std::string_view::npos ? std::string_view() : format.substr(at + 2);
  }
  static void put(std::string& out, std::string_view s) { out += s; }
  static void put(std::string& out, const char* s) { out += s; }
  static void put(std::string& out, const std::string& s) { out += s; }
  static void put(std::string& out, Count c) { out += std::to_string(c.value()); }
  static void put(std::string& out, const Cell& c) { out += plain(c); }
  template <class T>
  requires std::is_arithmetic_v<T>
  static void put(std::string& out, T v) {
    if constexpr (std::is_floating_point_v<T>) {
      out += shortest(static_cast<double>(v));
    } else {
      out += std::to_string(v);
    }
  }
  tmeter_output* h_;
};

TMETER_SDK_END
