// What the functions that stand in for LibTorch's share (start.cpp tells why and how).
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "start/deferred.hpp"
#include "start/original.hpp"

namespace tmeter::torch_backend::start {

/// What has been put off, of this process.
Deferred& deferred();

/// Whether LibTorch is starting, and its start is to be short.
bool deferring();

/// Of "add.Tensor" or its schema in the library of aten, "aten::add"; nothing when it has no
/// namespace. Held until the next one is asked for.
std::string_view name_in(const std::optional<std::string>& name_space, std::string_view op);

}  // namespace tmeter::torch_backend::start
