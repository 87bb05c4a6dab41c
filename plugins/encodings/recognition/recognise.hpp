// Finds packed weights among stored tensors by the names that quantization libraries give them, if
// their shapes agree. Bits, groups and unpacked shapes follow from the stored shapes. config.json
// decides between two possible readings and must not contradict the tensors.
#pragma once
#include "config.hpp"
#include "stored.hpp"

namespace packed {

/// The result refers to the items of `stored`. Throws BadFile if the configuration contradicts a
/// tensor.
Recognised recognise(const std::vector<Stored>& stored, const Config& config,
                     const Metadata& metadata);

/// Whether the types of the tensors suggest packed weights, so that config.json has to be read.
bool may_be_packed(const std::vector<Stored>& stored);

}  // namespace packed
