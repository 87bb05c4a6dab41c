// One JSON record of the archive, parsed. Texts are views that live as long as the document. What
// is expected to be large is left out of it and comes in pieces (series.hpp).
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "series.hpp"

namespace pt2 {

/// What may be left to pieces: paths of lists and tables, "graph_module.graph.nodes", and from
/// which size on.
struct Cuts {
  std::vector<std::string_view> paths{};
  size_t text = size_t{1} << 16;  // bytes of the whole text
  size_t list = size_t{1} << 16;  // bytes of one of them
  Measure measure{};
};

class Document {
 public:
  /// `bytes` must outlive the document and be followed by 64 readable bytes; throws BadFile.
  explicit Document(std::string_view bytes, const Cuts& cuts = {});
  Document(const Document&) = delete;  // elements point into the document
  Document& operator=(const Document&) = delete;
  json::object root() const { return root_; }
  /// A list or table by one of the paths; `found` is what stands there in the document.
  Series series(std::string_view path, json::element found) const;

 private:
  json::element parse(std::string_view bytes);
  void ask_for_huge_pages(size_t size);
  json::document document_;
  std::map<std::string, Extent, std::less<>> extents_;
  std::string skeleton_;
  json::object root_;
};

}  // namespace pt2
