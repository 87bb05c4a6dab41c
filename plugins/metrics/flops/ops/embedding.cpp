// Embeddings look rows up; a bag also sums them.
#include "shapes.hpp"

namespace flops {
namespace {

// One addition per looked-up element (a comparison for max), one multiplication if samples are
// weighted, one division per output element for the mean (mode 1).
Count bag(const Node& n) {
  const auto out = output(n);
  const Count width = last_dim(out);
  const Count per_element = has_tensor(n, {"per_sample_weights"}) ? 2 : 1;
  const Count looked_up = tensor_arg(n, {"indices"}).numel() * width;
  return looked_up * per_element + (n.arg("mode").as_int() == 1 ? out.numel() : Count(0));
}

}  // namespace

void register_embedding(tmeter::Registrar& r) {
  other_rules(r,
              {"aten::embedding_bag", "aten::_embedding_bag", "aten::_embedding_bag_forward_only",
               "quantized::embedding_bag_byte", "quantized::embedding_bag_4bit",
               "quantized::embedding_bag_byte_rowwise_offsets",
               "quantized::embedding_bag_4bit_rowwise_offsets",
               "quantized::embedding_bag_2bit_rowwise_offsets"},
              bag);
}

}  // namespace flops
