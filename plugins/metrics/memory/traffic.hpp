// Bytes that one operator call reads, writes and newly materialises. README.md has the rules as a
// table.
//
// The view is the operator's, not the cache's: every distinct input is read once, every result
// written once, at its logical size (an expanded tensor counts its expanded size), regardless of
// the kernel's work inside. Fusion, tiling and caches change the real traffic; these are the bytes
// an unfused operator must at least move.
#pragma once
#include <optional>
#include <tmeter/cpp/node_class.hpp>

#include "tensors.hpp"

namespace memory {

/// In bytes; empty if unknown.
struct Traffic {
  std::optional<tmeter::Count> read, written, output;
  std::optional<tmeter::Count> results;  ///< `output`, and the tensors it changes in place
  bool nothing = false;                  ///< a view or bookkeeping: all four are zero by rule
};

/// Computed once per node of a run for all metrics. One thread at a time.
const Traffic& traffic_of(const tmeter::Node& node, tmeter::OpClass kind);
const Traffic& traffic_of(const tmeter::Node& node, const tmeter::Call& call);

/// To be called when a run begins, as sizes may have changed.
void forget_traffic();

}  // namespace memory
