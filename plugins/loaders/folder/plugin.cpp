// The loader of folders, as the Hugging Face Hub has them: config.json beside weights, diffusers'
// folder of components, PEFT's adapters. It chooses the files; their own loaders read them.
#include <tmeter/cpp/plugin.hpp>

#include "configuration.hpp"
#include "files.hpp"
#include "weight_sets.hpp"

namespace folder {
namespace {

namespace json = loading::json;
using loading::within;

constexpr size_t kMaxComponents = 1'000;

class Load {
 public:
  Load(const Files& files, tmeter::GraphBuilder& graph, tmeter::Call& call)
      : files_(files), graph_(graph), call_(call) {}

  void run() {
    if (files_.find("model_index.json")) return read_components();
    const auto weights = choose_weights(files_, "");
    if (weights.file.empty() && files_.find("adapter_config.json")) return read_adapter();
    if (weights.file.empty()) refuse_without_weights();
    push_json("config.json");
    if (files_.find("adapter_config.json"))
      call_.warn(
          "the folder has an adapter, too (adapter_config.json); it is not part of this report");
    report_unread(weights);
    files_.add_part(weights.file, 0, "");
  }

 private:
  void push_json(const std::string& name) {
    if (!files_.find(name)) return;
    within([&] { return name; },
           [&] { push_configuration(files_.open(name).bytes(), name, graph_); });
  }

  void report_unread(const Choice& weights) {
    if (!weights.also.empty())
      call_.warn("read from " + weights.file +
                 "; also in the folder, and not read: " + listed(weights.also));
  }

  /// Diffusers: {"unet": ["diffusers", "UNet2DConditionModel"], …}, each in a folder of its name.
  void read_components() {
    struct Component {
      std::string name, type;
      Choice weights;
    };
    std::vector<Component> components;
    std::vector<std::string> without;
    const auto text = files_.open("model_index.json").bytes();
    within([] { return "model_index.json"; },
           [&] {
             const JsonFile index(text);
             if (index.root().size() > kMaxComponents)
               throw BadFile("it has " + std::to_string(index.root().size()) +
                             " entries; tmeter reads at most 1,000");
             for (const auto field : index.root()) {
               json::array pair;
               if (field.value.get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
                   !pair.at(1).is_string())
                 continue;
               const std::string name(field.key);
               auto weights = choose_weights(files_, name);
               if (weights.file.empty())
                 without.push_back(name);
               else
                 components.push_back(
                     {name, std::string(loading::as_text(pair.at(1).value())), std::move(weights)});
             }
           });
    if (components.empty())
      throw BadFile(
          "model_index.json names no component with weights (without: " + listed(without) + ")",
          "download the whole folder");
    const auto root = graph_.module(0, "", "");
    for (const auto& c : components) {
      const auto module = graph_.module(root, c.name, c.type);
      report_unread(c.weights);
      files_.add_part(c.weights.file, module, c.name);
    }
    graph_.property("format", "diffusers (" + std::to_string(components.size()) + " components)");
    graph_.property("content", "weights");
    push_json("model_index.json");
  }

  void read_adapter() {
    const auto* weights = files_.find("adapter_model.safetensors");
    if (!weights) weights = files_.find("adapter_model.bin");
    if (!weights)
      throw BadFile(
          "the folder has adapter_config.json, but neither adapter_model.safetensors nor "
          "adapter_model.bin",
          "download the weights of the adapter");
    if (files_.is_lfs_pointer(*weights))
      throw BadFile(weights->name + " is a Git LFS pointer instead of the file itself",
                    "`git lfs pull` fetches it");
    push_json("adapter_config.json");
    const auto text = files_.open("adapter_config.json").bytes();
    within(
        [] { return "adapter_config.json"; },
        [&] {
          const JsonFile config(text);
          const auto kind = loading::find_set(config.root(), "peft_type");
          const auto base = loading::find_set(config.root(), "base_model_name_or_path");
          call_.warn("an adapter (" + std::string(kind ? loading::as_text(*kind) : "PEFT") + ")" +
                     (base ? " of " + loading::shown(loading::as_text(*base)) : std::string()) +
                     ": the report covers what it adds to that model, which is not in the folder");
        });
    files_.add_part(weights->name, 0, "");
  }

  [[noreturn]] void refuse_without_weights() {
    std::vector<std::string> inside;
    for (const auto& name : files_.subfolders())
      if (!choose_weights(files_, name).file.empty()) inside.push_back(name);
    if (!inside.empty())
      throw BadFile(
          "the folder has no model of its own; there are models in its folders " + listed(inside),
          "give one of them");
    if (files_.find("config.json"))
      throw BadFile("the folder has config.json, but no weights",
                    "download the weights, or the index and headers of the safetensors files");
    throw BadFile(
        "the folder has no model file that tmeter can read",
        "give a folder with safetensors, GGUF, .pt2 or torch.save files, or the file itself");
  }

  const Files& files_;
  tmeter::GraphBuilder& graph_;
  tmeter::Call& call_;
};

void load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call) {
  try {
    const Files files(call.handle(), request.handle(), request.source().handle());
    Load(files, graph, call).run();
  } catch (const BadFile& e) {
    const std::string advice =
        e.advice().empty() ? "the file is damaged; save or download it again" : e.advice();
    throw tmeter::Error(TMETER_BAD_MODEL, std::string(e.what()) + "; " + advice);
  }
}

}  // namespace
}  // namespace folder

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.folder",
        .version = "1.0.0",
        .description = "Reads folders: Hugging Face models, diffusers' components, PEFT adapters",
    }),
    [](tmeter::Registrar& r) {
      r.loader("folder", "model folder", {{"folder:*", 50}}, folder::load);
    })
