// One parsed JSON record of the archive. Its strings live as long as the document. Large lists and
// tables are left out and parsed in pieces (ChunkedArray).
#pragma once
#include <string>
#include <string_view>

#include "json_splitter.hpp"
#include "json_util.hpp"

namespace pt2 {

/// A list or table of a JSON document that may be too large to be parsed as a whole. It is parsed
/// and visited in pieces, each a list or table of some of the items: the text of a million
/// operators is 1.6 GB, its document would take four times as much.
class ChunkedArray {
 public:
  explicit ChunkedArray(json::element whole) : whole_(whole) {}
  explicit ChunkedArray(const Extent& extent) : extent_(&extent) {}

  /// Whether elements live as long as the document. Otherwise they die with their piece.
  bool has_document_lifetime() const { return extent_ == nullptr; }
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
    std::string text_;
  };

  json::element whole_;
  const Extent* extent_ = nullptr;
};

class Document {
 public:
  /// `bytes` must outlive the document and be followed by 64 readable bytes. Throws BadFile.
  explicit Document(std::string_view bytes, const SplitOptions& options = {});
  Document(const Document&) = delete;  // elements point into the document
  Document& operator=(const Document&) = delete;
  json::object root() const { return root_; }
  /// The list or table at one of the paths; `found`: its element in `root`.
  ChunkedArray array(std::string_view path, json::element found) const;

 private:
  json::document document_;
  Extents extents_;
  std::string skeleton_;  // the text without the extents
  json::object root_;
};

}  // namespace pt2
