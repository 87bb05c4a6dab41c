// Text across the border: the ABI's tmeter_str and the standard library's types.
#pragma once
#include <tmeter/abi/base.h>

#include <string>
#include <string_view>

namespace tmeter::core {

inline std::string_view view(tmeter_str s) {
  return s.ptr ? std::string_view(s.ptr, s.len) : std::string_view();
}
inline std::string str(tmeter_str s) { return std::string(view(s)); }
/// Borrowed: as long as what `s` views.
inline tmeter_str to_abi(std::string_view s) { return {s.data(), s.size()}; }

}  // namespace tmeter::core
