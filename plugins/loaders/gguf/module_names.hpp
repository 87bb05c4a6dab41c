// Which module a tensor of a GGUF file belongs to: the paths are those of transformers, so that a
// model has the same modules whatever file it comes from. Tensors keep the names of the file.
//
//   blk.3.attn_q.weight   model.layers.3.self_attn.q_proj
//   blk.3.attn_sinks      model.layers.3.self_attn
//   output.weight         lm_head
#pragma once
#include <string>
#include <string_view>

namespace gguf {

/// The path of the module. A tensor that is in no table belongs to the module in its name, below
/// its layer.
std::string module_of(std::string_view tensor_name, std::string_view architecture);

/// "3" of "blk.3.attn_q.weight"; empty for tensors of no layer.
std::string_view layer_number(std::string_view tensor_name);

}  // namespace gguf
