// The rules. docs/conventions.md, "Layout and element types", has them as a table.
#pragma once
#include "plugins/advice/common/gains.hpp"
#include "plugins/common/uses.hpp"

#pragma GCC visibility push(hidden)
namespace layout {

struct Model {
  const tmeter::Graph& graph;
  tmeter::Call& call;
  advice::Ledger& ledger;
  double min_share;
};

inline constexpr const char* kReordered = "reordered_bytes";

/// contiguous() and reshape() of what lies in another order; emits kReordered.
void say_copies(Model& model);
/// Convolutions on NCHW tensors.
void say_channels_last(Model& model);
/// Features and channels that are no multiple of 16 bytes.
void say_features(Model& model);
/// float64, faster types that the profile has, and conversions between float types.
void say_dtypes(Model& model);

}  // namespace layout
#pragma GCC visibility pop
