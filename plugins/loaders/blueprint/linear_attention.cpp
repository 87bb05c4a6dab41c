// Linear attention by the gated delta rule (Qwen3-Next): each token corrects a matrix per head.
// Sizes are those of transformers without kernels, which works by chunks of 64 tokens.
#include "parts.hpp"

namespace blueprint {
namespace {

using tmeter::DType;

constexpr int64_t kTokensOfChunk = 64;

/// Heads and widths of keys (and queries) and of values.
struct LinearHeads {
  int64_t keys, values, key_width, value_width;
};

LinearHeads linear_heads(const Settings& s) {
  const auto number = [&](std::string_view key) {
    const auto n = s.integer({key});
    if (!n || *n == 0) throw UnsupportedStructure(s.source() + " lacks " + std::string(key));
    return *n;
  };
  const LinearHeads h{number("linear_num_key_heads"), number("linear_num_value_heads"),
                      number("linear_key_head_dim"), number("linear_value_head_dim")};
  if (h.values % h.keys != 0)
    throw Contradiction(s.source() + ": linear_num_value_heads is " + std::to_string(h.values) +
                        ", not a multiple of linear_num_key_heads, " + std::to_string(h.keys));
  return h;
}

Value product(Program& p, const Value& a, const Value& b) {
  auto to = a.dims;
  to.back() = b.back();
  return p.node("aten::matmul", {{"self", a.id}, {"other", b.id}}, std::move(to), a.dtype);
}

/// [batch, tokens, heads' × width] → [batch, heads, chunks, chunk, width] in float32.
Value in_chunks(Program& p, const Value& x, const Size& chunks, int64_t heads, int64_t width) {
  const auto padded =
      p.node("aten::constant_pad_nd", {{"self", x.id}},
             {x.dims[0], heads, chunks * kTokensOfChunk, width}, DType(TMETER_DTYPE_FLOAT32));
  return p.view(padded, {x.dims[0], heads, chunks, kTokensOfChunk, width});
}

Value delta_rule(Program& p, const Module& m, const LinearHeads& h, const Value& queries,
                 const Value& keys, const Value& values) {
  const Program::ModuleCallScope calling(p, m, "scan", "Scan");
  const auto chunks = p.derived(TMETER_EXPR_CEILDIV, values.dims[1], kTokensOfChunk);
  const auto q = in_chunks(p, queries, chunks, h.values, h.key_width),
             k = in_chunks(p, keys, chunks, h.values, h.key_width),
             v = in_chunks(p, values, chunks, h.values, h.value_width);
  const auto turned = p.transpose(k, 3, 4);
  // Corrections within a chunk: a triangular system for the values, and one for the keys.
  const auto system = product(p, k, turned), scores = product(p, q, turned);
  const auto solved = [&](const Value& x) {
    return p.node("aten::linalg_solve_triangular",
                  {{"self", system.id},
                   {"B", x.id},
                   {"upper", p.graph().boolean(false)},
                   {"unitriangular", p.graph().boolean(true)}},
                  x.dims, x.dtype);
  };
  const auto corrected = solved(v), decayed = solved(k);
  // One chunk after the other; each continues from the state of the previous one.
  const auto state = p.node(
      "aten::zeros", {}, {values.dims[0], h.values, chunks, h.key_width, h.value_width}, v.dtype);
  const auto fresh = p.binary("aten::sub", corrected, product(p, decayed, state));
  const auto y = p.binary("aten::add", product(p, q, state), product(p, scores, fresh));
  p.binary("aten::add", state, product(p, turned, fresh));
  return p.node("aten::slice", {{"self", y.id}},
                {values.dims[0], values.dims[1], h.values, h.value_width}, values.dtype);
}

}  // namespace

bool is_delta_rule(const Module& m) {
  return find_child(m, "in_proj_qkvz") || find_child(m, "in_proj_qkv");
}

Value write_delta_rule(Model& model, const Module& m, const Value& x) {
  auto& p = model.program;
  const auto h = linear_heads(model.settings);
  const int64_t key = h.keys * h.key_width, value = h.values * h.value_width;
  const auto conv = find_child(m, "conv1d");
  const auto weight = find_tensor(conv, "weight");
  if (!weight) throw UnsupportedStructure("'" + std::string(m.path()) + "' has no convolution");
  if (weight.shape()[0] != 2 * key + value)
    contradict(model,
               "heads and widths of linear attention make " + std::to_string(2 * key + value) +
                   " channels",
               weight);
  Value mixed, gate;
  if (const auto all = find_child(m, "in_proj_qkvz")) {
    const auto parts = p.split(project(model, all, x), {2 * key + value, value});
    mixed = parts[0], gate = parts[1];
  } else {
    mixed = project(model, find_child(m, "in_proj_qkv"), x);
    gate = project(model, find_child(m, "in_proj_z"), x);
  }
  for (const auto name : {"in_proj_ba", "in_proj_b", "in_proj_a"})
    if (const auto small = find_child(m, name)) p.unary("aten::sigmoid", project(model, small, x));
  for (const auto& t : {first_tensor(m, {"A_log", "ssm_a"}), find_tensor(m, "dt_bias"),
                        find_tensor(find_child(m, "dt_proj"), "bias")})
    if (t) p.use(t);
  const auto convolved = p.split(causal_convolution(model, m, conv, mixed), {key, key, value});
  p.attribute(m, "recurrent_state", h.values * h.key_width * h.value_width);
  auto y = delta_rule(p, m, h, convolved[0], convolved[1], convolved[2]);
  if (const auto norm = find_child(m, "norm")) y = p.norm(norm, y);
  y = p.binary("aten::mul", p.view(y, gate.dims), p.unary("aten::silu", gate));
  return project(model, find_child(m, "out_proj"), y);
}

}  // namespace blueprint
