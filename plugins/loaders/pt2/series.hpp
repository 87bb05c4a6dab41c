// A list or table of a JSON document that may be too large to be parsed as a whole: it is shown
// piece by piece, as lists or tables of some of its items each. What a million operators take as
// text alone is 1.6 GB, and parsed four times as much.
#pragma once
#include <optional>
#include <string>

#include "ahead.hpp"
#include "json_scan.hpp"
#include "json_util.hpp"

namespace pt2 {

class Series {
 public:
  explicit Series(json::element whole) : whole_(whole) {}
  explicit Series(const Extent& extent) : extent_(&extent) {}

  /// Whether elements live as long as the document; otherwise they are gone with their piece.
  bool is_lasting() const { return extent_ == nullptr; }
  size_t pieces() const { return extent_ ? extent_->ends.size() : 1; }

  /// Calls `use` with each piece. Throws BadFile for what is no JSON.
  template <class Use>
  void each(Use&& use) const {
    if (!extent_) return use(whole_);
    Piece piece;
    for (size_t i = 0; i < extent_->ends.size(); ++i) use(piece.parse(*extent_, i, !checked_));
    checked_ = true;
  }

  /// The same, but the text of each piece, without brackets, is first read into a `Plain` by
  /// `read(plain, text)`, be it on another thread, ahead. Then in order: those with which it could
  /// do something go to `take(plain)`, the others to `use`, parsed.
  template <class Plain, class Read, class Take, class Use>
  void each(Read&& read, Take&& take, Use&& use, const Helping& helping = {}) const {
    if (!extent_) return use(whole_);
    const auto helpers = extent_->text.size() < helping.least ? 0 : helping.helpers;
    struct Slot {
      Plain plain;
      bool is_read = false;
    };
    std::vector<Slot> slots(helpers == 0 ? 1 : kAhead);
    Ahead ahead(extent_->ends.size(), slots.size(), helpers, [&](size_t i, size_t slot) {
      slots[slot].is_read = read(slots[slot].plain, Piece::text_of(*extent_, i));
    });
    Piece piece;
    for (size_t i = 0; i < extent_->ends.size(); ++i) {
      auto& slot = slots[ahead.wait(i)];
      slot.is_read ? take(slot.plain) : use(piece.parse(*extent_, i, true));
    }
  }
  /// One of the pieces, parsed.
  template <class Use>
  void piece(size_t i, Use&& use) const {
    if (!extent_) return use(whole_);
    Piece one;
    use(one.parse(*extent_, i, false));
  }

 private:
  static constexpr size_t kAhead = 8;  // pieces that have been read before they are used

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
