#include "tree_lines.hpp"

#include <algorithm>

#include "look/look.hpp"

namespace text_report {
namespace {

/// The lines of a box, `inside` columns wide between its borders.
class Frame {
 public:
  Frame(const RepeatLook& look, const Theme& theme, size_t inside)
      : look_(look),
        theme_(theme),
        inside_(inside),
        border_(over(look.style, look.border, theme)) {}

  static size_t chrome(const RepeatLook& look) {
    return 2 + look.padding.left + look.padding.right;
  }
  static size_t least(const Text& title) { return title.empty() ? 0 : title.width() + 4; }

  Text top(const Text& title) const { return edge(look_.box->top, title, look_.title_align); }
  Text bottom(const Text& subtitle) const {
    return edge(look_.box->bottom, subtitle, look_.subtitle_align);
  }
  Text line(const Text& content) const {
    const auto& mid = look_.box->mid;
    const auto room = inside_ - std::min(inside_, look_.padding.left + look_.padding.right);
    Text out;
    out.add(mid.left, border_).pad_to(1 + look_.padding.left, look_.style);
    const auto shown = content.cut(room);
    out.append(look_.style.plain() ? shown : shown.on(look_.style, theme_));
    return out.pad_to(1 + inside_, look_.style).add(mid.right, border_);
  }
  Text rule() const {
    const auto room = inside_ - std::min(inside_, look_.padding.left + look_.padding.right);
    return line(Text(std::string(room, '-'), Style::kQuiet));
  }

 private:
  static std::string repeated(std::string_view what, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; ++i) out += what;
    return out;
  }
  Text edge(const BoxLine& line, const Text& title, Justify align) const {
    Text out;
    out.add(line.left, border_);
    if (title.empty() || inside_ < 5)
      return out.add(repeated(line.fill, inside_), border_).add(line.right, border_);
    const auto shown = title.cut(inside_ - 4);
    const auto spare = inside_ - 4 - shown.width();
    const auto before = align == Justify::kLeft ? 0 : align == Justify::kRight ? spare : spare / 2;
    out.add(repeated(line.fill, 1 + before), border_).add(" ", look_.style);
    out.append(shown).add(" ", look_.style);
    return out.add(repeated(line.fill, 1 + spare - before), border_).add(line.right, border_);
  }

  const RepeatLook& look_;
  const Theme& theme_;
  size_t inside_;
  Style border_;
};

size_t widest(const std::vector<TreeLine>& lines) {
  size_t width = 0;
  for (const auto& line : lines) {
    width = std::max(width, line.name.width());
    for (const auto& more : line.more) width = std::max(width, more.width());
  }
  return width;
}

class TreeDrawer {
 public:
  TreeDrawer(const Labels& labels, const Look& look, bool fill)
      : labels_(labels),
        look_(look),
        fill_(fill),
        overflow_(look.column("name").overflow),
        no_wrap_(look.column("name").no_wrap),
        gaps_(look.table.show_lines || look.table.leading > 0) {}

  std::vector<TreeLine> tree(const Branch& root, size_t limit) {
    std::vector<TreeLine> out;
    if (!labels_.level(0).hide_root) return node(root, 0, {}, {}, {}, limit, out), std::move(out);
    children(root, 1, {}, true, limit, out);
    return out;
  }

 private:
  /// `first` leads to the label, `next` to further lines of it and to branches below.
  void node(const Branch& b, size_t depth, const Text& first, const Text& next, Text above,
            size_t limit, std::vector<TreeLine>& out) {
    put(&b, b.run ? labels_.title(b, depth) : labels_.of(b, depth), first, next, std::move(above),
        limit, out);
    // A run is not a separate level.
    children(b, b.run ? depth : depth + 1, next, false, limit, out);
    if (!b.run) return;
    if (const auto footer = labels_.footer(b, depth); !footer.empty())
      put(nullptr, footer, next, next, next, limit, out);
  }

  void put(const Branch* branch, const Text& label, const Text& first, const Text& next, Text above,
           size_t limit, std::vector<TreeLine>& out) const {
    TreeLine line{branch, first};
    if (gaps_) line.above = std::move(above);
    const auto room = limit - std::min(limit, first.width());
    if (limit == 0 || label.width() <= room) {
      line.name.append(label);
    } else {
      auto parts = fitted(label, std::max<size_t>(room, 1), overflow_, no_wrap_);
      line.name.append(parts.front());
      for (size_t i = 1; i < parts.size(); ++i) line.more.push_back(Text(next).append(parts[i]));
    }
    out.push_back(std::move(line));
  }

  /// `bare`: without lines that lead to them.
  void children(const Branch& parent, size_t depth, const Text& before, bool bare, size_t limit,
                std::vector<TreeLine>& out) {
    if (parent.children.empty()) return;
    const auto guide = labels_.level(depth - (depth > 0)).guide;
    const TreeStyle& style = *look_.tree;
    for (const auto& child : parent.children) {
      const bool last = &child == &parent.children.back();
      const bool framed = child.run && look_.repeat.box;
      Text first = before, next = before, above;
      if (!bare) {
        first.add(last ? style.last : style.branch, guide);
        next.add(last ? style.blank : style.on, guide);
        if (gaps_) above = Text(before).add(style.on, guide);
      } else if (gaps_) {
        above = before;
      }
      if (framed)
        box(child, depth, first, next, std::move(above), limit, out);
      else
        node(child, depth, first, next, std::move(above), limit, out);
    }
  }

  void box(const Branch& run, size_t depth, const Text& first, const Text& next, Text above,
           size_t limit, std::vector<TreeLine>& out) {
    const auto& look = look_.repeat;
    const auto chrome = Frame::chrome(look);
    const auto less = [](size_t a, size_t b) { return a - std::min(a, b); };
    size_t room = limit ? std::max<size_t>(1, less(less(limit, first.width()), chrome)) : 0;
    if (look.width)
      room = std::max<size_t>(1, std::min(room ? room : SIZE_MAX, less(look.width, chrome)));
    std::vector<TreeLine> inner;
    for (const auto& item : run.children) node(item, depth, {}, {}, {}, room, inner);
    const auto title = labels_.title(run, depth), subtitle = labels_.subtitle(run, depth),
               footer = labels_.footer(run, depth);

    const auto pads = chrome - 2;
    size_t inside = std::max(
        {widest(inner) + pads, footer.width() + pads, Frame::least(title), Frame::least(subtitle)});
    if (look.width) inside = less(look.width, 2);
    if (look.expand && fill_ && !look.width) inside = std::max(inside, room + pads);
    if (room) inside = std::min(inside, room + pads);
    const Frame frame(look, look_.theme, inside);
    const auto bar = [&](const Text& line) { out.push_back({nullptr, Text(next).append(line)}); };

    out.push_back({&run, Text(first).append(frame.top(title)), {}, std::move(above)});
    for (size_t i = 0; i < look.padding.top; ++i) bar(frame.line({}));
    for (auto& line : inner) {
      line.name = Text(next).append(frame.line(line.name));
      for (auto& more : line.more) more = Text(next).append(frame.line(more));
      if (gaps_) line.above = Text(next).append(frame.line(line.above));
      out.push_back(std::move(line));
    }
    const auto rows =
        inner.size() + (footer.empty() ? 0 : 2) + look.padding.top + look.padding.bottom;
    for (auto i = rows + 2; i < look.height; ++i) bar(frame.line({}));
    if (!footer.empty()) bar(frame.rule()), bar(frame.line(footer));
    for (size_t i = 0; i < look.padding.bottom; ++i) bar(frame.line({}));
    bar(frame.bottom(subtitle));
  }

  const Labels& labels_;
  const Look& look_;
  bool fill_;
  Overflow overflow_;
  bool no_wrap_, gaps_;
};

}  // namespace

std::vector<TreeLine> draw_tree(const Branch& root, const Labels& labels, const Look& look,
                                size_t limit, bool fill) {
  return TreeDrawer(labels, look, fill).tree(root, limit);
}

std::vector<Text> framed(const std::vector<Text>& lines, const RepeatLook& look, const Theme& theme,
                         const Text& title, const Text& subtitle) {
  size_t width = Frame::chrome(look) - 2;
  for (const auto& line : lines) width = std::max(width, line.width() + Frame::chrome(look) - 2);
  const Frame frame(look, theme, std::max({width, Frame::least(title), Frame::least(subtitle)}));
  std::vector<Text> out{frame.top(title)};
  for (const auto& line : lines) out.push_back(frame.line(line));
  out.push_back(frame.bottom(subtitle));
  return out;
}

}  // namespace text_report
