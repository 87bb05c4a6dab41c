// The enums of the ABI in words: the same in JSON, XML and every other format.
#pragma once
#include <cstdint>
#include <string_view>

namespace reports {

// Of TMETER_UNIT_…, TMETER_AXIS_… and so on; a number that is not known here reads "other".
std::string_view unit_kind_name(int32_t kind);    // "count", "byte"
std::string_view axis_name(int32_t axis);         // "node", "module"
std::string_view aggregation_name(int32_t a);     // "sum", "max"
std::string_view better_name(int32_t better);     // "lower"
std::string_view severity_name(int32_t s);        // "info", "advice"
std::string_view provenance_name(int32_t p);      // "computed", "estimated"
std::string_view tensor_kind_name(int32_t kind);  // "parameter", "buffer"

}  // namespace reports
