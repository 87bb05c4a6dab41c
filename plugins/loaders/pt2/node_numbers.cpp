#include "node_numbers.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace pt2 {
namespace {

constexpr size_t kRecent = 256;

std::span<const int64_t> numbers_of(const PlainNodes& plain, const PlainValue& value) {
  if (value.kind != PlainValue::Kind::kIntegers) return {};
  return std::span(plain.numbers).subspan(value.first, value.count);
}

bool same(const PlainNodes& plain, const PlainValue& a, const PlainValue& b) {
  return a.kind == b.kind && a.number == b.number &&
         std::bit_cast<uint64_t>(a.real) == std::bit_cast<uint64_t>(b.real) &&
         std::ranges::equal(numbers_of(plain, a), numbers_of(plain, b));
}

uint64_t hash_of(const PlainNodes& plain, const PlainValue& value) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  auto hash = static_cast<uint64_t>(value.kind);
  const auto add = [&](uint64_t n) { hash = (hash ^ n ^ hash >> 32) * kFactor; };
  add(static_cast<uint64_t>(value.number));
  add(std::bit_cast<uint64_t>(value.real));
  for (const auto n : numbers_of(plain, value)) add(static_cast<uint64_t>(n));
  return (hash ^ hash >> 32) * kFactor >> 32;  // numbers may differ in their first bits alone
}

}  // namespace

void PieceTexts::clear() {
  texts_.clear();
  recent_.fill(0);
}

void NodeNumbers::begin(const PlainNodes& plain) {
  nodes.resize(plain.nodes.size());
  values.resize(plain.values.size());
  tensors.resize(plain.names.size());
  targets.clear();
  traces.clear();
  names.clear();
  constants.clear();
  recent_.assign(kRecent, 0);
}

uint32_t NodeNumbers::constant(const PlainNodes& plain, uint32_t i) {
  auto& recent = recent_[hash_of(plain, plain.values[i]) % kRecent];
  if (recent != 0 && same(plain, plain.values[constants[recent - 1]], plain.values[i]))
    return recent - 1;
  constants.push_back(i);
  recent = static_cast<uint32_t>(constants.size());
  return recent - 1;
}

}  // namespace pt2
