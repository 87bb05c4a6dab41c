// Which module of one report is which of the other.
#pragma once
#include <cstddef>
#include <vector>

#include "core/report/report.hpp"

namespace tmeter::core {

inline constexpr size_t kNoModule = SIZE_MAX;

/// By module index; kNoModule without a match.
struct Matches {
  std::vector<size_t> of_before, of_after;
};

Matches match_modules(const Report& before, const Report& after);

/// "Conv2d" of "torch.nn.modules.conv.Conv2d".
std::string_view short_type(std::string_view type);

/// What a module is by itself, as text: its type, settings and tensors.
std::string own_definition(const Report& report, size_t module);

}  // namespace tmeter::core
