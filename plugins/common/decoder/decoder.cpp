#include "plugins/common/decoder/decoder.hpp"

#include <algorithm>
#include <tmeter/cpp/op_class.hpp>
#include <unordered_set>

namespace plugins {
namespace {

using tmeter::Count;
using tmeter::Graph;
using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

Value arg_of(const Node& n, std::initializer_list<std::string_view> names) {
  for (const auto name : names)
    if (const auto v = n.arg(name); v.is_tensor()) return v;
  return Value();
}

/// Views, copies and conversions: the same numbers, perhaps repeated.
bool only_moves(const Node& n) {
  const auto kind = tmeter::op_class(n.op());
  return kind == OpClass::kView || kind == OpClass::kCopy;
}

Value moved_from(const Node& n) { return arg_of(n, {"self", "input", "a"}); }

/// An input of the model, through views and conversions. Not parameters and constants.
bool comes_from_input(Value v) {
  for (int i = 0; i < 16; ++i) {
    const auto made_by = v.producer();
    if (!made_by) return v.is_tensor() && !v.tensor();
    if (!only_moves(made_by)) return false;
    v = moved_from(made_by);
  }
  return false;
}

bool looks_up_tokens(const Node& n) {
  if (n.op() != "aten::embedding") return false;
  const auto ids = n.arg("indices");
  const bool integers =
      ids.dtype().id() == TMETER_DTYPE_INT64 || ids.dtype().id() == TMETER_DTYPE_INT32;
  const auto rank = ids.shape().rank();
  return integers && (rank == 1 || rank == 2) && n.arg("weight").tensor() && comes_from_input(ids);
}

/// An attention as one operator over [batch, heads, length, width].
bool is_attention(const Node& n) {
  const auto name = tmeter::base_name(n.op());
  if (name != "scaled_dot_product_attention" && !name.starts_with("_scaled_dot_product_"))
    return false;
  for (const auto arg : {"query", "key", "value"})
    if (n.arg(arg).shape().rank() != 4) return false;
  return true;
}

/// A square comparison of positions, or a triangle cut out of a square.
bool makes_triangle(const Node& n, int64_t length) {
  constexpr std::string_view kOps[] = {"le", "lt", "ge", "gt", "tril", "triu"};
  const auto name = tmeter::base_name(n.op());
  if (std::find(std::begin(kOps), std::end(kOps), name) == std::end(kOps)) return false;
  const auto shape = n.result(0).shape();
  return shape.rank() >= 2 && shape[-1] == length && shape[-2] == length;
}

bool made_of_triangle(const Value& mask, int64_t length) {
  constexpr size_t kMaxVisitedNodes = 256;  // nodes
  std::vector<Node> pending;
  std::unordered_set<const tmeter_node*> seen;
  const auto visit = [&](const Value& v) {
    const auto made_by = v.producer();
    if (made_by && seen.size() < kMaxVisitedNodes && seen.insert(made_by.handle()).second)
      pending.push_back(made_by);
  };
  visit(mask);
  while (!pending.empty()) {
    const auto n = pending.back();
    pending.pop_back();
    if (makes_triangle(n, length)) return true;
    for (size_t i = 0; i < n.arg_count(); ++i) {
      const auto v = n.arg(i);
      visit(v);
      for (size_t k = 0; v.is_list() && k < v.size(); ++k) visit(v[k]);
    }
  }
  return false;
}

bool is_causal(const Node& n) {
  const auto queries = n.arg("query").shape()[-2], keys = n.arg("key").shape()[-2];
  if (queries != keys) return false;  // attends to something else
  if (n.arg("is_causal").as_bool()) return true;
  const auto mask = arg_of(n, {"attn_mask", "attn_bias"});
  return mask.is_tensor() && queries > 1 && made_of_triangle(mask, queries);
}

/// Elements before heads were repeated: the minimum on the way back through views and copies.
Count stored_elements(Value v) {
  Count fewest = v.numel();
  for (int i = 0; i < 16; ++i) {
    const auto made_by = v.producer();
    if (!made_by || !only_moves(made_by)) break;
    const auto before = moved_from(made_by);
    // A slice, or a part of a fused projection, comes from a larger tensor without repetition.
    if (!before.is_tensor() || before.numel() > v.numel()) break;
    fewest = std::min(fewest, before.numel());
    v = before;
  }
  return fewest;
}

tmeter::Value attribute(const tmeter::Module& m, std::string_view name) {
  for (size_t i = 0; i < m.attribute_count(); ++i)
    if (m.attribute_name(i) == name) return m.attribute(i);
  return tmeter::Value();
}

/// Reads a cache layout that the loader states (blueprint): a layer's latent vector, or a window.
void read_stated_cache(Attention& a) {
  if (!a.node.call()) return;
  const auto module = a.node.call().module();
  const auto kind = attribute(module, "cache");
  if (!kind.handle()) return;
  a.kind = kind.text();
  a.cache_width = attribute(module, "cache_width").as_int();
  const auto keys = a.node.arg("key");
  const auto shape = keys.shape();
  int64_t kept = shape[2];
  // The newest token is added to the cache, so a window of n keeps n - 1.
  for (const std::string_view name : {"sliding_window", "chunked_window"}) {
    const auto window = attribute(module, name);
    if (!window.handle()) continue;
    a.window = window.as_int();
    a.chunked = name == "chunked_window";
    kept = std::min(kept, std::max<int64_t>(a.window - 1, 0));
  }
  a.cache_bytes = Count(shape[0]) * kept * a.cache_width * keys.dtype().bytes();
}

/// True for attentions of a decoder: causal, or with a cache that the loader states.
bool is_of_decoder(const Node& n) {
  return is_causal(n) || (n.call() && attribute(n.call().module(), "cache").handle());
}

std::vector<State> states_of(const Graph& graph) {
  std::vector<State> out;
  for (const auto& m : graph.modules()) {
    const State s{m, attribute(m, "conv_state").as_int(), attribute(m, "recurrent_state").as_int()};
    if (s.conv > 0 || s.recurrent > 0) out.push_back(s);
  }
  return out;
}

Attention attention_of(const Node& n) {
  const auto key = n.arg("key"), value = n.arg("value");
  Attention a{
      .node = n, .key_elements = stored_elements(key), .value_elements = stored_elements(value)};
  a.cache_bytes = a.key_elements * key.dtype().bytes() + a.value_elements * value.dtype().bytes();
  const auto shape = key.shape();
  a.heads = n.arg("query").shape()[1];
  a.width = shape[3];
  const auto per_head = Count(shape[0]) * shape[2] * shape[3];
  a.key_heads = per_head == Count(0) ? 0 : (a.key_elements / per_head).value();
  read_stated_cache(a);
  return a;
}

}  // namespace

Count Decoder::cache_bytes() const {
  Count sum = 0;
  for (const auto& a : attentions) sum += a.cache_bytes;
  return sum;
}

Count Decoder::growing_cache_bytes() const {
  Count sum = 0;
  for (const auto& a : attentions)
    if (!a.is_cross()) sum += a.cache_bytes;
  return sum;
}

Count Decoder::state_bytes() const {
  Count sum = 0;
  for (const auto& s : states) sum += s.bytes(embedding.result(0).dtype());
  return sum * batch;
}

bool runs_once(const Node& n) {
  for (auto call = n.call(); call; call = call.parent())
    if (attribute(call.module(), "runs_once").handle()) return true;
  return false;
}

std::optional<Decoder> recognise(const Graph& graph) {
  Decoder d;
  for (const auto& n : graph.nodes()) {
    if (!d.embedding && looks_up_tokens(n) && !runs_once(n)) d.embedding = n;
    if (!is_attention(n) || runs_once(n)) continue;
    if (!is_of_decoder(n)) return std::nullopt;
    d.attentions.push_back(attention_of(n));
  }
  d.states = states_of(graph);
  if (!d.embedding || (d.attentions.empty() && d.states.empty())) return std::nullopt;
  const auto ids = d.embedding.arg("indices").shape();
  d.length = ids.back();
  d.batch = ids.rank() == 2 ? ids.front() : 1;
  if (d.tokens() == Count(0)) return std::nullopt;
  for (const auto& a : d.attentions) {
    const auto q = a.node.arg("query").shape();
    if (q[0] != d.batch || q[2] != d.length)
      return std::nullopt;  // over something other than tokens
  }
  return d;
}

}  // namespace plugins
