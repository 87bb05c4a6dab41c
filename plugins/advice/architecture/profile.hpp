// The composition of a model, and the kind of network that follows from it.
#pragma once
#include <array>
#include <string>
#include <tmeter/cpp/op_class.hpp>
#include <tmeter/cpp/plugin.hpp>

namespace architecture {

/// Calls and multiply-accumulates by class of operator, the number of attentions (fused or written
/// out in separate operators), and the longest chain of operators.
struct Profile {
  static constexpr size_t kClasses = static_cast<size_t>(tmeter::OpClass::kOther) + 1;
  std::array<size_t, kClasses> calls{};
  std::array<double, kClasses> macs{};
  double total_macs = 0;
  size_t attentions = 0;  // fused attentions, and softmaxes whose result a matrix product reads
  size_t layers_of_weights = 0;    // matrix products with a parameter
  size_t mixing_convolutions = 0;  // convolutions with a kernel of more than one position
  size_t depth = 0;  // longest chain of computing operators, each using the previous one

  size_t calls_of(tmeter::OpClass c) const { return calls[static_cast<size_t>(c)]; }
  double share(tmeter::OpClass c) const {
    return total_macs > 0 ? macs[static_cast<size_t>(c)] / total_macs : 0;
  }
};

Profile profile_of(const tmeter::Graph& graph, const tmeter::Call& call);

/// The kind of network and the amount of work, with the evidence.
struct Classification {
  std::string kind;      // "transformer"
  std::string size;      // "medium: 1 to 10 GMACs"
  std::string evidence;  // shares and counts
};

Classification classify(const Profile& profile);

}  // namespace architecture
