// Guards: the conditions on sizes that torch.export met while it recorded the program (torch 2.9
// and newer), as Python text over the inputs: "(L['x'].size()[0] % 8) == 0". The exported module
// refuses other sizes; eager, which has no guards, may run on them with other operators.
#pragma once
#include "scope.hpp"

namespace pt2 {

/// Passes the guards of "guards_code" to the host. A guard of unknown form is taken to hold for the
/// recorded sizes only. Call it when the sizes of the inputs are final.
void read_guards(json::array guards, const Signature& signature, const Scope& scope,
                 Building& building);

/// The same for an assertion in the graph, `aten::_assert_scalar(SymBool)`.
void add_assertion(json::element condition, const Scope& scope, Building& building);

}  // namespace pt2
