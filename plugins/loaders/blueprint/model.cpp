// Which kind of model the weights are.
#include "stack.hpp"

namespace blueprint {
namespace {

std::string paths(const std::vector<Module>& stacks) {
  std::string names;
  for (const auto& s : stacks) names += (names.empty() ? "" : ", ") + std::string(s.path());
  return names;
}

/// The stack whose parent has this name; false unless there is one.
Module stack_in(const std::vector<Module>& stacks, std::string_view parent) {
  Module found;
  for (const auto& s : stacks) {
    if (s.parent().name() != parent) continue;
    if (found) return Module();
    found = s;
  }
  return found;
}

/// Claims no cache for an unchecked type whose class has a task other than text, nor for BERT's
/// layers, which keep one only as decoders.
bool is_encoder(const Model& model, const Module& layer) {
  if (!model.settings.flag({"causal_attention"}, true)) return true;  // GGUF
  if (model.settings.flag({"is_decoder"}, false)) return false;
  if (model.family) return model.is("encoder");
  if (find_child(layer, "intermediate") && find_child(layer, "output")) return true;
  const auto name = model.settings.text_of_layer({"architectures"}, 0);
  return name.find("For") != name.npos && !is_generator(model);
}

}  // namespace

void write_model(Model& model, const tmeter::Graph& weights) {
  const auto root = weights.modules()[0];
  auto stacks = find_stacks(root);
  // Checkpoints of Qwen3-Next have these layers beside the model.
  if (const auto predictor = find_child(root, "mtp")) {
    use_all(model, predictor);
    std::erase_if(stacks, [](const Module& s) { return s.path().starts_with("mtp."); });
    model.assume("the layers of 'mtp' predict further tokens and are not run");
  }
  if (stacks.empty()) throw UnsupportedStructure("no stack of layers is among the weights");
  if (stacks.size() == 1) {
    const auto& stack = stacks.front();
    model.bidirectional = is_encoder(model, stack.child(0));
    if (model.is("image")) return write_image(model, root, stack);
    return model.is("pair") ? write_half(model, root, stack)
                            : write_decoder(model, root, stack, false);
  }
  if (const auto encoder = stack_in(stacks, "encoder"), decoder = stack_in(stacks, "decoder");
      stacks.size() == 2 && encoder && decoder)
    return write_pair(model, root, encoder, decoder);
  if (const auto frames = stack_in(stacks, "feature_extractor"),
      layers = stack_in(stacks, "encoder");
      stacks.size() == 2 && frames && layers && layers.parent().parent())
    return write_audio(model, root, frames, layers);
  // For a model with towers for images or audio, only the part that a text prompt runs.
  std::vector<Module> text;
  for (const auto& s : stacks)
    if (has_tokens(s.parent()) ||
        (s.parent().name() == "encoder" && has_tokens(s.parent().parent())))
      text.push_back(s);
  if (text.size() != 1)
    throw UnsupportedStructure("there are several stacks of layers: " + paths(stacks));
  model.bidirectional = is_encoder(model, text.front().child(0));
  write_decoder(model, root, text.front(), true);
}

}  // namespace blueprint
