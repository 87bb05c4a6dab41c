#include "core/report_reader/words.hpp"

#include <algorithm>
#include <span>
#include <tmeter/cpp/dtype.hpp>

namespace tmeter::core::report_reader {
namespace {

// By the numbers in abi/metric.h, abi/base.h, abi/finding.h and abi/graph.h.
constexpr std::string_view kUnitKinds[] = {"count",  "byte",  "op",   "joule",
                                           "second", "ratio", "watt", "other"};
constexpr std::string_view kAxes[] = {"node", "module_call", "module", "tensor", "model"};
constexpr std::string_view kAggregations[] = {"sum", "max", "last", "weighted_mean", "none"};
constexpr std::string_view kBetter[] = {"lower", "higher", "neither"};
constexpr std::string_view kSeverities[] = {"info", "advice", "warning", "error"};
constexpr std::string_view kProvenances[] = {"computed", "measured", "estimated", "unavailable"};
constexpr std::string_view kTensorKinds[] = {"parameter", "buffer", "constant"};

int32_t number_of(std::span<const std::string_view> words, std::string_view word) {
  const auto at = std::find(words.begin(), words.end(), word);
  return at == words.end() ? -1 : static_cast<int32_t>(at - words.begin());
}

}  // namespace

int32_t unit_kind_of(std::string_view word) { return number_of(kUnitKinds, word); }
int32_t axis_of(std::string_view word) { return number_of(kAxes, word); }
int32_t aggregation_of(std::string_view word) { return number_of(kAggregations, word); }
int32_t better_of(std::string_view word) { return number_of(kBetter, word); }
int32_t severity_of(std::string_view word) { return number_of(kSeverities, word); }
int32_t provenance_of(std::string_view word) { return number_of(kProvenances, word); }
int32_t tensor_kind_of(std::string_view word) { return number_of(kTensorKinds, word); }
int32_t dtype_of(std::string_view word) { return DType::parse(word).id(); }

}  // namespace tmeter::core::report_reader
