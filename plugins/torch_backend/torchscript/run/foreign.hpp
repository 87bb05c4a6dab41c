// Results of operators whose library is not loaded: by the shape rule of a plugin, else by a guess
// that must fit the rest of the program.
#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "operators/evaluator.hpp"
#include "operators/libtorch.hpp"
#include "torchscript/load/declarations.hpp"

namespace tmeter::torch_backend {

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
