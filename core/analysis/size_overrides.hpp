// Evaluates a model under other sizes and restores its own afterwards.
#pragma once
#include <algorithm>
#include <vector>

#include "core/base/error.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Restores the values of the symbols at the end of its life.
class SizeOverrides {
 public:
  explicit SizeOverrides(Graph& graph) : graph_(graph) {
    for (const auto& s : graph.symbols()) values_.push_back(s.value);
    before_ = values_;
  }
  SizeOverrides(const SizeOverrides&) = delete;
  SizeOverrides& operator=(const SizeOverrides&) = delete;
  ~SizeOverrides() {
    if (values_ != before_) graph_.assign(before_);
  }

  /// Sets the value of `symbol` for the next `apply`.
  void set(size_t symbol, int64_t value) { values_[symbol] = value; }
  /// Throws Error(kModel) if the bound values make a dimension invalid.
  void apply() { graph_.assign(values_); }
  /// The same, but returns false, also if an operator refuses the sizes, or one is not divisible
  /// as the program needs it. Other conditions may belong to a branch or to one special size,
  /// and are ignored.
  bool try_apply() {
    try {
      apply();
    } catch (const Error&) {
      return false;
    }
    if (graph_.node_with_unmet_demand()) return false;
    return std::ranges::all_of(graph_.conditions(), [&](const Condition& c) {
      return !graph_.expressions().is_divisibility(c.expr) || graph_.holds(c);
    });
  }

 private:
  Graph& graph_;
  std::vector<int64_t> values_, before_;
};

}  // namespace tmeter::core
