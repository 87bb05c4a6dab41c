#include "plugins/common/serving/layers.hpp"

#include "plugins/common/wording.hpp"

namespace serving {

std::vector<LayerCache> layers_of(const plugins::Decoder& decoder) {
  std::vector<LayerCache> out;
  for (const auto& a : decoder.attentions) {
    LayerCache layer;
    layer.heads = a.key_heads;
    layer.queries = a.heads;
    layer.key_width = a.width;
    const auto per_width = decoder.tokens() * a.key_heads;
    layer.value_width = per_width == tmeter::Count(0) ? 0 : (a.value_elements / per_width).value();
    if (a.kind == "latent") {
      layer.kind = CacheKind::kLatent;
      layer.heads = 1;
      layer.key_width = a.cache_width;
      layer.value_width = 0;
    } else if (a.is_cross()) {
      const auto keys = a.node.arg("key").shape();
      layer.kind = CacheKind::kCross;
      layer.window = keys[2];
      layer.heads = keys[1];
      layer.value_width = a.cache_width / keys[1] - a.width;
    } else if (a.window > 0) {
      layer.kind = a.chunked ? CacheKind::kChunked : CacheKind::kSliding;
      layer.window = a.window;
    }
    layer.place = plugins::place(a.node);
    out.push_back(std::move(layer));
  }
  for (const auto& s : decoder.states) {
    LayerCache layer;
    layer.kind = CacheKind::kState;
    layer.conv_elements = s.conv;
    layer.state_elements = s.recurrent;
    layer.place = s.module.path();
    out.push_back(std::move(layer));
  }
  return out;
}

}  // namespace serving
