// The words that stand for numbers in a saved report.
#pragma once
#include <cstdint>
#include <string_view>

namespace tmeter::core::report_reader {

/// The number of a word: its place in the ABI's enumeration. -1, which is shown as "other", for
/// what this tmeter does not know.
int32_t unit_kind_of(std::string_view word);
int32_t axis_of(std::string_view word);
int32_t aggregation_of(std::string_view word);
int32_t better_of(std::string_view word);
int32_t severity_of(std::string_view word);
int32_t provenance_of(std::string_view word);
int32_t tensor_kind_of(std::string_view word);
int32_t dtype_of(std::string_view word);

}  // namespace tmeter::core::report_reader
