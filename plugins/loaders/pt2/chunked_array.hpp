// A list or table of a JSON document that may be too large to be parsed as a whole. It is parsed
// and visited in pieces, each a list or table of some of the items: the text of a million operators
// is 1.6 GB, its document would take four times as much.
#pragma once
#include <string>

#include "json_splitter.hpp"
#include "json_util.hpp"

namespace pt2 {

class ChunkedArray {
 public:
  explicit ChunkedArray(json::element whole) : whole_(whole) {}
  explicit ChunkedArray(const Extent& extent) : extent_(&extent) {}

  /// Whether elements live as long as the document. Otherwise they die with their piece.
  bool is_lasting() const { return extent_ == nullptr; }
  size_t pieces() const { return extent_ ? extent_->ends.size() : 1; }

  /// Calls `use` with each piece in order. Throws BadFile for malformed JSON and repeated keys.
  template <class Use>
  void each(Use&& use) const {
    if (!extent_) return use(whole_);
    PieceParser parser;
    for (size_t i = 0; i < pieces(); ++i) use(parser.parse(*extent_, i));
  }

 private:
  /// Owns one parsed piece at a time.
  class PieceParser {
   public:
    json::element parse(const Extent& extent, size_t i);

   private:
    json::parser parser_;
    std::string text_, repaired_;
  };

  json::element whole_;
  const Extent* extent_ = nullptr;
};

}  // namespace pt2
