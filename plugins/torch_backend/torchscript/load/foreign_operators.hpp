// Operators of extension libraries that a program calls and this process lacks: their declarations
// and the shapes of their results.
//
// A declaration has a schema and no implementation. The schema comes from the shape rule of a
// plugin if there is one, else from the calls in the program: arguments of any type, tensors as
// results.
#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "operators/evaluator.hpp"
#include "operators/libtorch_jit.hpp"
#include "operators/missing_operators.hpp"
#include "torchscript/archive/archive.hpp"

namespace tmeter::torch_backend {

class Declarations {
 public:
  /// Declares the unknown operators that the code of the archive calls. Must precede its import.
  Declarations(const Archive& archive, const Call& call);

  /// Whether the operator "acme::gated_mlp" was declared here. It has no implementation, so calling
  /// it has no effect.
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

// The results: by the shape rule of a plugin, else by a guess
// that must fit the rest of the program.

class ForeignOperators final : public MissingOperators {
 public:
  ForeignOperators(const Declarations& declared, const Call& call);

  bool contains(std::string_view op) const override { return declared_.contains(op); }
  void execute(const c10::OperatorHandle& op, const OperatorInfo& info,
               torch::jit::Stack& args) override;

  /// The number of combinations of guesses, at least 1. The likeliest comes first.
  size_t plans() const;
  void use_plan(size_t i);
  /// The operators whose results are guessed: "acme::norm, acme::mlp"; may be empty.
  std::string guessed() const;
  /// Warns once per operator that its result is a guess.
  void note(const OperatorInfo& info);

 private:
  const Declarations& declared_;
  const Call& call_;
  std::map<std::string, size_t, std::less<>> guess_;  // operator → index of its guess
  std::set<std::string> noted_;
};

}  // namespace tmeter::torch_backend
