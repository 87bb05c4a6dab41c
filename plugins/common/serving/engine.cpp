#include "plugins/common/serving/engine.hpp"

#include <algorithm>
#include <array>

namespace serving {
namespace {

using tmeter::Count;

// Bytes of a block and its elements. ggml: ggml-common.h; fp8: one byte each.
constexpr std::array<CacheType, 12> kTypes{{{"f32", 4, 1},
                                            {"f16", 2, 1},
                                            {"bf16", 2, 1},
                                            {"fp8", 1, 1},
                                            {"fp8_e4m3", 1, 1},
                                            {"fp8_e5m2", 1, 1},
                                            {"q8_0", 34, 32},
                                            {"q5_1", 24, 32},
                                            {"q5_0", 22, 32},
                                            {"q4_1", 20, 32},
                                            {"q4_0", 18, 32},
                                            {"iq4_nl", 18, 32}}};

int64_t up_to_multiple(int64_t n, int64_t of) { return (n + of - 1) / of * of; }

/// Bytes of rows of `width` elements, rounded up to whole blocks.
Count row_bytes(int64_t width, const CacheType& t) {
  return Count((width + t.elements - 1) / t.elements) * t.bytes;
}

void add(CacheBytes& out, Count keys_values, Count states) {
  out.keys_values += keys_values;
  out.states += states;
  out.layers.push_back(keys_values + states);
}

// ---- llama.cpp --------------------------------------------------------------------------------

constexpr int64_t kLlamaPadding = 256;  // alignment of the cells of a cache
constexpr int64_t kLlamaBatch = 512;    // --ubatch-size
constexpr int64_t kStateBytes = 4;      // recurrent and convolution states are float32

/// Cells of one sequence's stream.
int64_t llama_cells(const LayerCache& layer, const Load& load) {
  const auto context = up_to_multiple(load.context, kLlamaPadding);
  if (layer.kind == CacheKind::kCross) return layer.window;
  if (layer.kind != CacheKind::kSliding && layer.kind != CacheKind::kChunked) return context;
  const auto batch = load.batch > 0 ? load.batch : kLlamaBatch;
  return up_to_multiple(std::min(context, layer.window + batch), kLlamaPadding);
}

CacheBytes llama(const std::vector<LayerCache>& layers, const Load& load) {
  CacheBytes out;
  for (const auto& l : layers) {
    if (l.kind == CacheKind::kShared) {
      add(out, 0, 0);
    } else if (l.kind == CacheKind::kState) {
      add(out, 0, Count(l.conv_elements + l.state_elements) * kStateBytes * load.sequences);
    } else {
      const auto cell = row_bytes(l.heads * l.key_width, load.cache) +
                        row_bytes(l.heads * l.value_width, load.cache);
      add(out, cell * llama_cells(l, load) * load.sequences, 0);
    }
  }
  return out;
}

// ---- vLLM -------------------------------------------------------------------------------------

constexpr int64_t kPageTokens = 16;      // --block-size
constexpr int64_t kVllmBatch = 8192;     // --max-num-batched-tokens
constexpr int64_t kStateAlignment = 16;  // tokens of a page beside states are a multiple of it

Count vllm_token_bytes(const LayerCache& l, const CacheType& t) {
  return Count(l.elements_per_token()) * t.bytes / t.elements;
}

Count vllm_state_bytes(const LayerCache& l) {
  return Count(l.conv_elements + l.state_elements) * kStateBytes;
}

/// Pages of one sequence. `tokens`: tokens of a page.
int64_t vllm_pages(const LayerCache& l, const Load& load, int64_t tokens) {
  const auto pages = [tokens](int64_t n) { return (n + tokens - 1) / tokens; };
  const auto batch = load.batch > 0 ? load.batch : kVllmBatch;
  switch (l.kind) {
    case CacheKind::kSliding:
      return pages(std::min(l.window - 1 + batch, load.context)) + 1;
    case CacheKind::kChunked:
      return pages(std::min(l.window + batch, load.context));
    case CacheKind::kCross:
      return pages(l.window);
    case CacheKind::kState:
      return 1;
    default:
      return pages(load.context);
  }
}

/// A device's part of the heads and states (tensor parallelism): if there are more devices than
/// heads of keys and values, several devices hold the same head; all devices hold a latent vector
/// (get_num_kv_heads of vllm/config/model.py). Returns the reason why vLLM refuses this number, or
/// an empty text.
std::string share(std::vector<LayerCache>& layers, int64_t devices) {
  for (auto& l : layers) {
    const auto part = [devices](int64_t n) { return (n + devices - 1) / devices; };
    l.conv_elements = part(l.conv_elements), l.state_elements = part(l.state_elements);
    const bool divides = l.queries % devices == 0 &&
                         (l.heads % devices == 0 || devices % std::max<int64_t>(l.heads, 1) == 0);
    if (!divides)
      return "vLLM does not share " + std::to_string(l.queries) + " heads with " +
             std::to_string(l.heads) + " of keys and values among " + std::to_string(devices) +
             " devices (" + l.place + ")";
    l.heads = part(l.heads);
  }
  return {};
}

/// All pages have the size of the largest page. Attention puts more tokens into a page to fill it;
/// a state fills one page.
CacheBytes vllm_on_one(const std::vector<LayerCache>& layers, const Load& load) {
  CacheBytes out;
  Count largest_token = 0, largest_state = 0, smallest_token = 0;
  for (const auto& l : layers) {
    if (l.kind == CacheKind::kShared) continue;
    if (l.kind == CacheKind::kState) {
      largest_state = std::max(largest_state, vllm_state_bytes(l));
      continue;
    }
    const auto token = vllm_token_bytes(l, load.cache);
    largest_token = std::max(largest_token, token);
    smallest_token = smallest_token == Count(0) ? token : std::min(smallest_token, token);
  }
  int64_t tokens = kPageTokens;
  if (largest_state > Count(0) && largest_token > Count(0)) {
    const auto step = largest_token * kStateAlignment;
    const auto steps = (largest_state + step - 1) / step;
    tokens = std::max<int64_t>(kPageTokens, steps.value() * kStateAlignment);
  }
  const auto page = largest_token > Count(0) ? largest_token * tokens : largest_state;
  for (const auto& l : layers) {
    if (l.kind == CacheKind::kShared) {
      add(out, 0, 0);
    } else if (l.kind == CacheKind::kState) {
      add(out, 0, page * load.sequences);
    } else {
      const auto token = vllm_token_bytes(l, load.cache);
      if (token == Count(0)) {
        add(out, 0, 0);
        continue;
      }
      const auto ratio = largest_token / token;
      if (ratio * token != largest_token) {
        out.unavailable =
            "vLLM has no rule for layers whose pages are not multiples of each other (" + l.place +
            ")";
        return out;
      }
      add(out, page * vllm_pages(l, load, tokens * ratio.value()) * load.sequences, 0);
    }
  }
  return out;
}

CacheBytes vllm(const std::vector<LayerCache>& layers, const Load& load) {
  if (load.devices == 1) return vllm_on_one(layers, load);
  auto own = layers;
  if (auto refused = share(own, load.devices); !refused.empty()) {
    CacheBytes out;
    out.unavailable = std::move(refused);
    return out;
  }
  auto out = vllm_on_one(own, load);
  out.keys_values *= load.devices, out.states *= load.devices;
  for (auto& layer : out.layers) layer *= load.devices;
  return out;
}

// ---- transformers -----------------------------------------------------------------------------

/// DynamicCache: all tokens; a sliding layer keeps window - 1 of them.
int64_t transformers_tokens(const LayerCache& l, const Load& load) {
  switch (l.kind) {
    case CacheKind::kSliding:
    case CacheKind::kChunked:
      return std::min(load.context, l.window - 1);
    case CacheKind::kCross:
      return l.window;
    default:
      return load.context;
  }
}

CacheBytes transformers(const std::vector<LayerCache>& layers, const Load& load) {
  CacheBytes out;
  if (load.cache.elements != 1) {
    out.unavailable = "transformers has no cache of " + std::string(load.cache.name) +
                      "; f32, f16 and bf16 are element types of its DynamicCache";
    return out;
  }
  for (const auto& l : layers) {
    if (l.kind == CacheKind::kShared) {
      add(out, 0, 0);
    } else if (l.kind == CacheKind::kState) {
      add(out, 0, Count(l.conv_elements + l.state_elements) * load.cache.bytes * load.sequences);
    } else {
      add(out,
          Count(l.elements_per_token()) * load.cache.bytes * transformers_tokens(l, load) *
              load.sequences,
          0);
    }
  }
  return out;
}

// ---- an engine by the options serving.own-* ---------------------------------------------------

CacheBytes own(const std::vector<LayerCache>& layers, const Load& load) {
  CacheBytes out;
  out.reads = load.own.reads;
  for (const auto& l : layers) {
    if (l.kind == CacheKind::kShared) {
      add(out, 0, 0);
      continue;
    }
    if (l.kind == CacheKind::kState) {
      const auto elements = Count(l.conv_elements + l.state_elements);
      const auto bytes = load.own.state_bytes > 0 ? elements * load.own.state_bytes
                                                  : row_bytes(elements.value(), load.cache);
      add(out, 0, bytes * load.sequences);
      continue;
    }
    const bool has_window = l.kind == CacheKind::kSliding || l.kind == CacheKind::kChunked;
    const auto tokens = l.kind == CacheKind::kCross ? l.window
                        : has_window ? std::min(load.context, l.window + load.own.window_extra)
                                     : load.context;
    const auto token = row_bytes(l.heads * l.key_width, load.cache) +
                       row_bytes(l.heads * l.value_width, load.cache);
    add(out, token * up_to_multiple(tokens, load.own.padding) * load.sequences, 0);
  }
  return out;
}

/// s, of scheduling, sampling and output, fitted on every second step of H100 in
/// tests/predictions/mlenergy.toml. The test docs.predictions compares.
constexpr double kVllmSequence = 5.4e-05;

constexpr std::array<Engine, 4> kEngines{{
    {"transformers",
     "transformers' DynamicCache: every token of the context; a layer with a window keeps window - "
     "1 tokens",
     "transformers warns once and continues; depending on the model, that fails, gives worse text "
     "or works",
     1, transformers},
    {"llama.cpp",
     "llama.cpp's cells: the context of each sequence padded to 256; a layer with a window has "
     "window + ubatch (512) cells, padded; states are float32",
     "llama.cpp warns and allocates it; llama-server gives a slot no more than the "
     "model's",
     1, llama},
    {"vllm",
     "vLLM's pages of 16 tokens; a layer with a window has pages for window - 1 + "
     "max_num_batched_tokens "
     "(8192) tokens and one more; all pages have the size of the largest",
     "vLLM does not start, unless VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 is set", 0.92,
     vllm,  // gpu_memory_utilization of vllm/config/cache.py, 2026
     kVllmSequence},
    {"own",
     "the rule of serving.own-padding, serving.own-window-extra and serving.own-state-bytes: the "
     "context padded; a layer with a window keeps window + extra tokens, padded",
     "the treatment by an engine of your own is unknown", 1, own},
}};

}  // namespace

std::optional<CacheType> cache_type(std::string_view name) {
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](auto& t) { return t.name == name; });
  return found == kTypes.end() ? std::nullopt : std::optional(*found);
}

std::string_view cache_type_names() {
  static const auto names = [] {
    std::string out;
    for (const auto& t : kTypes) out += (out.empty() ? "" : " ") + std::string(t.name);
    return out;
  }();
  return names;
}

const Engine* engine(std::string_view name) {
  const auto found =
      std::find_if(kEngines.begin(), kEngines.end(), [&](auto& e) { return e.name == name; });
  return found == kEngines.end() ? nullptr : &*found;
}

std::string_view engine_names() {
  static const auto names = [] {
    std::string out;
    for (const auto& e : kEngines) out += (out.empty() ? "" : " ") + std::string(e.name);
    return out;
  }();
  return names;
}

}  // namespace serving
