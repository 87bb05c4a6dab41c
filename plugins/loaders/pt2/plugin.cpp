// The loader of torch.export archives (.pt2), without LibTorch: ZIP and JSON only, weights unread.
#include <tmeter/cpp/plugin.hpp>

#include "document.hpp"
#include "graph_reader.hpp"
#include "guards.hpp"
#include "inputs.hpp"
#include "plugins/common/options.hpp"
#include "recording.hpp"
#include "ties.hpp"

namespace pt2 {
namespace {

constexpr int64_t kSchemaMajor = 8;  // torch 2.6 (8.2) … 2.15 (8.20)

constexpr std::string_view kNodes = "graph_module.graph.nodes",
                           kInputs = "graph_module.graph.inputs",
                           kTensorValues = "graph_module.graph.tensor_values",
                           kSpecs = "graph_module.signature.input_specs",
                           kCalls = "graph_module.module_call_graph";
constexpr std::string_view kConfig = "config";

/// Only major versions are incompatible. Minor ones add keys, and unknown keys are ignored.
void check_version(json::object program) {
  const auto version = object_member(program, "schema_version");
  const int64_t major = read_member(version, "major", as_integer);
  if (major == kSchemaMajor) return;
  const auto torch = find_set(program, "torch_version");
  throw BadFile("its schema version is " + std::to_string(major) + "." +
                    std::to_string(read_member(version, "minor", as_integer)) +
                    (torch ? " (torch " + shown(as_text(*torch)) + ")" : "") +
                    "; tmeter reads version 8 (torch 2.6 to 2.15)",
                "export the model again with one of these, or use a tmeter that supports version " +
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

/// Compares the names of one list of the graph with those of the signature.
class NameListCheck {
 public:
  NameListCheck(const char* list, const std::vector<std::string_view>& expected)
      : list_(list), expected_(expected) {}

  void take(std::string_view name) {
    const auto expected = count_ < expected_.size() ? expected_[count_] : std::string_view();
    if (!name.empty() && !expected.empty() && name != expected)
      throw BadFile(std::string(list_) + "[" + std::to_string(count_) + "] is " + in_quotes(name) +
                    ", but " + in_quotes(expected) + " in the signature");
    ++count_;
  }
  void finish() const {
    if (count_ != expected_.size())
      throw BadFile("it has " + std::to_string(count_) + " " + list_ +
                    ", but its signature describes " + std::to_string(expected_.size()));
  }

 private:
  const char* list_;
  const std::vector<std::string_view>& expected_;
  size_t count_ = 0;
};

struct Load {
  const tmeter::Request& request;
  tmeter::GraphBuilder& graph;
  Notes notes;
  tmeter::Source source = request.source();
  Archive archive{};
  TextStore texts{};
  Symbols symbols{graph, notes, texts};
  Building building{graph, symbols, notes, texts};
  Modules modules{building};
  Arguments arguments{building};

  std::optional<Document> program{}, weights{}, constants{};

  void run(std::string_view model) {
    archive = locate(source, model);
    if (!archive.other_models.empty()) note_other_models();
    open(archive.program, program, {kNodes, kInputs, kTensorValues, kSpecs, kCalls});
    if (archive.weights_config) open(*archive.weights_config, weights, {kConfig});
    if (archive.constants_config) open(*archive.constants_config, constants, {kConfig});
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

  void open(const tmeter::Entry& entry, std::optional<Document>& document,
            std::vector<std::string_view> large) {
    SplitOptions options;
    options.paths = std::move(large);
    options.scan.between = [&] { notes.check_cancelled(); };
    within([&] { return shown(entry.name); },
           [&] { document.emplace(source.read(entry), options); });
  }

  void read_program(json::object program) {
    check_version(program);
    within([] { return "graph_module"; },
           [&] { read_graph_module(program, object_member(program, "graph_module")); });
  }

  void read_graph_module(json::object program, json::object module) {
    const auto outer = object_member(module, "graph");
    const auto signature = within([] { return "signature"; },
                                  [&] { return signature_of(object_member(module, "signature")); });
    if (const auto ranges = find_set(program, "range_constraints"))
      symbols.read_ranges(as_object(*ranges));
    within([] { return "graph"; },
           [&] {
             const auto nodes = array_at(kNodes, member(outer, "nodes"));
             check_inputs(find(outer, "inputs"), signature);
             auto scope = make_scope(outer);
             Uses uses(signature, scope);
             const auto given = apply_given(request.inputs(), signature, scope, symbols);
             if (const auto calls = find_set(module, "module_call_graph"))
               modules.read_call_graph(array_at(kCalls, *calls));
             Recording recording(texts, modules, scope, signature.tensors.size());
             record_nodes(nodes, recording, uses);
             build_tensors(signature, uses, scope);
             build_inputs(signature, given, building, scope, arguments);
             if (const auto guards = find_set(program, "guards_code"))
               within([] { return "guards_code"; },
                      [&] { read_guards(as_array(*guards), signature, scope, building); });
             read_nodes(recording, signature, scope);
             for (const auto output : signature.outputs)
               graph.output(arguments.value(output, scope));
             check_outputs(find(outer, "outputs"), signature, scope);
           });
    set_properties(graph, program, modules);
  }

  /// The list or table at a path of the program; `found` is its element in the document.
  ChunkedArray array_at(std::string_view path, json::element found) const {
    return program->array(path, found);
  }
  Signature signature_of(json::object signature) {
    const auto inputs = member(signature, "input_specs");
    array_member(signature, "input_specs");  // the error names the key
    return read_signature(signature, array_at(kSpecs, inputs), texts);
  }
  /// The inputs of the graph must match the signature.
  void check_inputs(std::optional<json::element> found, const Signature& signature) const {
    if (!found) return;
    NameListCheck names_check("inputs", signature.input_names);
    array_at(kInputs, *found).each([&](json::element piece) {
      for (const json::element input : as_array(piece)) names_check.take(name_in(input));
    });
    names_check.finish();
  }
  /// The same for outputs, which must also be defined.
  void check_outputs(std::optional<json::element> found, const Signature& signature,
                     const Scope& scope) const {
    if (!found) return;
    NameListCheck names_check("outputs", signature.output_names);
    for (const json::element output : as_array(*found)) {
      const auto name = name_in(output);
      names_check.take(name);
      if (as_tagged(output).kind == "as_tensor") scope.use(name);
    }
    names_check.finish();
  }

  Scope make_scope(json::object outer) {
    const auto table = find_set(outer, "tensor_values");
    if (!table) return Scope(building, outer);
    return Scope(building, outer, array_at(kTensorValues, *table));
  }

  static std::optional<ChunkedArray> config_of(const std::optional<Document>& document,
                                               const char* what) {
    if (!document) return std::nullopt;
    const auto table =
        within([&] { return what; }, [&] { return member(document->root(), "config"); });
    return document->array(kConfig, table);
  }

  void record_nodes(const ChunkedArray& nodes, Recording& recording, Uses& uses) {
    nodes.each([&](json::element piece) {
      notes.check_cancelled();
      const auto list = within([] { return "nodes"; }, [&] { return as_array(piece); });
      recording.add(list, nodes.pieces(), uses);
    });
  }

  void read_nodes(Recording& recording, const Signature& signature, Scope& scope) {
    GraphReader reader(building, modules, arguments);
    if (recording.has_subgraphs) {
      std::vector<tmeter_id> inputs;
      for (const auto& input : signature.inputs)
        if (input.kind == InputSpec::Kind::kUser && !input.name.empty())
          inputs.push_back(scope.use(input.name));
      reader.expect_branches(inputs);
    }
    reader.read(recording, scope, modules.root_call());
  }

  void build_tensors(const Signature& signature, const Uses& uses, Scope& scope) {
    Tensors tensors(building, source, archive);
    tensors.read(signature.tensors, scope, modules, config_of(weights, "weights config"),
                 config_of(constants, "constants config"));
    std::deque<std::string> keys;
    find_ties(tensors, uses, notes, keys);
    modules.build();
    tensors.build(modules, scope);
    weights.reset();
    constants.reset();
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
                                       "Reads torch.export archives (.pt2) without reading weights",
                                       {},
                                       {}}),
                   [](tmeter::Registrar& r) {
                     r.option(plugins::text_option(
                         "model",
                         "model to read from an archive with several; default: the first"));
                     r.loader("pt2", "torch.export archive",
                              {{"zip:*/models/*.json", 90},
                               {"zip:models/*.json", 90},
                               {"zip:serialized_exported_program.json", 90},
                               {"zip:*data/aotinductor/*", 80},
                               {"zip:*/archive_format", 70}},
                              pt2::load);
                   })
