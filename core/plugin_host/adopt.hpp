// Structs that grow across the border (docs/abi.md): the other side's may be shorter than ours (it
// is older) or longer (it is newer). Inside the host every struct is whole.
//
// `least` is the struct's size in its first minor version, TMETER_SIZE_1_0(type): every plugin has
// at least that.
#pragma once
#include <tmeter/abi/sizes.h>
#include <tmeter/abi/tmeter.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "core/base/error.hpp"

namespace tmeter::core {

inline constexpr const char* kReservedSet =
    " has `reserved` set, which must be 0 until it means something (was the struct cleared?)";

/// Copies a plugin's struct. Members beyond its size are zero, and TMETER_HAS reports them as
/// missing; members beyond ours are dropped. Throws Error(kPlugin) if it is smaller than `least` or
/// sets `reserved`; `what` names the struct and its plugin.
template <class T>
T adopted(const T* theirs, size_t least, const std::string& what) {
  if (theirs->struct_size < least) {
    throw Error(ErrorKind::kPlugin, what + " is too small: struct_size is " +
                                        std::to_string(theirs->struct_size) +
                                        ", at least needed is " + std::to_string(least));
  }
  T ours{};
  const auto size = std::min<size_t>(theirs->struct_size, sizeof(T));
  std::memcpy(&ours, theirs, size);
  ours.struct_size = static_cast<uint32_t>(size);
  if constexpr (requires { ours.reserved; }) {
    if (ours.reserved != 0) throw Error(ErrorKind::kPlugin, what + kReservedSet);
  }
  return ours;
}

/// A plugin's array of `count` items. Throws Error(kPlugin) if it is null and `count` is not 0,
/// Error(`too_many`) for more than `most`: both before anything is read. `what` names it.
template <class T>
std::span<T> items_of(T* theirs, size_t count, size_t most, const char* what,
                      ErrorKind too_many = ErrorKind::kPlugin) {
  if (count == 0) return {};
  if (!theirs) {
    throw Error(ErrorKind::kPlugin, std::string("it gives no ") + what + ", although it declares " +
                                        std::to_string(count));
  }
  if (count > most) {
    throw Error(too_many, "there are " + std::to_string(count) + " " + what + "; at most " +
                              std::to_string(most) + " are accepted");
  }
  return {theirs, count};
}

/// For frozen structs, which form arrays. Throws Error(kPlugin) like `adopted`.
template <class T>
void require_unreserved(std::span<const T> theirs, const char* what) {
  for (const auto& item : theirs) {
    if (item.reserved != 0) throw Error(ErrorKind::kPlugin, std::string(what) + kReservedSet);
  }
}

/// Fills a plugin's struct up to its struct_size.
template <class T>
tmeter_status fill_struct(T ours, T* theirs, size_t least) {
  if (theirs->struct_size < least) return TMETER_INVALID_ARGUMENT;
  ours.struct_size = static_cast<uint32_t>(std::min<size_t>(theirs->struct_size, sizeof(T)));
  std::memcpy(theirs, &ours, ours.struct_size);
  return TMETER_OK;
}

}  // namespace tmeter::core
