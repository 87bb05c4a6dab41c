#include "core/analysis/signatures.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory_resource>
#include <span>
#include <unordered_map>

#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMaxSignatureWords = 512;
constexpr size_t kMaxSignatureTensors = 32;
constexpr size_t kMaxTotalWords = size_t{1} << 18;  // limit for all signatures: 2 MB

using Words = std::span<const uint64_t>;

/// Encodes everything that a handler can read of an operator, except its place.
class Encoder {
 public:
  /// Valid until the next call. Empty if the signature would be too long.
  Words encode(const Node& node) {
    words_.clear();
    seen_.clear();
    fits_ = true;
    // Names of one graph are interned: their addresses identify them.
    put(node.op.data());
    put(node.overload.data());
    put(pair(node.args.size(), node.results.size()));
    for (const auto& arg : node.args) {
      put(arg.name.data());
      put(*arg.value);
    }
    for (const auto* result : node.results) put(*result);
    return fits_ ? Words(words_) : Words();
  }

 private:
  static uint64_t pair(size_t a, size_t b) { return static_cast<uint64_t>(a) << 32 | b; }
  /// Small properties packed into half a word.
  static uint64_t mark(int32_t kind, int32_t dtype, bool a, bool b) {
    return static_cast<uint64_t>(kind & 0xFFF) << 20 | static_cast<uint64_t>(dtype & 0xFFFF) << 2 |
           static_cast<uint64_t>(a) << 1 | static_cast<uint64_t>(b);
  }

  bool has_room(size_t words) {
    fits_ = fits_ && words <= kMaxSignatureWords - words_.size();
    return fits_;
  }
  void put(uint64_t word) {
    if (has_room(1)) words_.push_back(word);
  }
  void put(const void* address) { put(reinterpret_cast<uintptr_t>(address)); }
  /// The caller has already written their count.
  void put(std::span<const int64_t> numbers) {
    if (has_room(numbers.size())) words_.insert(words_.end(), numbers.begin(), numbers.end());
  }
  void put(std::string_view text) {
    if (text.size() > kMaxSignatureWords || !has_room(text.size() / sizeof(uint64_t) + 1)) {
      fits_ = false;
      return;
    }
    for (size_t i = 0; i < text.size(); i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + i, std::min(sizeof word, text.size() - i));
      words_.push_back(word);
    }
  }
  /// Encodes which of the operator's tensors are equal; tied tensors are.
  void put_identity(const void* tensor) {
    const auto at = std::find(seen_.begin(), seen_.end(), tensor);
    put(static_cast<uint64_t>(at - seen_.begin()));
    if (at != seen_.end()) return;
    if (seen_.size() < kMaxSignatureTensors)
      seen_.push_back(tensor);
    else
      fits_ = false;
  }
  void put(const Tensor& t) {
    put(pair(mark(t.kind, t.dtype, t.trainable, t.canonical == &t), t.dims.size()));
    put(static_cast<uint64_t>(t.encoding != nullptr));
    put(t.strides.size());
    put(t.dims);
    put(t.strides);
    if (t.encoding)
      put(static_cast<uint64_t>(stored_bytes(t)));  // of others it follows from dims and dtype
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

  std::vector<uint64_t> words_;
  std::vector<const void*> seen_;
  bool fits_ = true;
};

struct WordsHash {
  /// Starts from an address, so that a file cannot choose signatures that collide.
  size_t operator()(Words words) const {
    uint64_t h = reinterpret_cast<uintptr_t>(&kMaxTotalWords);
    for (const auto word : words) {
      h = (h ^ word) * 0x9e3779b97f4a7c15U;
      h ^= h >> 29;
    }
    return h;
  }
};
struct WordsEqual {
  bool operator()(Words a, Words b) const { return std::ranges::equal(a, b); }
};

}  // namespace

std::vector<uint32_t> signatures_of(const Graph& graph) {
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::unordered_map<Words, uint32_t, WordsHash, WordsEqual> numbers(&memory);
  std::vector<uint32_t> signatures;
  signatures.reserve(graph.nodes().size());
  Encoder encoder;
  size_t total_words = 0;
  for (const auto& node : graph.nodes()) {
    const auto words = encoder.encode(node);
    auto entry = numbers.find(words);
    if (entry == numbers.end() && !words.empty() && total_words + words.size() <= kMaxTotalWords) {
      auto* copy = static_cast<uint64_t*>(memory.allocate(words.size_bytes(), alignof(uint64_t)));
      std::ranges::copy(words, copy);
      total_words += words.size();
      const auto number = static_cast<uint32_t>(numbers.size() + 1);
      entry = numbers.emplace(Words(copy, words.size()), number).first;
    }
    signatures.push_back(entry == numbers.end() ? kNoSignature : entry->second);
  }
  return signatures;
}

}  // namespace tmeter::core
