// Inputs: the values users give to the model, as recorded, or as --input asks where sizes are
// symbolic.
#pragma once
#include "arguments.hpp"
#include "signature.hpp"

namespace pt2 {

/// Sets symbols so that the model's inputs have the sizes given with --input. Throws
/// tmeter::Error(TMETER_BAD_USAGE) where the file does not allow that. Returns, per input of the
/// signature, whether it was given.
std::vector<bool> apply_given(const std::vector<tmeter::InputSpec>& given,
                              const Signature& signature, const Scope& scope, Symbols& symbols);

/// Makes the inputs in the host and defines their names.
void build_inputs(const Signature& signature, const std::vector<bool>& given, Building& building,
                  Scope& scope, Arguments& arguments);

}  // namespace pt2
