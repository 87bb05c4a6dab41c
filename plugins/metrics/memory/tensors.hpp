// The tensors an operator call touches: what `traffic.cpp` counts.
#pragma once
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace memory {

/// Tensors of one call. `complete` is false when something could not be sized: an element type or a
/// dim the graph does not know, or weights hidden in a packed object. Then sums must not be used.
struct TensorSet {
  std::vector<tmeter::Value> tensors;
  bool complete = true;

  /// A tensor, or those in a list.
  void add(const tmeter::Value& value);
  /// Each once, where several are bound to one stored tensor or are one value.
  void keep_distinct();
  tmeter::Count bytes() const;
};

/// Distinct tensor arguments, also those inside lists: `mul(x, x)` reads x once, and two arguments
/// bound to one tied parameter are one. `skip` names an argument to leave out.
TensorSet inputs_of(const tmeter::Node& node, std::string_view skip = {});

/// Tensor results, also those inside lists.
TensorSet results_of(const tmeter::Node& node);

/// Whether element type and dims are known.
bool can_be_sized(const tmeter::Value& tensor);

}  // namespace memory
