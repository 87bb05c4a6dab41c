// Attributes of one module for module_text.cpp: its tensors, the arguments of its operators, its
// TorchScript attributes. Also formats values like Python.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {

/// 1e-05, 0.1, 2.0, True, (3, 3), 'none'.
std::string python_text(double value);
std::string python_text(const Value& value);
std::string python_tuple(const std::vector<int64_t>& items);

class ModuleAttributes {
 public:
  /// `nodes`: the operators that the module itself runs.
  ModuleAttributes(const Module& module, std::span<const Node* const> nodes)
      : module_(module), nodes_(nodes) {}

  const Tensor* tensor(std::string_view name) const;
  /// The module's first operator whose name without namespace starts with this prefix.
  const Node* node(std::string_view op_prefix) const;
  const Value* attribute(std::string_view name) const;

  /// An argument of `node`, else the attribute of that name; null without either.
  const Value* field(const Node* node, std::string_view name) const;
  std::optional<int64_t> integer(const Node* node, std::string_view name) const;
  /// A list of integers, one integer repeated to `rank` items; empty if absent.
  std::vector<int64_t> integers(const Node* node, std::string_view name, size_t rank) const;

 private:
  const Module& module_;
  std::span<const Node* const> nodes_;
};

}  // namespace tmeter::core
