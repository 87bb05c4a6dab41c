#pragma once
#include "shapes.hpp"

namespace flops {

/// Elements of one window of a pooling with a kernel over `dims` dims.
Count pooling_window(const Node& n, int64_t dims);

}  // namespace flops
