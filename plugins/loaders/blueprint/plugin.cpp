// blueprint: the program of a model from its weights and configuration. Parts are recognised by
// structure; the model's type decides only where structure does not. A part that is not understood
// becomes an unknown operator.
#include <tmeter/cpp/plugin.hpp>

#include "gguf_settings.hpp"
#include "parts.hpp"

namespace blueprint {
namespace {

/// The type in the configuration, else that of the first matrix that is stored element by element,
/// else `packed`.
tmeter::DType dtype_of(const Settings& settings, const tmeter::Graph& weights, int32_t packed) {
  struct Named {
    std::string_view name;
    int32_t id;
  };
  constexpr Named kNamed[] = {{"float32", TMETER_DTYPE_FLOAT32},
                              {"bfloat16", TMETER_DTYPE_BFLOAT16},
                              {"float16", TMETER_DTYPE_FLOAT16}};
  auto stated = settings.text({"dtype", "torch_dtype"});
  if (stated.starts_with("torch.")) stated.remove_prefix(6);
  for (const auto& n : kNamed)
    if (n.name == stated) return tmeter::DType(n.id);
  for (const auto& t : weights.tensors())
    for (const auto& n : kNamed)
      if (t.shape().rank() == 2 && !t.is_encoded() && t.dtype().id() == n.id) return t.dtype();
  return tmeter::DType(packed);
}

const tmeter::Graph weights_of(const tmeter::Request& request) {
  static const auto& api =
      tmeter::detail::interface_of<tmeter_blueprint_api>(TMETER_HOST_BLUEPRINT);
  return tmeter::Graph(api.weights(request.handle()));
}

/// The rows of a table of positions limit the length of a sequence.
int64_t max_tokens(const Settings& settings) {
  if (settings.has({"rope_parameters.rope_theta", "rope_theta", "qk_rope_head_dim"})) return 0;
  return settings
      .integer({"max_position_embeddings", "n_positions", "n_ctx", "max_target_positions",
                "max_decoder_position_embeddings"})
      .value_or(0);
}

[[noreturn]] void fall_back_to_weights(const tmeter::Call& call, const std::string& why) {
  call.warn("the operators are not known, only the weights: " + why);
  throw tmeter::Error(TMETER_UNSUPPORTED, why);
}

[[noreturn]] void refuse(const Contradiction& e) {
  throw tmeter::Error(
      TMETER_BAD_MODEL,
      std::string(e.what()) + "; the configuration is of another model, or one of both is damaged");
}

/// `family`: null for a type that was not checked.
void write(const tmeter::Graph& weights, const Settings& settings, const Family* family,
           const std::string& type, tmeter::DType dtype, tmeter::GraphBuilder& graph,
           tmeter::Call& call) {
  try {
    Program program(graph.handle(), dtype, max_tokens(settings));
    Model model{program, settings, family};
    write_model(model, weights);
    graph.property("content", "blueprint");
    graph.property("name", settings.text_of_layer({"architectures"}, 0));
    if (!model.family)
      call.warn(
          "the model type " + type +
          " is not among those that were checked (docs/blueprint.md): its operators were read from "
          "the structure of its weights, and its values are lower bounds");
    for (const auto& w : model.warnings) call.warn(w);
    for (const auto& a : model.assumptions) call.info(a);
  } catch (const Contradiction& e) {
    // In a type that was not checked, keys may mean something else.
    if (!family && !dynamic_cast<const BadNumber*>(&e)) fall_back_to_weights(call, e.what());
    refuse(e);
  } catch (const UnsupportedStructure& e) {
    fall_back_to_weights(call, e.what());
  }
}

void load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call) {
  const auto weights = weights_of(request);
  const Settings settings(weights);
  const auto type = std::string(settings.text({"model_type"}));
  if (type.empty()) throw tmeter::Error(TMETER_UNSUPPORTED, "config.json names no model_type");
  write(weights, settings, find_family(type), type,
        dtype_of(settings, weights, TMETER_DTYPE_FLOAT32), graph, call);
}

void load_gguf(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call) {
  const auto weights = weights_of(request);
  try {
    const auto model = read_gguf(weights);
    for (const auto& w : model.warnings) call.warn(w);
    // llama.cpp's cache has 16 bits by default.
    const auto dtype = dtype_of(model.settings, weights, TMETER_DTYPE_FLOAT16);
    write(weights, model.settings, model.family, model.architecture, dtype, graph, call);
  } catch (const UnsupportedStructure& e) {
    fall_back_to_weights(call, e.what());
  } catch (const Contradiction& e) {
    refuse(e);
  }
}

/// Multiplies each row by one expert's matrix.
tmeter::Count experts_macs(const tmeter::Node& n) {
  return n.input("input").numel() * n.output().shape().back();
}

}  // namespace
}  // namespace blueprint

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.blueprint",
        .version = "1.0.0",
        .description = "Derives the operators of a model from its weights and configuration",
    }),
    [](tmeter::Registrar& r) {
      r.loader("blueprint", "weights with config.json", {{"metadata:config.json", 50}},
               blueprint::load);
      r.loader("blueprint-gguf", "weights with GGUF metadata", {{"metadata:gguf", 50}},
               blueprint::load_gguf);
      r.op("blueprint::experts")
          .handle("macs", blueprint::experts_macs)
          .zero("other_flops")
          .work("matmul");
    })
