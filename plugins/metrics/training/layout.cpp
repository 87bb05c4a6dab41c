#include "layout.hpp"

#include <algorithm>
#include <numeric>

namespace training {
namespace {

/// Dense strides, the dims from `order.front()`, the fastest, on.
Dims dense_strides(DimSpan shape, std::span<const size_t> order) {
  Dims strides(shape.size());
  int64_t next = 1;
  for (const size_t d : order) {
    strides[d] = next;
    // Saturates: strides are compared, and a shape beyond 2^63 elements is refused where its bytes
    // are counted.
    if (__builtin_mul_overflow(next, std::max<int64_t>(shape[d], 1), &next)) next = INT64_MAX;
  }
  return strides;
}

bool same_strides(DimSpan shape, DimSpan a, DimSpan b) {
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && a[d] != b[d]) return false;
  return true;
}

std::vector<size_t> row_major_order(size_t rank) {
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  return order;
}

}  // namespace

Dims contiguous_strides(DimSpan shape) {
  return dense_strides(shape, row_major_order(shape.size()));
}

Dims channels_last_strides(DimSpan shape) {
  auto order = row_major_order(shape.size());
  if (order.size() < 3) return dense_strides(shape, order);
  std::rotate(order.begin(), order.end() - 2, order.end() - 1);  // channels first
  return dense_strides(shape, order);
}

bool is_contiguous(DimSpan shape, DimSpan strides) {
  return same_strides(shape, strides, contiguous_strides(shape));
}

bool is_channels_last(DimSpan shape, DimSpan strides) {
  return (shape.size() == 4 || shape.size() == 5) &&
         same_strides(shape, strides, channels_last_strides(shape));
}

bool is_dense(DimSpan shape, DimSpan strides) {
  return same_strides(shape, strides, strides_like(shape, strides));
}

std::optional<Dims> view_strides(DimSpan from, DimSpan strides, DimSpan to) {
  if (std::find(from.begin(), from.end(), 0) != from.end() || from.empty())
    return contiguous_strides(to);
  Dims out(to.size());
  auto view_dim = static_cast<int64_t>(to.size()) - 1;
  int64_t base = strides.back(), elements = 1,
          in_view = 1;  // of the chunk of dims that lie together
  for (size_t i = from.size(); i-- > 0;) {
    elements *= from[i];
    const bool chunk_ends = i == 0 || (from[i - 1] != 1 && strides[i - 1] != elements * base);
    if (!chunk_ends) continue;
    while (view_dim >= 0 && (in_view < elements || to[static_cast<size_t>(view_dim)] == 1)) {
      out[static_cast<size_t>(view_dim)] = in_view * base;
      in_view *= to[static_cast<size_t>(view_dim)];
      --view_dim;
    }
    if (in_view != elements) return std::nullopt;
    if (i > 0) base = strides[i - 1], elements = in_view = 1;
  }
  return view_dim == -1 ? std::optional(out) : std::nullopt;
}

Dims strides_like(DimSpan shape, DimSpan like) {
  auto order = row_major_order(shape.size());
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    // Dims of size 1, or repeated by expand, keep their place.
    return shape[a] > 1 && shape[b] > 1 && like[a] > 0 && like[b] > 0 && like[a] < like[b];
  });
  return dense_strides(shape, order);
}

}  // namespace training
