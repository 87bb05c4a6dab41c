// A stack of alike layers over patches of an image.
#include "stack.hpp"

namespace blueprint {
namespace {

using Names = std::vector<std::string_view>;

/// Concatenates x and a parameter of one or several tokens.
Value with_tokens(Program& p, const Value& x, const Tensor& tokens) {
  const auto rank = tokens.shape().rank();
  const int64_t count = rank == 3 ? tokens.shape()[1] : 1;
  p.use(tokens);
  auto dims = x.dims;
  dims[1] = Size(dims[1].number + count);
  return p.node("aten::cat", {{"tensors", p.graph().list({x.id})}, {"dim", p.graph().integer(1)}},
                dims, x.dtype);
}

void expect_tokens(Model& model, int64_t rows, const Value& x, const Tensor& table) {
  if (const auto tokens = x.dims[1].number; rows != tokens)
    contradict(model, "image_size and patch_size make " + std::to_string(tokens) + " tokens",
               table);
}

/// A parameter, or a table with a row for each token.
Value with_positions(Model& model, const Module& m, const Value& x) {
  auto& p = model.program;
  if (const auto positions = find_tensor(m, "position_embeddings")) {
    expect_tokens(model, positions.shape().rank() == 3 ? positions.shape()[1] : 0, x, positions);
    return p.binary("aten::add", x, p.bound(positions));
  }
  const auto table = find_child(m, "position_embedding");
  if (!table || !is_matrix(table)) return x;
  const auto rows = find_tensor(table, "weight");
  expect_tokens(model, rows.shape()[0], x, rows);
  const Program::ModuleCallScope calling(p, table, "torch.nn.modules.sparse.Embedding");
  return p.binary("aten::add", x, p.bound(rows));
}

/// Patches by a convolution, additional tokens, positions.
Value embed_image(Model& model, const Module& m) {
  auto& p = model.program;
  const auto patches = first_child(m, {"patch_embeddings", "patch_embedding"});
  const auto projection =
      find_child(patches, "projection") ? find_child(patches, "projection") : patches;
  const auto weight = find_tensor(projection, "weight");
  if (!weight || weight.shape().rank() != 4)
    throw UnsupportedStructure("no convolution makes patches of an image");
  const auto side = model.settings.integer({"image_size"}),
             patch = model.settings.integer({"patch_size"});
  if (!side || !patch || *patch == 0)
    throw UnsupportedStructure(model.settings.source() + " lacks image_size or patch_size");
  const auto shape = weight.shape();
  if (shape[2] != *patch || shape[3] != *patch)
    contradict(model, "patch_size is " + std::to_string(*patch), weight);
  expect_if_checked(model, kHidden, shape[0], weight);
  expect_if_checked(model, {"num_channels"}, shape[1], weight);
  const Program::ModuleCallScope calling(p, m, "");
  const auto image = p.input("pixel_values", p.dtype(), {p.batch(), shape[1], *side, *side});
  const int64_t along = *side / *patch, hidden = shape[0];
  auto x = p.convolution(projection, image, {p.batch(), hidden, along, along}, {.stride = *patch});
  x = p.transpose(p.view(x, {p.batch(), hidden, along * along}), 1, 2);
  for (const auto name : {"cls_token", "class_embedding", "distillation_token"})
    if (const auto token = find_tensor(m, name)) x = with_tokens(p, x, token);
  x = with_positions(model, m, x);
  if (const auto registers = find_tensor(m, "register_tokens")) x = with_tokens(p, x, registers);
  if (const auto mask = find_tensor(m, "mask_token")) {
    p.use(mask);
    model.assume("no patch is masked: mask_token is not read");
  }
  return x;
}

/// Rows `begin` to `end` of a parameter.
Value rows_of(Program& p, const Tensor& t, int64_t begin, int64_t end) {
  const auto whole = p.bound(t);
  auto dims = whole.dims;
  dims[0] = Size(end - begin);
  return p.node("aten::slice",
                {{"self", whole.id},
                 {"dim", p.graph().integer(0)},
                 {"start", p.graph().integer(begin)},
                 {"end", p.graph().integer(end)}},
                dims, whole.dtype);
}

/// SigLIP's head: one learned query attends to all tokens, with the projections of
/// torch.nn.MultiheadAttention; an MLP follows.
Value pool_by_attention(Model& model, const Module& m, const Value& x) {
  auto& p = model.program;
  const auto attention = find_child(m, "attention");
  const auto probe = find_tensor(m, "probe"), in = find_tensor(attention, "in_proj_weight"),
             bias = find_tensor(attention, "in_proj_bias");
  const auto out = find_child(attention, "out_proj"), norm = find_child(m, "layernorm"),
             mlp = find_child(m, "mlp");
  const auto heads = model.settings.integer(model.heads).value_or(0), hidden = x.back().number;
  if (!probe || !in || !bias || !out || !norm || !mlp || heads <= 0 || hidden % heads != 0 ||
      in.shape().rank() != 2 || in.shape()[0] != 3 * hidden || in.shape()[1] != hidden)
    throw UnsupportedStructure("'" + std::string(m.path()) + "' is not a pooling by attention");
  const Program::ModuleCallScope calling(p, m, "");
  const auto query =
      p.node("aten::repeat", {{"self", p.bound(probe).id}}, {x.dims[0], 1, hidden}, x.dtype);
  Value y;
  {
    const Program::ModuleCallScope inside(p, attention,
                                          "torch.nn.modules.activation.MultiheadAttention");
    const auto projected = [&](const Value& from, int64_t begin, int64_t end) {
      auto dims = from.dims;
      dims.back() = Size(end - begin);
      return p.node("aten::linear",
                    {{"input", from.id},
                     {"weight", rows_of(p, in, begin, end).id},
                     {"bias", rows_of(p, bias, begin, end).id}},
                    dims, from.dtype);
    };
    const auto q = projected(query, 0, hidden);
    const auto kv = p.split(projected(x, hidden, 3 * hidden), {hidden, hidden});
    const auto width = hidden / heads;
    y = p.attention(by_head(p, q, heads, width), by_head(p, kv[0], heads, width),
                    by_head(p, kv[1], heads, width), false);
    y = p.linear(out, p.view(p.transpose(y, 1, 2), q.dims));
  }
  return p.binary("aten::add", y, feed_forward(model, mlp, p.norm(norm, y), 0));
}

/// The module with the patches. The layers are below it, or beside it, as in ViT MSN saved by
/// transformers 5.
Module tower_of(const Module& root, const Module& stack) {
  for (auto base = stack.parent(); base; base = base.parent())
    if (find_child(base, "embeddings")) return base;
  for (size_t i = 0; i < root.child_count(); ++i)
    if (find_child(root.child(i), "embeddings")) return root.child(i);
  throw UnsupportedStructure("no convolution makes patches of an image");
}

}  // namespace

void write_image(Model& model, const Module& root, const Module& stack) {
  auto& p = model.program;
  const auto count = layer_count(model, stack, kLayers);
  const auto base = tower_of(root, stack);
  Value x;
  {
    const Program::ModuleCallScope calling(p, base, "");
    x = embed_image(model, find_child(base, "embeddings"));
    const auto first = find_child(base, "pre_layrnorm");  // CLIP's own spelling
    if (first) x = p.norm(first, x);
    for (size_t i = 0; i < count; ++i) x = write_layer(model, stack.child(i), i, x);
    if (first) {  // CLIP norms only its class token
      const auto zero = p.graph().integer(0);
      x = p.node("aten::slice",
                 {{"self", x.id},
                  {"dim", p.graph().integer(1)},
                  {"start", zero},
                  {"end", p.graph().integer(1)}},
                 {x.dims[0], 1, x.back()}, x.dtype);
    }
    x = final_norm(model, base, x);
    if (const auto pooling = find_child(base, "head"); find_tensor(pooling, "probe"))
      x = pool_by_attention(model, pooling, x);
  }
  x = head_of_task(model, root, base, base, x);
  for (size_t i = count; i < stack.child_count(); ++i) use_all(model, stack.child(i));
  finish(model, root, x);
}

}  // namespace blueprint
