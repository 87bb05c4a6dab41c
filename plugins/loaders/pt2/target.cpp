#include "target.hpp"

namespace pt2 {
namespace {

constexpr std::string_view kOps = "torch.ops.";

std::string join(std::string_view space, std::string_view name) {
  return std::string(space) + "::" + std::string(name);
}

Target torch_op(std::string_view rest) {
  const size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return {join("torch.ops", rest), {}};
  const auto space = rest.substr(0, dot);
  auto name = rest.substr(dot + 1);
  std::string_view overload;
  const size_t last = name.rfind('.');
  if (last != std::string_view::npos) {  // higher-order operators have no overloads
    overload = name.substr(last + 1);
    name = name.substr(0, last);
  }
  if (overload == "default") overload = {};
  return {join(space, name), overload};
}

}  // namespace

Target parse_target(std::string_view text) {
  if (text.starts_with(kOps)) return torch_op(text.substr(kOps.size()));
  if (text.starts_with('#')) {
    const size_t colon = text.find(':');
    if (colon != std::string_view::npos)
      return {join(text.substr(1, colon - 1), text.substr(colon + 1)), {}};
  }
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {join("python", text), {}};
  return {join(text.substr(0, dot), text.substr(dot + 1)), {}};
}

}  // namespace pt2
