// The kernel's files: one line, one number, a table of words. They vanish, are forbidden, or hold what
// nobody expects; each of that is an answer, not a failure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(hidden)
namespace sensors {

/// What is in a file, 256 KiB of it at most; `error` is errno's value, 0 when it was read.
struct FileText {
  std::string text;
  int error = 0;
  explicit operator bool() const { return error == 0; }
};
FileText read_file(const std::string& path);

/// The first line without the spaces around it; empty when the file cannot be read.
std::string read_line(const std::string& path);

/// The whole number that is all there is in the text, but for spaces around it.
std::optional<uint64_t> number_in(std::string_view text);
std::optional<uint64_t> read_number(const std::string& path);

/// Names in a folder that begin so, in order, numbers in them by their value.
std::vector<std::string> names_in(const std::string& folder, std::string_view beginning);

/// Words of a line, by spaces and tabs.
std::vector<std::string_view> words_of(std::string_view line);
/// Lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace sensors
#pragma GCC visibility pop
