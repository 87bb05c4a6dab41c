#include "signature.hpp"

#include <tmeter/abi/graph.h>

#include <array>

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
void read_list(json::object signature, std::string_view key, Signature& out, Read read) {
  size_t i = 0;
  for (const json::element spec : array_member(signature, key)) {
    within([&] { return std::string(key) + "[" + std::to_string(i) + "]"; },
           [&] { read(spec, out); });
    ++i;
  }
}

}  // namespace

Signature read_signature(json::object signature) {
  Signature out;
  read_list(signature, "input_specs", out, read_input_spec);
  read_list(signature, "output_specs", out, read_output_spec);
  return out;
}

}  // namespace pt2
