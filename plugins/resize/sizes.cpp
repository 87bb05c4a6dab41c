#include "sizes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

namespace tmeter::resize {
namespace {

constexpr size_t kMaxRank = 16;
constexpr size_t kMaxShapes = 64;  // considered per reshape

using Shapes = std::vector<Sizes>;

/// The product of dims [from, to). It cannot overflow, because the dims are of existing tensors.
int64_t product(const Sizes& s, size_t from, size_t to) {
  return std::accumulate(s.begin() + static_cast<ptrdiff_t>(from),
                         s.begin() + static_cast<ptrdiff_t>(to), int64_t{1}, std::multiplies<>());
}

/// Dims [from, to) of the operand become dims [result_from, result_to) of the result.
struct Group {
  size_t from, to, result_from, result_to;
};

/// All ways to divide operand and result into the largest number of groups of equal products. There
/// are several if a dim of size 1 can belong to either neighbour.
class Groupings {
 public:
  Groupings(const Sizes& operand, const Sizes& result)
      : a_(operand), b_(result), most_((operand.size() + 1) * (result.size() + 1), kUnknown) {
    if (most(0, 0) > 0) collect(0, 0);
  }
  const std::vector<std::vector<Group>>& all() const { return all_; }

 private:
  static constexpr int kUnknown = -2, kImpossible = -1;

  template <class F>
  void each_group(size_t i, size_t j, const F& f) const {
    for (size_t k = i + 1; k <= a_.size(); ++k) {
      for (size_t l = j + 1; l <= b_.size(); ++l) {
        if (product(a_, i, k) == product(b_, j, l)) f(k, l);
      }
    }
  }

  int& slot(size_t i, size_t j) { return most_[i * (b_.size() + 1) + j]; }

  /// The largest number of groups from here to the end.
  int most(size_t i, size_t j) {
    if (i == a_.size() || j == b_.size()) {
      return i == a_.size() && j == b_.size() ? 0 : kImpossible;
    }
    if (slot(i, j) != kUnknown) return slot(i, j);
    int best = kImpossible;
    each_group(i, j, [&](size_t k, size_t l) {
      const int rest = most(k, l);
      if (rest != kImpossible) best = std::max(best, rest + 1);
    });
    return slot(i, j) = best;
  }

  void collect(size_t i, size_t j) {
    if (i == a_.size()) {
      all_.push_back(path_);
      return;
    }
    each_group(i, j, [&](size_t k, size_t l) {
      if (all_.size() >= kMaxShapes || most(k, l) != most(i, j) - 1) return;
      path_.push_back({i, k, j, l});
      collect(k, l);
      path_.pop_back();
    });
  }

  const Sizes &a_, &b_;
  std::vector<int> most_;
  std::vector<Group> path_;
  std::vector<std::vector<Group>> all_;
};

/// The possible dims of a group of the result: one of them absorbs the change.
Shapes group_shapes(const Group& g, const DimsChange& operand, const Sizes& result) {
  const Sizes before(result.begin() + static_cast<ptrdiff_t>(g.result_from),
                     result.begin() + static_cast<ptrdiff_t>(g.result_to));
  if (std::equal(operand.recorded.begin() + static_cast<ptrdiff_t>(g.from),
                 operand.recorded.begin() + static_cast<ptrdiff_t>(g.to),
                 operand.now.begin() + static_cast<ptrdiff_t>(g.from))) {
    return {before};
  }
  const int64_t elements = product(operand.now, g.from, g.to);
  Shapes out;
  for (size_t i = 0; i < before.size(); ++i) {
    Sizes shape = before;
    shape[i] = 1;
    const int64_t others = product(shape, 0, shape.size());
    if (elements % others != 0) continue;
    shape[i] = elements / others;
    out.push_back(std::move(shape));
  }
  return out;
}

/// Every combination of one shape per group.
Shapes combined(const std::vector<Group>& groups, const DimsChange& operand, const Sizes& result) {
  Shapes out{{}};
  for (const auto& g : groups) {
    Shapes longer;
    for (const auto& tail : group_shapes(g, operand, result)) {
      for (const auto& head : out) {
        if (longer.size() >= kMaxShapes) break;
        longer.push_back(head);
        longer.back().insert(longer.back().end(), tail.begin(), tail.end());
      }
    }
    out = std::move(longer);
  }
  return out;
}

int64_t position(const Sizes& index, const Sizes& dims) {
  int64_t at = 0;
  for (size_t i = 0; i < dims.size(); ++i) at = at * dims[i] + index[i];
  return at;
}

Sizes index_at(int64_t position, const Sizes& dims) {
  Sizes index(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    index[i] = position % dims[i];
    position /= dims[i];
  }
  return index;
}

/// Whether elements of the recorded operand stay at their index in the result. Tries elements along
/// each dim and the far corner.
bool keeps_places(const DimsChange& operand, const Sizes& result, const Sizes& now) {
  const size_t rank = operand.recorded.size();
  Sizes corner(rank);
  Shapes tried;
  for (size_t d = 0; d < rank; ++d) {
    corner[d] = std::min(operand.recorded[d], operand.now[d]) - 1;
    Sizes index(rank);
    for (const int64_t i : {int64_t{1}, corner[d]}) {
      if (i < 1 || i > corner[d]) continue;
      index[d] = i;
      tried.push_back(index);
    }
  }
  tried.push_back(corner);
  return std::all_of(tried.begin(), tried.end(), [&](const Sizes& index) {
    return index_at(position(index, operand.recorded), result) ==
           index_at(position(index, operand.now), now);
  });
}

bool has_zero(const Sizes& s) { return std::find(s.begin(), s.end(), 0) != s.end(); }

}  // namespace

std::vector<Sizes> reshaped(const DimsChange& operand, const Sizes& result) {
  const size_t rank = operand.recorded.size();
  if (operand.now.size() != rank || rank > kMaxRank || result.size() > kMaxRank) return {};
  if (has_zero(operand.recorded) || has_zero(operand.now) || has_zero(result)) return {};
  Shapes out;
  const Groupings groupings(operand.recorded, result);
  for (const auto& grouping : groupings.all()) {
    for (auto& shape : combined(grouping, operand, result)) {
      if (std::find(out.begin(), out.end(), shape) == out.end()) out.push_back(std::move(shape));
    }
  }
  std::stable_partition(out.begin(), out.end(),
                        [&](const Sizes& s) { return keeps_places(operand, result, s); });
  return out;
}

DimsChange with_samples_apart(const DimsChange& operand, const SizeChange& samples) {
  const auto [recorded, now] = samples;
  DimsChange out;
  for (size_t i = 0; i < operand.now.size() && i < operand.recorded.size(); ++i) {
    const int64_t before = operand.recorded[i], after = operand.now[i];
    const bool merged = before != after && before != recorded && recorded > 0 &&
                        before % recorded == 0 && now > 0 && after % now == 0 &&
                        after / now == before / recorded;
    if (merged) {
      out.recorded.push_back(recorded);
      out.now.push_back(now);
    }
    out.recorded.push_back(merged ? before / recorded : before);
    out.now.push_back(merged ? after / now : after);
  }
  return out;
}

bool explained(const Sizes& recorded, const Sizes& now, const SizeChanges& changes) {
  for (size_t i = 0; i < recorded.size() && i < now.size(); ++i) {
    if (recorded[i] != now[i] && !changes.contains({recorded[i], now[i]})) return false;
  }
  return recorded.size() == now.size();
}

std::vector<Sizes> substituted(const Sizes& sizes, const std::vector<bool>& literal,
                               const SizeChanges& changes) {
  struct Version {
    Sizes sizes;
    size_t replaced;
  };
  std::vector<Version> out{{sizes, 0}};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t count = out.size();
    for (const auto& [recorded, requested] : changes) {
      if (!literal[i] || sizes[i] != recorded) continue;
      for (size_t k = 0; k < count && out.size() < kMaxShapes; ++k) {
        auto version = out[k];
        version.sizes[i] = requested;
        ++version.replaced;
        out.push_back(std::move(version));
      }
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.replaced < b.replaced; });
  Shapes shapes;
  for (auto& version : out) shapes.push_back(std::move(version.sizes));
  return shapes;
}

}  // namespace tmeter::resize
