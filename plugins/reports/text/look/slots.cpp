#include "slots.hpp"

#include <algorithm>
#include <map>

#include "style.hpp"

namespace text_report {
namespace {

using Kind = Slot::Kind;

constexpr size_t kGap = 2;  // between the columns of the tree
// Names and types keep at least this width: columns are dropped first.
constexpr size_t kLegibleName = 20, kLegibleType = 10;
constexpr size_t kMinNameWidth = 8;
constexpr size_t kMinCellWidth = 5;  // least width of a column that may be wrapped or cut

size_t short_share_width(const Table& table) {
  return std::max(kPercentWidth, display_width(table.short_share_title));
}

Slot value_slot(const Table& table, size_t c, const Look& look) {
  Slot s{Kind::kValue, c};
  s.look = look.column(table.columns[c].name);
  const auto consider = [&](const Table::Row& row) {
    s.number = std::max(s.number, display_width(row.values[c].number));
    s.unit = std::max(s.unit, display_width(row.values[c].unit));
  };
  std::for_each(table.rows.begin(), table.rows.end(), consider);
  if (look.table.show_footer && table.total) consider(*table.total);
  const auto& title = s.look.title.empty() ? table.columns[c].title : s.look.title;
  const size_t content = s.number + (s.unit ? 1 + s.unit : 0);
  s.width = std::max(content, look.table.show_header ? display_width(title) : 0);
  return s;
}

void add_names(const Table& table, const Look& look, Slots& out) {
  Slot id{Kind::kId}, name{Kind::kName}, type{Kind::kType};
  for (const auto& row : table.rows) {
    id.width = std::max(id.width, display_width(row.id));
    name.width = std::max(name.width, row.name.width());
    for (const auto& more : row.more) name.width = std::max(name.width, more.width());
    type.width = std::max(type.width, display_width(row.type));
  }
  id.look = look.column("id");
  name.look = look.column("name");
  type.look = look.column("type");
  const auto& root = look.level(0).label.text;
  const auto label = look.level(1).label.text;
  const auto is_in_label = [&](std::initializer_list<std::string_view> names) {
    return label.names(names) || root.names(names);
  };
  const auto is_shown = [](const Slot& s, bool in_label) {
    return s.width > 0 &&
           (s.look.show == Show::kAlways || (s.look.show == Show::kAuto && !in_label));
  };
  if (is_shown(id, is_in_label({"id", "node_id"}))) out.all.push_back(id);
  if (is_shown(name, false)) out.all.push_back(name);
  if (is_shown(type, is_in_label({"type", "full_type", "text", "module_repr", "operation"})))
    out.all.push_back(type);
}

Slots measure(const Table& table, const Look& look) {
  Slots out;
  add_names(table, look, out);
  out.split = look.table.tree == TreePlace::kInside ? 0 : out.all.size();
  for (size_t c = 0; c < table.columns.size(); ++c) {
    auto slot = value_slot(table, c, look);
    slot.shown = slot.look.show != Show::kNever;
    out.all.push_back(std::move(slot));
  }
  if (!table.share_title.empty()) {
    Slot share{Kind::kShare};
    share.look = look.column("share");
    share.width = std::max(kPercentWidth + 1 + kBarWidth, display_width(table.share_title));
    if (share.look.show != Show::kNever) out.all.push_back(share);
  }
  for (auto& s : out.all)
    if (s.look.width) s.width = s.look.width;
  return out;
}

/// Sets the positions of all slots.
void place(Slots& slots, const TableLook& look) {
  size_t at = 0;
  bool any = false;
  slots.dividers.clear();
  for (size_t i = 0; i < slots.split; ++i) {
    auto& s = slots.all[i];
    if (!s.shown || s.width == 0) continue;
    if (any) at += kGap;
    s.begin = at;
    at += s.width;
    any = true;
  }
  slots.box_begin = slots.end = at;
  bool first = true;
  for (size_t i = slots.split; i < slots.all.size(); ++i) {
    auto& s = slots.all[i];
    if (!s.shown || s.width == 0) continue;
    if (first) {
      at = slots.box_begin = at + (any ? look.gap : 0);
      if (look.box && look.show_edge) ++at;
    } else if (look.box) {
      slots.dividers.push_back(at++);
    }
    first = false;
    s.begin = at + left_pad(slots, i, look);
    at = s.begin + s.width + right_pad(slots, i, look);
    slots.end = at + (look.box && look.show_edge ? 1 : 0);
  }
}

/// The last of the facts, then the last column of the group with most columns, so that every plugin
/// keeps one.
Slot* to_drop(const Table& table, Slots& slots) {
  for (auto s = slots.all.rbegin(); s != slots.all.rend(); ++s)
    if (s->kind == Kind::kValue && s->shown && table.columns[s->column].group == kFacts) return &*s;
  std::map<std::string, size_t> left;
  for (const auto& s : slots.all)
    if (s.kind == Kind::kValue && s.shown) ++left[table.columns[s.column].group];
  Slot* best = nullptr;
  size_t most = 0;
  for (auto& s : slots.all) {
    if (s.kind != Kind::kValue || !s.shown) continue;
    const auto& column = table.columns[s.column];
    if (column.primary || left[column.group] < most) continue;
    most = left[column.group];
    best = &s;
  }
  return best;
}

class Fitter {
 public:
  Fitter(const Table& table, const TableLook& look, Slots& slots, size_t width)
      : table_(table), look_(look), slots_(slots), width_(width) {}

  void run() {
    const auto* type = slots_.find(Kind::kType);
    const auto* name = slots_.find(Kind::kName);
    const auto full_type = type ? type->width : 0, full_name = name ? name->width : 0;
    if (excess()) shrink_shares();
    shrink(Kind::kType, kLegibleType);
    shrink(Kind::kName, kLegibleName);
    shrink_cells();
    size_t shown = count();
    while (excess() && shown-- > 1) {
      auto* slot = to_drop(table_, slots_);
      if (!slot) break;
      slot->shown = false;
    }
    shrink(Kind::kType, 0);
    shrink(Kind::kName, kMinNameWidth);
    // Types may grow into the room of a dropped column.
    grow(Kind::kType, full_type);
    grow(Kind::kName, full_name);
  }

 private:
  size_t excess() {
    place(slots_, look_);
    return slots_.end > width_ ? slots_.end - width_ : 0;
  }
  size_t count() const {
    return static_cast<size_t>(
        std::count_if(slots_.all.begin(), slots_.all.end(),
                      [](const Slot& s) { return s.kind == Kind::kValue && s.shown; }));
  }
  void shrink(Slot& slot, size_t least) {
    if (slot.look.width) return;
    slot.width = std::max(std::min(slot.width, least), slot.width - std::min(slot.width, excess()));
  }
  void shrink(Kind kind, size_t least) {
    if (auto* slot = slots_.find(kind)) shrink(*slot, least);
  }
  void grow(Kind kind, size_t target) {
    auto* slot = slots_.find(kind);
    if (!slot || slot->width == 0 || slot->look.width) return;
    place(slots_, look_);
    const size_t spare = width_ > slots_.end ? width_ - slots_.end : 0;
    slot->width = std::min(target, slot->width + spare);
  }
  void shrink_shares() {
    auto* share = slots_.find(Kind::kShare);
    if (!share || share->look.width) return;
    slots_.bars = false;
    share->width = short_share_width(table_);
    if (excess()) share->shown = false;
  }
  /// Shrinks the widest first.
  void shrink_cells() {
    for (auto left = excess(); left > 0; --left) {
      Slot* widest = nullptr;
      for (auto& s : slots_.all) {
        if (s.kind != Kind::kValue || !s.shown || s.look.overflow == Overflow::kAuto) continue;
        if (s.look.width || s.width <= kMinCellWidth || (widest && s.width <= widest->width))
          continue;
        widest = &s;
      }
      if (!widest) return;
      --widest->width;
    }
  }

  const Table& table_;
  const TableLook& look_;
  Slots& slots_;
  size_t width_;
};

/// Distributes the remaining width evenly, inside the box if there is one.
void stretch(Slots& slots, const TableLook& look, size_t width) {
  place(slots, look);
  if (slots.end >= width) return;
  std::vector<Slot*> wide;
  const auto collect = [&](size_t from) {
    for (size_t i = from; i < slots.all.size(); ++i) {
      auto& s = slots.all[i];
      if (s.shown && s.width > 0 && s.look.width == 0) wide.push_back(&s);
    }
  };
  collect(slots.split);
  if (wide.empty()) collect(0);
  auto spare = width - slots.end;
  for (size_t i = 0; i < wide.size(); ++i) {
    const auto part = spare / (wide.size() - i);
    wide[i]->width += part;
    spare -= part;
  }
}

}  // namespace

Slot* Slots::find(Slot::Kind kind) {
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const Slot& s) { return s.kind == kind; });
  return it == all.end() ? nullptr : &*it;
}

size_t left_pad(const Slots& slots, size_t slot, const TableLook& look) {
  bool first = true;
  for (size_t i = slots.split; i < slot; ++i)
    first = first && !(slots.all[i].shown && slots.all[i].width);
  if (first) return look.box && look.pad_edge ? look.padding.left : 0;
  if (!look.collapse_padding) return look.padding.left;
  return look.padding.left - std::min(look.padding.left, look.padding.right);
}

size_t right_pad(const Slots& slots, size_t slot, const TableLook& look) {
  bool last = true;
  for (size_t i = slot + 1; i < slots.all.size(); ++i)
    last = last && !(slots.all[i].shown && slots.all[i].width);
  return last && !(look.box && look.pad_edge) ? 0 : look.padding.right;
}

Slots arrange(const Table& table, const TableLook& look, const Look& columns, size_t width) {
  auto slots = measure(table, columns);
  const auto limit = look.width && (!width || look.width < width) ? look.width : width;
  if (limit) Fitter(table, look, slots, limit).run();
  auto target = look.width ? limit : look.expand ? width : look.min_width;
  if (width) target = std::min(target, width);
  if (target) stretch(slots, look, target);
  place(slots, look);
  return slots;
}

}  // namespace text_report
