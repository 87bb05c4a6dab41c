// Splits the large lists and tables of a JSON text into pieces without parsing them. Scanning 64
// bytes at a time costs a small part of parsing. The splitter does not validate; parsing the
// pieces does.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pt2 {

/// The text between the brackets of a list or table.
struct Extent {
  std::string_view text;
  char opening = '[';
  /// Ends of the pieces, the last one at the end of the text. Pieces are cut at the commas between
  /// items and have at least the requested size; the comma belongs to no piece.
  std::vector<size_t> ends;
};
using Extents = std::map<std::string, Extent, std::less<>>;  // by path

struct ScanOptions {
  size_t piece = size_t{1} << 13;      // bytes
  std::function<void()> between = {};  // if set, called every 2 MB or so
};

/// Finds the extent that begins with the opening bracket `text[at]`. Returns false if the text ends
/// before the matching bracket. Reads up to 64 bytes after `text`, which do not affect the result.
bool find_extent(std::string_view text, size_t at, const ScanOptions& options, Extent& out);
/// The same without vector instructions.
bool find_extent_portable(std::string_view text, size_t at, const ScanOptions& options,
                          Extent& out);

/// The lists and tables to split off, by path ("graph_module.graph.nodes"), and their least size.
struct SplitOptions {
  std::vector<std::string_view> paths{};
  size_t text = size_t{1} << 16;  // bytes of the whole text
  size_t list = size_t{1} << 14;  // bytes of one list or table
  ScanOptions scan{};
};

/// Sets `rest` to the text without the content of the large lists and tables, and `extents` to that
/// content. Returns false if there is nothing to split off or the text is malformed: parse it
/// whole.
bool split(std::string_view text, const SplitOptions& options, std::string& rest, Extents& extents);

}  // namespace pt2
