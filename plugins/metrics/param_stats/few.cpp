// Tensors of a few elements: all of them, sorted. A pass over tables would take longer.
#include <algorithm>
#include <tmeter/cpp/numbers.hpp>

#include "coding.hpp"
#include "collector.hpp"
#include "narrow.hpp"
#include "plane_counter.hpp"

namespace param_stats {
namespace {

class Few final : public Collector {
 public:
  explicit Few(tmeter::DType type) : type_(type) {}
  void add(std::span<const uint8_t> elements) override {
    bytes_.insert(bytes_.end(), elements.begin(), elements.end());
  }
  void merge(Collector& other) override { add(static_cast<Few&>(other).bytes_); }

  bool finish(double threshold, Figures& out) override {
    const auto size = static_cast<size_t>(type_.bytes());
    std::vector<double> values(bytes_.size() / size);
    tmeter::decode<double>(type_, bytes_, values);
    out.nan = remove(values, [](double x) { return std::isnan(x); });
    out.inf = remove(values, [](double x) { return std::isinf(x); });
    std::sort(values.begin(), values.end());
    std::vector<Counted> numbers;
    for (const double x : values) {
      if (numbers.empty() || numbers.back().value != x) numbers.push_back({x, 0});
      ++numbers.back().count;
    }
    summarise(numbers, threshold, out);
    PlaneCounter planes(size);
    planes.add(bytes_);
    out.coded_bits = planes.bits();
    check_types(values, out);
    bytes_ = {};
    return false;
  }

 private:
  template <class Which>
  static uint64_t remove(std::vector<double>& values, Which which) {
    const auto end = std::remove_if(values.begin(), values.end(), which);
    const auto removed = values.end() - end;
    values.erase(end, values.end());
    return static_cast<uint64_t>(removed);
  }
  void check_types(const std::vector<double>& values, Figures& out) const {
    NarrowCheck check;
    if (type_.id() == TMETER_DTYPE_FLOAT64) {
      check.add(std::span<const double>(values));
      check.report_double(out);
    } else if (type_.id() == TMETER_DTYPE_FLOAT32) {
      const std::vector<float> singles(values.begin(), values.end());
      check.add(std::span<const float>(singles));
      check.report_single(out);
    }
  }

  tmeter::DType type_;
  std::vector<uint8_t> bytes_;
};

}  // namespace

std::unique_ptr<Collector> few_collector(tmeter::DType type) { return std::make_unique<Few>(type); }

std::unique_ptr<Collector> collector(tmeter::DType type, int64_t numel) {
  if (numel <= kFew) return few_collector(type);
  return type.bytes() <= 2 ? code_collector(type) : wide_collector(type);
}

}  // namespace param_stats
