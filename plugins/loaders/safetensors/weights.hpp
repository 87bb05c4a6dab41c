// The tensors of a model's files become those of its weights: plain ones as they are, packed ones
// as the weights that they represent (plugins/encodings/recognition).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "header.hpp"
#include "plugins/encodings/recognition/recognise.hpp"

namespace safetensors {

struct Found {
  const StoredTensor* tensor;
  const tmeter_source* file;  // null: the model file
  std::string_view bytes;     // of the whole file
};

/// Sorts the tensors by layer and pushes them. `source`: the file beside config.json.
void push_weights(std::span<const Found> found, const packed::Metadata& metadata,
                  const tmeter::Source& source, tmeter::GraphBuilder& graph, tmeter::Call& call);

}  // namespace safetensors
