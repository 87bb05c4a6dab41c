// Type names in Python's spelling.
#pragma once
#include <string>
#include <string_view>

#include "operators/libtorch_jit.hpp"

namespace tmeter::torch_backend {

/// "layer1.0" and "conv1" → "layer1.0.conv1"; the root's path is empty.
inline std::string joined(const std::string& path, const std::string& name) {
  std::string out = path;
  if (!out.empty()) out += '.';
  return out += name;
}

/// "__torch__.torchvision.models.resnet.___torch_mangle_12.Bottleneck" →
/// "torchvision.models.resnet.Bottleneck": without LibTorch's prefix and its numbered namespaces.
inline std::string plain_name(std::string_view qualified) {
  std::string out;
  while (!qualified.empty()) {
    const auto dot = qualified.find('.');
    const auto part = qualified.substr(0, dot);
    const bool noise = part == "__torch__" || part.starts_with("___torch_mangle_");
    if (!noise) out = joined(out, std::string(part));
    qualified = dot == std::string_view::npos ? std::string_view() : qualified.substr(dot + 1);
  }
  return out;
}

inline std::string plain_type_name(const c10::ClassType& type) {
  return type.name() ? plain_name(type.name()->qualifiedName()) : std::string();
}

/// "torch.nn.modules.conv.Conv2d" → "Conv2d"
inline std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace tmeter::torch_backend
