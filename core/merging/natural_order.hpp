// The order in which a person would list names: "layers.2" before "layers.10". The loader of
// safetensors shows tensors in it (plugins/loaders/common has its own, as plugins see the SDK
// alone), so a merged report has to as well.
#pragma once
#include <string_view>

namespace tmeter::core {

bool natural_less(std::string_view a, std::string_view b);

}  // namespace tmeter::core
