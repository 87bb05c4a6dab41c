// Decoders of encoded tensors. Draft, like abi/draft/decoder.h.
//
//   class Halves final : public tmeter::Decoding { … decode(first, out, call) … };
//   tmeter::decoder(r, "acme.halves", [](const tmeter::StoredTensor& t, tmeter::Call&) {
//     return std::make_unique<Halves>(t); });
#pragma once
#include <charconv>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "../abi/draft/decoder.h"
#include "plugin.hpp"

TMETER_SDK_BEGIN

/// An encoded tensor with its bytes, which live as long as its Decoding.
class StoredTensor {
 public:
  explicit StoredTensor(const tmeter_stored_tensor& h) : h_(&h) {}
  Tensor tensor() const { return Tensor(h_->tensor); }
  std::span<const uint8_t> bytes() const { return {h_->bytes.ptr, h_->bytes.len}; }
  struct Part {
    StoredPart about;
    std::span<const uint8_t> bytes;
  };
  /// The part with a role; nothing: absent.
  std::optional<Part> part(std::string_view role) const {
    for (uint32_t i = 0; i < h_->part_count; ++i) {
      const auto about = tensor().part(i);
      if (about.role() == role) return Part{about, {h_->parts[i].ptr, h_->parts[i].len}};
    }
    return std::nullopt;
  }

 private:
  const tmeter_stored_tensor* h_;
};

/// A tensor ready to be decoded. Used by many threads at once.
class Decoding {
 public:
  virtual ~Decoding() = default;
  /// Elements [first, first + out.size()): whole blocks, except at the end of the tensor.
  virtual void decode(int64_t first, std::span<float> out, Call& call) const = 0;
};

/// Throws Error(TMETER_UNAVAILABLE) with the reason if the elements cannot be decoded.
using MakeDecoding = std::function<std::unique_ptr<Decoding>(const StoredTensor&, Call&)>;

namespace detail {

inline tmeter_status TMETER_ABI open_decoding(tmeter_call* call, const tmeter_stored_tensor* stored,
                                              void** state, void* user) {
  return guarded(call, [&]() -> tmeter_status {
    Call c(call);
    *state = (*static_cast<const MakeDecoding*>(user))(StoredTensor(*stored), c).release();
    return TMETER_OK;
  });
}
inline tmeter_status TMETER_ABI decode_range(tmeter_call* call, const void* state, int64_t first,
                                             int64_t count, float* out, void*) {
  return guarded(call, [&]() -> tmeter_status {
    Call c(call);
    const std::span<float> range(out, static_cast<size_t>(count));
    return static_cast<const Decoding*>(state)->decode(first, range, c), TMETER_OK;
  });
}
inline void TMETER_ABI close_decoding(void* state, void*) { delete static_cast<Decoding*>(state); }

struct DecoderList {
  std::deque<MakeDecoding> functions;
  std::deque<tmeter_decoder> items;
  tmeter_decoders table{};
  static DecoderList& instance() {
    static DecoderList list;
    return list;
  }
};

}  // namespace detail

/// Registers the decoder of these encodings, ids separated by spaces (a text that lives for ever).
/// `flags`: TMETER_DECODER_….
inline void decoder(Registrar& r, std::string_view encodings, MakeDecoding make,
                    uint32_t flags = 0) {
  auto& list = detail::DecoderList::instance();
  if (!r.capability(TMETER_CAP_DECODER)) list.items.clear(), list.functions.clear();
  auto& stored = list.functions.emplace_back(std::move(make));
  list.items.push_back({sizeof(tmeter_decoder), flags, to_abi(encodings), &detail::open_decoding,
                        &detail::decode_range, &detail::close_decoding, &stored});
  list.table = {sizeof(tmeter_decoders), static_cast<uint32_t>(list.items.size()),
                [](uint32_t i, void* user) -> const tmeter_decoder* {
                  const auto& items = static_cast<detail::DecoderList*>(user)->items;
                  return i < items.size() ? &items[i] : nullptr;
                },
                &list};
  if (list.items.size() == 1) r.offer(TMETER_CAP_DECODER, &list.table);
}

TMETER_SDK_END
