// bitsandbytes of four bits: codes into a table, times the largest magnitude of a block, which may
// itself be coded (functional.py, dequantize_4bit). The first of two codes is in the high half of a
// byte.
#include "rows.hpp"

namespace packed {
namespace {

class FourBits final : public tmeter::Decoding {
 public:
  explicit FourBits(const tmeter::StoredTensor& t)
      : bytes_(t.bytes()),
        block_(number_of<int64_t>(t.tensor(), "block").value_or(0)),
        nested_block_(number_of<int64_t>(t.tensor(), "nested_block").value_or(0)),
        nested_offset_(number_of<float>(t.tensor(), "nested_offset").value_or(0)),
        scales_(numbers(need(t, "scales"))) {
    const auto all = t.tensor().numel().value();
    if (block_ < 1) unavailable("the number of weights in a block is unknown");
    const auto blocks = (all + block_ - 1) / block_;
    need_bytes(bytes_, (all + 1) / 2);
    if (count_of(need(t, "scales")) < blocks) unavailable("it has too few scales");
    const auto codes = need(t, "codes");
    if (count_of(codes) != 16) unavailable("its table of codes does not have 16 entries");
    for (int64_t i = 0; i < 16; ++i) codes_[static_cast<size_t>(i)] = numbers(codes)[i];
    if (nested_block_ == 0) return;
    nested_scales_ = numbers(need(t, "nested_scales"));
    nested_codes_ = numbers(need(t, "nested_codes"));
    if (need(t, "scales").about.dtype().id() != TMETER_DTYPE_UINT8 ||
        count_of(need(t, "nested_codes")) < 256 ||
        count_of(need(t, "nested_scales")) < (blocks + nested_block_ - 1) / nested_block_)
      unavailable("the scales of its scales do not fit them");
  }
  void decode(int64_t first, std::span<float> out, tmeter::Call&) const override {
    float scale = 0;
    for (int64_t i = 0, end = 0, count = static_cast<int64_t>(out.size()); i < count; ++i) {
      const auto at = first + i;
      if (at >= end) {
        scale = scale_of(at / block_);
        end = (at / block_ + 1) * block_;
      }
      const auto byte = bytes_[static_cast<size_t>(at / 2)];
      out[static_cast<size_t>(i)] = codes_[at % 2 ? byte & 15 : byte >> 4] * scale;
    }
  }

 private:
  float scale_of(int64_t block) const {
    if (nested_block_ == 0) return scales_[block];
    const auto code = static_cast<int64_t>(scales_[block]);
    return nested_codes_[code] * nested_scales_[block / nested_block_] + nested_offset_;
  }
  Bytes bytes_;
  int64_t block_, nested_block_;
  float nested_offset_;
  Numbers scales_, nested_scales_, nested_codes_;
  std::array<float, 16> codes_{};
};

}  // namespace

void add_bitsandbytes(tmeter::Registrar& r) {
  tmeter::decoder(
      r, "bnb.nf4 bnb.fp4",
      [](const tmeter::StoredTensor& t, tmeter::Call&) { return std::make_unique<FourBits>(t); },
      TMETER_DECODER_IN_ORDER);
}

}  // namespace packed
