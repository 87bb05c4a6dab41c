#include "core/module_description/module_attributes.hpp"

#include <tmeter/abi/graph.h>

#include <array>
#include <charconv>
#include <cmath>

namespace tmeter::core {
namespace {

const Value* find(std::span<const Arg> args, std::string_view name) {
  for (const auto& a : args) {
    if (a.name == name) return a.value->kind == TMETER_VALUE_NONE ? nullptr : a.value;
  }
  return nullptr;
}

}  // namespace

std::string python_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const double size = std::fabs(value);
  const bool fixed = value == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 fixed ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string text(buffer.data(), end);
  if (fixed && text.find('.') == text.npos) text += ".0";
  return text;
}

std::string python_tuple(const std::vector<int64_t>& items) {
  std::string text = "(";
  for (size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + std::to_string(items[i]);
  return text + (items.size() == 1 ? ",)" : ")");
}

std::string python_text(const Value& value) {
  switch (value.kind) {
    case TMETER_VALUE_INT:
      return std::to_string(value.i);
    case TMETER_VALUE_FLOAT:
      return python_text(value.f);
    case TMETER_VALUE_BOOL:
      return value.i ? "True" : "False";
    case TMETER_VALUE_TEXT:
      return "'" + std::string(value.text) + "'";
    default:
      return std::string(value.text);
  }
}

const Tensor* ModuleAttributes::tensor(std::string_view name) const {
  for (const auto* t : module_.tensors) {
    const auto dot = t->name.rfind('.');
    if (t->name.substr(dot == t->name.npos ? 0 : dot + 1) == name) return t;
  }
  return nullptr;
}

const Node* ModuleAttributes::node(std::string_view op_prefix) const {
  for (const auto* n : nodes_) {
    const auto colon = n->op.rfind(':');
    if (n->op.substr(colon == n->op.npos ? 0 : colon + 1).starts_with(op_prefix)) return n;
  }
  return nullptr;
}

const Value* ModuleAttributes::attribute(std::string_view name) const {
  return find(module_.attributes, name);
}

const Value* ModuleAttributes::field(const Node* node, std::string_view name) const {
  const auto* value = node ? find(node->args, name) : nullptr;
  return value ? value : attribute(name);
}

std::optional<int64_t> ModuleAttributes::integer(const Node* node, std::string_view name) const {
  const auto* value = field(node, name);
  if (!value || value->kind != TMETER_VALUE_INT) return std::nullopt;
  return value->i;
}

std::vector<int64_t> ModuleAttributes::integers(const Node* node, std::string_view name,
                                                size_t rank) const {
  const auto* value = field(node, name);
  if (!value) return {};
  if (value->kind == TMETER_VALUE_INT) return std::vector<int64_t>(rank, value->i);
  std::vector<int64_t> out;
  for (const auto* item : value->items) {
    if (item->kind != TMETER_VALUE_INT) return {};
    out.push_back(item->i);
  }
  if (out.size() == 1) out.resize(rank, out[0]);
  return out;
}

}  // namespace tmeter::core
