// The lists of review.cpp.
#pragma once
#include <span>
#include <string_view>

namespace tmeter::torch_backend {

struct RefusedOperator {
  std::string_view name;  // "aten::save", all overloads; "c10d::*", a namespace
  std::string_view reason;
};
std::span<const RefusedOperator> refused_operators();

/// Harmless dispatched operators that the rules would refuse.
std::span<const std::string_view> harmless_operators();

struct Primitive {
  std::string_view name;
  std::string_view overloads;  // separated by spaces; "-" is the one without a name
};
std::span<const Primitive> primitives();

/// Names of text arguments that are options, labels or messages.
std::span<const std::string_view> option_names();

/// Classes written in C++ that hold weights: "__torch__.torch.classes.quantized.".
std::span<const std::string_view> weight_classes();

}  // namespace tmeter::torch_backend
