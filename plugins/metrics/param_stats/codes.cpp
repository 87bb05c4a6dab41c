// 8- and 16-bit types, and tensors of a few elements: every distinct number is known in the end.
#include <algorithm>
#include <tmeter/cpp/numbers.hpp>

#include "code_table.hpp"
#include "coding.hpp"
#include "collector.hpp"

namespace param_stats {
namespace {

/// Takes in numbers with their counts, keeps NaN and infinities apart, and sums up.
class Numbers {
 public:
  explicit Numbers(Figures& out) : out_(out) {}
  void add(double value, uint64_t count) {
    if (std::isnan(value)) {
      out_.nan += count;
    } else if (std::isinf(value)) {
      out_.inf += count;
    } else {
      finite_.push_back({value, count});
    }
  }
  void summarise(double threshold) {
    std::sort(finite_.begin(), finite_.end(),
              [](const Counted& a, const Counted& b) { return a.value < b.value; });
    param_stats::summarise(finite_, threshold, out_);
  }

 private:
  Figures& out_;
  std::vector<Counted> finite_;
};

class Words final : public Collector {
 public:
  explicit Words(tmeter::DType type) : type_(type) {}
  void add(std::span<const uint8_t> elements) override { table_.add_words(elements); }
  void merge(Collector& other) override { table_.merge(static_cast<Words&>(other).table_); }
  bool finish(double threshold, Figures& out) override {
    Numbers numbers(out);
    WordPlanes planes;
    table_.each([&](uint16_t code, uint64_t count) {
      numbers.add(tmeter::value_of_code(type_, code), count);
      planes.add(code, count);
    });
    numbers.summarise(threshold);
    out.coded_bits = planes.bits();
    return false;
  }

 private:
  tmeter::DType type_;
  CodeTable table_;
};

class Bytes final : public Collector {
 public:
  explicit Bytes(tmeter::DType type) : type_(type) {}
  void add(std::span<const uint8_t> elements) override {
    while (!elements.empty()) {  // in pieces that 32-bit counters hold
      const auto now = elements.first(std::min(elements.size(), size_t{1} << 30));
      count_bytes(now.data(), now.size(), counts_.room(now.size()));
      elements = elements.subspan(now.size());
    }
  }
  void merge(Collector& other) override { counts_.merge(static_cast<Bytes&>(other).counts_); }
  bool finish(double threshold, Figures& out) override {
    Numbers numbers(out);
    const auto counts = counts_.plane();
    for (size_t i = 0; i < counts.size(); ++i)
      if (counts[i]) numbers.add(tmeter::value_of_code(type_, static_cast<uint16_t>(i)), counts[i]);
    numbers.summarise(threshold);
    out.coded_bits = coded_bits(counts);
    return false;
  }

 private:
  tmeter::DType type_;
  ByteCounts counts_;
};

}  // namespace

std::unique_ptr<Collector> code_collector(tmeter::DType type) {
  if (type.bytes() == 1) return std::make_unique<Bytes>(type);
  return std::make_unique<Words>(type);
}

}  // namespace param_stats
