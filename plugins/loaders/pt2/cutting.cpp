#include "cutting.hpp"

#include <algorithm>

namespace pt2 {
namespace {

/// Walks through the tables on the way to the paths; everything else is jumped over.
class Cutter {
 public:
  Cutter(std::string_view text, const Cuts& cuts, std::string& rest,
         std::map<std::string, Extent, std::less<>>& extents)
      : text_(text), cuts_(cuts), rest_(rest), extents_(extents) {}

  bool run() {
    space();
    if (!table("")) return false;
    rest_.append(text_.substr(copied_));
    return !extents_.empty();
  }

 private:
  bool table(const std::string& path) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      std::string_view key;
      if (!name(key) || !take(':') ||
          !value(path.empty() ? std::string(key) : path + "." + std::string(key)))
        return false;
    } while (take(','));
    return take('}');
  }

  bool value(const std::string& path) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (c == '"') {
      std::string_view skipped;
      return name(skipped);
    }
    if (c == '{' && leads_further(path)) return table(path);
    if (c == '{' || c == '[') return extent(path);
    at_ = std::min(text_.find_first_of(",}", at_), text_.size());
    return true;
  }

  bool extent(const std::string& path) {
    Extent found;
    if (!measure(text_, at_, cuts_.measure, found)) return false;
    const size_t begin = at_ + 1, end = begin + found.text.size();
    const bool wanted = std::ranges::find(cuts_.paths, path) != cuts_.paths.end();
    if (wanted && found.text.size() >= cuts_.list) {
      rest_.append(text_.substr(copied_, begin - copied_));
      copied_ = end;
      if (!extents_.emplace(path, std::move(found)).second) return false;
    }
    at_ = end + 1;
    space();
    return true;
  }

  bool leads_further(const std::string& path) const {
    return std::ranges::any_of(cuts_.paths, [&](std::string_view p) {
      return p.size() > path.size() && p.starts_with(path) && p[path.size()] == '.';
    });
  }

  bool name(std::string_view& out) {
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    const size_t begin = at_ + 1;
    for (at_ = begin; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    if (at_ >= text_.size()) return false;
    out = text_.substr(begin, at_ - begin);
    ++at_;
    space();
    return true;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    space();
    return true;
  }
  void space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  std::string_view text_;
  const Cuts& cuts_;
  std::string& rest_;
  std::map<std::string, Extent, std::less<>>& extents_;
  size_t at_ = 0, copied_ = 0;
};

}  // namespace

bool cut(std::string_view text, const Cuts& cuts, std::string& rest,
         std::map<std::string, Extent, std::less<>>& extents) {
  if (cuts.paths.empty() || text.size() < cuts.text) return false;
  if (Cutter(text, cuts, rest, extents).run()) return true;
  rest.clear();
  extents.clear();
  return false;
}

}  // namespace pt2
