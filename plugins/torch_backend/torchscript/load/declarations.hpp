// Declares the operators of extension libraries that a program calls and this process lacks.
//
// A declaration has a schema and no implementation. The schema comes from the shape rule of a
// plugin if there is one, else from the calls in the program: arguments of any type, tensors as
// results.
#pragma once
#include <map>
#include <set>
#include <string>

#include "operators/libtorch.hpp"
#include "operators/shape_rules.hpp"
#include "torchscript/archive/archive.hpp"

namespace tmeter::torch_backend {

class Declarations {
 public:
  /// Declares the unknown operators that the code of the archive calls. Must precede its import.
  Declarations(const Archive& archive, const Call& call);

  /// Whether the operator "acme::gated_mlp" was declared here. It has no implementation, so it does
  /// nothing.
  bool contains(std::string_view op) const { return all_.contains(op); }
  /// Operators without a shape rule, each with the length of the list it returns (0: it returns
  /// tensors).
  const std::map<std::string, size_t, std::less<>>& without_rule() const { return without_rule_; }
  /// The shape rule for the operator; null if no plugin has one.
  const Rule* rule(std::string_view op) const {
    const auto it = rules_.find(op);
    return it == rules_.end() ? nullptr : &it->second;
  }

 private:
  std::set<std::string, std::less<>> all_;
  std::map<std::string, size_t, std::less<>> without_rule_;
  std::map<std::string, Rule, std::less<>> rules_;
};

}  // namespace tmeter::torch_backend
