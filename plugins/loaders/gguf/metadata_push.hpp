// Hands the metadata of a GGUF file to the graph, in the space "gguf".
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "metadata.hpp"

namespace gguf {

/// Of long arrays (vocabularies) the first items, of long texts the first 64 KiB. Arrays of arrays
/// are left out.
void push_metadata(const Metadata& metadata, tmeter::GraphBuilder& graph);

}  // namespace gguf
