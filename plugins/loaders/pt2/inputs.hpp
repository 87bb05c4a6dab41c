// Inputs: the values users give to the model, as recorded, or as --input asks. Sizes that follow
// from symbols are set here; where the file fixes them, the host is told what is wanted.
#pragma once
#include "arguments.hpp"
#include "signature.hpp"

namespace pt2 {

/// What --input says of each input of the signature.
struct InputWishes {
  std::vector<bool> given;
  std::vector<tmeter::Shape> other_dims;  // wanted where the file fixes others; else empty
};

/// Sets symbols so that the model's inputs have the sizes given with --input. Throws
/// tmeter::Error(TMETER_BAD_USAGE) where name, type or rank are not those of the file, or a symbol
/// cannot have the value.
InputWishes apply_given(const std::vector<tmeter::InputSpec>& given, const Signature& signature,
                        const Scope& scope, Symbols& symbols);

/// Makes the inputs in the host and defines their names.
void build_inputs(const Signature& signature, const InputWishes& wishes, Building& building,
                  Scope& scope, Arguments& arguments);

}  // namespace pt2
