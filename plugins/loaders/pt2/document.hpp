// One parsed JSON record of the archive. Texts are views that live as long as the document.
#pragma once
#include <string>

#include "json_util.hpp"

namespace pt2 {

class Document {
 public:
  /// `bytes` must be followed by 64 readable bytes and outlive the document; throws BadFile.
  explicit Document(std::string_view bytes);
  Document(const Document&) = delete;  // elements point into the parser
  Document& operator=(const Document&) = delete;
  json::object root() const { return root_; }

 private:
  json::element parse(std::string_view bytes);
  json::parser parser_;
  std::string repaired_;
  json::object root_;
};

/// torch up to 2.7 writes the bare words Infinity, -Infinity and NaN, which JSON does not have:
/// puts quotes around those outside texts. Returns whether there were any.
bool quote_non_finite(std::string_view text, std::string& repaired);

}  // namespace pt2
