// Libraries with operators that LibTorch lacks, as the user names them: code the user trusts.
#pragma once
#include <string>
#include <string_view>

namespace tmeter::torch_backend {

/// Opens each of "a.so:b.so"; what they register with LibTorch is there from then on. Those that are
/// open stay so. Throws TMETER_BAD_USAGE for one that cannot be opened.
void open_operator_libraries(std::string_view paths);
void open_operator_library(const std::string& path);

/// "torchvision::nms" came by one of them.
bool is_of_operator_library(std::string_view op);

}  // namespace tmeter::torch_backend
