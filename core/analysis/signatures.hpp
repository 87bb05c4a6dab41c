// Operators that are alike: of one name, with equal arguments and results, wherever they stand.
//
// A large graph repeats a few hundred operators; a handler that says that it looks at nothing else
// (TMETER_HANDLER_BY_SIGNATURE) is asked about each of them once.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {

class Signatures {
 public:
  /// Not known to be like any other: too long to compare, or there are too many already.
  static constexpr uint32_t kNone = 0;

  explicit Signatures(size_t nodes) : of_node_(nodes, kUnseen) {}

  /// Equal for operators that are alike; from 1 on, in the order they are asked for.
  uint32_t of(const Node& node) {
    auto& known = of_node_[node.index];
    if (known == kUnseen) known = find(node);
    return known;
  }
  /// To be called when the graph's sizes have changed.
  void forget();

 private:
  static constexpr uint32_t kUnseen = ~uint32_t{0};
  struct Entry {
    uint64_t hash = 0;
    uint32_t id = kNone;  // kNone: free
  };

  /// A signature that was found, by its number less one.
  struct Found {
    size_t begin = 0;  // of its words
    uint32_t size = 0;
    uint32_t next = kNone;  // what came after it the last time
  };

  uint32_t find(const Node& node);
  uint32_t look_up(std::span<const uint64_t> spelt);
  bool is_spelt(uint32_t id, std::span<const uint64_t> spelt) const;
  Entry& slot(uint64_t hash, std::span<const uint64_t> spelt);
  void grow();

  std::vector<uint32_t> of_node_;
  std::vector<uint64_t> words_;  // of all signatures, one after the other
  std::vector<Entry> table_;     // open addressing
  std::vector<Found> found_;
  uint32_t last_ = kNone;        // found
  std::vector<uint64_t> spelt_;  // the one at hand
  std::vector<const void*> seen_;
};

}  // namespace tmeter::core
