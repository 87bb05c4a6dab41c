// What the files of core/config share: toml++, included in one place, and errors with their place.
#pragma once
#include <toml++/toml.h>

#include <string>

#include "core/base/error.hpp"

namespace tmeter::core {

/// "file.toml:3:7: …"
[[noreturn]] inline void toml_error(ErrorKind kind, const std::string& path,
                                    const toml::source_region& where, const std::string& what) {
  throw Error(kind, path + ":" + std::to_string(where.begin.line) + ":" +
                        std::to_string(where.begin.column) + ": " + what);
}

inline toml::table parse_toml_file(ErrorKind kind, const std::string& path) {
  try {
    return toml::parse_file(path);
  } catch (const toml::parse_error& e) {
    if (e.source().begin.line == 0) throw Error(kind, path + ": cannot be read");
    toml_error(kind, path, e.source(), std::string(e.description()));
  }
}

}  // namespace tmeter::core
