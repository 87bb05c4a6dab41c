// Finds packed weights among stored tensors: by the names that the libraries give, where their
// shapes fit together. What names do not tell – bits, groups, shapes – follows from the shapes;
// config.json decides where two readings are possible, and must not contradict them.
#pragma once
#include "config.hpp"
#include "stored.hpp"

namespace packed {

/// What is recognised points to the items of `stored`. Throws BadFile where the configuration
/// contradicts a tensor.
Recognised recognise(const std::vector<Stored>& stored, const Config& config,
                     const Metadata& metadata);

/// Whether the types of tensors suggest that something is packed: then config.json is worth
/// reading.
bool may_be_packed(const std::vector<Stored>& stored);

}  // namespace packed
