// Runs both passes over a tensor like the host: in parts, chunk by chunk.
#pragma once
#include "plugins/advice/quantization/measure.hpp"
#include "tests/support/trained_model.hpp"

inline quantization::Measurements measured(const tmeter_test::StoredTensor& t,
                                           quantization::Layout layout, int64_t part) {
  using namespace quantization;
  const auto size = t.dtype.bytes();
  const auto bytes_at = [&](int64_t first, int64_t n) {
    return std::span(t.bytes).subspan(static_cast<size_t>(first * size),
                                      static_cast<size_t>(n * size));
  };
  FirstPass first(layout, 0);
  for (int64_t at = 0; at < layout.elements; at += part) {
    FirstPass next(layout, at);
    const auto n = std::min(part, layout.elements - at);
    if (at == 0) {
      first.add(at, bytes_at(at, n));
    } else {
      next.add(at, bytes_at(at, n));
      first.merge(next);
    }
  }
  first.finish();
  Sums all = first.sums();
  SecondPass second(first);
  for (int64_t at = 0; at < layout.elements; at += part)
    second.add(at, bytes_at(at, std::min(part, layout.elements - at)));
  all.add(second.sums());
  return measurements_of(first, all);
}

/// In parts of `rows` rows; all in one by default.
inline quantization::Measurements measured(const tmeter_test::StoredTensor& t, int channel_axis,
                                           int64_t rows = 0) {
  const auto layout = quantization::layout_of(t.dtype, t.dims, channel_axis);
  return measured(t, layout, rows ? rows * layout.row : layout.elements);
}

/// Like rows longer than a chunk, in parts of `cut` elements.
inline quantization::Measurements measured_in_pieces(const tmeter_test::StoredTensor& t,
                                                     int channel_axis, int64_t cut) {
  auto layout = quantization::layout_of(t.dtype, t.dims, channel_axis);
  layout.whole_rows = false;
  return measured(t, layout, cut);
}
