#include "document.hpp"

#include <sys/mman.h>

#include "../common/json_text.hpp"
#include "cutting.hpp"
#include "non_finite.hpp"

namespace pt2 {
Document::Document(std::string_view bytes, const Cuts& cuts) {
  if (cut(bytes, cuts, skeleton_, extents_)) {
    skeleton_.reserve(skeleton_.size() + simdjson::SIMDJSON_PADDING);
    bytes = skeleton_;
  }
  root_ = as_object(parse(bytes));
}

Series Document::series(std::string_view path, json::element found) const {
  const auto extent = extents_.find(path);
  return extent == extents_.end() ? Series(found) : Series(extent->second);
}

/// Large documents fill tens of megabytes of tape and texts; with huge pages the kernel hands them
/// out in a few steps instead of page by page. Only a hint: where it fails nothing is lost.
void Document::ask_for_huge_pages(size_t size) {
#ifdef MADV_HUGEPAGE
  constexpr size_t kWorthIt = 4 << 20;
  if (size < kWorthIt || document_.allocate(size) != simdjson::SUCCESS) return;
  const auto advise = [](void* begin, size_t bytes) {
    const auto from = (reinterpret_cast<uintptr_t>(begin) + 4095) & ~uintptr_t{4095};
    madvise(reinterpret_cast<void*>(from), bytes & ~size_t{4095}, MADV_HUGEPAGE);
  };
  advise(document_.tape.get(), size * sizeof(uint64_t));
  advise(document_.string_buf.get(), size);
#endif
}

json::element Document::parse(std::string_view bytes) {
  ask_for_huge_pages(bytes.size());
  auto error = loading::parse_json(bytes, true, document_);
  std::string repaired;
  if (error && quote_non_finite(bytes, repaired)) {
    repaired.reserve(repaired.size() + simdjson::SIMDJSON_PADDING);
    error = loading::parse_json(repaired, true, document_);
  }
  return loading::require_json(error, document_);
}

}  // namespace pt2
