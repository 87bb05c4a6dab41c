// Integers in 32-bit words.
//
//   gptq               w = scale·(q − z); words down the columns of [in, out]; z is stored minus
//                      one, except in format v2 (AutoGPTQ 0.7, qlinear_cuda.py; GPTQModel,
//                      qlinear/__init__.py)
//   awq                w = scale·(q − z); eight columns in a word, in the order 0 2 4 6 1 3 5 7
//                      (AutoAWQ 0.2, gemm.py)
//   compressed.packed  w = scale·(q − z), q and z stored plus 2^(bits−1) (compressed-tensors,
//                      pack_quantized)
//   mlx                w = scale·q + bias (mlx, affine_quantize)
#include <numeric>

#include "rows.hpp"

namespace packed {
namespace {

constexpr int64_t kWord = 32;

uint32_t word_at(Bytes bytes, int64_t i) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + static_cast<size_t>(i) * 4, 4);
  return word;
}

/// The group of a column.
class Groups {
 public:
  Groups(const tmeter::StoredTensor& t, int64_t columns, int64_t groups)
      : size_(number_of<int64_t>(t.tensor(), "group").value_or(0)) {
    if (const auto order = t.part("order")) {
      order_ = order->bytes;
      need_bytes(order_, columns * 4);
      for (int64_t c = 0; c < columns; ++c)
        if (word_at(order_, c) >= static_cast<uint64_t>(groups))
          unavailable("its order names a group that does not exist");
    } else if (size_ < 1 || (columns + size_ - 1) / size_ > groups) {
      unavailable("its groups fit several sizes; config.json beside the file would determine it");
    }
  }
  int64_t of(int64_t column) const {
    return order_.empty() ? column / size_ : word_at(order_, column);
  }
  /// The end of the columns of the same group.
  int64_t end(int64_t column) const {
    return order_.empty() ? (column / size_ + 1) * size_ : column + 1;
  }

 private:
  int64_t size_;
  Bytes order_;
};

/// Both are stored as [in, out], with words along `in`.
class Gptq final : public tmeter::Decoding {
 public:
  explicit Gptq(const tmeter::StoredTensor& t)
      : extent_(extent_of(t.tensor())),
        bits_(bits_of(t.tensor())),
        mask_((1u << bits_) - 1),
        words_(t.bytes()),
        scales_(numbers(need(t, "scales"))),
        zeros_(need(t, "zeros").bytes),
        group_count_(need(t, "scales").about.shape()[0]),
        groups_(t, extent_.columns, group_count_) {
    const auto common = std::gcd(kWord, bits_);
    block_ = kWord / common;
    block_words_ = bits_ / common;
    const auto bits = extent_.rows * extent_.columns * bits_;
    if (extent_.columns % block_ != 0 || extent_.rows * bits_ % kWord != 0)
      unavailable("its shape does not fill whole words");
    need_bytes(words_, bits / 8);
    zero_words_ = extent_.rows * bits_ / kWord;
    need_bytes(zeros_, group_count_ * zero_words_ * 4);
    if (count_of(need(t, "scales")) < group_count_ * extent_.rows)
      unavailable("it has too few scales");
    const auto stored = number_of<int64_t>(t.tensor(), "zero");
    zero_ = static_cast<unsigned>(stored ? *stored : offset_of_zeros());
  }

  void decode(int64_t first, std::span<float> out, tmeter::Call&) const override {
    const auto end = first + static_cast<int64_t>(out.size());
    const auto columns = extent_.columns;
    const auto row_begin = first / columns, row_end = (end - 1) / columns + 1;
    // Words of neighbouring rows are adjacent.
    for (int64_t c = 0; c < columns; c += block_) {
      for (int64_t r = row_begin; r < row_end; ++r) {
        const auto at = r * columns + c;
        if (at + block_ <= first || at >= end) continue;
        block(r, c, first, end, out);
      }
    }
  }

 private:
  /// Weights of columns [c, c + block_) of row r that are in [first, end).
  void block(int64_t r, int64_t c, int64_t first, int64_t end, std::span<float> out) const {
    std::array<uint8_t, kWord> bytes{};
    for (int64_t w = 0; w < block_words_; ++w) {
      const auto word = word_at(words_, (c * bits_ / kWord + w) * extent_.rows + r);
      std::memcpy(bytes.data() + w * 4, &word, 4);
    }
    float scale = 0, zero = 0;
    for (int64_t k = 0, group_end = 0; k < block_; ++k) {
      if (c + k >= group_end) {
        const auto g = groups_.of(c + k);
        group_end = groups_.end(c + k);
        scale = scales_[g * extent_.rows + r];
        zero = static_cast<float>((code_at(zero_row(g), r, bits_) + zero_) & mask_);
      }
      const auto at = r * extent_.columns + c + k;
      if (at < first || at >= end) continue;
      out[static_cast<size_t>(at - first)] =
          (static_cast<float>(code_at(bytes, k, bits_)) - zero) * scale;
    }
  }
  Bytes zero_row(int64_t g) const {
    return zeros_.subspan(static_cast<size_t>(g * zero_words_ * 4),
                          static_cast<size_t>(zero_words_ * 4));
  }
  /// Symmetric weights have the middle as zero point everywhere, which reveals the format.
  int64_t offset_of_zeros() const {
    const unsigned middle = 1u << (bits_ - 1), first = code_at(zero_row(0), 0, bits_);
    for (int64_t g = 0; g < group_count_; ++g)
      for (int64_t r = 0; r < extent_.rows; ++r)
        if (code_at(zero_row(g), r, bits_) != first) unavailable(kUnknownOffset);
    if (first != middle && first + 1 != middle) unavailable(kUnknownOffset);
    return middle - first;
  }

  static constexpr const char* kUnknownOffset =
      "it is unknown whether its zero points are stored minus one; config.json beside the file "
      "would determine it";
  Extent extent_;
  int64_t bits_;
  unsigned mask_, zero_ = 0;
  Bytes words_;
  Numbers scales_;
  Bytes zeros_;
  int64_t group_count_, zero_words_ = 0, block_ = 0, block_words_ = 0;
  Groups groups_;
};

class Awq final : public tmeter::Decoding {
 public:
  explicit Awq(const tmeter::StoredTensor& t)
      : extent_(extent_of(t.tensor())),
        words_(t.bytes()),
        zeros_(need(t, "zeros").bytes),
        scales_(numbers(need(t, "scales"))),
        groups_(t, extent_.columns, need(t, "scales").about.shape()[0]) {
    if (!parameter(t.tensor(), "version").empty())
      unavailable("only its layout 'gemm' is decoded, not 'gemv'");
    const auto groups = need(t, "scales").about.shape()[0];
    if (extent_.rows % kPerWord != 0) unavailable("its shape does not fill whole words");
    row_words_ = extent_.rows / kPerWord;
    need_bytes(words_, extent_.columns * row_words_ * 4);
    need_bytes(zeros_, groups * row_words_ * 4);
    if (count_of(need(t, "scales")) < groups * extent_.rows) unavailable("it has too few scales");
  }
  void decode(int64_t first, std::span<float> out, tmeter::Call&) const override {
    const auto end = first + static_cast<int64_t>(out.size());
    const auto columns = extent_.columns;
    const auto row_begin = first / columns, row_end = (end - 1) / columns + 1;
    for (int64_t c = 0; c < columns; ++c) {
      const auto g = groups_.of(c);
      for (int64_t r = row_begin; r < row_end; ++r) {
        const auto at = r * columns + c;
        if (at < first || at >= end) continue;
        const auto q = code(words_, c * row_words_, r), z = code(zeros_, g * row_words_, r);
        out[static_cast<size_t>(at - first)] =
            static_cast<float>(q - z) * scales_[g * extent_.rows + r];
      }
    }
  }

 private:
  static constexpr int64_t kPerWord = 8;
  static int code(Bytes words, int64_t row, int64_t column) {
    constexpr std::array<int, kPerWord> kPlace{0, 4, 1, 5, 2, 6, 3, 7};
    const auto word = word_at(words, row + column / kPerWord);
    return static_cast<int>(word >> (4 * kPlace[static_cast<size_t>(column % kPerWord)]) & 15);
  }
  Extent extent_;
  Bytes words_, zeros_;
  Numbers scales_;
  Groups groups_;
  int64_t row_words_ = 0;
};

/// Rows of words; each row begins with a new word.
class Compressed final : public Rows {
 public:
  explicit Compressed(const tmeter::StoredTensor& t)
      : Rows(t.tensor()),
        bits_(bits_of(t.tensor())),
        middle_(1 << (bits_ - 1)),
        whole_(parameter(t.tensor(), "words") == "whole"),
        words_(t.bytes()),
        scales_(numbers(need(t, "scales"))),
        scale_count_(count_of(need(t, "scales"))) {
    const auto per_word = kWord / bits_;
    row_words_ = whole_ ? (extent_.columns + per_word - 1) / per_word
                        : (extent_.columns * bits_ + kWord - 1) / kWord;
    need_bytes(words_, extent_.rows * row_words_ * 4);
    if (scale_count_ > 1) {
      if (scale_count_ % extent_.rows != 0)
        unavailable("its scales are not a multiple of its rows");
      row_groups_ = scale_count_ / extent_.rows;
      if (row_groups_ > 1) groups_.emplace(t, extent_.columns, row_groups_);
    }
    if (const auto zeros = t.part("zeros")) read_zeros(*zeros);
  }

 protected:
  void decode_row(int64_t row, int64_t begin, std::span<float> out) const override {
    const auto words = words_.subspan(static_cast<size_t>(row * row_words_ * 4),
                                      static_cast<size_t>(row_words_ * 4));
    float scale = 0;
    int offset = 0;
    const auto count = static_cast<int64_t>(out.size());
    for (int64_t i = 0, end = 0; i < count; ++i) {
      const auto c = begin + i;
      if (c >= end) {
        const auto g = groups_ ? groups_->of(c) : 0;
        end = groups_ ? groups_->end(c) : extent_.columns;
        scale = scales_[scale_count_ > 1 ? row * row_groups_ + g : 0];
        offset = middle_ + zero_at(row, g);
      }
      out[static_cast<size_t>(i)] = static_cast<float>(code(words, c) - offset) * scale;
    }
  }

 private:
  int code(Bytes words, int64_t c) const {
    if (!whole_) return static_cast<int>(code_at(words, c, bits_));
    const auto per_word = kWord / bits_;
    return static_cast<int>(word_at(words, c / per_word) >> (c % per_word * bits_) &
                            ((1u << bits_) - 1));
  }
  /// Zero points are packed down the columns, or one by one.
  void read_zeros(const tmeter::StoredTensor::Part& zeros) {
    packed_zeros_ = zeros.about.dtype().id() == TMETER_DTYPE_INT32;
    if (packed_zeros_) {
      zero_bytes_ = zeros.bytes;
      const auto per_word = kWord / bits_;
      const auto words = whole_ ? (extent_.rows + per_word - 1) / per_word
                                : (extent_.rows * bits_ + kWord - 1) / kWord;
      need_bytes(zero_bytes_, words * row_groups_ * 4);
    } else {
      plain_zeros_ = numbers(zeros);
      if (count_of(zeros) != scale_count_)
        unavailable("it has different numbers of zero points and scales");
    }
  }
  int zero_at(int64_t row, int64_t g) const {
    if (!plain_zeros_.empty())
      return static_cast<int>(plain_zeros_[scale_count_ > 1 ? row * row_groups_ + g : 0]);
    if (!packed_zeros_) return 0;
    const auto per_word = kWord / bits_;
    const auto mask = (uint64_t{1} << bits_) - 1;
    if (whole_) {
      const auto word = word_at(zero_bytes_, row / per_word * row_groups_ + g);
      return static_cast<int>(word >> (row % per_word * bits_) & mask) - middle_;
    }
    const auto at = row * bits_ / kWord;
    uint64_t words = word_at(zero_bytes_, at * row_groups_ + g);
    if ((row + 1) * bits_ > (at + 1) * kWord)
      words |= uint64_t{word_at(zero_bytes_, (at + 1) * row_groups_ + g)} << kWord;
    return static_cast<int>(words >> (row * bits_ % kWord) & mask) - middle_;
  }

  int64_t bits_;
  int middle_;
  bool whole_, packed_zeros_ = false;
  Bytes words_, zero_bytes_;
  Numbers scales_, plain_zeros_;
  int64_t scale_count_, row_words_ = 0, row_groups_ = 1;
  std::optional<Groups> groups_;
};

class Mlx final : public Rows {
 public:
  explicit Mlx(const tmeter::StoredTensor& t)
      : Rows(t.tensor()),
        bits_(bits_of(t.tensor())),
        group_(number_of<int64_t>(t.tensor(), "group").value_or(0)),
        bytes_(t.bytes()),
        scales_(numbers(need(t, "scales"))),
        biases_(numbers(need(t, "biases"))) {
    if (group_ < 1 || extent_.columns % group_ != 0)
      unavailable("its rows are not a multiple of its groups");
    const auto needed = extent_.rows * (extent_.columns / group_);
    if (count_of(need(t, "scales")) < needed || count_of(need(t, "biases")) < needed)
      unavailable("it has too few scales or biases");
    row_bytes_ = extent_.columns * bits_ / 8;
    need_bytes(bytes_, extent_.rows * row_bytes_);
  }

 protected:
  void decode_row(int64_t row, int64_t begin, std::span<float> out) const override {
    const auto bytes =
        bytes_.subspan(static_cast<size_t>(row * row_bytes_), static_cast<size_t>(row_bytes_));
    Run run;
    for (int64_t i = 0, count = static_cast<int64_t>(out.size()); i < count;) {
      const auto c = begin + i;
      const auto n = std::min({group_ - c % group_, count - i, kRun});
      const auto g = row * (extent_.columns / group_) + c / group_;
      const float scale = scales_[g], bias = biases_[g];
      unpack(bytes, c, bits_, std::span(run).first(static_cast<size_t>(n)));
      for (int64_t k = 0; k < n; ++k)
        out[static_cast<size_t>(i + k)] =
            scale * static_cast<float>(run[static_cast<size_t>(k)]) + bias;
      i += n;
    }
  }

 private:
  int64_t bits_, group_;
  Bytes bytes_;
  Numbers scales_, biases_;
  int64_t row_bytes_ = 0;
};

}  // namespace

void add_words(tmeter::Registrar& r) {
  tmeter::decoder(r, "gptq", make_decoding<Gptq>);
  tmeter::decoder(r, "awq", make_decoding<Awq>);
  tmeter::decoder(r, "compressed.packed", make_decoding<Compressed>);
  tmeter::decoder(r, "mlx", make_decoding<Mlx>, TMETER_DECODER_IN_ORDER);
}

}  // namespace packed
