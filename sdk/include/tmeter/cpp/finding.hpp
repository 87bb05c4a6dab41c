// Findings: a plugin states them in words, a writer reads them.
#pragma once
#include <span>
#include <vector>

#include "graph.hpp"

TMETER_SDK_BEGIN

/// Fill in and pass to Call::add.
struct Finding {
  int32_t severity = TMETER_SEVERITY_INFO;
  std::string rule, text, evidence{}, action{};
  std::vector<tmeter_target> targets{};
  struct Change {
    std::string metric;
    double from, to;
  };
  std::vector<Change> changes{};

  Finding& about(const Node& n) { return target(TMETER_AXIS_NODE, n.index()); }
  Finding& about(const Module& m) { return target(TMETER_AXIS_MODULE, m.index()); }
  Finding& about(const Tensor& t) { return target(TMETER_AXIS_TENSOR, t.index()); }

  /// Borrows from this object.
  tmeter_finding abi() const {
    changes_.clear();
    for (const auto& c : changes) changes_.push_back({to_abi(c.metric), c.from, c.to});
    return {sizeof(tmeter_finding), severity,       to_abi(rule),   to_abi(text),
            to_abi(evidence),       to_abi(action), targets.data(), targets.size(),
            changes_.data(),        changes_.size()};
  }

 private:
  Finding& target(int32_t axis, size_t index) {
    targets.push_back({axis, 0, index});
    return *this;
  }
  mutable std::vector<tmeter_change> changes_{};
};

/// A finding of a report; lives as long as the report.
class FindingView {
 public:
  FindingView(const tmeter_finding& f, std::string_view plugin) : f_(f), plugin_(plugin) {}
  int32_t severity() const { return f_.severity; }
  std::string_view rule() const { return to_view(f_.rule); }
  std::string_view text() const { return to_view(f_.text); }
  std::string_view evidence() const { return to_view(f_.evidence); }
  std::string_view action() const { return to_view(f_.action); }
  std::span<const tmeter_target> targets() const { return {f_.targets, f_.target_count}; }
  std::span<const tmeter_change> changes() const { return {f_.changes, f_.change_count}; }
  std::string_view plugin() const { return plugin_; }

 private:
  tmeter_finding f_;
  std::string_view plugin_;
};

TMETER_SDK_END
