// Turns the tensors of a model's files into its weights: plain tensors are unchanged, packed ones
// become the weights that they represent (plugins/encodings/recognition).
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
