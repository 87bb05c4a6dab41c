// The inner loops of blocks.hpp: one function for each format, compiled for several instruction
// sets.
#pragma once
#include <string_view>

#include "blocks.hpp"

namespace gguf {

/// Null for an encoding that has none.
DecodeBlocks kernel_of(std::string_view encoding);

}  // namespace gguf
