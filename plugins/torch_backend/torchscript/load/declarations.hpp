// Declaring the operators of extension libraries that a program calls and this process lacks.
//
// A declaration has a schema and no implementation. The schema comes from the shape rule of a
// plugin when one knows the operator, else from the way the program calls it: arguments of any
// type, results that are tensors.
#pragma once
#include <map>
#include <set>
#include <string>

#include "torchscript/archive/archive.hpp"
#include "operators/libtorch.hpp"
#include "operators/shape_rules.hpp"

namespace tmeter::torch_backend {

class Declarations {
 public:
  /// Declares what the code of the archive calls and nobody has, before it is imported.
  Declarations(const Archive& archive, const Call& call);

  /// "acme::gated_mlp" was declared here: it has no implementation, so it does nothing.
  bool contains(std::string_view op) const { return all_.contains(op); }
  /// Those of which no plugin knows the shapes, each with the length of the list it returns (0: it
  /// returns tensors).
  const std::map<std::string, size_t, std::less<>>& without_rule() const { return without_rule_; }
  /// The shape rule for it; null when no plugin has one.
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
