#include "collector.hpp"

#include <algorithm>
#include <compare>
#include <tmeter/cpp/numbers.hpp>

#include "histogram.hpp"
#include "moments_pass.hpp"
#include "narrower_types.hpp"

namespace param_stats {
namespace {

/// Statistics of values in any order, including NaN and infinities.
void summarise_all(std::vector<ValueCount> values, double threshold, Statistics& out) {
  std::vector<ValueCount> finite;
  for (const auto& v : values) {
    if (std::isnan(v.value))
      out.nan += v.count;
    else if (std::isinf(v.value))
      out.inf += v.count;
    else
      finite.push_back(v);
  }
  std::sort(finite.begin(), finite.end(),
            [](const auto& a, const auto& b) { return a.value < b.value; });
  summarise(finite, threshold, out);
}

void count(std::span<const uint8_t> bytes, Histogram16& to) { count_words(bytes, to); }
void count(std::span<const uint8_t> bytes, Histogram8& to) {
  count_bytes(bytes.data(), bytes.size(), 1, to);
}

template <class Patterns>
class PatternCollector final : public Collector {
 public:
  explicit PatternCollector(tmeter::DType type) : type_(type) {}
  void add(std::span<const uint8_t> elements) override { count(elements, patterns_); }
  void merge(Collector& other) override {
    patterns_.merge(static_cast<PatternCollector&>(other).patterns_);
  }
  bool finish(double threshold, Statistics& out) override {
    std::vector<ValueCount> values;
    patterns_.each([&](uint16_t pattern, uint64_t n) {
      values.push_back({tmeter::value_of_code(type_, pattern), n});
    });
    summarise_all(std::move(values), threshold, out);
    out.coded_bits = coded_bits(patterns_);
    return false;
  }

 private:
  tmeter::DType type_;
  Patterns patterns_;
};

class SmallTensorCollector final : public Collector {
 public:
  explicit SmallTensorCollector(tmeter::DType type) : type_(type) {}
  void add(std::span<const uint8_t> elements) override {
    bytes_.insert(bytes_.end(), elements.begin(), elements.end());
  }
  void merge(Collector& other) override { add(static_cast<SmallTensorCollector&>(other).bytes_); }

  bool finish(double threshold, Statistics& out) override {
    const auto size = static_cast<size_t>(type_.bytes());
    std::vector<double> values(bytes_.size() / size);
    tmeter::decode<double>(type_, bytes_, values);
    summarise_all(counts_of(values), threshold, out);
    for (size_t byte = 0; byte < size; ++byte) {
      Histogram8 plane;
      count_bytes(bytes_.data() + byte, values.size(), size, plane);
      out.coded_bits += coded_bits(plane);
    }
    std::erase_if(values, [](double x) { return !std::isfinite(x); });
    NarrowerTypes types;
    types.add(std::span<const double>(values));
    const std::vector<float> singles(values.begin(), values.end());
    types.add(std::span<const float>(singles));
    types.report(type_, out);
    return false;
  }

 private:
  static std::vector<ValueCount> counts_of(std::vector<double> values) {
    std::sort(values.begin(), values.end(),
              [](double a, double b) { return std::strong_order(a, b) < 0; });  // NaN too
    std::vector<ValueCount> counts;
    for (const double x : values) {
      if (counts.empty() || counts.back().value != x) counts.push_back({x, 0});
      ++counts.back().count;
    }
    return counts;
  }

  tmeter::DType type_;
  std::vector<uint8_t> bytes_;
};

}  // namespace

std::unique_ptr<Collector> make_collector(tmeter::DType type, int64_t numel, Decoded decoded) {
  if (numel <= kSmallTensor) return std::make_unique<SmallTensorCollector>(type);
  if (type.bytes() == 1) return std::make_unique<PatternCollector<Histogram8>>(type);
  if (type.bytes() == 2) return std::make_unique<PatternCollector<Histogram16>>(type);
  if (type.id() == TMETER_DTYPE_FLOAT32) return std::make_unique<MomentsPass<float>>(type, decoded);
  return std::make_unique<MomentsPass<double>>(type, decoded);
}

}  // namespace param_stats
