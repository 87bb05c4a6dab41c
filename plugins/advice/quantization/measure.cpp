#include "measure.hpp"

#include <algorithm>
#include <limits>
#include <tmeter/cpp/numbers.hpp>

namespace quantization {
namespace {

constexpr int64_t kWholeRowBytes = int64_t{4} << 20;  // abi/tensor_analysis.h, tmeter_chunk

int64_t scales_of(const Scheme& s, const Layout& l) {
  switch (s.scope) {
    case Scope::kTensor:
      return 1;
    case Scope::kChannel:
      return l.channels;
    case Scope::kGroup:
      return l.rows * ((l.row + s.group - 1) / s.group);
    default:
      return 0;
  }
}

}  // namespace

Layout layout_of(tmeter::DType dtype, std::span<const int64_t> dims, int channel_axis) {
  Layout out;
  out.dtype = dtype;
  out.dims.assign(dims.begin(), dims.end());
  out.channel_axis = channel_axis;
  out.elements = 1;  // products fit 63 bits: the builder has checked them
  for (const auto d : dims) out.elements *= d;
  out.rows = dims[0];
  out.row = out.elements / out.rows;
  out.channels = dims[static_cast<size_t>(channel_axis)];
  out.run = channel_axis == 0 ? out.row : out.row / out.channels;
  out.whole_rows = out.row <= kWholeRowBytes / dtype.bytes();
  return out;
}

int64_t stored_bytes(const Scheme& s, const Layout& l) {
  const int64_t row_bytes = l.row / 8 * s.bits + (l.row % 8 * s.bits + 7) / 8;
  // In this order nothing overflows: there are no more scales than elements.
  const int64_t scales = scales_of(s, l);
  const int64_t scale_bytes = scales / 8 * s.scale_bits + (scales % 8 * s.scale_bits + 7) / 8;
  return l.rows * row_bytes + scale_bytes;
}

int64_t GroupAssembler::to_boundary(int64_t at) const {
  return std::min(kGroup - at % kGroup, row_ - at);
}

void GroupAssembler::add(int64_t first, std::span<const float> x, const UseGroups& whole) {
  while (!x.empty()) {
    const int64_t at = first % row_;
    const auto n = std::min(static_cast<int64_t>(x.size()), row_ - at);
    add_in_row(at, x.first(static_cast<size_t>(n)), whole);
    x = x.subspan(static_cast<size_t>(n));
    first += n;
  }
}

void GroupAssembler::add_in_row(int64_t at, std::span<const float> x, const UseGroups& whole) {
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

void GroupAssembler::fill_open(int64_t at, std::span<const float> x, const UseGroups& whole) {
  open_.insert(open_.end(), x.begin(), x.end());
  if (static_cast<int64_t>(x.size()) < to_boundary(at)) return;
  whole(open_);
  open_.clear();
}

void GroupAssembler::merge(const GroupAssembler& next, const UseGroups& whole) {
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

namespace {

constexpr int64_t kRun = 4 * kPiece;  // elements decoded at a time: they stay in the cache

/// Decodes into `buffer`, followed by zeros up to a multiple of kAlign.
std::span<const float> decoded(tmeter::DType dtype, std::span<const uint8_t> bytes,
                               std::vector<float>& buffer) {
  const size_t n = bytes.size() / static_cast<size_t>(dtype.bytes());
  if (buffer.size() < padded(n)) buffer.resize(padded(n));
  tmeter::decode<float>(dtype, bytes, std::span(buffer).first(n));
  std::fill(buffer.begin() + static_cast<std::ptrdiff_t>(n),
            buffer.begin() + static_cast<std::ptrdiff_t>(padded(n)), 0.f);
  return std::span(buffer).first(n);
}

/// Calls f(first, bytes) for runs of at most `most` elements that do not cross a multiple of `cut`.
template <class F>
void for_each_run(const Layout& layout, int64_t first, std::span<const uint8_t> bytes, int64_t cut,
                  F f) {
  const auto size = static_cast<size_t>(layout.dtype.bytes());
  while (bytes.size() >= size) {
    const auto n = std::min({static_cast<int64_t>(bytes.size() / size), kRun, cut - first % cut});
    f(first, bytes.first(static_cast<size_t>(n) * size));
    bytes = bytes.subspan(static_cast<size_t>(n) * size);
    first += n;
  }
}

void widen(std::vector<float>& into, const std::vector<float>& from) {
  if (into.size() < from.size()) into.resize(from.size());
  keep_largest(from.data(), from.size(), into.data());
}

}  // namespace

FirstPass::FirstPass(const Layout& layout, int64_t first)
    : layout_(layout), first_row_(first / layout.row), assembler_(layout.row) {
  if (layout_.whole_rows) positions_.resize(static_cast<size_t>(layout_.row));
  if (!layout_.channel_is_row()) channels_.resize(static_cast<size_t>(layout_.channels));
}

void FirstPass::add(int64_t first, std::span<const uint8_t> bytes) {
  if (!finite_) return;  // the errors of such a tensor are not reported
  if (!layout_.whole_rows) return add_split(first, bytes);
  const auto row_bytes = static_cast<size_t>(layout_.row * layout_.dtype.bytes());
  for (; bytes.size() >= row_bytes && finite_; bytes = bytes.subspan(row_bytes)) {
    add_row(bytes.first(row_bytes));
    if (!layout_.channel_is_row() && finite_)
      keep_channels(0, std::span(buffer_).first(static_cast<size_t>(layout_.row)));
  }
}

void FirstPass::add_row(std::span<const uint8_t> bytes) {
  const auto x = decoded(layout_.dtype, bytes, buffer_);
  finite_ = meter_.observe(x.data(), x.size());
  if (!finite_) return;
  range_.take(meter_.range());
  rows_.push_back(meter_.range().largest());
  keep_largest(x.data(), x.size(), positions_.data());
  meter_.groups(sums_);
  if (layout_.channel_is_row()) meter_.scaled(Scope::kChannel, meter_.range(), sums_);
}

void FirstPass::add_split(int64_t first, std::span<const uint8_t> bytes) {
  for_each_run(layout_, first, bytes, layout_.row, [&](int64_t at, std::span<const uint8_t> run) {
    std::vector<float> values;
    const auto x = decoded(layout_.dtype, run, values);
    const auto row = static_cast<size_t>(at / layout_.row - first_row_);
    if (rows_.size() <= row) rows_.resize(row + 1);
    keep_channels(at, x);
    for (const float v : x) rows_[row] = std::max(rows_[row], std::fabs(v));
    assembler_.add(at, x, [this](std::span<const float> whole) { add_whole(whole); });
  });
}

/// Adds complete groups of an incomplete row.
void FirstPass::add_whole(std::span<const float> x) {
  buffer_.assign(padded(x.size()), 0.f);
  std::copy(x.begin(), x.end(), buffer_.begin());
  if (!finite_ || !(finite_ = meter_.observe(buffer_.data(), x.size()))) return;
  range_.take(meter_.range());
  meter_.groups(sums_);
}

void FirstPass::keep_channels(int64_t first, std::span<const float> x) {
  while (!x.empty()) {
    auto& channel = channels_[layout_.channel_of(first)];
    const auto n = static_cast<size_t>(
        std::min(static_cast<int64_t>(x.size()), layout_.run - first % layout_.run));
    for (const float v : x.first(n)) channel.take({v, v});
    x = x.subspan(n);
    first += static_cast<int64_t>(n);
  }
}

void FirstPass::merge(const FirstPass& next) {
  finite_ = finite_ && next.finite_;
  range_.take(next.range_);
  sums_.add(next.sums_);
  widen(positions_, next.positions_);
  for (size_t i = 0; i < channels_.size(); ++i) channels_[i].take(next.channels_[i]);
  const auto at = static_cast<size_t>(next.first_row_ - first_row_);
  rows_.resize(std::max(rows_.size(), at + next.rows_.size()));
  for (size_t i = 0; i < next.rows_.size(); ++i)
    rows_[at + i] = std::max(rows_[at + i], next.rows_[i]);
  if (!layout_.whole_rows) {
    assembler_.merge(next.assembler_, [this](std::span<const float> whole) { add_whole(whole); });
  }
}

void FirstPass::finish() {
  if (!positions_.empty() && layout_.dims[1] > 0) {
    columns_.assign(static_cast<size_t>(layout_.dims[1]), 0.f);
    const size_t run = positions_.size() / columns_.size();
    for (size_t i = 0; i < positions_.size(); ++i)
      columns_[i / run] = std::max(columns_[i / run], positions_[i]);
  }
  positions_ = {};
  buffer_ = {};
}

void SecondPass::add(int64_t first, std::span<const uint8_t> bytes) {
  const auto& layout = first_->layout();
  const auto& channels = first_->channels();
  const int64_t cut = channels.empty() ? layout.elements : layout.run;
  for_each_run(layout, first, bytes, cut, [&](int64_t at, std::span<const uint8_t> run) {
    const auto x = decoded(layout.dtype, run, buffer_);
    meter_.view(x.data(), x.size());
    meter_.scaled(Scope::kTensor, first_->range(), sums_);
    if (!channels.empty()) meter_.scaled(Scope::kChannel, channels[layout.channel_of(at)], sums_);
  });
}

Measurements measurements_of(const FirstPass& first, const Sums& all) {
  Measurements out;
  out.finite = first.finite();
  out.zero = out.finite && all.power == 0;
  for (size_t i = 0; i < kSchemeCount; ++i) {
    const auto& s = kSchemes[i];
    // Beyond the largest number and half a step more, a cast gives infinity (IEEE 754).
    const bool too_large = s.scope == Scope::kElement &&
                           first.range().largest() >=
                               s.format.largest * (1 + 0.25f * power_of_two(-s.format.mantissa));
    out.sqnr[i] = !out.finite || out.zero || too_large ? std::numeric_limits<double>::quiet_NaN()
                  : all.error[i] == 0                  ? std::numeric_limits<double>::infinity()
                                                       : 10 * std::log10(all.power / all.error[i]);
  }
  return out;
}

double relative_error(double sqnr) { return std::pow(10.0, -sqnr / 20); }

std::vector<Outlier> outliers_in(const std::vector<float>& largest, double ratio) {
  if (largest.size() < 3) return {};  // too few channels for a median
  auto sorted = largest;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double median = *middle;
  std::vector<Outlier> out;
  if (median == 0) return out;
  for (size_t i = 0; i < largest.size(); ++i)
    if (largest[i] >= ratio * median) out.push_back({i, largest[i] / median});
  std::stable_sort(out.begin(), out.end(),
                   [](const Outlier& a, const Outlier& b) { return a.ratio > b.ratio; });
  return out;
}

}  // namespace quantization
