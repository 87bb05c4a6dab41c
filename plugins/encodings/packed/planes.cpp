// HQQ: w = (q − zero)·scale. optimum-quanto: w = q·scale − shift. The codes are a matrix whose rows
// are split into parts, each in some bits of all words: the first part in the lowest bits
// (optimum-quanto, tensor/packed.py) or in the highest (HQQ, core/bitpack.py).
#include "rows.hpp"

namespace packed {
namespace {

class Planes final : public tmeter::Decoding {
 public:
  explicit Planes(const tmeter::StoredTensor& t)
      : bytes_(t.bytes()),
        is_hqq_(t.tensor().encoding() == "hqq"),
        bits_(bits_of(t.tensor())),
        columns_(number_of<int64_t>(t.tensor(), "columns").value_or(0)),
        by_row_(parameter(t.tensor(), "scales") == "rows"),
        scales_(numbers(need(t, "scales"))),
        offsets_(numbers(need(t, is_hqq_ ? "zeros" : "shifts"))) {
    const auto all = t.tensor().numel().value();
    word_bytes_ = bits_ == 3 ? 4 : 1;
    parts_ = bits_ == 3 ? 10 : 8 / bits_;
    if (columns_ < 1 || all % columns_ != 0) unavailable("its shape does not fit its codes");
    const auto rows = all / columns_;
    step_ = (rows + parts_ - 1) / parts_;
    need_bytes(bytes_, step_ * columns_ * word_bytes_);
    const auto needed = by_row_ ? rows : columns_;
    if (count_of(need(t, "scales")) < needed ||
        count_of(need(t, is_hqq_ ? "zeros" : "shifts")) < needed)
      unavailable("it has too few scales");
  }
  void decode(int64_t first, std::span<float> out, tmeter::Call&) const override {
    for (size_t i = 0; i < out.size(); ++i) {
      const auto at = first + static_cast<int64_t>(i);
      const auto row = at / columns_, column = at % columns_;
      const auto scale = scales_[by_row_ ? row : column], offset = offsets_[by_row_ ? row : column];
      const auto q = static_cast<float>(code(row, column));
      out[i] = is_hqq_ ? (q - offset) * scale : q * scale - offset;
    }
  }

 private:
  unsigned code(int64_t row, int64_t column) const {
    const auto part = row / step_;
    const auto shift = bits_ * (is_hqq_ ? parts_ - 1 - part : part);
    const auto* at = bytes_.data() + (row % step_ * columns_ + column) * word_bytes_;
    uint32_t word = *at;
    if (word_bytes_ == 4) std::memcpy(&word, at, sizeof word);
    return word >> shift & ((1u << bits_) - 1);
  }
  Bytes bytes_;
  bool is_hqq_;
  int64_t bits_, columns_;
  bool by_row_;
  Numbers scales_, offsets_;
  int64_t word_bytes_ = 1, parts_ = 1, step_ = 1;
};

}  // namespace

void add_planes(tmeter::Registrar& r) { tmeter::decoder(r, "hqq quanto", make_decoding<Planes>); }

}  // namespace packed
