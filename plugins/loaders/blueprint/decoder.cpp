// A stack of alike layers over tokens, or over patches of an image: embedding, layers, norm, head.
#include "stack.hpp"

namespace blueprint {
namespace {

using tmeter::DType;

/// Patches by a convolution.
Value embed_image(Model& model, const Module& base) {
  auto& p = model.program;
  const auto m = find_child(base, "embeddings");
  const auto patches = first_child(m, {"patch_embeddings", "patch_embedding"});
  const auto projection =
      find_child(patches, "projection") ? find_child(patches, "projection") : patches;
  const auto weight = find_tensor(projection, "weight");
  if (!weight || weight.shape().rank() != 4)
    throw NotUnderstood("no convolution makes patches of an image");
  const auto side = model.settings.integer({"image_size"}),
             patch = model.settings.integer({"patch_size"});
  if (!side || !patch || *patch == 0)
    throw NotUnderstood(model.settings.source() + " does not say image_size and patch_size");
  const auto shape = weight.shape();
  if (shape[2] != *patch || shape[3] != *patch)
    contradict(model, "patch_size is " + std::to_string(*patch), weight);
  expect_if_checked(model, kHidden, shape[0], weight);
  expect_if_checked(model, {"num_channels"}, shape[1], weight);
  const Program::Calling calling(p, m, "");
  const auto image = p.input("pixel_values", p.dtype(), {p.batch(), shape[1], *side, *side});
  const int64_t along = *side / *patch, hidden = shape[0];
  auto x = p.convolution(projection, image, {p.batch(), hidden, along, along}, {.stride = *patch});
  x = p.transpose(p.view(x, {p.batch(), hidden, along * along}), 1, 2);
  int64_t tokens = along * along;
  for (const auto name : {"cls_token", "distillation_token"}) {
    const auto token = find_tensor(m, name);
    if (!token) continue;
    p.use(token);
    ++tokens;
  }
  x = p.node("aten::cat", {{"tensors", p.graph().list({x.id})}, {"dim", p.graph().integer(1)}},
             {p.batch(), tokens, hidden}, x.dtype);
  if (const auto positions = find_tensor(m, "position_embeddings")) {
    if (positions.shape().rank() != 3 || positions.shape()[1] != tokens)
      contradict(model, "image_size and patch_size make " + std::to_string(tokens) + " tokens",
                 positions);
    x = p.binary("aten::add", x, p.bound(positions));
  }
  return x;
}

}  // namespace

void write_decoder(Model& model, const Module& root, const Module& stack, bool text_alone) {
  auto& p = model.program;
  const auto count = layer_count(model, stack, kLayers);
  const auto base = stack.parent();
  const auto ids = p.input("input_ids", DType(TMETER_DTYPE_INT64), {p.batch(), p.sequence()});
  // DistilBERT's layers have a module of their own, beside the tables.
  const bool inside = base.name() == "encoder" || base.name() == "decoder" ||
                      (base.name() == "transformer" && find_child(base.parent(), "embeddings"));
  const auto owner = inside && base.parent() ? base.parent() : base;
  Value x;
  {
    const Program::Calling calling(p, base, "");
    x = in_whole_windows(model, embed(model, owner, base, ids));
    for (size_t i = 0; i < count; ++i) x = write_layer(model, stack.child(i), i, x);
    x = final_norm(model, base, without_filling(model, x, ids.dims[1]));
    if (const auto narrow = find_child(base, "project_out")) x = project(model, narrow, x);
    // MPNet's table of distances, which all layers share.
    if (const auto distances = find_child(base, "relative_attention_bias"))
      use_all(model, distances);
  }
  x = head_of_task(model, root, base, owner, x);
  for (size_t i = count; i < stack.child_count(); ++i) use_all(model, stack.child(i));
  if (text_alone)
    model.warnings.insert("the prompt is text alone: of this model of several towers, only " +
                          std::string(base.path()) + " and the head are run");
  finish(model, text_alone ? base : root, x);
}

void write_image(Model& model, const Module& root, const Module& stack) {
  auto& p = model.program;
  const auto count = layer_count(model, stack, kLayers);
  const auto base = stack.parent().name() == "encoder" ? stack.parent().parent() : stack.parent();
  Value x;
  {
    const Program::Calling calling(p, base, "");
    x = embed_image(model, base);
    for (size_t i = 0; i < count; ++i) x = write_layer(model, stack.child(i), i, x);
    x = final_norm(model, base, x);
  }
  x = head_of_task(model, root, base, base, x);
  for (size_t i = count; i < stack.child_count(); ++i) use_all(model, stack.child(i));
  finish(model, root, x);
}

}  // namespace blueprint
