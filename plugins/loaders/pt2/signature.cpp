#include "signature.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <array>

#include "../common/json_text.hpp"
#include "name_map.hpp"

namespace pt2 {
namespace {

std::string_view argument_name(json::object spec) {
  return text_member(object_member(spec, "arg"), "name");
}

void read_parameter(json::object spec, Signature& out) {
  out.tensors.push_back(
      {TMETER_TENSOR_PARAMETER, argument_name(spec), text_member(spec, "parameter_name"), true});
}

void read_buffer(json::object spec, Signature& out) {
  out.tensors.push_back({TMETER_TENSOR_BUFFER, argument_name(spec),
                         text_member(spec, "buffer_name"),
                         read_member(spec, "persistent", as_bool)});
}

void read_constant(json::object spec, Signature& out) {
  out.tensors.push_back({TMETER_TENSOR_CONSTANT, argument_name(spec),
                         text_member(spec, "tensor_constant_name"), true});
}

void read_user_input(json::object spec, Signature& out) {
  const auto argument = member(spec, "arg");
  out.inputs.push_back({InputSpec::Kind::kUser, name_in(argument), argument});
}

void read_constant_input(json::object spec, Signature& out) {
  out.inputs.push_back(
      {InputSpec::Kind::kConstant, text_member(spec, "name"), member(spec, "value")});
}

void read_custom_object(json::object spec, Signature& out) {
  out.inputs.push_back({InputSpec::Kind::kObject, argument_name(spec), member(spec, "arg")});
}

void read_token(json::object spec, Signature& out) {
  out.inputs.push_back({InputSpec::Kind::kToken, argument_name(spec), member(spec, "arg")});
}

struct Row {
  std::string_view kind;
  void (*read)(json::object, Signature&);
};

constexpr std::array<Row, 7> kInputSpecs{{{"parameter", read_parameter},
                                          {"buffer", read_buffer},
                                          {"tensor_constant", read_constant},
                                          {"user_input", read_user_input},
                                          {"constant_input", read_constant_input},
                                          {"custom_obj", read_custom_object},
                                          {"token", read_token}}};

void read_input_spec(json::element spec, Signature& out) {
  const auto tagged = as_tagged(spec);
  for (const auto& row : kInputSpecs)
    if (row.kind == tagged.kind) {
      const auto tensors = out.tensors.size(), inputs = out.inputs.size();
      row.read(as_object(tagged.value), out);
      if (out.tensors.size() > tensors) out.input_names.push_back(out.tensors.back().argument);
      if (out.inputs.size() > inputs) out.input_names.push_back(out.inputs.back().name);
      return;
    }
  // A kind of a later version: an error occurs only if the graph uses the name.
  out.input_names.emplace_back();
}

/// Kinds of outputs that write into an input, and the key with its name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTargets{
    {{"buffer_mutation", "buffer_name"},
     {"parameter_mutation", "parameter_name"},
     {"user_input_mutation", "user_input_name"}}};

/// Mutated buffers, gradients and tokens are results of the graph, but not outputs of the model.
void read_output_spec(json::element element, Signature& out) {
  const auto tagged = as_tagged(element);
  const auto spec = as_object(tagged.value);
  const auto argument = find(spec, "arg");
  auto& name = out.output_names.emplace_back();
  if (tagged.kind == "user_output") {
    out.outputs.push_back(member(spec, "arg"));
    name = name_in(*argument);
  } else if (argument) {
    if (const auto text = find(as_object(*argument), "name")) name = as_text(*text);
  }
  for (const auto& [kind, key] : kTargets)
    if (tagged.kind == kind) out.targets.push_back(text_member(spec, key));
}

/// Outputs may write into inputs only.
void require_targets(const Signature& signature) {
  if (signature.targets.empty()) return;
  NameMap<bool> names;
  for (const auto& tensor : signature.tensors) names.insert(tensor.name, true);
  for (const auto& input : signature.inputs) names.insert(input.name, true);
  for (const auto target : signature.targets)
    if (!names.find(target))
      throw BadFile("output_specs: " + in_quotes(target) + " is written into, but is not an input");
}

template <class Read>
void read_items(json::array items, std::string_view key, size_t& i, Signature& out, Read read) {
  for (const json::element spec : items) {
    within([&] { return std::string(key) + "[" + std::to_string(i) + "]"; },
           [&] { read(spec, out); });
    ++i;
  }
}

/// Whether no input refers to the element it was read from.
bool are_tensors(json::array items) {
  return std::ranges::all_of(items, [](json::element item) {
    json::object spec;
    if (item.get(spec) != simdjson::SUCCESS || spec.size() != 1) return false;
    const auto kind = (*spec.begin()).key;
    return kind == "parameter" || kind == "buffer" || kind == "tensor_constant";
  });
}

/// A copy that lives as long as the signature.
json::array copy_of(json::array items, Signature& out) {
  const std::string text = simdjson::minify(items);
  auto& document = out.pieces.emplace_back();
  return as_array(loading::require_json(loading::parse_json(text, false, document), document));
}

void read_inputs(const ChunkedArray& inputs, TextStore& texts, Signature& out) {
  size_t number = 0;
  inputs.each([&](json::element piece) {
    auto items = as_array(piece);
    const bool keep_texts = !inputs.has_document_lifetime() && are_tensors(items);
    if (!inputs.has_document_lifetime() && !keep_texts) items = copy_of(items, out);
    if (number == 0) {
      out.tensors.reserve(items.size() * inputs.pieces());
      out.input_names.reserve(items.size() * inputs.pieces());
    }
    read_items(items, "input_specs", number, out, [&](json::element spec, Signature& signature) {
      read_input_spec(spec, signature);
      if (!keep_texts) return;
      auto& tensor = signature.tensors.back();
      tensor.argument = texts.keep(tensor.argument);
      tensor.name = texts.keep(tensor.name);
      signature.input_names.back() = tensor.argument;
    });
  });
}

}  // namespace

/// Tensors and custom objects have {"name": …}, sizes {"as_name": …}, constants no name.
std::string_view name_in(json::element argument) {
  const auto tagged = as_tagged(argument);
  if (!tagged.value.is_object()) return {};
  const auto object = as_object(tagged.value);
  for (const auto key : {"name", "as_name"})
    if (const auto name = find(object, key)) return as_text(*name);
  return {};
}

Signature read_signature(json::object signature, const ChunkedArray& inputs, TextStore& texts) {
  Signature out;
  read_inputs(inputs, texts, out);
  size_t number = 0;
  read_items(array_member(signature, "output_specs"), "output_specs", number, out,
             read_output_spec);
  require_targets(out);
  return out;
}

}  // namespace pt2
