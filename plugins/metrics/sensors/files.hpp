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

/// The first line without the spaces around it; empty when the file cannot be read.
std::string read_line(const std::string& path);

/// The number of a text that holds one number, with spaces around it.
std::optional<uint64_t> number_in(std::string_view text);
std::optional<uint64_t> read_number(const std::string& path);

/// Names in a folder with this prefix, in natural order: "cpu2" before "cpu10".
std::vector<std::string> names_in(const std::string& folder, std::string_view beginning);

/// Words of a line, by spaces and tabs.
std::vector<std::string_view> words_of(std::string_view line);
/// Lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace sensors
#pragma GCC visibility pop
