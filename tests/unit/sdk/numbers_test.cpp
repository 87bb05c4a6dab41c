// Decoding of elements against PyTorch's values of the same bits.
#include <gtest/gtest.h>

#include <numeric>
#include <tmeter/cpp/numbers.hpp>
#include <vector>

namespace {

using tmeter::DType;

struct RecordedBytes {
  const char* dtype;
  uint32_t values[256];
};
struct RecordedWords {
  const char* dtype;
  uint64_t fnv1a;
};
#include "numbers_recorded.inc"

uint32_t bits_of(float f) { return std::isnan(f) ? 0x7fc00000 : std::bit_cast<uint32_t>(f); }

template <class T>
std::span<const uint8_t> bytes_of(const std::vector<T>& v) {
  return {reinterpret_cast<const uint8_t*>(v.data()), v.size() * sizeof(T)};
}

template <class T>
std::vector<T> all_codes(size_t count) {
  std::vector<T> codes(count);
  std::iota(codes.begin(), codes.end(), T{0});
  return codes;
}

template <class Real, class T>
std::vector<Real> decoded(const char* dtype, const std::vector<T>& stored) {
  std::vector<Real> out(stored.size());
  tmeter::decode<Real>(DType::parse(dtype), bytes_of(stored), out);
  return out;
}

uint64_t fnv1a(const std::vector<float>& values) {
  uint64_t state = 0xcbf29ce484222325u;
  for (const float v : values) {
    const uint32_t word = bits_of(v);
    for (int shift = 0; shift < 32; shift += 8)
      state = (state ^ ((word >> shift) & 0xff)) * 0x100000001b3u;
  }
  return state;
}

TEST(Numbers, EveryCodeOfThe8BitTypesIsTheNumberTorchReads) {
  for (const auto& recorded : kRecordedBytes) {
    auto codes = all_codes<uint8_t>(256);
    const auto floats = decoded<float>(recorded.dtype, codes);
    const auto doubles = decoded<double>(recorded.dtype, codes);
    for (size_t i = 0; i < codes.size(); ++i) {
      EXPECT_EQ(bits_of(floats[i]), recorded.values[i]) << recorded.dtype << " code " << i;
      EXPECT_EQ(bits_of(static_cast<float>(doubles[i])), recorded.values[i]);
    }
  }
}

TEST(Numbers, EveryCodeOfThe16BitTypesIsTheNumberTorchReads) {
  for (const auto& recorded : kRecordedWords) {
    const auto codes = all_codes<uint16_t>(65536);
    EXPECT_EQ(fnv1a(decoded<float>(recorded.dtype, codes)), recorded.fnv1a) << recorded.dtype;
  }
}

TEST(Numbers, OneCodeHasTheValueItHasInAWholeTensor) {
  const auto halves = decoded<double>("float16", all_codes<uint16_t>(65536));
  for (uint32_t code = 0; code < 65536; ++code) {
    const double one = tmeter::value_of_code(DType::parse("float16"), static_cast<uint16_t>(code));
    EXPECT_TRUE(one == halves[code] || (std::isnan(one) && std::isnan(halves[code]))) << code;
  }
  EXPECT_EQ(tmeter::value_of_code(DType::parse("int8"), 0x80), -128);
}

TEST(Numbers, WideTypesKeepTheirValues) {
  using Limits = std::numeric_limits<int64_t>;
  EXPECT_EQ(decoded<double>("float64", std::vector<double>{-0x1p-1074, 1e300}),
            (std::vector<double>{-0x1p-1074, 1e300}));
  EXPECT_EQ(decoded<double>("float32", std::vector<float>{0x1p-149f, -3.5f}),
            (std::vector<double>{0x1p-149, -3.5}));
  EXPECT_EQ(decoded<double>("int64", std::vector<int64_t>{Limits::min(), Limits::max()}),
            (std::vector<double>{-0x1p63, 0x1p63}));
  EXPECT_EQ(decoded<double>("uint64", std::vector<uint64_t>{~uint64_t{0}}),
            (std::vector<double>{0x1p64}));
  EXPECT_EQ(decoded<double>("int32", std::vector<int32_t>{-2147483648}),
            (std::vector<double>{-2147483648.0}));
  EXPECT_EQ(decoded<double>("uint32", std::vector<uint32_t>{4294967295u}),
            (std::vector<double>{4294967295.0}));
}

TEST(Numbers, BytesNeedNoAlignment) {
  const std::vector<uint8_t> file{0xff, 0x00, 0x00, 0x80, 0x3f};
  std::array<float, 1> out{};
  tmeter::decode<float>(DType::parse("float32"), std::span(file).subspan(1), std::span<float>(out));
  EXPECT_EQ(out[0], 1.f);
}

TEST(Numbers, TypesWithoutANumberOfTheirOwnAreRefusedWithAReason) {
  for (const auto& d : tmeter::kDTypes) {
    const bool number = d.kind == tmeter::DTypeClass::kFloat ||
                        d.kind == tmeter::DTypeClass::kInt || d.kind == tmeter::DTypeClass::kBool;
    const bool below_a_byte = (d.id >= 30 && d.id <= 43) || d.id == TMETER_DTYPE_FLOAT4_E2M1FN_X2;
    EXPECT_EQ(tmeter::decodable(DType(d.id)), number && !below_a_byte) << d.name;
  }
  std::array<float, 1> out{};
  const std::vector<uint8_t> bytes(16);
  EXPECT_THROW(tmeter::decode<float>(DType::parse("complex64"), bytes, std::span<float>(out)),
               tmeter::Error);
  EXPECT_THROW(tmeter::decode<float>(DType(), bytes, std::span<float>(out)), tmeter::Error);
}

TEST(Numbers, TooFewBytesAreAnErrorNotARead) {
  std::array<float, 2> out{};
  const std::vector<uint8_t> bytes(7);
  EXPECT_THROW(tmeter::decode<float>(DType::parse("float32"), bytes, std::span<float>(out)),
               tmeter::Error);
}

}  // namespace
