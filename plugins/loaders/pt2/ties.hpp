// Ties in files that do not store tensors by memory (weightless ones, and torch 2.8 and older).
//
// torch.export gives the graph one of the names of a tied tensor and leaves the others unused: with
// `head.weight = wte.weight`, the embedding of module `wte` reads `head.weight`, and `wte.weight`
// is read by nobody. So: a module that reads a tensor of another module while it owns an unread one
// of the same type and sizes is taken to have the two tied.
#pragma once
#include "tensors.hpp"

namespace pt2 {

/// Which modules read which tensors, by their index in the signature: of several with one name in
/// the graph, the first. Those repeated by the same module one after the other are there once.
class Uses {
 public:
  Uses(const Signature& signature, const Scope& scope);  // which must outlive it
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

/// Gives tied tensors a common storage key. Unread parameters that may be tied but show no trace of
/// it are named in a warning: they are counted.
/// `keys` owns the texts of the new keys.
void find_ties(Tensors& tensors, const Uses& uses, Notes& notes, std::deque<std::string>& keys);

}  // namespace pt2
