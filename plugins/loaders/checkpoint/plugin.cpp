// The loader of files of torch.save: state_dicts, training checkpoints, whole modules. It never
// runs code from the file and reads no weights.
#include <tmeter/cpp/plugin.hpp>

#include "../common/bad_file.hpp"
#include "../common/shard_index.hpp"
#include "choice.hpp"
#include "container.hpp"
#include "modules.hpp"
#include "plugins/common/options.hpp"
#include "plugins/common/wording.hpp"

namespace checkpoint {
namespace {

using loading::BadFile;
using loading::ShardIndex;

/// Leaves the file to the next loader.
[[noreturn]] void pass_on() { throw tmeter::Error(TMETER_UNSUPPORTED, "no checkpoint"); }

/// "a, b, c and 4 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kNamed = 5;
  return plugins::listed(names.size(), kNamed, [&](size_t i) {
    return names[i].empty() ? "everything (.)" : loading::shown(names[i]);
  });
}

class Load {
 public:
  Load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call)
      : source_(request.source()), graph_(graph), call_(call), key_(call.option_text("key")) {}

  void run() {
    if (source_.bytes().starts_with('{')) return read_index();
    const auto saved = read_saved(source_);
    if (saved->root->is_placeholder && !is_module(*saved->root))
      refuse_placeholder(*saved->root, "the saved object");
    const auto choice = chosen_of(*saved);
    Tensors tensors(*saved->storages);
    Describer describer;
    choice.chosen.is_module ? push_module(*choice.chosen.value, tensors, describer)
                            : push_dict(*choice.chosen.value, tensors, describer);
    set_properties(saved->format);
    auto part = choice.chosen.path;
    if (const auto shard = loading::part_of_shards(source_.path()); !shard.empty())
      part += (part.empty() ? "" : ", ") + shard;
    if (!part.empty()) graph_.property("part", part);
    report_choice(choice);
    report_calls(saved->called);
    report_notes(tensors, describer);
  }

 private:
  Choice chosen_of(const Saved& saved) const {
    try {
      return choose(*saved.root, key_);
    } catch (const BadFile& e) {
      if (saved.called.empty()) throw;
      throw BadFile(std::string(e.what()) + ", unless calling " +
                        loading::shown(saved.called.begin()->first) +
                        " makes some, which tmeter does not do",
                    e.advice());
    }
  }

  void push_module(const Value& module, Tensors& tensors, Describer& describer) {
    ModulePusher pusher(graph_, tensors, describer);
    pusher.push(module);
    report_left_out(pusher.left_out());
    const auto type = module.items->callable->text;
    graph_.property("name", type.substr(type.rfind('.') + 1));
  }

  void push_dict(const Value& dict, Tensors& tensors, Describer& describer) {
    loading::WeightTree tree(graph_);
    loading::TensorKinds kinds(loading::model_types_beside(source_));
    const auto shown = push_state_dict(dict, !key_.empty(), tensors, describer, kinds, tree);
    warn_of_uncertain_kinds(kinds);
    report_left_out(shown.left_out);
    if (!shown.names.empty()) return;
    if (key_.empty()) throw BadFile("its tensors have no parts");
    throw tmeter::Error(TMETER_BAD_USAGE,
                        "--set checkpoint.key=" + std::string(key_) + ": that part has no tensors");
  }

  void read_index() {
    const auto index = ShardIndex::read(source_.bytes());
    if (!index) pass_on();
    loading::require_shards(*index, source_);
    if (!looks_saved(source_.companion(index->shards().front().file))) pass_on();
    loading::WeightTree tree(graph_);
    loading::TensorKinds kinds(loading::model_types_beside(source_));
    for (const auto& shard : index->shards())
      for (const auto name : shard.tensors) kinds.note(name);
    std::string format;
    for (const auto& shard : index->shards()) {
      if (call_.cancelled()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
      loading::within([&] { return "shard " + loading::in_quotes(shard.file); },
                      [&] { format = read_shard(shard, kinds, tree); });
    }
    set_properties(format + ", " + std::to_string(index->shards().size()) + " files");
    warn_of_uncertain_kinds(kinds);
  }

  std::string read_shard(const loading::Shard& shard, loading::TensorKinds& kinds,
                         loading::WeightTree& tree) {
    const auto file = source_.companion(shard.file);
    const auto saved = read_saved(file);
    Tensors tensors(*saved->storages);
    Describer describer(file.handle(), shard.file);
    const auto shown = push_state_dict(*saved->root, false, tensors, describer, kinds, tree);
    loading::check_shard(shard, {shown.names.begin(), shown.names.end()});
    report_left_out(shown.left_out);
    report_calls(saved->called);
    report_notes(tensors, describer);
    return saved->format;
  }

  void set_properties(const std::string& format) {
    graph_.property("format", format);
    graph_.property("content", "weights");
  }

  void warn_of_uncertain_kinds(const loading::TensorKinds& kinds) {
    if (const auto uncertain = kinds.uncertain_kinds(); !uncertain.empty()) call_.warn(uncertain);
  }

  void report_choice(const Choice& choice) {
    if (choice.others.empty()) return;
    call_.warn("several parts of the checkpoint hold tensors: the report shows " +
               listed({choice.chosen.path}) + ", not " + listed(choice.others) +
               "; choose with --set checkpoint.key=…");
  }

  void report_calls(const Calls& calls) {
    if (calls.empty()) return;
    std::vector<std::string> names;
    for (const auto& [name, count] : calls)
      names.push_back(loading::shown(name) +
                      (count > 1 ? " (" + std::to_string(count) + "×)" : ""));
    call_.warn(
        "objects of these classes are kept by name only, since creating one would call the class; "
        "no parameter or buffer of the report is among them: " +
        listed(names));
  }

  void report_left_out(const std::vector<std::string>& objects) {
    if (objects.empty()) return;
    call_.warn(
        "tensors inside these objects are neither shown nor counted, because only their classes "
        "define which are parameters: " +
        listed(objects));
  }

  void report_notes(const Tensors& tensors, const Describer& describer) {
    if (!tensors.in_parts().empty())
      call_.warn("tensors shown as their parts: " + listed(tensors.in_parts()));
    if (describer.without_type() > 0)
      call_.warn(std::to_string(describer.without_type()) +
                 " tensors have element types unknown to tmeter: their bytes are not counted and "
                 "their elements not read");
  }

  tmeter::Source source_;
  tmeter::GraphBuilder& graph_;
  tmeter::Call& call_;
  std::string_view key_;
};

void load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call) {
  try {
    Load(request, graph, call).run();
  } catch (const BadFile& e) {
    const std::string advice = e.advice().empty()
                                   ? "the file is damaged or hostile; save or download it again"
                                   : e.advice();
    throw tmeter::Error(TMETER_BAD_MODEL, std::string(e.what()) + "; " + advice);
  }
}

}  // namespace
}  // namespace checkpoint

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.checkpoint",
        .version = "1.0.0",
        .description = "Reads files of torch.save without running their code or reading weights",
    }),
    [](tmeter::Registrar& r) {
      r.option(plugins::text_option("key",
                                    "part of the checkpoint that is the model, such as model.ema; "
                                    "default: by rule; . is everything"));
      // The pickle of protocols 2 to 5 begins with 0x80, that of protocol 1 with the digits of
      // torch.save's magic number.
      r.loader("checkpoint", "torch.save checkpoint",
               {{"zip:*/data.pkl !zip:*/code/* !zip:*/constants.pkl", 60},
                {"zip:data.pkl !zip:code/* !zip:constants.pkl", 60},
                {"magic:80", 30},
                {"magic:4c31313935343730333731343630333838", 30},
                {"magic:7b name:*.index.json", 50}},
               checkpoint::load);
    })
