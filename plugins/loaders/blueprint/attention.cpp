#include <algorithm>

#include "parts.hpp"

namespace blueprint {
namespace {

using Names = std::vector<std::string_view>;
using tmeter::DType;

const Names kQuery{"q_proj", "query", "q", "Wq", "wq", "q_lin", "project_q", "query_proj"};
const Names kKey{"k_proj", "key", "k", "Wk", "wk", "k_lin", "project_k", "key_proj"};
const Names kValue{"v_proj", "value", "v", "Wv", "wv", "v_lin", "project_v", "value_proj"};
const Names kFused{"qkv_proj", "query_key_value", "c_attn", "W_pack", "Wqkv", "qkv", "att_proj"};
const Names kOutput{"o_proj",  "out_proj",      "dense", "c_proj", "wo",
                    "out_lin", "attention_out", "Wo",    "proj",   "o"};
const Names kQueryNorm{"q_norm", "q_layernorm", "query_layernorm"};
const Names kKeyNorm{"k_norm", "k_layernorm", "key_layernorm"};
const Names kOutputNorm{"attn_sub_norm", "inner_attn_ln"};
const Names kGate{"gate_proj", "g_proj"};

struct Heads {
  int64_t query = 0, key = 0, width = 0, value_width = 0;
};

/// Families that alternate windows and full attention, and with which period when the configuration
/// has none.
constexpr std::pair<std::string_view, int64_t> kPatterns[] = {
    {"full-each-2", 2}, {"full-each-4", 4}, {"full-each-6", 6}};

std::string in_file(const Tensor& t) {
  std::string shape;
  for (const auto d : t.shape()) shape += (shape.empty() ? "" : ", ") + std::to_string(d);
  return "'" + std::string(t.name()) + "' has the shape [" + shape + "]";
}

int64_t rows(const Model& model, const Module& m) {
  const auto w = find_tensor(m, "weight");
  if (!w || w.shape().rank() != 2)
    throw UnsupportedStructure("'" + std::string(m.path()) + "' has no matrix");
  return w.shape()[model.is("transposed") ? 1 : 0];
}

/// Throws Contradiction beyond 2^63.
int64_t product_of(int64_t a, int64_t b) { return (Size(a) * b).number; }

/// Multiplications with cosine and sine.
Value rotated(Program& p, const Value& x) {
  return p.binary("aten::add", p.unary("aten::mul", x), p.unary("aten::mul", x));
}

bool has_rotary(const Model& model) {
  if (!model.settings.flag({"use_mem_rope"}, true)) return false;
  return model.settings.has({"rope_theta", "rotary_emb_base", "rotary_dim",
                             "rope_parameters.rope_type", "rotary_pct", "rotary"}) ||
         model.settings.has({"rope_parameters.rope_theta",
                             "rope_parameters.full_attention.rope_theta", "rotary_embedding_base"});
}

/// Compares Megatron's keys with those in use: the number of key heads, and the width of a head, or
/// the width that makes up the layer (Zamba 2, whose blocks are twice as wide).
void expect_same_heads(const Model& model, const Heads& h, size_t layer) {
  if (!model.family) return;
  const auto& s = model.settings;
  for (const std::string_view key : {"num_query_groups", "multi_query_group_num"})
    if (const auto n = s.integer_of_layer({key}, layer); n && *n != h.key)
      throw Contradiction(s.source() + ": " + s.statement({key}, *n) + ", but " +
                          s.statement(kKeyHeads, h.key));
  const Keys wide{"kv_channels"};
  const auto n = s.integer_of_layer(wide, layer);
  if (n && *n != h.width && product_of(*n, h.query) != s.integer(kHidden).value_or(0))
    throw Contradiction(s.source() + ": " + s.statement(wide, *n) + ", but heads have a width of " +
                        std::to_string(h.width));
}

Heads heads_of(Model& model, const Module& m, size_t layer) {
  const auto& s = model.settings;
  Heads h;
  const auto query = s.integer_of_layer(model.heads, layer);
  if (!query)
    throw UnsupportedStructure(s.source() + " does not state the number of attention heads");
  if (*query == 0)
    throw Contradiction(s.source() + ": " + s.statement(model.heads, 0) + ", but '" +
                        std::string(m.path()) + "' is attention");
  h.query = *query;
  if (model.is("multi-query") && s.flag({"multi_query"}, true) &&
      !s.flag({"new_decoder_architecture"}, false)) {
    h.key = 1;
  } else {
    const auto key = s.integer_of_layer(kKeyHeads, layer);
    if (!key)
      model.assume(s.source() + " has no num_key_value_heads: as many as attention heads, " +
                   std::to_string(h.query));
    h.key = key.value_or(h.query);
  }
  if (h.key == 0 || h.query % h.key != 0)
    throw Contradiction(s.source() + ": " + s.statement(model.heads, h.query) +
                        ", not a multiple of " + std::string(s.name(kKeyHeads)) + ", " +
                        std::to_string(h.key));
  auto width = s.integer_of_layer(kHeadWidth, layer);
  if (!width) {
    const auto hidden = s.integer(kHidden);
    const auto q = first_child(m, kQuery);
    if (q)
      width = rows(model, q) / h.query;
    else if (hidden)
      width = *hidden / h.query;
    else
      throw UnsupportedStructure(s.source() + " has neither head_dim nor hidden_size");
    model.assume(s.source() + " has no head_dim: the weights have " + std::to_string(*width));
  }
  h.width = h.value_width = *width;
  expect_same_heads(model, h, layer);
  return h;
}

void expect_rows(const Model& model, const Module& m, int64_t expected,
                 const std::string& statement) {
  if (rows(model, m) != expected)
    contradict(model, statement + ", which makes " + std::to_string(expected) + " rows",
               find_tensor(m, "weight"));
}

void note_cache(Model& model, const Module& m, std::string_view kind, const AttentionSpan& reach,
                int64_t width) {
  auto& p = model.program;
  if (model.bidirectional) return;
  if (reach.kind == "none") kind = "none", width = 0;
  p.attribute(m, "cache", kind);
  p.attribute(m, "cache_width", width);
  if (reach.tokens > 0) p.attribute(m, std::string(reach.kind) + "_window", reach.tokens);
}

/// [batch, heads, sequence, width] → [batch, sequence, hidden]
Value merged(Program& p, const Value& x) {
  const auto back = p.transpose(x, 1, 2);
  return p.view(back, {x.dims[0], x.dims[2], Size(x.dims[1].number * x.dims[3].number)});
}

Value maybe_norm(Program& p, const Module& m, const Names& names, const Value& x) {
  const auto norm = first_child(m, names);
  if (!norm) return x;
  const auto weight = find_tensor(norm, "weight");
  if (!weight || weight.shape().rank() != 1 || Size(weight.shape()[0]) == x.back())
    return p.norm(norm, x);
  // The norm covers all heads, or has one weight per head.
  const auto hidden = x.dims[1] * x.dims[3];
  if (Size(weight.shape()[0]) != hidden)
    throw Contradiction("tensor " + in_file(weight) +
                        ", which is neither a head's width nor that of all");
  const auto flat = p.norm(norm, p.view(p.transpose(x, 1, 2), {x.dims[0], x.dims[2], hidden}));
  return by_head(p, flat, x.dims[1].number, x.dims[3].number);
}

Value finished(Model& model, const Module& m, const Value& attended, const Value& x) {
  auto& p = model.program;
  auto y = attended;
  if (const auto norm = first_child(m, kOutputNorm)) y = p.norm(norm, y);
  if (const auto gate = first_child(m, kGate); gate && is_matrix(gate)) {
    const auto g = p.unary("aten::sigmoid", project(model, gate, x));
    if (g.back() == y.back())
      y = p.binary("aten::mul", y, g);
    else
      throw UnsupportedStructure("'" + std::string(gate.path()) +
                                 "' does not have the width of the attention's gate");
  }
  // One more score for each head, without a product.
  if (const auto sinks = first_tensor(m, {"sinks", "softmax_offset"})) p.use(sinks);
  if (const auto bias = find_tensor(m, "dense_bias")) p.use(bias);  // GPT-NeoX Japanese
  for (size_t i = 0; i < m.tensor_count(); ++i)
    if (m.tensor(i).name().ends_with(".attn_sinks.weight")) p.use(m.tensor(i));  // GGUF
  const auto out = first_child(m, kOutput);
  return out ? project(model, out, y) : y;
}

/// T5's: a number for each head and distance, looked up for each pair of tokens.
void add_relative_positions(Program& p, const Module& table, const Size& tokens) {
  const auto distances = p.node("aten::arange", {}, {tokens, tokens}, DType(TMETER_DTYPE_INT64));
  p.embedding(table, distances);
}

/// Widths of latent attention as the configuration states them: `rope` of a head's query and key
/// carry positions, `nope` do not.
struct LatentWidths {
  int64_t heads, rank, rope, nope, value;
  std::string head;  // the keys that state a head's queries and keys, for messages
};

LatentWidths latent_widths(const Settings& s) {
  const auto stated = [&](const Keys& keys) {
    const auto n = s.integer(keys);
    if (!n || *n == 0)
      throw UnsupportedStructure(s.source() + " lacks " + std::string(keys.front()) +
                                 " of latent attention");
    return *n;
  };
  LatentWidths w{stated(kHeads),
                 stated({"kv_lora_rank"}),
                 stated({"qk_rope_head_dim"}),
                 0,
                 stated({"v_head_dim"}),
                 {}};
  const Keys own{"qk_nope_head_dim"}, both{"qk_head_dim"};
  if (const auto nope = s.integer(own)) {
    w.nope = *nope;
    w.head = "qk_nope_head_dim";
    if (const auto all = s.integer(both); all && *all != w.nope + w.rope)
      throw Contradiction(s.source() + ": " + s.statement(both, *all) + ", not the sum of " +
                          s.statement(own, w.nope) + " and " +
                          s.statement({"qk_rope_head_dim"}, w.rope));
  } else {
    const auto all = stated(both);
    if (all < w.rope)
      throw Contradiction(s.source() + ": " + s.statement(both, all) + ", less than " +
                          s.statement({"qk_rope_head_dim"}, w.rope));
    w.nope = all - w.rope;
    w.head = s.name(both);
  }
  return w;
}

/// One matrix per head, [heads, a, b], which may be stored as [heads × a, b].
Value matrices_of_heads(Model& model, const Module& m, int64_t heads, int64_t a, int64_t b,
                        const std::string& keys) {
  const auto t = find_tensor(m, "weight");
  const auto shape = t.shape();
  const std::vector<int64_t> found(shape.begin(), shape.end());
  if (found != std::vector<int64_t>{heads, a, b} &&
      found != std::vector<int64_t>{product_of(heads, a), b})
    contradict(model,
               keys + " make matrices of " + std::to_string(a) + " by " + std::to_string(b) +
                   " for " + std::to_string(heads) + " heads",
               t);
  return model.program.view(model.program.bound(t), {heads, a, b});
}

/// Keys without positions, and values, from the narrow vector: [batch, heads, sequence, width].
std::pair<Value, Value> widened(Model& model, const Module& m, const LatentWidths& w,
                                const Value& narrow) {
  auto& p = model.program;
  const auto& s = model.settings;
  const auto up = find_child(m, "kv_b_proj"), keys = find_child(m, "k_b_proj"),
             values = find_child(m, "v_b_proj");
  const auto statement = std::string(s.name(kHeads)) + ", " + w.head + " and ";
  if (up) {
    const auto kv = project(model, up, narrow);
    const auto rows_of_both = product_of(w.heads, w.nope + w.value);
    if (kv.back() != Size(rows_of_both))
      contradict(model,
                 statement + std::string(s.name({"v_head_dim"})) + " make " +
                     std::to_string(rows_of_both) + " rows",
                 find_tensor(up, "weight"));
    for (const auto& half : {keys, values})
      if (half) {
        use_all(model, half);
        model.assume("k_b and v_b repeat kv_b, and are not run");
      }
    const auto parts = p.split(by_head(p, kv, w.heads, w.nope + w.value), {w.nope, w.value});
    return {parts[0], parts[1]};
  }
  if (!find_tensor(keys, "weight") || !find_tensor(values, "weight"))
    throw UnsupportedStructure("'" + std::string(m.path()) +
                               "' lacks a projection of latent attention");
  // llama.cpp stores the two halves of kv_b separately, that of the keys transposed.
  const auto rank = std::string(s.name({"kv_lora_rank"}));
  const auto to = [&](int64_t width) {
    return std::vector<Size>{narrow.dims[0], w.heads, narrow.dims[1], width};
  };
  Value k, v;
  {
    const Program::ModuleCallScope calling(p, keys, "");
    k = p.einsum("bsr,hrn->bhsn", narrow,
                 matrices_of_heads(model, keys, w.heads, w.rank, w.nope, statement + rank),
                 to(w.nope));
  }
  {
    const Program::ModuleCallScope calling(p, values, "");
    v = p.einsum("bsr,hvr->bhsv", narrow,
                 matrices_of_heads(model, values, w.heads, w.value, w.rank,
                                   statement + std::string(s.name({"v_head_dim"}))),
                 to(w.value));
  }
  return {k, v};
}

/// Multi-head latent attention: keys and values through a narrow vector, which the cache holds.
Value latent(Model& model, const Module& m, const Value& x, size_t layer) {
  auto& p = model.program;
  const auto& s = model.settings;
  const auto w = latent_widths(s);
  Value q;
  const Names kDown{"q_a_proj"}, kUp{"q_b_proj"};
  if (const auto down = first_child(m, kDown)) {
    auto narrow = project(model, down, x);
    expect_if_checked(model, {"q_lora_rank"}, narrow.back().number, find_tensor(down, "weight"));
    if (const auto norm = find_child(m, "q_a_layernorm")) narrow = p.norm(norm, narrow);
    q = project(model, first_child(m, kUp), narrow);
  } else {
    q = project(model, first_child(m, kQuery), x);
  }
  const int64_t q_width = w.nope + w.rope, q_rows = product_of(w.heads, q_width);
  if (q.back() != Size(q_rows))
    contradict(model,
               std::string(s.name(kHeads)) + ", " + w.head + " and " +
                   std::string(s.name({"qk_rope_head_dim"})) + " make " + std::to_string(q_rows) +
                   " rows",
               find_tensor(first_child(m, first_child(m, kUp) ? kUp : kQuery), "weight"));
  const auto down = find_child(m, "kv_a_proj_with_mqa");
  const auto both = project(model, down, x);
  if (both.back() != Size(w.rank + w.rope))
    contradict(model,
               std::string(s.name({"kv_lora_rank"})) + " and " +
                   std::string(s.name({"qk_rope_head_dim"})) + " make " +
                   std::to_string(w.rank + w.rope) + " rows",
               find_tensor(down, "weight"));
  const auto parts = p.split(both, {w.rank, w.rope});
  auto narrow = parts[0];
  if (const auto norm = find_child(m, "kv_a_layernorm")) narrow = p.norm(norm, narrow);
  const auto [keys, values] = widened(model, m, w, narrow);
  const auto shared = by_head(p, rotated(p, parts[1]), 1, w.rope);
  auto wide = shared.dims;
  wide[1] = w.heads;
  const auto spread = p.node("aten::expand", {{"self", shared.id}}, wide, shared.dtype);
  const auto k = p.concat(keys, spread);
  const auto reach = span_of_layer(model, layer);
  note_cache(model, m, "latent", reach, w.rank + w.rope);
  const auto attended = p.attention(rotated(p, by_head(p, q, w.heads, q_width)), k, values, true);
  return finished(model, m, merged(p, attended), x);
}

}  // namespace

Value by_head(Program& p, const Value& x, int64_t n, int64_t width) {
  return p.transpose(p.view(x, {x.dims[0], x.dims[1], n, width}), 1, 2);
}

void contradict(const Model& model, const std::string& statement, const Tensor& t) {
  const auto what = model.settings.source() + ": " + statement + ", but tensor " + in_file(t);
  if (model.family) throw Contradiction(what);
  throw UnsupportedStructure(what);
}

void expect_stated(const Model& model, const Keys& keys, int64_t found, const Tensor& t) {
  const auto stated = model.settings.integer(keys);
  if (stated && *stated != found) contradict(model, model.settings.statement(keys, *stated), t);
}

void expect_if_checked(const Model& model, const Keys& keys, int64_t found, const Tensor& t) {
  if (model.family) expect_stated(model, keys, found, t);
}

AttentionSpan span_of_layer(Model& model, size_t layer) {
  const auto& s = model.settings;
  // The classes of transformers for scores of each token return no cache.
  if (model.bidirectional || model.is("no-cache") || is_for(model, "TokenClassification") ||
      is_for(model, "QuestionAnswering"))
    return {"none", 0};
  const auto window = s.integer_of_layer(kWindow, layer);
  const auto kind = s.text_of_layer({"layer_types"}, layer),
             block = s.text_of_layer({"layers_block_type"}, layer);  // of hybrids
  for (const auto full : {"full_attention", "attention", "global_attention"})
    if (kind == full || (kind.empty() && block == full)) return {};
  if (kind == "sliding_attention" || kind == "window_attention") {
    if (!window)
      throw UnsupportedStructure("layer_types has sliding_attention, and " + s.source() +
                                 " no sliding_window");
    return {"sliding", *window};
  }
  if (kind == "chunked_attention") {
    const auto chunk = s.integer({"attention_chunk_size"});
    if (!chunk)
      throw UnsupportedStructure("layer_types has chunked_attention, and " + s.source() +
                                 " no attention_chunk_size");
    return {"chunked", *chunk};
  }
  if (!kind.empty()) throw UnsupportedStructure("layer_types has '" + std::string(kind) + "'");
  // Llama 4 in GGUF: constants of llama.cpp, src/models/llama4.cpp.
  if (model.is("chunked-each-4")) {
    model.assume(s.source() +
                 " has no layer_types: every layer except each 4th sees chunks of 8192");
    return layer % 4 == 3 ? AttentionSpan{} : AttentionSpan{"chunked", 8192};
  }
  if (!window || *window == 0) return {};
  if (!s.flag({"use_sliding_window"}, !model.is("sliding-if-said"))) return {};
  if (const auto first = s.integer({"max_window_layers"}); first && model.is("sliding-if-said")) {
    if (static_cast<int64_t>(layer) < *first) return {};
    return {"sliding", *window};
  }
  const auto stated = s.integer({"sliding_window_pattern"});
  for (const auto& [trait, usual] : kPatterns) {
    if (!model.is(trait) && !stated) continue;
    const auto period = stated.value_or(usual);
    model.assume(s.source() + " has no layer_types: every layer except each " +
                 std::to_string(period) + "th has a window");
    if (period > 0 && (static_cast<int64_t>(layer) + 1) % period == 0) return {};
    return {"sliding", *window};
  }
  model.assume(s.source() + " has no layer_types: sliding_window, " + std::to_string(*window) +
               ", holds for every layer");
  return {"sliding", *window};
}

Value project(Model& model, const Module& m, const Value& x) {
  if (!m) throw UnsupportedStructure("a projection is missing");
  return model.is("transposed") ? model.program.transposed_linear(m, x)
                                : model.program.linear(m, x);
}

Value adapted(Model& model, const Module& m, std::string_view list, const Value& x,
              const Value& y) {
  const auto adapters = find_child(m, list);
  if (!adapters) return y;
  const auto own = find_child(adapters, std::to_string(model.shared_uses));
  const auto narrow = find_child(own, "0"), wide = find_child(own, "1");
  if (!narrow || !wide)
    throw UnsupportedStructure("'" + std::string(adapters.path()) + "' has no adapter " +
                               std::to_string(model.shared_uses));
  auto& p = model.program;
  const Program::ModuleCallScope calling(p, own, "torch.nn.modules.container.Sequential");
  const auto inner = p.linear(narrow, x);
  expect_if_checked(model, {"adapter_rank"}, inner.back().number, find_tensor(narrow, "weight"));
  return p.binary("aten::add", y, p.linear(wide, inner));
}

Value write_attention(Model& model, const Module& outer, const Value& x, size_t layer,
                      const Value* memory) {
  auto& p = model.program;
  const Program::ModuleCallScope calling(p, outer, "Attention");
  // GPT-Neo and BERT have a module inside: attn.attention, attention.self.
  const auto inside =
      first_child(outer, {"attention", "self", "self_attention", "longformer_self_attn", "attn"});
  if (inside) {
    const auto norm = find_child(outer, "self_attn_layer_norm");
    auto y = write_attention(model, inside, norm ? p.norm(norm, x) : x, layer, memory);
    if (const auto behind = find_child(outer, "LayerNorm")) y = p.norm(behind, y);  // MPNet
    const auto out = find_child(outer, "output");
    if (out && is_matrix(out)) return project(model, out, y);
    return out ? feed_forward(model, out, y, layer) : y;
  }
  const auto& m = outer;
  // These attend to fewer tokens, so attention between all of them would not be a lower bound.
  for (const std::string_view key : {"attention_window", "num_random_blocks", "num_landmarks"})
    if (!model.family && model.settings.has({key}))
      throw UnsupportedStructure(model.settings.source() + " has " + std::string(key) +
                                 ": not every token attends to every other");
  if (const Keys shared{"num_kv_shared_layers"};
      !model.family && model.settings.integer(shared).value_or(0) > 0)
    throw UnsupportedStructure(model.settings.source() + " has " + std::string(shared.front()) +
                               ": layers use the keys and values of others");
  if (find_child(m, "kv_a_proj_with_mqa")) return latent(model, m, x, layer);
  const Keys narrow{"kv_lora_rank"};
  if (const auto rank = model.settings.integer(narrow).value_or(0);
      rank > 0 && m.child_count() > 0 && find_tensor(m.child(0), "weight"))
    contradict(model, model.settings.statement(narrow, rank), find_tensor(m.child(0), "weight"));
  const auto h = heads_of(model, m, layer);
  const auto& s = model.settings;
  const auto heads = s.statement(model.heads, h.query);
  const auto key_heads = s.has(kKeyHeads)
                             ? s.statement(kKeyHeads, h.key)
                             : heads + " and keys and values have no number of their own";
  Value q, k, v, gate;
  int64_t gated = 1;
  if (const auto fused = first_child(m, kFused)) {
    const int64_t expected = product_of(h.query + 2 * h.key, h.width);
    expect_rows(model, fused, expected, heads);
    const auto parts =
        p.split(project(model, fused, x), {h.query * h.width, h.key * h.width, h.key * h.width});
    q = parts[0], k = parts[1], v = parts[2];
  } else {
    const auto qm = first_child(m, kQuery), km = first_child(m, kKey), vm = first_child(m, kValue);
    if (!qm || !km || !vm)
      throw UnsupportedStructure("'" + std::string(m.path()) +
                                 "' has no projections of query, key and value");
    gated = model.is("gated-queries") ? 2 : 1;
    expect_rows(model, qm, product_of(h.query * gated, h.width), heads);
    expect_rows(model, km, product_of(h.key, h.width), key_heads);
    expect_rows(model, vm, product_of(h.key, h.width), key_heads);
    const auto& attended = memory ? *memory : x;
    q = adapted(model, m, "linear_q_adapter_list", x, project(model, qm, x));
    k = adapted(model, m, "linear_k_adapter_list", attended, project(model, km, attended));
    v = adapted(model, m, "linear_v_adapter_list", attended, project(model, vm, attended));
    if (memory)
      for (const auto& m : {km, vm}) p.attribute(m, "runs_once", 1);
  }
  q = by_head(p, q, h.query, h.width * gated);
  if (gated > 1) {
    const auto halves = p.split(q, {h.width, h.width});
    q = halves[0], gate = halves[1];
  }
  q = maybe_norm(p, m, kQueryNorm, q);
  k = maybe_norm(p, m, kKeyNorm, by_head(p, k, h.key, h.width));
  v = by_head(p, v, h.key, h.value_width);
  if (has_rotary(model)) q = rotated(p, q), k = rotated(p, k);
  if (const auto bias = find_child(m, "relative_attention_bias"); bias && !memory)
    add_relative_positions(p, bias, x.dims[1]);
  const auto reach = memory ? AttentionSpan{} : span_of_layer(model, layer);
  // Falcon-40B's keys and values are repeated for all heads before they are kept.
  const auto kept = model.settings.flag({"new_decoder_architecture"}, false) ? h.query : h.key;
  note_cache(model, m,
             memory            ? "cross"
             : kept == h.query ? "multi-head"
             : kept == 1       ? "multi-query"
                               : "grouped",
             reach, kept * (h.width + h.value_width));
  auto y = slides_by_chunks(model, m) ? attend_by_chunks(model, m, q, k, v, layer)
                                      : p.attention(q, k, v, !model.bidirectional && !memory);
  if (gated > 1) y = p.binary("aten::mul", y, p.unary("aten::sigmoid", gate));
  return finished(model, m, merged(p, y), x);
}

}  // namespace blueprint
