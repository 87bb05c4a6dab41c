#include "core/analysis/signatures.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace tmeter::core {
namespace {

constexpr size_t kMostWords = 512;  // of one signature
constexpr size_t kMostTensors = 32;
constexpr size_t kMostKept = size_t{1} << 18;  // words of all: 2 MB

/// Spells out all that a handler can see of an operator without looking at its place.
class Speller {
 public:
  /// `words` and `seen`: memory to work in.
  Speller(std::vector<uint64_t>& words, std::vector<const void*>& seen)
      : words_(words), seen_(seen) {
    words_.clear();
    seen_.clear();
  }
  /// Empty when it would be too long.
  std::span<const uint64_t> spell(const Node& node) {
    // Names of one graph are interned: their addresses identify them.
    put(node.op.data());
    put(node.overload.data());
    put(pair(node.args.size(), node.results.size()));
    for (const auto& arg : node.args) {
      put(arg.name.data());
      put(*arg.value);
    }
    for (const auto* result : node.results) put(*result);
    return fits_ ? std::span<const uint64_t>(words_) : std::span<const uint64_t>();
  }

 private:
  static uint64_t pair(size_t a, size_t b) { return static_cast<uint64_t>(a) << 32 | b; }

  void put(uint64_t word) {
    if (words_.size() < kMostWords)
      words_.push_back(word);
    else
      fits_ = false;
  }
  void put(const void* address) { put(reinterpret_cast<uintptr_t>(address)); }
  void put(std::span<const int64_t> numbers) {
    put(numbers.size());
    for (const auto n : numbers) {
      if (!fits_) return;
      put(static_cast<uint64_t>(n));
    }
  }
  void put(std::string_view text) {
    put(text.size());
    for (size_t i = 0; i < text.size() && fits_; i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + i, std::min(sizeof word, text.size() - i));
      put(word);
    }
  }
  /// Which of the operator's tensors are one, stored ones by what they are tied to.
  void put_identity(const void* tensor) {
    const auto at = std::find(seen_.begin(), seen_.end(), tensor);
    put(static_cast<uint64_t>(at - seen_.begin()));
    if (at != seen_.end()) return;
    if (seen_.size() < kMostTensors)
      seen_.push_back(tensor);
    else
      fits_ = false;
  }
  void put(const Tensor& t) {
    put(pair(static_cast<uint32_t>(t.kind), static_cast<uint32_t>(t.dtype)));
    put(pair(t.trainable, t.canonical == &t));
    put(t.dims);
    put(t.strides);
  }
  void put_tensor(const Value& v) {
    put(v.dims);
    if (!v.dim_exprs.empty())
      for (const auto expr : v.dim_exprs) put(expr);
    const auto* stored = v.tensor;
    put_identity(stored ? static_cast<const void*>(stored->canonical) : &v);
    put(stored != nullptr);
    if (stored) put(*stored);
  }
  void put(const Value& v) {
    if (!fits_) return;
    put(pair(static_cast<uint32_t>(v.kind), static_cast<uint32_t>(v.dtype)));
    put(!v.dim_exprs.empty());
    switch (v.kind) {
      case TMETER_VALUE_NONE:
        return;
      case TMETER_VALUE_TENSOR:
        return put_tensor(v);
      case TMETER_VALUE_LIST:
        put(v.items.size());
        for (const auto* item : v.items) {
          if (!fits_) return;
          put(*item);
        }
        return;
      default:
        put(static_cast<uint64_t>(v.i));
        put(std::bit_cast<uint64_t>(v.f));
        put(v.text);
    }
  }

  std::vector<uint64_t>& words_;
  std::vector<const void*>& seen_;
  bool fits_ = true;
};

/// Begins with an address, so that a file cannot know which signatures meet in the table.
uint64_t hash_of(std::span<const uint64_t> words) {
  uint64_t h = reinterpret_cast<uintptr_t>(&hash_of);
  for (const auto word : words) {
    h = (h ^ word) * 0x9e3779b97f4a7c15U;
    h ^= h >> 29;
  }
  return h;
}

}  // namespace

void Signatures::forget() {
  std::fill(of_node_.begin(), of_node_.end(), kUnseen);
  words_.clear();
  table_.clear();
  count_ = 0;
}

Signatures::Entry& Signatures::slot(uint64_t hash, std::span<const uint64_t> spelt) {
  for (size_t i = hash;; ++i) {
    auto& entry = table_[i & (table_.size() - 1)];
    if (entry.id == kNone) return entry;
    if (entry.hash == hash && entry.size == spelt.size() &&
        std::equal(spelt.begin(), spelt.end(),
                   words_.begin() + static_cast<ptrdiff_t>(entry.begin)))
      return entry;
  }
}

void Signatures::grow() {
  constexpr size_t kLeast = 256;
  const auto before =
      std::exchange(table_, std::vector<Entry>(std::max(kLeast, table_.size() * 2)));
  for (const auto& entry : before) {
    if (entry.id == kNone) continue;
    size_t i = entry.hash;
    while (table_[i & (table_.size() - 1)].id != kNone) ++i;
    table_[i & (table_.size() - 1)] = entry;
  }
}

uint32_t Signatures::find(const Node& node) {
  const auto spelt = Speller(spelt_, seen_).spell(node);
  if (spelt.empty()) return kNone;
  if (count_ * size_t{2} >= table_.size()) grow();
  const auto hash = hash_of(spelt);
  auto& entry = slot(hash, spelt);
  if (entry.id != kNone) return entry.id;
  if (words_.size() + spelt.size() > kMostKept) return kNone;
  entry = {hash, words_.size(), static_cast<uint32_t>(spelt.size()), ++count_};
  words_.insert(words_.end(), spelt.begin(), spelt.end());
  return entry.id;
}

}  // namespace tmeter::core
