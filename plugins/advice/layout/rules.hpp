// The rules. docs/conventions.md, "Layout and element types", lists them.
#pragma once
#include "plugins/advice/common/savings.hpp"
#include "plugins/common/uses.hpp"

#pragma GCC visibility push(hidden)
namespace layout {

struct Model {
  const tmeter::Graph& graph;
  tmeter::Call& call;
  advice::SavingsEstimator& estimator;
  double min_share;
};

inline constexpr const char* kReordered = "reordered_bytes";

/// contiguous() and reshape() that copy; emits kReordered.
void report_copies(Model& model);
/// Convolutions on NCHW tensors.
void report_channels_last(Model& model);
/// Features and channels that are not a multiple of 16 bytes.
void report_features(Model& model);
/// float64, types with a higher rate in the profile, and conversions between float types.
void report_dtypes(Model& model);

}  // namespace layout
#pragma GCC visibility pop
