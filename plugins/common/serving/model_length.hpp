// The longest context that a model's file states.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <tmeter/cpp/plugin.hpp>

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace serving {

struct ModelLength {
  int64_t tokens = 0;
  std::string source;  // "max_position_embeddings of config.json"
};

/// Empty if the file states none, such as an exported graph. `engine`: its rule selects one of
/// several statements; "" for no engine.
std::optional<ModelLength> model_length(const tmeter::Graph& graph, std::string_view engine = {});

}  // namespace serving
#pragma GCC visibility pop
