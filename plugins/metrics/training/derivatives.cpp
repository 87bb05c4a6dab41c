#include "derivatives.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <tmeter/cpp/op_class.hpp>

namespace training {
namespace {

constexpr Derivative kDerivatives[] = {
#include "derivatives_data.inc"
};

const Derivative* row_of(std::string_view op) {
  const auto* at =
      std::lower_bound(std::begin(kDerivatives), std::end(kDerivatives), op,
                       [](const Derivative& d, std::string_view name) { return d.op < name; });
  return at != std::end(kDerivatives) && at->op == op ? at : nullptr;
}

}  // namespace

const Derivative* find_derivative(std::string_view op, std::string_view overload) {
  constexpr std::string_view kAten = "aten::";
  if (!op.starts_with(kAten)) return nullptr;
  const auto name = [&](std::string_view base) {
    return std::string(base) +
           (overload.empty() || overload == "default" ? "" : "." + std::string(overload));
  };
  const auto bare = op.substr(kAten.size());
  if (const auto* row = row_of(name(bare))) return row;
  return tmeter::is_in_place(op) ? row_of(name(tmeter::base_name(op))) : nullptr;
}

}  // namespace training
