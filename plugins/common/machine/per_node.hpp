// Caches a value per node, because the host requests one column after the other and the columns of
// an estimate share their values.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace machine {

template <class Work, class T>
class PerNode {
 public:
  /// Call it at each `configure`, when the inputs of the values may have changed.
  void forget() { entries_.clear(); }

  /// The result of `make()`, which is called once for each node.
  template <class Node, class Make>
  T of(const Node& node, const Work& work, Make make) {
    const size_t i = node.index();
    if (i < entries_.size() && entries_[i].node == node.handle() && entries_[i].work == work)
      return entries_[i].value;
    T value = make();  // may request other nodes' values
    if (i >= entries_.size()) entries_.resize(i + 1);
    entries_[i] = {node.handle(), work, value};
    return value;
  }

 private:
  struct Entry {
    const void* node = nullptr;
    Work work;
    T value{};
  };
  std::vector<Entry> entries_;
};

}  // namespace machine
