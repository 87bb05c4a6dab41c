// Limits against hostile input; docs/limits.md lists them for users.
#pragma once
#include <cstddef>

namespace tmeter::core::limits {

// Each takes a hundred bytes of memory or more, however few bytes it takes in the file.
inline constexpr size_t kNodes = 5'000'000;
inline constexpr size_t kValues = 20'000'000;
inline constexpr size_t kModules = 2'000'000;
inline constexpr size_t kModuleDepth = 1'000;
inline constexpr size_t kTensors = 2'000'000;
// A file names each level of the tree once, but the path of a module holds all levels above it.
inline constexpr size_t kPathBytes = 4'096;
inline constexpr size_t kNameBytes = size_t{128} << 20;  // of all module paths and tensor names
inline constexpr size_t kSymbols = 100'000;
inline constexpr size_t kExpressions = 2'000'000;
inline constexpr size_t kRank = 64;
inline constexpr size_t kListDepth = 64;
// Nested lists count each time they occur: 64 lists, each with the previous one twice, have 2^64 values.
inline constexpr double kListValues = 10'000'000;
inline constexpr size_t kInputs = 1'000'000;  // and results of the model
inline constexpr size_t kOperands = 1'000;  // of an expression
inline constexpr size_t kProperties = 1'000, kPropertyBytes = 64 << 10;
inline constexpr size_t kExpressionText = 120;  // longer ones end in "…"

}  // namespace tmeter::core::limits
