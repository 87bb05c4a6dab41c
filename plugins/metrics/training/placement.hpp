// The placement of a run's tensors: the storage and the strides of each value.
//
// Views share the storage of their base; in-place operators keep the storage of their argument;
// a reshape that cannot be a view makes a copy. Strides of results follow torch's CPU kernels:
// elementwise operators keep the order of dims, convolutions and pooling keep channels last,
// products and reductions are contiguous.
#pragma once
#include <cstdint>
#include <tmeter/cpp/plugin.hpp>
#include <unordered_map>
#include <vector>

#include "gradients.hpp"
#include "layout.hpp"
#include "settings.hpp"

namespace training {

inline constexpr uint32_t kNone = ~uint32_t{0};

struct Storage {
  tmeter::Count bytes = 0;
  uint32_t maker = kNone;   // node; kNone: an input, a constant, or a parameter
  bool persistent = false;  // belongs to a parameter or buffer, which exists anyway
};

struct Place {
  uint32_t storage = kNone;
  Dims strides;
};

class Placement {
 public:
  explicit Placement(const tmeter::Graph& graph, const Gradients& gradients,
                     const Settings& settings);

  /// The placement of an argument or result of an earlier node.
  const Place& of(const tmeter::Value& value);
  /// Places the results of the next node.
  void step(const tmeter::Node& node);

  const std::vector<Storage>& storages() const { return storages_; }
  std::vector<Storage> take_storages() { return std::move(storages_); }
  std::unordered_map<const tmeter_value*, Place> take_places() { return std::move(places_); }
  /// A storage that is outside the graph: a kernel's, or a copy.
  uint32_t add(tmeter::Count bytes, uint32_t maker);

 private:
  void place(const tmeter::Value& value, uint32_t storage, Dims strides);
  void place_fresh(const tmeter::Value& value, const tmeter::Node& node);
  void place_view(const tmeter::Value& result, const tmeter::Node& node, const tmeter::Value& base);
  Dims fresh_strides(const tmeter::Value& result, const tmeter::Node& node);

  const Gradients& gradients_;
  const Settings settings_;
  std::vector<Storage> storages_;
  std::unordered_map<const tmeter_value*, Place> places_;
  std::vector<uint32_t> of_tensor_;  // by canonical tensor
};

}  // namespace training
