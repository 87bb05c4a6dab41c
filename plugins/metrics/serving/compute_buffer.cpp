#include "compute_buffer.hpp"

#include <algorithm>

#include "plugins/common/decoder/experts.hpp"

namespace serving {
namespace {

using tmeter::Count;

constexpr int64_t kLlamaBatch = 512;    // --ubatch-size
constexpr int64_t kLlamaPadding = 256;  // of a context

/// Columns of the widest product of a layer.
int64_t widest(const plugins::Cost& cost, const plugins::Decoder& d, int64_t vocabulary) {
  int64_t most = 0;
  for (const auto& o : cost.operators) {
    const auto shape = o.node.result(0).shape();
    const bool is_attention = std::ranges::any_of(
        d.attentions, [&](const auto& a) { return a.node.handle() == o.node.handle(); });
    if (!is_attention && shape.rank() > 0 && shape.back() != vocabulary)
      most = std::max(most, shape.back());
  }
  return most;
}

}  // namespace

ComputeBuffer compute_buffer(const tmeter::Graph& graph, const plugins::Decoder& d,
                             const plugins::Cost& cost, const Serving& served) {
  const auto& request = served.request();
  const auto name = request.engine->name;
  if (name == "vllm") return {0, "vLLM measures it in a run at start-up"};
  if (name == "transformers")
    return {0, "transformers reserves none: it allocates each tensor as needed"};
  if (name != "llama.cpp") return {0, "serving.engine=own has no rule for it"};
  const bool is_plain =
      d.states.empty() && std::ranges::all_of(served.layers(), [](const LayerCache& l) {
        return l.kind == CacheKind::kFull;
      });
  if (!is_plain || !plugins::find_routers(graph).empty())
    return {0, "llama.cpp's graph has parts other than plain attention and feed-forward"};
  if (request.load.devices > 1) return {0, "llama.cpp reserves copies for a pipeline of devices"};
  const auto table = d.embedding.arg("weight").shape();
  if (table.rank() != 2) return {0, "the embedding has no table"};
  const auto vocabulary = table[0], width = table[1];
  const auto context = (request.load.context + kLlamaPadding - 1) / kLlamaPadding * kLlamaPadding;
  const auto batch = std::min(request.load.batch > 0 ? request.load.batch : kLlamaBatch, context);
  // In a layer: gate and up, four rows of the width, the mask in float32 and float16.
  const auto layer = Count(widest(cost, d, vocabulary)) * 2 + Count(width) * 4 + Count(context) +
                     Count(context) / 2;
  const auto output = Count(vocabulary) + Count(width);
  if (layer > output)
    return {0, "a layer may take more than the logits; ggml-alloc decides how much"};
  return {output * 4 * batch, {}};
}

}  // namespace serving
