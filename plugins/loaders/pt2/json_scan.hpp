// Where the lists and tables of a JSON text end, without reading what is in them: several bytes at
// a time, so that it takes a small part of what parsing takes. It does not judge the text: whoever
// parses the parts does.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

namespace pt2 {

/// What stands between the brackets of a list or table.
struct Extent {
  std::string_view text;
  char opening = '[';
  /// The text cut at commas between items, so that each piece has the wanted size or a little more:
  /// where each ends, the last at the end of the text. A comma belongs to no piece.
  std::vector<size_t> ends;
};

/// How a text is measured.
struct Measure {
  size_t piece = size_t{1} << 17;      // bytes
  std::function<void()> between = {};  // called every 2 MB or so, if set
};

/// `text[at]` is an opening bracket. Its extent ends where as many brackets have been closed as
/// opened; false when the text ends before. 64 bytes behind `text` are read, too, but count for
/// nothing.
bool measure(std::string_view text, size_t at, const Measure& how, Extent& out);
/// The same on any processor.
bool measure_plainly(std::string_view text, size_t at, const Measure& how, Extent& out);

}  // namespace pt2
