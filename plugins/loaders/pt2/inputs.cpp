#include "inputs.hpp"

namespace pt2 {
namespace {

using Given = tmeter::InputSpec;

[[noreturn]] void refuse(const Given& given, const std::string& why) {
  throw tmeter::Error(TMETER_BAD_USAGE, "--input " + std::string(given.text) + ": " + why);
}

bool is_tensor(const InputSpec& input) {
  return input.kind == InputSpec::Kind::kUser && as_tagged(input.value).kind == "as_tensor";
}

/// Exported programs take tensors only. The file holds the items of lists and tuples.
std::vector<Given> flattened(const std::vector<Given>& given) {
  std::vector<Given> out;
  for (const auto& g : given) {
    if (g.form == TMETER_INPUT_VALUE) refuse(g, "the model takes tensors only");
    if (g.form == TMETER_INPUT_TENSOR) out.push_back(g);
    for (const auto& item : flattened(g.items)) out.push_back(item);
  }
  return out;
}

/// The input by name, or else the next free one.
size_t choose(const Given& given, const Signature& signature, const std::vector<bool>& taken) {
  std::string names;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const auto& input = signature.inputs[i];
    if (!is_tensor(input)) continue;
    if (given.name.empty() ? !taken[i] : given.name == input.name) return i;
    names += (names.empty() ? "" : ", ") + in_quotes(input.name);
  }
  if (!given.name.empty()) refuse(given, "the model has no input of that name; it has " + names);
  refuse(given, "the model takes no more tensors than " + names);
}

/// ", as in 1x3x224x224"; N is a free size.
std::string as_recorded(json::array sizes, Symbols& symbols) {
  std::string out;
  for (const json::element size : sizes)
    out += (out.empty() ? ", as in " : "x") +
           (symbols.is_fixed(size) ? std::to_string(symbols.value(size)) : std::string("N"));
  return out;
}

/// Returns whether --input requests another size than the file fixes.
bool apply_one(const Given& given, const InputSpec& input, const Scope& scope, Symbols& symbols) {
  const auto meta = scope.tensor_meta(input.name);
  const auto sizes = array_member(meta, "sizes");
  const auto shown = "input " + in_quotes(input.name);
  if (static_cast<int64_t>(sizes.size()) != given.dims.rank())
    refuse(given, shown + " has " + std::to_string(sizes.size()) + " sizes, not " +
                      std::to_string(given.dims.rank()) + as_recorded(sizes, symbols));
  const auto recorded = read_dtype(meta);
  if (given.dtype.known() && given.dtype != recorded)
    refuse(given, shown + " is " + std::string(recorded.name()) + " in the file, not " +
                      std::string(given.dtype.name()));
  int64_t i = 0;
  bool another = false;
  for (const json::element size : sizes) {
    const int64_t requested = given.dims[i];
    const auto place = "size " + std::to_string(i) + " of " + shown;
    if (symbols.is_fixed(size)) {
      another = another || symbols.value(size) != requested;
    } else if (const auto problem = symbols.fix(size, requested, place); !problem.empty()) {
      refuse(given, place + " " + problem);
    }
    ++i;
  }
  return another;
}

}  // namespace

InputRequests apply_given(const std::vector<Given>& given, const Signature& signature,
                          const Scope& scope, Symbols& symbols) {
  InputRequests requests;
  requests.given.resize(signature.inputs.size());
  requests.other_dims.resize(signature.inputs.size());
  for (const auto& g : flattened(given)) {
    const size_t i = choose(g, signature, requests.given);
    requests.given[i] = true;
    if (apply_one(g, signature.inputs[i], scope, symbols)) requests.other_dims[i] = g.dims;
  }
  return requests;
}

void build_inputs(const Signature& signature, const InputRequests& requests, Building& building,
                  Scope& scope, Arguments& arguments) {
  auto& graph = building.graph;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const auto& input = signature.inputs[i];
    if (input.name.empty()) continue;  // a constant: part of the program
    within([&] { return "input " + in_quotes(input.name); },
           [&] {
             switch (input.kind) {
               case InputSpec::Kind::kUser:
                 graph.input(input.name, requests.given[i] ? "given" : "recorded",
                             scope.make(input.name));
                 if (!requests.other_dims[i].empty())
                   graph.want_input(input.name, requests.other_dims[i]);
                 break;
               case InputSpec::Kind::kConstant:
                 scope.define(input.name, arguments.value(input.value, scope));
                 break;
               case InputSpec::Kind::kObject:
                 scope.define(input.name,
                              graph.other(text_member(as_object(input.value), "class_fqn")));
                 break;
               case InputSpec::Kind::kToken:
                 scope.define(input.name, graph.other("token"));
                 break;
             }
           });
  }
}

}  // namespace pt2
