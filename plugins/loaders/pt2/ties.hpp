// Ties in files that do not store tensors by memory (weightless ones, and torch 2.8 and older).
//
// torch.export gives the graph one of the names of a tied tensor and leaves the others unused: with
// `head.weight = wte.weight`, the embedding of module `wte` reads `head.weight`, and `wte.weight`
// is read by nobody. So: a module that reads a tensor of another module while it owns an unread one
// of the same type and sizes is taken to have the two tied.
#pragma once
#include "tensors.hpp"

namespace pt2 {

/// Which modules read which tensors, by their names in the graph. Those repeated by the same module
/// one after the other are there once.
class Uses {
 public:
  explicit Uses(const Signature& signature);  // whose texts must outlive it
  void read(const std::vector<NodeView>& nodes, const Modules& modules);
  void read(const NodeView& node, const Modules& modules);
  /// A tensor of this name, which has this number in the scope.
  void read(std::string_view name, uint32_t number, Modules::Index module);
  const std::vector<std::pair<std::string_view, Modules::Index>>& all() const { return all_; }
  const NameMap<size_t>& names() const { return names_; }

 private:
  static constexpr Modules::Index kNowhere = ~Modules::Index{0};
  void read_argument(json::element argument, Modules::Index module);
  void read_tensor(json::element tensor, Modules::Index module);
  void read_name(std::string_view name, Modules::Index module);
  void read_parameter(size_t index, Modules::Index module);

  NameMap<size_t> names_;
  std::vector<Modules::Index> last_;
  std::vector<uint32_t>
      by_number_;  // of the scope: index of the name plus two; 1: none; 0: not known yet
  std::vector<std::pair<std::string_view, Modules::Index>> all_;
};

/// Gives tied tensors a common storage key. Unread parameters that may be tied but show no trace of
/// it are named in a warning: they are counted.
/// `keys` owns the texts of the new keys.
void find_ties(Tensors& tensors, const Uses& uses, Notes& notes, std::deque<std::string>& keys);

}  // namespace pt2
