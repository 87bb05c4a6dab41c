// Limits against hostile input; docs/limits.md lists them for users.
#pragma once
#include <cstddef>

namespace tmeter::core::limits {

inline constexpr size_t kNodes = 10'000'000;
inline constexpr size_t kValues = 200'000'000;
inline constexpr size_t kModules = 5'000'000;
inline constexpr size_t kModuleDepth = 1'000;
inline constexpr size_t kTensors = 10'000'000;
inline constexpr size_t kSymbols = 100'000;
inline constexpr size_t kExpressions = 10'000'000;
inline constexpr size_t kRank = 64;
inline constexpr size_t kListDepth = 64;
inline constexpr size_t kExpressionText = 120;  // longer ones end in "…"

}  // namespace tmeter::core::limits
