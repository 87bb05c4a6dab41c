// State-space layers: a convolution over the last few tokens, then a state that each token changes.
// Sizes are those of transformers without kernels, which work by chunks of tokens.
#include <iterator>

#include "parts.hpp"

namespace blueprint {
namespace {

using tmeter::DType;

const Keys kStateSize{"state_size", "mamba_d_state", "ssm_state_size"};
const Keys kChunk{"chunk_size", "mamba_chunk_size"};

// The second name is GGUF's.
const std::vector<std::string_view> kDecay{"A_log", "ssm_a"}, kThrough{"D", "ssm_d"};

int64_t length_of(const Module& m, const Tensor& t, std::string_view name) {
  if (!t || t.shape().rank() < 1 || t.shape()[0] == 0)
    throw UnsupportedStructure("'" + std::string(m.path()) + "' has no '" + std::string(name) +
                               "'");
  return t.shape()[0];
}

/// The configuration states the width of the state-space layer as a multiple of the model's, unless
/// it names the width or its heads decide.
void expect_expansion(const Model& model, int64_t inner, const Tensor& t) {
  const auto& s = model.settings;
  const Keys factor{"mamba_expand", "expand"};
  const auto times = s.number(factor), hidden = s.number(kHidden);
  if (!model.family || model.is("any-expansion") || s.integer({"mamba_d_ssm"}) ||
      s.integer({"intermediate_size"}) == inner || !times || !hidden)
    return;
  if (*times * *hidden != static_cast<double>(inner))
    contradict(model,
               std::string(s.name(factor)) + " and " + std::string(s.name(kHidden)) +
                   " do not make the width " + std::to_string(inner),
               t);
}

/// [batch, tokens, n] in float32, each token of the sequence padded to whole chunks:
/// [batch, chunks, chunk, heads, n / heads].
Value scan_chunks(Program& p, const Value& x, const Size& chunks, int64_t chunk, int64_t heads) {
  const auto width = x.back().number / heads;
  const auto padded = p.node("aten::constant_pad_nd", {{"self", x.id}},
                             {x.dims[0], chunks * chunk, x.back()}, DType(TMETER_DTYPE_FLOAT32));
  return p.view(padded, {x.dims[0], chunks, chunk, heads, width});
}

/// Each group's vector for all of its heads.
Value for_heads(Program& p, const Value& x, int64_t groups, int64_t heads) {
  if (groups == heads) return x;
  return p.node("aten::repeat_interleave", {{"self", x.id}},
                {x.dims[0], x.dims[1], x.back().number / groups * heads}, x.dtype);
}

/// Mamba 2: products within chunks of tokens, a state between them.
Value scan_in_chunks(Model& model, const Module& m, const Value& x, const Value& b, const Value& c,
                     int64_t heads, int64_t state, int64_t chunk) {
  auto& p = model.program;
  const Program::ModuleCallScope calling(p, m, "scan", "Scan");
  const auto batch = x.dims[0], chunks = p.derived(TMETER_EXPR_CEILDIV, x.dims[1], chunk),
             starts = p.derived(TMETER_EXPR_ADD, chunks, 1);
  const auto inner = x.back().number, width = inner / heads, groups = b.back().number / state;
  const auto xs = scan_chunks(p, x, chunks, chunk, heads);
  const auto bs = scan_chunks(p, for_heads(p, b, groups, heads), chunks, chunk, heads);
  const auto cs = scan_chunks(p, for_heads(p, c, groups, heads), chunks, chunk, heads);
  const auto scores = p.einsum("bclhn,bcshn->bclsh", cs, bs, {batch, chunks, chunk, chunk, heads});
  const auto within = p.einsum("bclsh,bcshp->bclhp", p.unary("aten::mul", scores), xs, xs.dims);
  const auto states = p.einsum("bclhn,bclhp->bchpn", p.unary("aten::mul", bs), xs,
                               {batch, chunks, heads, width, state});
  const auto decay =
      p.node("aten::exp", {{"self", states.id}}, {batch, starts, starts, heads}, states.dtype);
  const auto all = p.node("aten::cat", {{"tensors", p.graph().list({states.id})}},
                          {batch, starts, heads, width, state}, states.dtype);
  const auto before = p.einsum("bzch,bzhpn->bchpn", decay, all, all.dims);
  const auto entering = p.node("aten::slice", {{"self", before.id}}, states.dims, states.dtype);
  const auto from_before = p.einsum("bclhn,bchpn->bclhp", cs, entering, xs.dims);
  const auto sum = p.binary("aten::add", within, p.unary("aten::mul", from_before));
  return p.node("aten::slice", {{"self", sum.id}}, x.dims, x.dtype);
}

Value mamba2(Model& model, const Module& m, const Value& x) {
  auto& p = model.program;
  const auto& s = model.settings;
  const auto state = s.integer(kStateSize), chunk = s.integer(kChunk);
  if (!state || *state == 0 || !chunk || *chunk == 0)
    throw UnsupportedStructure(s.source() + " lacks state_size or chunk_size");
  const auto out = find_child(m, "out_proj"), conv = find_child(m, "conv1d");
  if (!out || !is_matrix(out) || !conv)
    throw UnsupportedStructure("'" + std::string(m.path()) + "' lacks a part of Mamba 2");
  const auto decay = first_tensor(m, kDecay);
  const auto inner = find_tensor(out, "weight").shape()[1], heads = length_of(m, decay, "A_log"),
             mixed = length_of(conv, find_tensor(conv, "weight"), "weight"),
             side = (mixed - inner) / 2;
  if (inner % heads != 0 || side <= 0 || side % *state != 0 || heads % (side / *state) != 0)
    contradict(model, s.statement(kStateSize, *state), find_tensor(conv, "weight"));
  expect_if_checked(model, {"num_heads", "mamba_n_heads", "mamba_num_heads", "n_mamba_heads"},
                    heads, decay);
  expect_if_checked(model, {"mamba_d_ssm"}, inner, find_tensor(out, "weight"));
  expect_expansion(model, inner, find_tensor(out, "weight"));
  expect_if_checked(model, {"n_groups", "mamba_n_groups", "mamba_ngroups"}, side / *state,
                    find_tensor(conv, "weight"));
  const Keys head_width{"mamba_d_head", "mamba_headdim", "mamba_head_dim"};
  if (s.text(head_width).empty())  // "auto" leaves it to the other sizes
    expect_if_checked(model, head_width, inner / heads, find_tensor(out, "weight"));
  const auto parts = p.split(project(model, find_child(m, "in_proj"), x), {inner, mixed, heads});
  const auto convolved = p.split(causal_convolution(model, m, conv, parts[1]), {inner, side, side});
  for (const auto& t : {decay, first_tensor(m, kThrough), find_tensor(m, "dt_bias"),
                        find_tensor(find_child(m, "dt_proj"), "bias")})
    if (t) p.use(t);
  p.attribute(m, "recurrent_state", inner * *state);
  auto y =
      scan_in_chunks(model, m, convolved[0], convolved[1], convolved[2], heads, *state, *chunk);
  y = p.binary("aten::mul", y, p.unary("aten::silu", parts[0]));
  if (const auto norm = find_child(m, "norm")) y = p.norm(norm, y);
  return project(model, out, y);
}

/// Mamba: one state for each channel, changed token by token.
Value mamba(Model& model, const Module& m, const Value& x) {
  auto& p = model.program;
  const auto a = first_tensor(m, kDecay);
  if (a.shape().rank() != 2)
    throw UnsupportedStructure("'" + std::string(a.name()) + "' is not a matrix");
  const auto inner = a.shape()[0], state = a.shape()[1];
  expect_if_checked(model, kStateSize, state, a);
  expect_if_checked(model, {"mamba_d_ssm"}, inner, a);
  expect_expansion(model, inner, a);
  const auto in = find_child(m, "in_proj"), narrow = find_child(m, "x_proj"),
             steps = find_child(m, "dt_proj"), conv = find_child(m, "conv1d");
  const auto steps_weight = find_tensor(steps, "weight");
  if (!steps_weight || steps_weight.shape().rank() != 2 || !conv)
    throw UnsupportedStructure("'" + std::string(m.path()) + "' lacks a part of Mamba");
  const auto rank = steps_weight.shape()[1];
  expect_if_checked(model, {"time_step_rank", "mamba_dt_rank"}, rank, steps_weight);
  const auto halves = p.split(project(model, in, x), {inner, inner});
  const auto convolved = causal_convolution(model, m, conv, halves[0]);
  auto parts = p.split(project(model, narrow, convolved), {rank, state, state});
  // Jamba's norms.
  const std::string_view norms[] = {"dt_layernorm", "b_layernorm", "c_layernorm"};
  for (size_t i = 0; i < std::size(norms); ++i)
    if (const auto norm = find_child(m, norms[i])) parts[i] = p.norm(norm, parts[i]);
  project(model, steps, parts[0]);
  for (const auto& t : {a, first_tensor(m, kThrough)})
    if (t) p.use(t);
  p.attribute(m, "recurrent_state", inner * state);
  Value y;
  {
    const Program::ModuleCallScope calling(p, m, "scan", "Scan");
    const auto states = p.node("aten::mul", {{"self", convolved.id}},
                               {x.dims[0], x.dims[1], inner, state}, DType(TMETER_DTYPE_FLOAT32));
    const auto column = p.view(parts[2], {x.dims[0], x.dims[1], state, 1});
    y = p.node("aten::matmul", {{"self", states.id}, {"other", column.id}},
               {x.dims[0], x.dims[1], inner, 1}, x.dtype);
  }
  y = p.view(y, convolved.dims);
  y = p.binary("aten::mul", y, p.unary("aten::silu", halves[1]));
  return project(model, find_child(m, "out_proj"), y);
}

/// LFM2: a convolution over the last few tokens, between two products of each element.
Value short_convolution(Model& model, const Module& m, const Value& x) {
  auto& p = model.program;
  const auto in = find_child(m, "in_proj"), conv = find_child(m, "conv");
  const auto all = project(model, in, x);
  const auto width = x.back();
  if (all.back() != width * 3)
    throw UnsupportedStructure("'" + std::string(in.path()) +
                               "' does not make three vectors of a token");
  const auto parts = p.split(all, {width, width, width});
  const auto convolved =
      causal_convolution(model, m, conv, p.binary("aten::mul", parts[0], parts[2]), false);
  return project(model, find_child(m, "out_proj"), p.binary("aten::mul", parts[1], convolved));
}

bool is_short_convolution(const Module& m) {
  const auto weight = find_tensor(find_child(m, "conv"), "weight");
  return weight && weight.shape().rank() >= 2 && find_child(m, "in_proj");
}

}  // namespace

Value causal_convolution(Model& model, const Module& m, const Module& conv, const Value& x,
                         bool activated) {
  auto& p = model.program;
  const auto weight = find_tensor(conv, "weight");
  // [channels, 1, width]; GGUF leaves the 1 out.
  const auto rank = weight ? weight.shape().rank() : 0;
  if (rank != 2 && !(rank == 3 && weight.shape()[1] == 1))
    throw UnsupportedStructure("'" + std::string(conv.path()) +
                               "' is not a convolution of each channel");
  const auto channels = weight.shape()[0], width = weight.shape()[rank - 1];
  expect_if_checked(model,
                    {"conv_kernel", "mamba_d_conv", "linear_conv_kernel_dim", "conv_L_cache"},
                    width, weight);
  // A short sequence is padded to the width of the kernel, and there is padding on both sides.
  const auto in = p.derived(TMETER_EXPR_MAX, x.dims[1], width),
             out = p.derived(TMETER_EXPR_ADD, in, width - 1);
  const auto padded = p.node("aten::constant_pad_nd", {{"self", p.transpose(x, 1, 2).id}},
                             {x.dims[0], x.back(), in}, x.dtype);
  const auto y = p.convolution(conv, padded, {x.dims[0], channels, out},
                               {.padding = width - 1, .groups = channels});
  p.attribute(m, "conv_state", channels * width);
  const auto kept =
      p.node("aten::slice", {{"self", y.id}}, {x.dims[0], x.back(), x.dims[1]}, x.dtype);
  return p.transpose(activated ? p.unary("aten::silu", kept) : kept, 1, 2);
}

bool is_mixer(const Module& m) { return first_tensor(m, kDecay) || is_short_convolution(m); }

Value mix_tokens(Model& model, const Module& m, const Value& x) {
  const Program::ModuleCallScope calling(model.program, m, "Mixer");
  if (is_delta_rule(m)) return write_delta_rule(model, m, x);
  if (is_short_convolution(m)) return short_convolution(model, m, x);
  if (find_child(m, "x_proj")) return mamba(model, m, x);
  if (find_child(m, "in_proj")) return mamba2(model, m, x);
  throw UnsupportedStructure("'" + std::string(m.path()) + "' is not a known state-space layer");
}

}  // namespace blueprint
