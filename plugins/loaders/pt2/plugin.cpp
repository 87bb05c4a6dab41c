// The loader of torch.export archives (.pt2), without LibTorch: ZIP and JSON only, weights unread.
#include <tmeter/cpp/plugin.hpp>

#include "document.hpp"
#include "graph_reader.hpp"
#include "inputs.hpp"
#include "ties.hpp"

namespace pt2 {
namespace {

constexpr int64_t kSchemaMajor = 8;  // torch 2.6 (8.2) … 2.15 (8.20)

/// Only the major version breaks; within it keys are added, and unknown ones are ignored.
void check_version(json::object program) {
  const auto version = object_member(program, "schema_version");
  const int64_t major = read_member(version, "major", as_integer);
  if (major == kSchemaMajor) return;
  const auto torch = find_set(program, "torch_version");
  throw BadFile("its schema version is " + std::to_string(major) + "." +
                    std::to_string(read_member(version, "minor", as_integer)) +
                    (torch ? " (torch " + shown(as_text(*torch)) + ")" : "") +
                    "; tmeter reads version 8 (torch 2.6 to 2.15)",
                "export the model again with one of these, or use a tmeter that knows version " +
                    std::to_string(major));
}

void set_properties(tmeter::GraphBuilder& graph, json::object program, const Modules& modules) {
  const auto version = object_member(program, "schema_version");
  graph.property("format", "torch.export");
  graph.property("schema", std::to_string(read_member(version, "major", as_integer)) + "." +
                               std::to_string(read_member(version, "minor", as_integer)));
  if (const auto torch = find_set(program, "torch_version"))
    graph.property("producer", "torch " + std::string(as_text(*torch)));
  const auto type = modules.root_type();
  if (!type.empty()) graph.property("name", type.substr(type.rfind('.') + 1));
}

struct Load {
  const tmeter::Request& request;
  tmeter::GraphBuilder& graph;
  Notes notes;
  tmeter::Source source = request.source();
  Archive archive{};
  Symbols symbols{graph, notes};
  Building building{graph, symbols, notes};
  Modules modules{building};
  Arguments arguments{building};

  std::optional<Document> program{}, weights{}, constants{};

  void run(std::string_view model) {
    archive = locate(source, model);
    if (!archive.other_models.empty()) note_other_models();
    open(archive.program, program);
    if (archive.weights_config) open(*archive.weights_config, weights);
    if (archive.constants_config) open(*archive.constants_config, constants);
    within([&] { return shown(archive.program.name); }, [&] { read_program(program->root()); });
    symbols.report();
    notes.finish();
  }

 private:
  void note_other_models() {
    std::string names;
    for (const auto& name : archive.other_models)
      names += (names.empty() ? "" : ", ") + in_quotes(name);
    notes.warn("models in the archive",
               "the archive holds several models: " + in_quotes(archive.model) + " is read, not " +
                   names + "; choose with --set pt2.model=NAME");
  }

  void open(const tmeter::Entry& entry, std::optional<Document>& document) {
    within([&] { return shown(entry.name); }, [&] { document.emplace(source.read(entry)); });
  }

  void read_program(json::object program) {
    check_version(program);
    within([] { return "graph_module"; },
           [&] { read_graph_module(program, object_member(program, "graph_module")); });
  }

  void read_graph_module(json::object program, json::object module) {
    const auto outer = object_member(module, "graph");
    const auto signature =
        within([] { return "signature"; },
               [&] { return read_signature(object_member(module, "signature")); });
    if (const auto ranges = find_set(program, "range_constraints"))
      symbols.read_ranges(as_object(*ranges));
    within([] { return "graph"; },
           [&] {
             Scope scope(building, outer);
             const auto given = apply_given(request.inputs(), signature, scope, symbols);
             if (const auto calls = find_set(module, "module_call_graph"))
               modules.read_call_graph(as_array(*calls));
             auto nodes = view_nodes(outer);
             modules.read_stacks(nodes);
             build_tensors(signature, nodes, scope);
             build_inputs(signature, given, building, scope, arguments);
             GraphReader reader(building, modules, arguments);
             for (const auto& input : signature.inputs)
               if (input.kind == InputSpec::Kind::kUser && !input.name.empty())
                 reader.input(scope.use(input.name));
             reader.read(nodes, scope, modules.root_call());
             for (const auto output : signature.outputs)
               graph.output(arguments.value(output, scope));
           });
    set_properties(graph, program, modules);
  }

  void build_tensors(const Signature& signature, const std::vector<NodeView>& nodes, Scope& scope) {
    Tensors tensors(building, source, archive);
    const auto root = [](const auto& d) { return d ? std::optional(d->root()) : std::nullopt; };
    tensors.read(signature.tensors, scope, modules, root(weights), root(constants));
    std::deque<std::string> keys;
    find_ties(tensors, nodes, modules, notes, keys);
    modules.build();
    tensors.build(modules, scope);
  }
};

void load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call& call) {
  try {
    Load{request, graph, Notes(call)}.run(call.option_text("model"));
  } catch (const BadFile& e) {
    const std::string advice = e.advice().empty()
                                   ? "the file is damaged or of an unknown kind; export it again"
                                   : e.advice();
    throw tmeter::Error(TMETER_BAD_MODEL, std::string(e.what()) + "; " + advice);
  }
}

}  // namespace
}  // namespace pt2

TMETER_PLUGIN_INFO((tmeter::PluginInfo{"org.tmeter.pt2",
                                       "1.0.0",
                                       "Reads torch.export archives (.pt2), weights left unread",
                                       {},
                                       {}}),
                   [](tmeter::Registrar& r) {
                     r.option(
                         {.key = "model",
                          .text = "which model of an archive with several; default: the first"});
                     r.loader("pt2", "torch.export archive",
                              {{"zip:*/models/*.json", 90},
                               {"zip:models/*.json", 90},
                               {"zip:serialized_exported_program.json", 90},
                               {"zip:*data/aotinductor/*", 80},
                               {"zip:*/archive_format", 70}},
                              pt2::load);
                   })
