// Limits against hostile input; docs/limits.md lists them for users.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tmeter::core::limits {

// Each takes at least a hundred bytes of memory, even if it is shorter in the file.
inline constexpr size_t kNodes = 5'000'000;
inline constexpr size_t kValues = 20'000'000;
inline constexpr size_t kModules = 2'000'000;
inline constexpr size_t kModuleDepth = 1'000;
inline constexpr size_t kTensors = 2'000'000;
// A file names each level of the tree once, but a module's path repeats all levels above it.
inline constexpr size_t kPathBytes = 4'096;
inline constexpr size_t kNameBytes = size_t{128} << 20;  // of all module paths and tensor names
inline constexpr size_t kSymbols = 100'000;
inline constexpr size_t kExpressions = 2'000'000;
inline constexpr size_t kRank = 64;
inline constexpr size_t kListDepth = 64;
// Nested lists count at each occurrence: 64 lists that hold the previous one twice have 2^64
// values.
inline constexpr double kListValues = 10'000'000;
inline constexpr size_t kInputs = 1'000'000;  // and results of the model
inline constexpr size_t kOperands = 1'000;    // of an expression
inline constexpr size_t kProperties = 1'000, kPropertyBytes = 64 << 10;
// Metadata of a file. Loaders cut long arrays.
inline constexpr size_t kMetadata = 200'000, kMetadataValues = 2'000'000;
inline constexpr size_t kMetadataBytes = size_t{32} << 20;              // of all keys and strings
inline constexpr size_t kParts = 32;                                    // of an encoded tensor
inline constexpr size_t kEncodingId = 64, kEncodingParameters = 1'000;  // bytes
inline constexpr int64_t kBlockElements = int64_t{1} << 20, kBlockBytes = int64_t{1} << 24;
inline constexpr size_t kConditions = 10'000, kConditionText = 200;
inline constexpr size_t kExpressionText = 120;  // longer ones end in "…"

}  // namespace tmeter::core::limits
