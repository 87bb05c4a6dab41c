// Looking at a model under other sizes, and leaving it as it was.
#pragma once
#include <vector>

#include "core/base/error.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Gives the symbols their values back when it goes.
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

  /// The value that `symbol` has from the next `apply` on.
  void set(size_t symbol, int64_t value) { values_[symbol] = value; }
  /// Throws Error(kModel) if the bound values make a dimension invalid.
  void apply() { graph_.assign(values_); }
  /// The same as an answer.
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
