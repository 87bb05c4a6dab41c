// Shared by the files of core/config: toml++, included in one place, and errors with their place.
#pragma once
#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace tmeter::core {

/// Bytes of the longest text that is parsed.
inline constexpr size_t kMaxTomlBytes = 1 << 20;

/// "file.toml:3:7: …"
[[noreturn]] void toml_error(ErrorKind kind, const std::string& path,
                             const toml::source_region& where, const std::string& what);

/// Throws Error(kind) with the place; also for a text that is too long or nested too deeply, before
/// it is parsed. `path` is for messages.
toml::table parse_toml(ErrorKind kind, std::string_view text, const std::string& path);

/// The same of a file, which must be a regular one.
toml::table parse_toml_file(ErrorKind kind, const std::string& path);

}  // namespace tmeter::core
