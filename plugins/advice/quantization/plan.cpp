#include "plan.hpp"

#include <array>

namespace quantization {

namespace {

bool fits(const Scheme& s, const Weight& w, double sqnr, const Rules& rules) {
  if (!(sqnr >= rules.least_sqnr)) return false;  // NaN: unknown
  if (s.scope == Scope::kGroup && !w.matrix()) return false;
  return w.sensitive.empty() || s.bits >= 8;
}

}  // namespace

Choice choose(const Weight& w, const Rules& rules) {
  Choice best{std::nullopt, w.stored};
  if (!w.measured.finite || w.measured.zero) return best;
  double best_sqnr = 0;
  for (const auto i : rules.allowed) {
    const double sqnr = w.measured.sqnr[i];
    if (!fits(kSchemes[i], w, sqnr, rules)) continue;
    const auto bytes = stored_bytes(kSchemes[i], w.layout);
    if (bytes < best.bytes || (best.scheme && bytes == best.bytes && sqnr > best_sqnr)) {
      best = {i, bytes};
      best_sqnr = sqnr;
    }
  }
  return best;
}

namespace {

struct Rule {
  std::string_view ending;  // end of the tensor's name without ".weight"
  std::string_view why;
};

// Names of torchvision, timm and transformers.
constexpr std::array<Rule, 19> kRules{{
    {"embed", "embedding"},
    {"embedding", "embedding"},
    {"embed_tokens", "token embedding"},
    {"word_embeddings", "token embedding"},
    {"tok_embeddings", "token embedding"},
    {"wte", "token embedding"},
    {"wpe", "position embedding"},
    {"position_embeddings", "position embedding"},
    {"pos_embed", "position embedding"},
    {"pos_embedding", "position embedding"},
    {"patch_embed.proj", "patch embedding"},
    {"patch_embedding", "patch embedding"},
    {"conv_proj", "patch embedding"},
    {"lm_head", "output layer"},
    {"embed_out", "output layer"},
    {"classifier", "output layer"},
    {"score", "output layer"},
    {"head", "output layer"},
    {"fc", "output layer"},
}};

bool is_path_suffix(std::string_view path, std::string_view ending) {
  return path.ends_with(ending) &&
         (path.size() == ending.size() || path[path.size() - ending.size() - 1] == '.');
}

/// The first convolution of an image model: it has three input channels.
bool is_first_convolution(const tmeter::Tensor& t) {
  return t.shape().rank() == 4 && t.shape()[1] == 3 && t.shape()[2] > 1;
}

}  // namespace

std::string_view sensitive_by_rule(const tmeter::Tensor& t) {
  if (t.owner() && t.owner().type() == "Embedding") return "embedding";
  auto path = t.name();
  if (path.ends_with(".weight")) path.remove_suffix(7);
  // In a GGUF file, the module's path has the known name.
  for (const auto& name : {path, t.owner() ? t.owner().path() : std::string_view()})
    for (const auto& r : kRules)
      if (is_path_suffix(name, r.ending)) return r.why;
  return is_first_convolution(t) ? "first convolution" : std::string_view();
}

}  // namespace quantization
