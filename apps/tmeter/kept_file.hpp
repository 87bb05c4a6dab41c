// A file that tmeter keeps between runs, in a folder of its own below the user's cache. Files that
// others could have written are ignored, and links are not followed.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace tmeter::app {

/// Its text, of at most `most` bytes. Nothing for a file that is missing, a link, not regular, another
/// user's, or writable for others.
std::optional<std::string> read_kept_file(const std::string& path, size_t most);

/// Writes it whole or not at all, for this user alone; makes the folder it lies in and those above.
/// Returns the obstacle, or nothing.
std::string write_kept_file(const std::string& path, const std::string& text);

}  // namespace tmeter::app
