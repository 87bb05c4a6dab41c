#include "fragments.hpp"

#include <algorithm>

namespace quantization {

int64_t Fragments::to_boundary(int64_t at) const {
  return std::min(kGroup - at % kGroup, row_ - at);
}

void Fragments::add(int64_t first, std::span<const float> x, const Whole& whole) {
  while (!x.empty()) {
    const int64_t at = first % row_;
    const auto n = std::min(static_cast<int64_t>(x.size()), row_ - at);
    add_in_row(at, x.first(static_cast<size_t>(n)), whole);
    x = x.subspan(static_cast<size_t>(n));
    first += n;
  }
}

void Fragments::add_in_row(int64_t at, std::span<const float> x, const Whole& whole) {
  if (at % kGroup != 0) {
    const auto n = static_cast<size_t>(std::min(to_boundary(at), static_cast<int64_t>(x.size())));
    if (begun_) {
      fill_open(at, x.first(n), whole);
    } else {
      if (head_.empty()) head_at_ = at;
      head_.insert(head_.end(), x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
    }
    at += static_cast<int64_t>(n);
    x = x.subspan(n);
  }
  if (x.empty()) return;
  begun_ = true;
  const auto size = static_cast<int64_t>(x.size());
  const int64_t complete = at + size == row_ ? size : size / kGroup * kGroup;
  if (complete > 0) whole(x.first(static_cast<size_t>(complete)));
  const auto rest = x.subspan(static_cast<size_t>(complete));
  open_.assign(rest.begin(), rest.end());
}

void Fragments::fill_open(int64_t at, std::span<const float> x, const Whole& whole) {
  open_.insert(open_.end(), x.begin(), x.end());
  if (static_cast<int64_t>(x.size()) < to_boundary(at)) return;
  whole(open_);
  open_.clear();
}

void Fragments::merge(const Fragments& next, const Whole& whole) {
  if (!next.head_.empty()) {
    if (begun_) {
      fill_open(next.head_at_, next.head_, whole);
    } else {
      head_.insert(head_.end(), next.head_.begin(), next.head_.end());
    }
  }
  if (!next.begun_) return;
  begun_ = true;
  open_ = next.open_;
}

}  // namespace quantization
