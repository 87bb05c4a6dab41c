// GGUF's metadata, in the vocabulary of config.json.
#pragma once
#include "families.hpp"
#include "settings.hpp"

namespace blueprint {

struct GgufModel {
  Settings settings;
  const Family* family;  // null: an architecture that was not checked
  std::string architecture;
  std::vector<std::string> warnings;
};

/// Throws UnsupportedStructure if `general.architecture` is missing.
GgufModel read_gguf(const tmeter::Graph& weights);

}  // namespace blueprint
