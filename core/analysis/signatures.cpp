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
      : begin_((words.resize(kMostWords), words.data())), at_(begin_), seen_(seen) {
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
    return fits_ ? std::span<const uint64_t>(begin_, at_) : std::span<const uint64_t>();
  }

 private:
  static uint64_t pair(size_t a, size_t b) { return static_cast<uint64_t>(a) << 32 | b; }
  /// What is small of a thing, in half a word.
  static uint64_t mark(int32_t kind, int32_t dtype, bool a, bool b) {
    return static_cast<uint64_t>(kind & 0xFFF) << 20 | static_cast<uint64_t>(dtype & 0xFFFF) << 2 |
           static_cast<uint64_t>(a) << 1 | static_cast<uint64_t>(b);
  }

  bool has_room(size_t words) {
    fits_ = fits_ && words <= static_cast<size_t>(begin_ + kMostWords - at_);
    return fits_;
  }
  void put(uint64_t word) {
    if (has_room(1)) *at_++ = word;
  }
  void put(const void* address) { put(reinterpret_cast<uintptr_t>(address)); }
  /// As many as was said before.
  void put(std::span<const int64_t> numbers) {
    if (!has_room(numbers.size())) return;
    for (const auto n : numbers) *at_++ = static_cast<uint64_t>(n);
  }
  void put(std::string_view text) {
    if (text.size() > kMostWords || !has_room(text.size() / sizeof(uint64_t) + 1)) {
      fits_ = false;
      return;
    }
    for (size_t i = 0; i < text.size(); i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + i, std::min(sizeof word, text.size() - i));
      *at_++ = word;
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
    put(pair(mark(t.kind, t.dtype, t.trainable, t.canonical == &t), t.dims.size()));
    put(t.strides.size());
    put(t.dims);
    put(t.strides);
  }
  void put_tensor(const Value& v) {
    put(v.dims);
    for (const auto expr : v.dim_exprs) put(expr);
    const auto* stored = v.tensor;
    put_identity(stored ? static_cast<const void*>(stored->canonical) : &v);
    if (stored) put(*stored);
  }
  void put(const Value& v) {
    const bool tensor = v.kind == TMETER_VALUE_TENSOR, list = v.kind == TMETER_VALUE_LIST;
    const auto size = tensor ? v.dims.size() : list ? v.items.size() : v.text.size();
    put(pair(mark(v.kind, v.dtype, v.tensor != nullptr, !v.dim_exprs.empty()), size));
    if (tensor) return put_tensor(v);
    if (list) {
      if (!has_room(v.items.size())) return;
      for (const auto* item : v.items) put(*item);
      return;
    }
    put(static_cast<uint64_t>(v.i));
    put(std::bit_cast<uint64_t>(v.f));
    put(v.text);
  }

  uint64_t *const begin_, *at_;
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
  found_.clear();
  last_ = kNone;
}

bool Signatures::is_spelt(uint32_t id, std::span<const uint64_t> spelt) const {
  const auto& found = found_[id - 1];
  return found.size == spelt.size() &&
         std::memcmp(&words_[found.begin], spelt.data(), spelt.size_bytes()) == 0;
}

Signatures::Entry& Signatures::slot(uint64_t hash, std::span<const uint64_t> spelt) {
  for (size_t i = hash;; ++i) {
    auto& entry = table_[i & (table_.size() - 1)];
    if (entry.id == kNone) return entry;
    if (entry.hash == hash && is_spelt(entry.id, spelt)) return entry;
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

/// Layers repeat: mostly comes what came the last time.
uint32_t Signatures::find(const Node& node) {
  const auto spelt = Speller(spelt_, seen_).spell(node);
  if (spelt.empty()) return last_ = kNone;
  const auto guess = last_ == kNone ? kNone : found_[last_ - 1].next;
  const auto id = guess != kNone && is_spelt(guess, spelt) ? guess : look_up(spelt);
  if (last_ != kNone) found_[last_ - 1].next = id;
  return last_ = id;
}

uint32_t Signatures::look_up(std::span<const uint64_t> spelt) {
  if (found_.size() * 2 >= table_.size()) grow();
  const auto hash = hash_of(spelt);
  auto& entry = slot(hash, spelt);
  if (entry.id != kNone) return entry.id;
  if (words_.size() + spelt.size() > kMostKept) return kNone;
  found_.push_back({words_.size(), static_cast<uint32_t>(spelt.size())});
  entry = {hash, static_cast<uint32_t>(found_.size())};
  words_.insert(words_.end(), spelt.begin(), spelt.end());
  return entry.id;
}

}  // namespace tmeter::core
