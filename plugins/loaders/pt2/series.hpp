// A list or table of a JSON document that may be too large to be parsed as a whole: it is shown
// piece by piece, as lists or tables of some of its items each. What a million operators take as
// text alone is 1.6 GB, and parsed four times as much.
#pragma once
#include <optional>
#include <string>

#include "json_scan.hpp"
#include "json_util.hpp"

namespace pt2 {

class Series {
 public:
  explicit Series(json::element whole) : whole_(whole) {}
  explicit Series(const Extent& extent) : extent_(&extent) {}

  /// Whether elements live as long as the document; otherwise they are gone with their piece.
  bool is_lasting() const { return extent_ == nullptr; }

  /// Calls `use` with each piece. Throws BadFile for what is no JSON.
  template <class Use>
  void each(Use&& use) const {
    if (!extent_) return use(whole_);
    Piece piece;
    for (size_t i = 0; i < extent_->ends.size(); ++i) use(piece.parse(*extent_, i, !checked_));
    checked_ = true;
  }

  /// The same, but the text of each piece first, without brackets, to `read`: those with which it
  /// can do nothing come to `use`, parsed.
  template <class Read, class Use>
  void each(Read&& read, Use&& use) const {
    if (!extent_) return use(whole_);
    Piece piece;
    for (size_t i = 0; i < extent_->ends.size(); ++i)
      if (!read(piece.text_of(*extent_, i))) use(piece.parse(*extent_, i, true));
  }
  /// One of the pieces, parsed.
  template <class Use>
  void piece(size_t i, Use&& use) const {
    if (!extent_) return use(whole_);
    Piece one;
    use(one.parse(*extent_, i, false));
  }

 private:
  /// What holds one piece after the other.
  class Piece {
   public:
    json::element parse(const Extent& extent, size_t i, bool check);
    static std::string_view text_of(const Extent& extent, size_t i) {
      const size_t begin = i == 0 ? 0 : extent.ends[i - 1] + 1;
      return extent.text.substr(begin, extent.ends[i] - begin);
    }

   private:
    json::parser parser_;
    std::string text_, repaired_;
  };

  json::element whole_;
  const Extent* extent_ = nullptr;
  mutable bool checked_ = false;  // for keys that are there twice
};

}  // namespace pt2
