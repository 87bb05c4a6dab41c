// One parsed JSON record of the archive. Texts are views that live as long as the document.
#pragma once
#include <string_view>

#include "json_util.hpp"

namespace pt2 {

class Document {
 public:
  /// `bytes` must be followed by 64 readable bytes; throws BadFile.
  explicit Document(std::string_view bytes);
  Document(const Document&) = delete;  // elements point into the document
  Document& operator=(const Document&) = delete;
  json::object root() const { return root_; }

 private:
  json::element parse(std::string_view bytes);
  void ask_for_huge_pages(size_t size);
  json::document document_;
  json::object root_;
};

}  // namespace pt2
