// The tensors of a model's files become those of its weights: plain ones as they are, packed ones
// as the weights that they represent (plugins/encodings/recognition).
#pragma once
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "../common/buffers.hpp"
#include "plugins/encodings/recognition/recognise.hpp"

namespace safetensors {

/// Sorts the tensors by layer and pushes them. `kinds` has noted their names; `source`: the file
/// beside config.json.
void push_weights(const std::vector<packed::Stored>& stored, const packed::Metadata& metadata,
                  loading::TensorKinds& kinds, const tmeter::Source& source,
                  tmeter::GraphBuilder& graph, tmeter::Call& call);

}  // namespace safetensors
