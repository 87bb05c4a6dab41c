// The parts that a report of `tmeter diff A B` adds to a report of B. Draft, like
// abi/draft/comparison.h.
#pragma once
#include "../abi/draft/comparison.h"
#include "report.hpp"

TMETER_SDK_BEGIN

class ComparisonView {
 public:
  explicit ComparisonView(const tmeter_report* report) : h_(report) {}
  /// False if the report describes one model.
  explicit operator bool() const { return api().before(h_) != nullptr; }
  Report before() const { return Report(api().before(h_)); }
  Report after() const { return Report(h_); }
  auto pairs() const {
    auto at = [h = h_](size_t i) {
      tmeter_pair p{};
      p.struct_size = sizeof p;
      check(api().pair_at(h, i, &p));
      return p;
    };
    return IndexRange<tmeter_pair, decltype(at)>(api().pair_count(h_), at);
  }
  auto notes() const {
    auto at = [h = h_](size_t i) { return to_view(api().note_at(h, i)); };
    return IndexRange<std::string_view, decltype(at)>(api().note_count(h_), at);
  }

 private:
  static const tmeter_comparison_api& api() {
    static const auto& api = detail::interface_of<tmeter_comparison_api>(TMETER_HOST_COMPARISON);
    return api;
  }
  const tmeter_report* h_;
};

TMETER_SDK_END
