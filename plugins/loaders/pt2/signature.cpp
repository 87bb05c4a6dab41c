#include "signature.hpp"

#include <tmeter/abi/graph.h>

#include <array>

#include "../common/json_text.hpp"
#include "plain_specs.hpp"

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

/// Tensors and custom objects have {"name": …}, sizes {"as_name": …}, constants no name.
std::string_view user_input_name(json::element argument) {
  const auto tagged = as_tagged(argument);
  if (!tagged.value.is_object()) return {};
  const auto object = as_object(tagged.value);
  for (const auto key : {"name", "as_name"})
    if (const auto name = find(object, key)) return as_text(*name);
  return {};
}

void read_user_input(json::object spec, Signature& out) {
  const auto argument = member(spec, "arg");
  out.inputs.push_back({InputSpec::Kind::kUser, user_input_name(argument), argument});
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
    if (row.kind == tagged.kind) return row.read(as_object(tagged.value), out);
  // A kind of a later version: only a graph that uses it is in trouble, and will say so.
}

/// Mutated buffers, gradients and tokens are results too, but not the model's outputs.
void read_output_spec(json::element spec, Signature& out) {
  const auto tagged = as_tagged(spec);
  if (tagged.kind == "user_output") out.outputs.push_back(member(as_object(tagged.value), "arg"));
}

template <class Read>
void read_items(json::array items, std::string_view key, size_t& i, Signature& out, Read read) {
  for (const json::element spec : items) {
    within([&] { return std::string(key) + "[" + std::to_string(i) + "]"; },
           [&] { read(spec, out); });
    ++i;
  }
}

/// One of so many pieces.
void add(const PlainSpecs& plain, size_t pieces, TextStore& texts, Signature& out) {
  if (out.tensors.empty()) out.tensors.reserve(plain.specs.size() * pieces);  // or nearly so
  for (const auto& spec : plain.specs)
    out.tensors.push_back(
        {spec.kind, texts.keep(spec.argument), texts.keep(spec.name), spec.persistent});
}

/// The same, as long as the signature.
json::element lasting(json::element piece, Signature& out) {
  const std::string text = simdjson::minify(piece);
  auto& document = out.pieces.emplace_back();
  return loading::require_json(loading::parse_json(text, false, document), document);
}

void read_inputs(const Series& inputs, TextStore& texts, Signature& out) {
  size_t number = 0;
  const auto read = [](PlainSpecs& plain, std::string_view text) { return plain.read(text); };
  const auto take = [&](const PlainSpecs& plain) {
    number += plain.specs.size();
    add(plain, inputs.pieces(), texts, out);
  };
  inputs.each<PlainSpecs>(read, take, [&](json::element piece) {
    const auto items = as_array(inputs.is_lasting() ? piece : lasting(piece, out));
    read_items(items, "input_specs", number, out, read_input_spec);
  });
}

}  // namespace

Signature read_signature(json::object signature, const Series& inputs, TextStore& texts) {
  Signature out;
  read_inputs(inputs, texts, out);
  size_t number = 0;
  read_items(array_member(signature, "output_specs"), "output_specs", number, out,
             read_output_spec);
  return out;
}

}  // namespace pt2
