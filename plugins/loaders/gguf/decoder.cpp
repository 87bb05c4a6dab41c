#include "decoder.hpp"

#include <atomic>
#include <string>
#include <tmeter/cpp/decoder.hpp>

#include "blocks.hpp"

namespace gguf {
namespace {

class Blocks final : public tmeter::Decoding {
 public:
  Blocks(const tmeter::StoredTensor& stored, const BlockFormat& format, bool big_endian)
      : tensor_(stored.tensor()), bytes_(stored.bytes()), format_(format), big_endian_(big_endian) {
    count_ = static_cast<size_t>(tensor_.numel().value()) / format.elements;
    if (bytes_.size() / format.bytes < count_)
      throw tmeter::Error(TMETER_UNAVAILABLE, "its blocks are not all in the file");
  }

  void decode(int64_t first, std::span<float> out, tmeter::Call& call) const override {
    const auto begin = static_cast<size_t>(first) / format_.elements;
    const auto count = out.size() / format_.elements;
    const auto* blocks = bytes_.data() + begin * format_.bytes;
    if (big_endian_) {
      decode_big_endian(format_, blocks, count, out.data());
    } else {
      decoder_of(format_)(blocks, count, out.data());
    }
    if (first_bad_scale(format_, blocks, count, big_endian_) && !warned_.exchange(true)) warn(call);
  }

 private:
  /// Names the first such block of the whole tensor, regardless of the order of reads.
  void warn(tmeter::Call& call) const {
    const auto bad = first_bad_scale(format_, bytes_.data(), count_, big_endian_);
    call.warn("tensor '" + std::string(tensor_.name()) + "' (" + std::string(format_.encoding) +
              "): the scale of block " + std::to_string(bad.value_or(0)) +
              " is NaN or infinite; llama.cpp --check-tensors refuses such a file");
  }

  tmeter::Tensor tensor_;
  std::span<const uint8_t> bytes_;
  const BlockFormat& format_;
  bool big_endian_;
  size_t count_ = 0;
  mutable std::atomic<bool> warned_{false};
};

std::unique_ptr<tmeter::Decoding> open(const tmeter::StoredTensor& stored, tmeter::Call&) {
  auto encoding = stored.tensor().encoding();
  const std::string_view ending = kBigEndian;
  const bool big_endian = encoding.ends_with(ending);
  if (big_endian) encoding.remove_suffix(ending.size());
  const auto* format = block_format(encoding);
  if (!format) throw tmeter::Error(TMETER_UNSUPPORTED, "another encoding");
  return std::make_unique<Blocks>(stored, *format, big_endian);
}

/// Separated by spaces.
std::string all_encodings() {
  std::string out;
  for (const auto& format : kBlockFormats) {
    const std::string id(format.encoding);
    if (format.scale_kind != ScaleKind::kNone) out += id + " ";
    if (format.has_big_endian) out += id + kBigEndian + " ";
  }
  out.pop_back();
  return out;
}

}  // namespace

void register_decoder(tmeter::Registrar& registrar) {
  static const std::string encodings = all_encodings();
  tmeter::decoder(registrar, encodings, open, TMETER_DECODER_IN_ORDER);
}

}  // namespace gguf
