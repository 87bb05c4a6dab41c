#include "arguments.hpp"

#include <array>
#include <limits>

#include "tensor_meta.hpp"

namespace pt2 {
namespace {

double non_finite(std::string_view word) {
  if (word == "Infinity") return std::numeric_limits<double>::infinity();
  if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  throw BadFile("expected a number, found the text " + in_quotes(word));
}

double as_real(json::element e) {
  std::string_view word;
  return e.get(word) == simdjson::SUCCESS ? non_finite(word) : as<double>(e, "a number");
}

}  // namespace

const Arguments::Kind* Arguments::find_kind(std::string_view name) {
  using A = Arguments;
  // Argument of schema.py and the unions inside it, frequent kinds first.
  static constexpr std::array<Kind, 31> kKinds{{
      {"as_tensor", &A::tensor, false},
      {"as_int", &A::integer, false},
      {"as_ints", &A::integer, true},
      {"as_none", &A::no_value, false},
      {"as_bool", &A::boolean, false},
      {"as_tensors", &A::tensor, true},
      {"as_float", &A::real, false},
      {"as_sym_int", &A::symbolic, false},
      {"as_sym_ints", &A::symbolic, true},
      {"as_scalar_type", &A::scalar_type_value, false},
      {"as_device", &A::device, false},
      {"as_string", &A::text, false},
      {"as_floats", &A::real, true},
      {"as_bools", &A::boolean, true},
      {"as_strings", &A::text, true},
      {"as_optional_tensors", &A::optional_tensor, true},
      {"as_optional_tensor", &A::optional_tensor, false},
      {"as_memory_format", &A::memory_format, false},
      {"as_layout", &A::layout, false},
      {"as_sym_bool", &A::symbolic, false},
      {"as_sym_bools", &A::symbolic, true},
      {"as_sym_float", &A::symbolic, false},
      {"as_sym_floats", &A::symbolic, true},
      {"as_graph", &A::graph, false},
      {"as_custom_obj", &A::custom_object, false},
      {"as_operator", &A::operator_name, false},
      {"as_complex", &A::complex_number, false},
      {"as_nested_tensors", &A::tensors, true},
      {"as_int_lists", &A::integers, true},
      {"as_float_lists", &A::reals, true},
      {"as_string_to_argument", &A::dictionary, false},
  }};
  for (const auto& kind : kKinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

tmeter_id Arguments::value(json::element argument, Scope& scope) {
  const auto tagged = as_tagged(argument);
  const Kind* kind = find_kind(tagged.kind);
  if (!kind) return building_.graph.other(tagged.kind);
  if (kind->is_list) return list(tagged.value, kind->read, scope);
  return (this->*kind->read)(tagged.value, scope);
}

void Arguments::append_flat(json::element argument, Scope& scope, Ids& out) {
  const auto tagged = as_tagged(argument);
  const Kind* kind = find_kind(tagged.kind);
  if (!kind || !kind->is_list) {
    out.push_back(value(argument, scope));
    return;
  }
  for (const json::element item : as_array(tagged.value))
    out.push_back((this->*kind->read)(item, scope));
}

tmeter_id Arguments::list(json::element items, ReadOne read, Scope& scope) {
  Ids ids;
  for (const json::element item : as_array(items)) ids.push_back((this->*read)(item, scope));
  return building_.graph.list(ids);
}

tmeter_id Arguments::tensor(json::element e, Scope& scope) {
  return scope.use(text_member(as_object(e), "name"));
}

tmeter_id Arguments::tensors(json::element e, Scope& scope) {
  return list(e, &Arguments::tensor, scope);
}

tmeter_id Arguments::optional_tensor(json::element e, Scope& scope) {
  const auto tagged = as_tagged(e);
  return tagged.kind == "as_none" ? none() : tensor(tagged.value, scope);
}

tmeter_id Arguments::integer(json::element e, Scope&) { return integer(as_integer(e)); }

tmeter_id Arguments::integers(json::element e, Scope& scope) {
  return list(e, &Arguments::integer, scope);
}

tmeter_id Arguments::real(json::element e, Scope&) { return building_.graph.real(as_real(e)); }

tmeter_id Arguments::reals(json::element e, Scope& scope) {
  return list(e, &Arguments::real, scope);
}

tmeter_id Arguments::boolean(json::element e, Scope&) { return boolean(as_bool(e)); }

tmeter_id Arguments::text(json::element e, Scope&) { return building_.graph.text(as_text(e)); }

/// A size, condition or number: the name of a computed one, or a constant.
tmeter_id Arguments::symbolic(json::element e, Scope& scope) {
  const auto tagged = as_tagged(e);
  if (tagged.kind == "as_name") return scope.use(as_text(tagged.value));
  return value(e, scope);
}

tmeter_id Arguments::scalar_type_value(json::element e, Scope&) {
  return building_.graph.dtype(scalar_type(as_integer(e)));
}

tmeter_id Arguments::layout(json::element e, Scope&) {
  return building_.graph.other(enum_name(kLayouts, as_integer(e)));
}

tmeter_id Arguments::memory_format(json::element e, Scope&) {
  return building_.graph.other(enum_name(kMemoryFormats, as_integer(e)));
}

tmeter_id Arguments::device(json::element e, Scope&) {
  const auto object = as_object(e);
  std::string name(text_member(object, "type"));
  if (const auto index = find_set(object, "index"))
    name += ":" + std::to_string(as_integer(*index));
  return building_.graph.other(name);
}

tmeter_id Arguments::graph(json::element e, Scope&) {
  return building_.graph.other("graph " + std::string(text_member(as_object(e), "name")));
}

tmeter_id Arguments::custom_object(json::element e, Scope& scope) {
  const auto object = as_object(e);
  const auto name = text_member(object, "name");
  return scope.is_defined(name) ? scope.use(name)
                                : building_.graph.other(text_member(object, "class_fqn"));
}

tmeter_id Arguments::operator_name(json::element e, Scope&) {
  return building_.graph.other(as_text(e));
}

tmeter_id Arguments::complex_number(json::element e, Scope&) {
  const auto object = as_object(e);
  return building_.graph.other(std::to_string(read_member(object, "real", as_real)) + "+" +
                               std::to_string(read_member(object, "imag", as_real)) + "j");
}

/// A dictionary of keyword arguments (Triton kernels): its values, in order.
tmeter_id Arguments::dictionary(json::element e, Scope& scope) {
  Ids ids;
  for (const auto field : as_object(e)) ids.push_back(value(field.value, scope));
  return building_.graph.list(ids);
}

}  // namespace pt2
