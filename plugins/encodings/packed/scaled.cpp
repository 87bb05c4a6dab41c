// Floats of four to eight bits and int8, times scales in other tensors.
//
//   mxfp4, mxfp8, f6_…  OCP Microscaling Formats 1.0: E2M1 with a power of two for 32; two numbers
//                       per byte, the first in the low half (gpt-oss; compressed-tensors; MLX)
//   nvfp4               E2M1 with an E4M3 scale for 16, times one for the tensor (modelopt:
//                       `weight_scale_2`), or divided by it (compressed-tensors:
//                       `weight_global_scale`)
//   fp8.…, int8.…       a scale for the tensor, each row, group of columns, or block of rows and
//                       columns
//   bnb.int8            bitsandbytes: a row's scale is its largest magnitude, 127 steps
#include <cmath>

#include "rows.hpp"

namespace packed {
namespace {

constexpr std::array<float, 16> kE2m1{0,    .5f,  1,  1.5f,  2,  3,  4,  6,
                                      -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};

/// Floats of six bits: OCP Microscaling Formats 1.0, table 5.
std::array<float, 64> six_bits(int exponent_bits) {
  const int mantissa_bits = 5 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  std::array<float, 64> out{};
  for (int code = 0; code < 64; ++code) {
    const int exponent = (code & 31) >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
    const int hidden = exponent ? 1 << mantissa_bits : 0;
    const float value = std::ldexp(static_cast<float>(hidden + mantissa),
                                   (exponent ? exponent : 1) - bias - mantissa_bits);
    out[static_cast<size_t>(code)] = code & 32 ? -value : value;
  }
  return out;
}

/// E2M1 codes with a scale for each group of columns.
class Float4 final : public Rows {
 public:
  Float4(const tmeter::StoredTensor& t, int64_t group)
      : Rows(t.tensor()), group_(group), bytes_(t.bytes()), scales_(scales_of(t)) {
    if (extent_.columns % group_ != 0) unavailable("its rows are not a multiple of its groups");
    if (count_of(need(t, "scales")) < extent_.rows * (extent_.columns / group_))
      unavailable("it has too few scales");
    need_bytes(bytes_, extent_.rows * extent_.columns / 2);
    whole_ = whole_of(t, "global_scale", false);
    if (whole_.empty()) whole_ = whole_of(t, "global_divisor", true);
  }

 protected:
  void decode_row(int64_t row, int64_t begin, std::span<float> out) const override {
    const auto groups = extent_.columns / group_;
    const float whole = whole_.empty() ? 1 : whole_of_row(row);
    Run run;
    for (int64_t i = 0, count = static_cast<int64_t>(out.size()); i < count;) {
      const auto c = begin + i;
      const auto n = std::min(group_ - c % group_, count - i);
      const float scale = scales_[row * groups + c / group_] * whole;
      unpack(bytes_, row * extent_.columns + c, 4, std::span(run).first(static_cast<size_t>(n)));
      for (int64_t k = 0; k < n; ++k)
        out[static_cast<size_t>(i + k)] = kE2m1[run[static_cast<size_t>(k)]] * scale;
      i += n;
    }
  }

 private:
  /// The scales are plain bytes in MLX and gpt-oss.
  static Numbers scales_of(const tmeter::StoredTensor& t) {
    const auto part = need(t, "scales");
    auto type = part.about.dtype();
    if (const auto named = parameter(t.tensor(), "scales"); !named.empty())
      type = tmeter::DType::parse(named);
    else if (type.id() == TMETER_DTYPE_UINT8)
      type = tmeter::DType(TMETER_DTYPE_FLOAT8_E8M0FNU);
    return {part.bytes, type, count_of(part)};
  }
  Numbers whole_of(const tmeter::StoredTensor& t, std::string_view role, bool divisor) {
    const auto part = t.part(role);
    if (!part) return {};
    divisor_ = divisor;
    whole_count_ = count_of(*part);
    if (whole_count_ < 1 || extent_.rows % whole_count_ != 0)
      unavailable("it has a number of global scales that does not fit");
    return numbers(*part);
  }
  float whole_of_row(int64_t row) const {
    const auto value = whole_[row / (extent_.rows / whole_count_)];
    return divisor_ ? 1 / value : value;
  }

  int64_t group_;
  Bytes bytes_;
  Numbers scales_, whole_;
  bool divisor_ = false;
  int64_t whole_count_ = 1;
};

/// Bytes with a grid of scales over rows and columns.
class Scaled final : public Rows {
 public:
  explicit Scaled(const tmeter::StoredTensor& t)
      : Rows(t.tensor()), values_(t.bytes(), type_of(t.tensor()), t.tensor().numel().value()) {
    const auto part = need(t, "scales");
    scales_ = exponents_or_numbers(part);
    if (const auto zeros = t.part("zeros")) {
      zeros_ = numbers(*zeros);
      if (count_of(*zeros) != count_of(part))
        unavailable("it has different numbers of zero points and scales");
    }
    if (count_of(part) == 1) {
      height_ = matrix_rows_ = std::max<int64_t>(extent_.rows, 1), width_ = extent_.columns;
      return;
    }
    const auto shape = t.tensor().shape();
    height_ = number_of<int64_t>(t.tensor(), "rows").value_or(0);
    width_ = number_of<int64_t>(t.tensor(), "columns").value_or(0);
    if (height_ < 1 || width_ < 1)
      unavailable(
          "its scales fit blocks of several sizes; config.json beside the file would determine it");
    matrix_rows_ = shape.rank() > 1 ? shape[-2] : 1;
    down_ = (matrix_rows_ + height_ - 1) / height_;
    across_ = (extent_.columns + width_ - 1) / width_;
    if (matrix_rows_ < 1 || count_of(part) < extent_.rows / matrix_rows_ * down_ * across_)
      unavailable("it has too few scales");
  }

 protected:
  void decode_row(int64_t row, int64_t begin, std::span<float> out) const override {
    const auto line = (row / matrix_rows_ * down_ + row % matrix_rows_ / height_) * across_;
    for (int64_t i = 0, count = static_cast<int64_t>(out.size()); i < count;) {
      const auto c = begin + i;
      const auto n = std::min(width_ - c % width_, count - i);
      const auto at = line + c / width_;
      const float scale = scales_[at], zero = zeros_.empty() ? 0 : zeros_[at];
      for (int64_t k = 0; k < n; ++k)
        out[static_cast<size_t>(i + k)] = (values_[row * extent_.columns + c + k] - zero) * scale;
      i += n;
    }
  }

 private:
  /// MLX stores them as words.
  static tmeter::DType type_of(const tmeter::Tensor& t) {
    const tmeter::DType type(t.storage().stored_dtype);
    return type.bytes() == 1 ? type : tmeter::DType(TMETER_DTYPE_FLOAT8_E4M3FN);
  }
  static Numbers exponents_or_numbers(const tmeter::StoredTensor::Part& part) {
    const bool exponents = part.about.dtype().id() == TMETER_DTYPE_UINT8;
    return {part.bytes, exponents ? tmeter::DType(TMETER_DTYPE_FLOAT8_E8M0FNU) : part.about.dtype(),
            count_of(part)};
  }
  Numbers values_, scales_, zeros_;
  int64_t height_ = 1, width_ = 1, matrix_rows_ = 1, down_ = 1, across_ = 1;
};

class Int8 final : public Rows {
 public:
  explicit Int8(const tmeter::StoredTensor& t)
      : Rows(t.tensor()),
        values_(t.bytes(), tmeter::DType(TMETER_DTYPE_INT8), t.tensor().numel().value()),
        scales_(numbers(need(t, "scales"))) {
    if (count_of(need(t, "scales")) < extent_.rows) unavailable("it has too few scales");
  }

 protected:
  void decode_row(int64_t row, int64_t begin, std::span<float> out) const override {
    const float scale = scales_[row] / 127;
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = values_[row * extent_.columns + begin + static_cast<int64_t>(i)] * scale;
  }

 private:
  Numbers values_, scales_;
};

/// modelopt's int4: the low half of a byte belongs to row 2i, the high half to row 2i + 1; a scale
/// for each group of columns.
class Int4Rows final : public Rows {
 public:
  explicit Int4Rows(const tmeter::StoredTensor& t)
      : Rows(t.tensor()),
        group_(number_of<int64_t>(t.tensor(), "group").value_or(0)),
        bytes_(t.bytes()),
        scales_(numbers(need(t, "scales"))) {
    if (group_ < 1 || extent_.columns % group_ != 0 || extent_.rows % 2 != 0)
      unavailable("its shape is not a multiple of its groups");
    if (count_of(need(t, "scales")) < extent_.rows * (extent_.columns / group_))
      unavailable("it has too few scales");
    need_bytes(bytes_, extent_.rows / 2 * extent_.columns);
  }

 protected:
  void decode_row(int64_t row, int64_t begin, std::span<float> out) const override {
    for (size_t i = 0; i < out.size(); ++i) {
      const auto c = begin + static_cast<int64_t>(i);
      const auto byte = bytes_[static_cast<size_t>(row / 2 * extent_.columns + c)];
      const int code = row % 2 ? byte >> 4 : byte & 15;
      out[i] = static_cast<float>(code < 8 ? code : code - 16) *
               scales_[row * (extent_.columns / group_) + c / group_];
    }
  }

 private:
  int64_t group_;
  Bytes bytes_;
  Numbers scales_;
};

/// Floats of four or six bits.
class SmallFloatCodes final : public tmeter::Decoding {
 public:
  SmallFloatCodes(const tmeter::StoredTensor& t, int64_t bits, std::vector<float> values)
      : bits_(bits), bytes_(t.bytes()), values_(std::move(values)) {
    need_bytes(bytes_, t.tensor().numel().value() * bits / 8);
  }
  void decode(int64_t first, std::span<float> out, tmeter::Call&) const override {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = values_[code_at(bytes_, first + static_cast<int64_t>(i), bits_)];
  }

 private:
  int64_t bits_;
  Bytes bytes_;
  std::vector<float> values_;
};

template <class Table>
tmeter::MakeDecoding small(int64_t bits, const Table& table) {
  return [bits, values = std::vector<float>(table.begin(), table.end())](
             const tmeter::StoredTensor& t, tmeter::Call&) {
    return std::make_unique<SmallFloatCodes>(t, bits, values);
  };
}

}  // namespace

void add_scaled(tmeter::Registrar& r) {
  const auto float4 = [](int64_t group) -> tmeter::MakeDecoding {
    return [group](const tmeter::StoredTensor& t, tmeter::Call&) {
      return std::make_unique<Float4>(t, group);
    };
  };
  tmeter::decoder(r, "mxfp4", float4(32), TMETER_DECODER_IN_ORDER);
  tmeter::decoder(r, "nvfp4", float4(16), TMETER_DECODER_IN_ORDER);
  tmeter::decoder(r,
                  "fp8.tensor fp8.channel fp8.group fp8.block int8.tensor int8.channel int8.group "
                  "int8.block mxfp8 torchao.int8 torchao.float8 quanto.int8 quanto.float8",
                  make_decoding<Scaled>, TMETER_DECODER_IN_ORDER);
  tmeter::decoder(r, "modelopt.int4", make_decoding<Int4Rows>);
  tmeter::decoder(r, "bnb.int8", make_decoding<Int8>, TMETER_DECODER_IN_ORDER);
  tmeter::decoder(r, "f6_e2m3", small(6, six_bits(2)), TMETER_DECODER_IN_ORDER);
  tmeter::decoder(r, "f6_e3m2", small(6, six_bits(3)), TMETER_DECODER_IN_ORDER);
}

}  // namespace packed
