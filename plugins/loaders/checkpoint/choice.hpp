// Chooses the part of a saved object that is the model.
//
// torch.save accepts any object: a state_dict, a module, or a dict with the model beside the
// optimizer and the number of the epoch. The rule, first hit wins:
//   1. a module, or a dict that holds tensors itself, unless a part named below holds more
//   2. the part under a key that trainers use for the model: model_state_dict, state_dict, model, …
//   3. the part with the most tensors
// The state of optimizers is chosen only by name (`checkpoint.key`).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pickle/value.hpp"

namespace checkpoint {

struct Part {
  const Value* value = nullptr;
  std::string path;    // "model.ema"; empty: all that was saved
  size_t tensors = 0;  // directly in it; a whole module counts as one
  bool is_module = false;
};

struct Choice {
  Part chosen;
  std::vector<std::string> others;  // paths of further parts that could be a model
};

/// `key` is the requested part; "." is the whole. Throws BadFile if no part holds a tensor,
/// tmeter::Error(TMETER_BAD_USAGE) with the available keys if `key` is missing.
Choice choose(const Value& root, std::string_view key);

/// Whether a key names another part that holds tensors: optimizers, schedulers, …
bool is_beside_model(std::string_view key);

bool is_module(const Value& value);

/// A dict, list or tuple, or an object of a class derived from one (AttrDict).
bool is_container(const Value& value);

/// The attributes of an object: the dict set by BUILD; may be null.
const Value* attributes_of(const Value& object);

}  // namespace checkpoint
