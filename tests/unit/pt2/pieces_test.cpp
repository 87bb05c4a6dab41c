// Large lists and tables, split without parsing: extents against a byte-by-byte reader, pieces
// against the whole document.
#include <gtest/gtest.h>

#include <random>

#include "document.hpp"
#include "json_splitter.hpp"

namespace pt2 {
namespace {

constexpr size_t kPadding = 64;

std::string padded(std::string text) {
  text.reserve(text.size() + kPadding);
  return text;
}

/// The end of the list that begins at `at`; npos if it has none.
size_t end_of(std::string_view text, size_t at) {
  size_t depth = 0;
  bool inside = false;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {  // outside strings, too: not JSON in any case
      if (text.substr(i + 1, 1).find_first_of("\"\\") == 0) ++i;
    } else if (inside) {
      inside = c != '"';
    } else if (c == '"') {
      inside = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// Ends of the pieces of the list that begins the text and ends at `end`. A piece ends at the first
/// comma between items after `piece` bytes.
std::vector<size_t> ends_of(std::string_view text, size_t end, size_t piece) {
  std::vector<size_t> ends;
  size_t depth = 0, begin = 0;
  bool inside = false;
  for (size_t i = 1; i < end; ++i) {
    const char c = text[i];
    const size_t at = i - 1;  // in the text between the brackets
    if (c == '\\') {
      if (text.substr(i + 1, 1).find_first_of("\"\\") == 0) ++i;
    } else if (c == '"') {
      inside = !inside;
    } else if (inside) {
      continue;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0 && at - begin >= piece) {
      ends.push_back(at);
      begin = at + 1;
    }
  }
  ends.push_back(end - 1);
  return ends;
}

void expect_extent(const std::string& text, size_t piece) {
  SCOPED_TRACE(text);
  const size_t end = end_of(text, 0);
  Extent fast, portable;
  const ScanOptions options{.piece = piece};
  ASSERT_EQ(find_extent(text, 0, options, fast), end != std::string::npos);
  ASSERT_EQ(find_extent_portable(text, 0, options, portable), end != std::string::npos);
  if (end == std::string::npos) return;
  EXPECT_EQ(fast.text, std::string_view(text).substr(1, end - 1));
  EXPECT_EQ(portable.text, fast.text);
  EXPECT_EQ(portable.ends, fast.ends);
  EXPECT_EQ(fast.ends, ends_of(text, end, piece));
}

void expect_extent(const std::string& text) {
  for (const size_t piece : {40, 150, 10'000}) expect_extent(text, piece);
}

TEST(Pt2FindExtent, FindsTheEndPastTextsAndEscapes) {
  for (const std::string inner :
       {"", "1", "[]", R"("]")", R"("\"]")", R"("\\")", R"("\\\"]", [{}])", R"({"a": "}]"})"}) {
    expect_extent(padded("[" + inner + "] , 7]"));
    for (size_t space = 50; space < 70; ++space)  // across the edge of a block
      expect_extent(padded("[" + std::string(space, ' ') + inner + ", 1]]"));
  }
  for (const std::string open : {"[", "[[]", R"(["])", R"(["\"])", R"(["\)"})
    expect_extent(padded(open));
}

TEST(Pt2FindExtent, AgreesWithBytesOnAnyText) {
  std::mt19937 random(5);
  constexpr std::string_view kBytes = "\"\\[]{},, :ab1";
  for (int round = 0; round < 3000; ++round) {
    std::string text = "[";
    for (size_t n = random() % 400; n > 0; --n) text += kBytes[random() % kBytes.size()];
    expect_extent(padded(text + (round % 2 ? "\"]]]]]]]]" : "]]]]]]]]]]]]]]]]]]]]]]]]]]]")));
  }
}

TEST(Pt2FindExtent, IgnoresBytesAfterTheText) {
  const std::string text = padded("[1, 2]");
  Extent extent;
  EXPECT_FALSE(find_extent(std::string_view(text).substr(0, 5), 0, {}, extent));
}

std::string list_of(size_t items) {
  std::string out;
  for (size_t i = 0; i < items; ++i)
    out += (i ? ", " : "") +
           (R"({"n": )" + std::to_string(i) + R"(, "t": "}],\" )" + std::to_string(i) + "\"}");
  return "[" + out + "]";
}

SplitOptions small_pieces(size_t piece) {
  SplitOptions options;
  options.paths = {"a.list", "a.table", "a.number"};
  options.text = options.list = 1;
  options.scan.piece = piece;
  return options;
}

TEST(Pt2Pieces, HoldAllItemsInOrder) {
  for (const size_t items : {1, 2, 50}) {
    const auto text = padded(R"({"a": {"x": [1, {"list": 3}], "list" : )" + list_of(items) +
                             R"(, "number": 5, "table": {"k": 1, "l": [2]}}, "list": [9]})");
    for (const size_t piece : {1, 30, 100'000}) {
      const Document document(text, small_pieces(piece));
      const auto a = object_member(document.root(), "a");
      EXPECT_EQ(array_member(a, "list").size(), 0u);
      EXPECT_EQ(array_member(document.root(), "list").size(), 1u);
      EXPECT_EQ(read_member(a, "number", as_integer), 5);
      const auto array = document.array("a.list", member(a, "list"));
      EXPECT_FALSE(array.has_document_lifetime());
      int64_t n = 0;
      array.each([&](json::element part) {
        for (const json::element item : as_array(part)) {
          EXPECT_EQ(read_member(as_object(item), "n", as_integer), n);
          EXPECT_EQ(text_member(as_object(item), "t"), "}],\" " + std::to_string(n));
          ++n;
        }
      });
      EXPECT_EQ(n, static_cast<int64_t>(items));
      std::string keys;
      document.array("a.table", member(a, "table")).each([&](json::element part) {
        for (const auto field : as_object(part)) keys += field.key;
      });
      EXPECT_EQ(keys, "kl");
    }
  }
}

TEST(Pt2Pieces, ASmallDocumentIsOnePiece) {
  auto options = small_pieces(10);
  options.text = 1000;
  const auto text = padded(R"({"a": {"list": [1, 2, 3]}})");
  const Document document(text, options);
  const auto array = document.array("a.list", member(object_member(document.root(), "a"), "list"));
  EXPECT_TRUE(array.has_document_lifetime());
  size_t items = 0, parts = 0;
  array.each([&](json::element part) { items += as_array(part).size(), ++parts; });
  EXPECT_EQ(items, 3u);
  EXPECT_EQ(parts, 1u);
}

TEST(Pt2Pieces, MalformedJsonIsRefusedAsInAWholeDocument) {
  for (const std::string text :
       {R"({"a": {"list": [1, 2})", R"({"a": {"list": [1, 2}}})",
        R"({"a": {"list": [1, 2]}, "a": 1})", R"({"a": {"list": [1], "list": [2]}})",
        R"({"a" {"list": [1]}})", R"([{"a": {"list": [1]}}])", "", "{",
        R"({"a": {"list": [1]}} trailing)"}) {
    SCOPED_TRACE(text);
    std::string whole, cut;
    const auto bytes = padded(text);
    try {
      const Document document(bytes);
    } catch (const BadFile& e) {
      whole = e.what();
    }
    try {
      const Document document(bytes, small_pieces(1));
    } catch (const BadFile& e) {
      cut = e.what();
    }
    EXPECT_NE(whole, "");
    EXPECT_EQ(whole, cut);
  }
}

TEST(Pt2Pieces, ABadPieceIsRefusedWhenItIsRead) {
  for (const std::string list :
       {"[1, , 2]", "[1, 2,]", R"([{"k": 1, "k": 2}])", "[{1}]", "[tru]"}) {
    SCOPED_TRACE(list);
    const auto text = padded(R"({"a": {"list": )" + list + "}}");
    const Document document(text, small_pieces(1));
    const auto a = object_member(document.root(), "a");
    EXPECT_THROW(document.array("a.list", member(a, "list")).each([](json::element) {}), BadFile);
  }
}

TEST(Pt2Pieces, AcceptsNonFiniteNumbersOfOldFiles) {
  const auto text = padded(R"({"a": {"list": [1, NaN, "NaN", -Infinity]}})");
  const Document document(text, small_pieces(1));
  size_t items = 0;
  document.array("a.list", member(object_member(document.root(), "a"), "list"))
      .each([&](json::element part) { items += as_array(part).size(); });
  EXPECT_EQ(items, 4u);
}

}  // namespace
}  // namespace pt2
