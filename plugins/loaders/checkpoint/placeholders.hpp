// Objects in the place of weights. Calls of classes that we know nothing of become placeholders in
// the unpickler: harmless where a model keeps its settings, but where tensors or modules are
// expected one could stand for any number of parameters, and a report without them would be wrong.
#pragma once
#include <string>
#include <unordered_set>

#include "pickle/value.hpp"

namespace checkpoint {

/// Throws BadFile: `what` ("parameter 'fc.weight'") is made by calling a class.
[[noreturn]] void refuse_placeholder(const Value& placeholder, const std::string& what);

/// Whether tensors, their memory or raw bytes are somewhere in an object: in its arguments, its
/// attributes, its items. Each value is looked at once, however many objects share it.
class HiddenWeights {
 public:
  /// True once for what several objects share.
  bool in(const Value& object);

 private:
  std::unordered_set<const Value*> seen_;
};

}  // namespace checkpoint
