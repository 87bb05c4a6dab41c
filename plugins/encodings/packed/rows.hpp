// Shared tools of the decoders: parameters, elements of a part, codes of a few bits in a row of
// bytes, and splitting a range of elements into rows.
#pragma once
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <tmeter/cpp/decoder.hpp>
#include <tmeter/cpp/numbers.hpp>

namespace packed {

using Bytes = std::span<const uint8_t>;

[[noreturn]] inline void unavailable(const std::string& why) {
  throw tmeter::Error(TMETER_UNAVAILABLE, why);
}

/// The text of a parameter "key=value"; empty if it is absent.
inline std::string_view parameter(const tmeter::Tensor& t, std::string_view key) {
  const auto all = tmeter::to_view(t.storage().parameters);
  for (size_t at = 0; at < all.size();) {
    const auto end = std::min(all.find(' ', at), all.size());
    const auto word = all.substr(at, end - at);
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
      return word.substr(key.size() + 1);
    at = end + 1;
  }
  return {};
}

template <class T>
std::optional<T> number_of(const tmeter::Tensor& t, std::string_view key) {
  const auto text = parameter(t, key);
  T value{};
  const auto done = std::from_chars(text.data(), text.data() + text.size(), value);
  return text.empty() || done.ec != std::errc() ? std::nullopt : std::optional(value);
}

inline int64_t bits_of(const tmeter::Tensor& t) {
  const auto bits = number_of<int64_t>(t, "bits").value_or(0);
  if (bits < 1 || bits > 8) unavailable("the number of bits of a weight is unknown");
  return bits;
}

/// Rows are all dims but the last, together.
struct Extent {
  int64_t rows, columns;
};
inline Extent extent_of(const tmeter::Tensor& t) {
  const auto shape = t.shape();
  const auto columns = shape.rank() > 0 ? shape.back() : 1;
  return {columns > 0 ? t.numel().value() / columns : 0, columns};
}

/// The elements of a stored tensor, read in place.
class Numbers {
 public:
  Numbers() = default;
  Numbers(Bytes bytes, tmeter::DType type, int64_t count) : bytes_(bytes), type_(type) {
    if (!tmeter::decodable(type)) unavailable("a part has the type " + std::string(type.name()));
    size_ = static_cast<size_t>(type.bytes());
    if (count < 0 || bytes.size() / size_ < static_cast<size_t>(count))
      unavailable("a part has fewer elements than the weight needs");
    if (size_ == 1) table_ = &tmeter::detail::byte_table(type);
  }
  bool empty() const { return size_ == 0; }
  float operator[](int64_t i) const {
    const auto* at = bytes_.data() + static_cast<size_t>(i) * size_;
    if (table_) return (*table_)[*at];
    float value = 0;
    tmeter::decode<float>(type_, {at, size_}, {&value, 1});
    return value;
  }

 private:
  Bytes bytes_;
  tmeter::DType type_;
  size_t size_ = 0;
  const tmeter::detail::ByteValues* table_ = nullptr;
};

inline tmeter::StoredTensor::Part need(const tmeter::StoredTensor& t, std::string_view role) {
  auto part = t.part(role);
  if (!part) unavailable("it has no " + std::string(role));
  return *part;
}
inline int64_t count_of(const tmeter::StoredTensor::Part& p) {
  return p.about.shape().numel().value();
}
inline Numbers numbers(const tmeter::StoredTensor::Part& p) {
  return {p.bytes, p.about.dtype(), count_of(p)};
}
inline void need_bytes(Bytes bytes, int64_t needed) {
  if (needed < 0 || bytes.size() < static_cast<size_t>(needed))
    unavailable("its bytes are fewer than its shape needs");
}

/// Code i of a stream of codes of `bits`, the lowest bits first.
inline unsigned code_at(Bytes stream, int64_t i, int64_t bits) {
  const auto at = static_cast<size_t>(i * bits / 8);
  unsigned word = stream[at];
  if (at + 1 < stream.size()) word |= unsigned{stream[at + 1]} << 8;
  return word >> (i * bits % 8) & ((1u << bits) - 1);
}

/// Codes [first, first + out.size()).
inline void unpack(Bytes stream, int64_t first, int64_t bits, std::span<uint8_t> out) {
  if (bits == 4 && first % 2 == 0) {
    const auto* from = stream.data() + first / 2;
    for (size_t i = 0; i + 1 < out.size(); i += 2) {
      out[i] = from[i / 2] & 15;
      out[i + 1] = from[i / 2] >> 4;
    }
    if (out.size() % 2) out.back() = from[out.size() / 2] & 15;
    return;
  }
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<uint8_t>(code_at(stream, first + static_cast<int64_t>(i), bits));
}

constexpr int64_t kRun = 1024;  // codes unpacked at a time
using Run = std::array<uint8_t, kRun>;

/// A decoder that works row by row.
class Rows : public tmeter::Decoding {
 public:
  explicit Rows(const tmeter::Tensor& t) : extent_(extent_of(t)) {}
  void decode(int64_t first, std::span<float> out, tmeter::Call&) const override {
    const auto columns = extent_.columns;
    for (int64_t done = 0, all = static_cast<int64_t>(out.size()); done < all;) {
      const auto row = (first + done) / columns, begin = (first + done) % columns;
      const auto count = std::min(columns - begin, all - done);
      decode_row(row, begin, out.subspan(static_cast<size_t>(done), static_cast<size_t>(count)));
      done += count;
    }
  }

 protected:
  /// Columns [begin, begin + out.size()) of a row.
  virtual void decode_row(int64_t row, int64_t begin, std::span<float> out) const = 0;
  Extent extent_;
};

template <class T>
std::unique_ptr<tmeter::Decoding> make_decoding(const tmeter::StoredTensor& t, tmeter::Call&) {
  return std::make_unique<T>(t);
}

// One function for each file: registers its decoders.
void add_words(tmeter::Registrar& r);
void add_scaled(tmeter::Registrar& r);
void add_bitsandbytes(tmeter::Registrar& r);
void add_planes(tmeter::Registrar& r);

}  // namespace packed
