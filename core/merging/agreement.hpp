// Checks that reports can be merged, and finds their common properties.
#pragma once
#include <vector>

#include "core/merging/merging.hpp"

namespace tmeter::core {

/// Throws Error(kModel), naming two files and what differs, unless all are of weights, have the
/// same metrics by the same conventions and options, and no shard is missing by their names.
void require_agreement(const std::vector<Part>& parts);

/// "model.safetensors" of "model-00001-of-00005.safetensors"; `number` and `of` are set. Empty when
/// it is no such name.
std::string unnumbered(const std::string& file, size_t& number, size_t& of);

}  // namespace tmeter::core
