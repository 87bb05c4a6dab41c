#include "layers_of_model.hpp"

#include <algorithm>
#include <map>

namespace fit {

bool is_number(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

namespace {

/// "model.layers.7" for "model.layers.7.self_attn"; empty if the path has no number.
tmeter::Module numbered(tmeter::Module m) {
  while (m && !is_number(m.name())) m = m.parent();
  return m;
}

}  // namespace

std::vector<tmeter::Count> layer_bytes(const plugins::Decoder& decoder,
                                       const serving::CacheBytes& caches,
                                       const tmeter::Call& call) {
  std::map<size_t, tmeter::Count> by_module;
  for (size_t i = 0; i < decoder.attentions.size(); ++i) {
    const auto node = decoder.attentions[i].node;
    const auto layer = node.call() ? numbered(node.call().module()) : tmeter::Module();
    if (!layer) return {};
    const auto [at, is_new] = by_module.try_emplace(layer.index(), 0);
    if (is_new) {
      const auto weights = call.read("param_bytes", TMETER_AXIS_MODULE, layer.index());
      if (!weights.known()) return {};
      at->second = weights.count();
    }
    at->second += caches.layers[i];
  }
  std::vector<tmeter::Count> out;
  for (const auto& [module, bytes] : by_module) out.push_back(bytes);
  return out;
}

}  // namespace fit
