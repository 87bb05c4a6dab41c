// The function that a node calls: "torch.ops.aten.max.dim" → aten::max, overload dim. Needs no
// host.
#pragma once
#include <string>
#include <string_view>

namespace pt2 {

struct Target {
  std::string op;             // "aten::conv2d", "_operator::mul", "higher_order::cond"
  std::string_view overload;  // "" for the default; a view into the parsed text
};

inline constexpr std::string_view kHigherOrder = "higher_order::";

/// `torch.ops.NS.NAME[.OVERLOAD]`, Python functions (`_operator.add`, `torch.sym_max`) and
/// registered extensions (`#NS:NAME`).
Target parse_target(std::string_view text);

}  // namespace pt2
