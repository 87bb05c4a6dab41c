// Ties in files that do not store tensors by memory (weightless ones, and torch 2.8 and older).
//
// torch.export uses one of the names of a tied tensor in the graph and leaves the others unused:
// with `head.weight = wte.weight`, the embedding of module `wte` reads `head.weight`, and no node
// reads `wte.weight`. So if a module reads a tensor of another module and owns an unread one of the
// same type and sizes, the two are assumed to be tied.
#pragma once
#include "tensors.hpp"

namespace pt2 {

/// Pairs of a tensor (its index in the signature) and a module that reads it. If several tensors
/// share a name in the graph, the first counts. Consecutive reads by one module are one pair.
class Uses {
 public:
  /// Both must outlive the object.
  Uses(const Signature& signature, const Scope& scope);
  void read(const NodeView& node, const Modules& modules);
  /// The tensor of this number in the scope.
  void read(uint32_t number, Modules::Index module);
  const std::vector<std::pair<uint32_t, Modules::Index>>& all() const { return all_; }

 private:
  static constexpr Modules::Index kNowhere = ~Modules::Index{0};
  void read_argument(json::element argument, Modules::Index module);
  void read_tensor(json::element tensor, Modules::Index module);
  void read_name(std::string_view name, Modules::Index module);
  void read_parameter(uint32_t index, Modules::Index module);
  void number();

  const Signature& signature_;
  const Scope& scope_;
  std::optional<NameMap<uint32_t>> names_;  // both made on first use
  std::vector<uint32_t> by_number_;         // by number in the scope: the index plus one; 0: none
  std::vector<Modules::Index> last_;
  std::vector<std::pair<uint32_t, Modules::Index>> all_;
};

/// Gives tied tensors a common storage key, whose text `keys` owns. Warns of unread parameters that
/// may be tied without a trace in the file; they are counted.
void find_ties(Tensors& tensors, const Uses& uses, Notes& notes, std::deque<std::string>& keys);

}  // namespace pt2
