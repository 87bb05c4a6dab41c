// Files of /sys and /proc: one line, one number, a table of words. A file that is missing,
// forbidden or malformed is an ordinary result, not an error.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(hidden)
namespace sensors {

/// The text of a file, at most 256 KiB; `error` is an errno value, 0 if it was read.
struct FileText {
  std::string text;
  int error = 0;
  explicit operator bool() const { return error == 0; }
};
FileText read_file(const std::string& path);

/// The first line without surrounding spaces; empty if the file cannot be read.
std::string read_line(const std::string& path);

/// The number in a text that holds only a number and surrounding spaces.
std::optional<uint64_t> number_in(std::string_view text);
std::optional<uint64_t> read_number(const std::string& path);

/// Names in a folder with this prefix, in natural order: "cpu2" before "cpu10".
std::vector<std::string> names_in(const std::string& folder, std::string_view prefix);

/// The words of a line, which spaces and tabs separate.
std::vector<std::string_view> words_of(std::string_view line);
/// The lines of a text, without line ends.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace sensors
#pragma GCC visibility pop
