// Evaluates a model under other sizes and restores its own afterwards.
#pragma once
#include <vector>

#include "core/base/error.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Restores the values of the symbols at the end of its life.
class OtherSizes {
 public:
  explicit OtherSizes(Graph& graph) : graph_(graph) {
    for (const auto& s : graph.symbols()) values_.push_back(s.value);
    before_ = values_;
  }
  OtherSizes(const OtherSizes&) = delete;
  OtherSizes& operator=(const OtherSizes&) = delete;
  ~OtherSizes() {
    if (values_ != before_) graph_.assign(before_);
  }

  /// Sets the value of `symbol` for the next `apply`.
  void set(size_t symbol, int64_t value) { values_[symbol] = value; }
  /// Throws Error(kModel) if the bound values make a dimension invalid.
  void apply() { graph_.assign(values_); }
  /// The same, but returns false.
  bool try_apply() {
    try {
      apply();
      return true;
    } catch (const Error&) {
      return false;
    }
  }

 private:
  Graph& graph_;
  std::vector<int64_t> values_, before_;
};

}  // namespace tmeter::core
