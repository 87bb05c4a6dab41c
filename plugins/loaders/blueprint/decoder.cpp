// A stack of identical layers over tokens: embedding, layers, norm, head.
#include "stack.hpp"

namespace blueprint {
namespace {

using tmeter::DType;

/// GGUF's key; config.json states experts of models that have none.
void expect_mixtures(const Model& model) {
  const Keys key{"expert_count"};
  const auto depth = model.settings.integer(key).value_or(0);
  if (model.family && model.mixtures == 0 && depth > 1)
    throw Contradiction(model.settings.source() + ": " + model.settings.statement(key, depth) +
                        ", but no layer has experts");
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
    const Program::ModuleCallScope calling(p, base, "");
    x = in_whole_windows(model, embed(model, owner, base, ids));
    for (size_t i = 0; i < count; ++i) x = write_layer(model, stack.child(i), i, x);
    expect_mixtures(model);
    x = final_norm(model, base, without_filling(model, x, ids.dims[1]));
    if (const auto narrow = find_child(base, "project_out")) x = project(model, narrow, x);
    // MPNet's table of distances, which all layers share.
    if (const auto distances = find_child(base, "relative_attention_bias"))
      use_all(model, distances);
  }
  x = head_of_task(model, root, base, owner, x);
  for (size_t i = count; i < stack.child_count(); ++i) use_all(model, stack.child(i));
  if (text_alone)
    model.warnings.insert("the prompt is only text: of the towers of this model, only " +
                          std::string(base.path()) + " and the head are run");
  finish(model, text_alone ? base : root, x);
}

}  // namespace blueprint
