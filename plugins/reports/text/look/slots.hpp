// The columns of a table on the screen: their widths and positions.
#pragma once
#include <vector>

#include "look.hpp"

namespace text_report {

inline constexpr size_t kBarWidth = 10;
inline constexpr size_t kPercentWidth = 6;  // "16.3 %", "<0.1 %"

/// A column of the screen.
struct Slot {
  enum class Kind : uint8_t { kId, kName, kType, kValue, kShare } kind;
  size_t column = 0;            // column of the table, for kValue
  size_t number = 0, unit = 0;  // for kValue: widths of number and unit
  size_t width = 0;
  bool shown = true;
  ColumnLook look{};
  size_t begin = 0;  // start of its content
};

struct Slots {
  std::vector<Slot> all;         // id, name, type, values, share, if present
  bool bars = true;              // shares have them
  size_t split = 0;              // slots from here on are in the box
  std::vector<size_t> dividers;  // positions of the box's inner vertical lines
  size_t box_begin = 0, end = 0;

  Slot* find(Slot::Kind kind);
  const Slot* find(Slot::Kind kind) const { return const_cast<Slots*>(this)->find(kind); }
};

/// Widths by content, shrunk to `width` and stretched by the settings of `look`.
Slots arrange(const Table& table, const TableLook& look, const Look& columns, size_t width);

/// Spaces left and right of a slot's content, in the box.
size_t left_pad(const Slots& slots, size_t slot, const TableLook& look);
size_t right_pad(const Slots& slots, size_t slot, const TableLook& look);

}  // namespace text_report
