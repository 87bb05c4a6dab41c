// Objects in the place of weights. The unpickler turns calls of unknown classes into placeholders.
// They are harmless among the settings of a model. In the place of a tensor or module one could
// hide any number of parameters, and a report without them would be wrong.
#pragma once
#include <string>
#include <unordered_set>

#include "pickle/value.hpp"

namespace checkpoint {

/// Throws BadFile: `what` ("parameter 'fc.weight'") is made by calling a class.
[[noreturn]] void refuse_placeholder(const Value& placeholder, const std::string& what);

/// Whether the arguments, attributes or items of an object hold tensors, storages or raw bytes.
/// Each value is visited once, even if many objects share it.
class HiddenWeights {
 public:
  /// True on the first visit.
  bool in(const Value& object);

 private:
  std::unordered_set<const Value*> seen_;
};

}  // namespace checkpoint
