// Inputs of the model, with recorded sizes or sizes from --input. Sizes that depend on symbols are
// set here. Sizes other than those fixed in the file are requested from the host.
#pragma once
#include "arguments.hpp"
#include "signature.hpp"

namespace pt2 {

/// The --input options by input of the signature.
struct InputRequests {
  std::vector<bool> given;
  std::vector<tmeter::Shape> other_dims;  // requested where the file fixes others; else empty
};

/// Sets symbols so that the model's inputs have the sizes given with --input. Throws
/// tmeter::Error(TMETER_BAD_USAGE) if name, type or rank differ from the file, or a symbol cannot
/// have the value.
InputRequests apply_given(const std::vector<tmeter::InputSpec>& given, const Signature& signature,
                          const Scope& scope, Symbols& symbols);

/// Adds the inputs to the graph and defines their names.
void build_inputs(const Signature& signature, const InputRequests& requests, Building& building,
                  Scope& scope, Arguments& arguments);

}  // namespace pt2
