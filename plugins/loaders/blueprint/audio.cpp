// Layers over audio (wav2vec 2.0, HuBERT): convolutions turn samples into frames, and one
// convolution adds positions to the frames.
#include <algorithm>

#include "stack.hpp"

namespace blueprint {
namespace {

const Keys kStrides{"conv_stride"};
constexpr int64_t kUsualSamples = 16000;  // one second

struct Step {
  Module module;
  Tensor weight{};
  int64_t stride = 1;
};

std::vector<Step> steps_of(const Model& model, const Module& stack) {
  std::vector<Step> steps;
  for (size_t i = 0; i < stack.child_count(); ++i) {
    const auto weight = find_tensor(find_child(stack.child(i), "conv"), "weight");
    const auto stride = model.settings.integer_of_layer(kStrides, i);
    if (!weight || weight.shape().rank() != 3 || weight.shape()[2] == 0 || !stride || *stride == 0)
      throw UnsupportedStructure("'" + std::string(stack.child(i).path()) +
                                 "' is not a convolution with a stride in " +
                                 model.settings.source());
    if (const auto stated = model.settings.integer_of_layer({"conv_kernel"}, i);
        stated && *stated != weight.shape()[2])
      contradict(model,
                 "conv_kernel of layer " + std::to_string(i) + " is " + std::to_string(*stated),
                 weight);
    steps.push_back({stack.child(i), weight, *stride});
  }
  return steps;
}

/// Samples per frame.
int64_t samples_of_frame(const std::vector<Step>& steps) {
  Size samples = 1;  // multiplies with a check
  for (size_t i = steps.size(); i-- > 0;)
    samples = (Size(samples.number - 1) * steps[i].stride).number + steps[i].weight.shape()[2];
  return samples.number;
}

/// [batch, samples] → [batch, frames, channels]
Value frames_of(Model& model, const Module& stack) {
  auto& p = model.program;
  const auto steps = steps_of(model, stack);
  const auto least = samples_of_frame(steps);
  const auto batch = p.batch();
  auto length = p.symbol("samples", 0, std::max(kUsualSamples, least), least);
  const auto audio = p.input("input_values", p.dtype(), {batch, length});
  auto x = p.view(audio, {batch, 1, length});
  const Program::ModuleCallScope calling(p, stack, "torch.nn.modules.container.ModuleList");
  for (const auto& step : steps) {
    const Program::ModuleCallScope inside(p, step.module, "Step");
    const auto shape = step.weight.shape();
    length = p.derived(TMETER_EXPR_FLOORDIV,
                       p.derived(TMETER_EXPR_ADD, length, step.stride - shape[2]), step.stride);
    x = p.convolution(find_child(step.module, "conv"), x, {batch, shape[0], length},
                      {.stride = step.stride});
    if (const auto norm = find_child(step.module, "layer_norm"))
      x = p.transpose(p.norm(norm, p.transpose(x, 1, 2)), 1, 2);
    x = p.unary("aten::gelu", x);
  }
  return p.transpose(x, 1, 2);
}

/// The convolution that adds positions from the neighbouring frames; its weight is a direction and
/// a length (weight_norm).
Value add_positions_by_convolution(Model& model, const Module& m, const Value& x) {
  auto& p = model.program;
  const auto conv = find_child(m, "conv");
  auto holder = find_child(find_child(conv, "parametrizations"), "weight");
  if (!holder) holder = conv;
  const auto weight = first_tensor(holder, {"original1", "weight_v"}),
             length = first_tensor(holder, {"original0", "weight_g"}),
             bias = find_tensor(conv, "bias");
  if (!weight || weight.shape().rank() != 3 || !length)
    throw UnsupportedStructure("'" + std::string(m.path()) +
                               "' is not a known convolution of positions");
  const Program::ModuleCallScope calling(p, conv, "torch.nn.modules.conv.Conv1d");
  const auto shape = weight.shape();
  const auto width = shape[2];
  const auto groups = x.back().number / std::max<int64_t>(shape[1], 1);
  expect_stated(model, {"num_conv_pos_embeddings"}, width, weight);
  expect_stated(model, {"num_conv_pos_embedding_groups"}, groups, weight);
  p.use(length);
  std::vector<std::pair<std::string_view, tmeter_id>> args{{"input", p.transpose(x, 1, 2).id},
                                                           {"weight", p.bound(weight).id}};
  if (bias) args.emplace_back("bias", p.bound(bias).id);
  args.emplace_back("padding", p.graph().list({p.graph().integer(width / 2)}));
  args.emplace_back("groups", p.graph().integer(groups));
  const auto y =
      p.node("aten::conv1d", std::move(args),
             {x.dims[0], shape[0], p.derived(TMETER_EXPR_ADD, x.dims[1], 1 - width % 2)}, x.dtype);
  const auto kept =
      p.node("aten::slice", {{"self", y.id}}, {x.dims[0], shape[0], x.dims[1]}, x.dtype);
  return p.binary("aten::add", x, p.transpose(p.unary("aten::gelu", kept), 1, 2));
}

}  // namespace

void write_audio(Model& model, const Module& root, const Module& convolutions,
                 const Module& stack) {
  auto& p = model.program;
  const auto count = layer_count(model, stack, kLayers);
  const auto encoder = stack.parent(), base = encoder.parent();
  model.bidirectional = true;
  Value x;
  {
    const Program::ModuleCallScope calling(p, base, "");
    x = frames_of(model, convolutions);
    const auto projection = find_child(base, "feature_projection");
    if (const auto norm = find_child(projection, "layer_norm")) x = p.norm(norm, x);
    x = project(model, find_child(projection, "projection"), x);
    // Replaces frames that training masks.
    if (const auto hidden = find_tensor(base, "masked_spec_embed")) p.use(hidden);
    const auto positions = find_child(encoder, "pos_conv_embed");
    if (!positions)
      throw UnsupportedStructure("'" + std::string(encoder.path()) + "' has no pos_conv_embed");
    x = add_positions_by_convolution(model, positions, x);
    for (size_t i = 0; i < count; ++i) x = write_layer(model, stack.child(i), i, x);
    x = final_norm(model, encoder, x);
  }
  if (const auto scores = find_child(root, "lm_head")) x = p.linear(scores, x);
  finish(model, root, x);
}

}  // namespace blueprint
