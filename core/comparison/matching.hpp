// Matches the modules of two reports.
#pragma once
#include <cstddef>
#include <vector>

#include "core/report/report.hpp"

namespace tmeter::core {

inline constexpr size_t kNoModule = SIZE_MAX;

/// The index of the matching module, by module index; kNoModule without a match.
struct Matches {
  std::vector<size_t> of_before, of_after;
};

Matches match_modules(const Report& before, const Report& after);

/// "Conv2d" of "torch.nn.modules.conv.Conv2d".
std::string_view short_type(std::string_view type);

/// The definition of a module without its children, as text: type, settings and tensors.
std::string own_definition(const Report& report, size_t module);

}  // namespace tmeter::core
