// One parsed JSON record of the archive. Its texts live as long as the document. Large lists and
// tables are left out and parsed in pieces (chunked_array.hpp).
#pragma once
#include <string>
#include <string_view>

#include "chunked_array.hpp"

namespace pt2 {

class Document {
 public:
  /// `bytes` must outlive the document and be followed by 64 readable bytes. Throws BadFile.
  explicit Document(std::string_view bytes, const SplitOptions& options = {});
  Document(const Document&) = delete;  // elements point into the document
  Document& operator=(const Document&) = delete;
  json::object root() const { return root_; }
  /// The list or table at one of the paths; `found` is the element there in `root`.
  ChunkedArray array(std::string_view path, json::element found) const;

 private:
  json::document document_;
  Extents extents_;
  std::string skeleton_;  // the text without the extents
  json::object root_;
};

/// Quotes the bare words Infinity, -Infinity and NaN outside of texts: torch up to 2.7 writes them,
/// JSON does not have them. Returns whether there were any.
bool quote_non_finite(std::string_view text, std::string& repaired);

}  // namespace pt2
