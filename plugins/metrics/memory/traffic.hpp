// The tensors that an operator call touches, and the bytes that it reads, writes and newly
// materialises.
#pragma once
#include <optional>
#include <tmeter/cpp/node_class.hpp>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace memory {

// The tensors of an operator call, which `traffic.cpp` counts.

/// Tensors of one call. `complete` is false when something could not be sized: an element type or a
/// dim unknown to the graph, or weights hidden in a packed object. Then sums must not be used.
struct TensorSet {
  std::vector<tmeter::Value> tensors;
  bool complete = true;

  /// Adds a tensor, or the tensors of a list.
  void add(const tmeter::Value& value);
  /// Keeps one of each group that is bound to one stored tensor or is one value.
  void keep_distinct();
  tmeter::Count bytes() const;
};

/// Distinct tensor arguments, also those inside lists: `mul(x, x)` reads x once, and two arguments
/// bound to one tied parameter are one. `skip` names an argument to leave out.
TensorSet inputs_of(const tmeter::Node& node, std::string_view skip = {});

/// Tensor results, also inside lists.
TensorSet results_of(const tmeter::Node& node);

/// Whether element type and dims are known.
bool can_be_sized(const tmeter::Value& tensor);

// Bytes that one operator call reads, writes and newly materialises. README.md has the rules as a
// table.
//
// The view is the operator's, not the cache's: every distinct input is read once, every result
// written once, at its logical size (an expanded tensor counts its expanded size), regardless of
// the kernel's work inside. Fusion, tiling and caches change the real traffic; these are the bytes
// an unfused operator must at least move.

/// Bytes; empty: unknown.
struct Traffic {
  std::optional<tmeter::Count> read, written, output;
  std::optional<tmeter::Count> results;  ///< `output`, and the tensors it changes in place
  bool nothing = false;                  ///< a view or bookkeeping: all four are zero by rule
};

/// Computed once per node of a run for all metrics. One thread at a time.
const Traffic& traffic_of(const tmeter::Node& node, tmeter::OpClass kind);
const Traffic& traffic_of(const tmeter::Node& node, const tmeter::Call& call);

/// Called at the start of a run, because sizes may have changed.
void forget_traffic();

}  // namespace memory
