// Data of a file other than the program: the storage of tensors, and metadata.
#include <tmeter/abi/dtype.h>
#include <tmeter/abi/metadata.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/ir/builder.hpp"
#include "core/ir/limits.hpp"

namespace tmeter::core {
namespace {

constexpr std::string_view kIdLetters = "abcdefghijklmnopqrstuvwxyz0123456789._-";

[[noreturn]] void refuse_spec(const std::string& what) { throw Error(ErrorKind::kModel, what); }

std::string name_of(const TensorSpec& s) { return "tensor '" + printable(s.name) + "'"; }

void check_encoding(const TensorSpec& s, int64_t numel) {
  const auto& e = *s.encoding;
  const auto wrong = [&](const std::string& why) { refuse_spec(name_of(s) + " " + why); };
  if (e.id.empty() || e.id.size() > limits::kEncodingId ||
      e.id.find_first_not_of(kIdLetters) != e.id.npos)
    wrong(
        "has an encoding whose id is not a word of lower-case letters, digits, '.', '_' and '-': "
        "'" +
        printable(e.id, 40) + "'");
  if (e.parameters.size() > limits::kEncodingParameters)
    wrong("has an encoding with parameters of more than 1,000 bytes");
  const bool is_decoded = s.file_offset >= 0;
  if ((is_decoded && s.dtype != TMETER_DTYPE_FLOAT32) || s.strides || s.storage_offset != 0)
    wrong("is encoded as '" + std::string(e.id) +
          "', so it must have the type float32 and neither strides nor an offset in its storage");
  if (e.block_elements < 0 || e.block_elements > limits::kBlockElements || e.block_bytes < 0 ||
      e.block_bytes > limits::kBlockBytes)
    wrong("has blocks of " + std::to_string(e.block_elements) + " elements and " +
          std::to_string(e.block_bytes) + " bytes");
  if (e.block_elements > 0 && numel % e.block_elements != 0)
    wrong("has " + std::to_string(numel) + " elements, which is not a multiple of its blocks of " +
          std::to_string(e.block_elements) + " ('" + std::string(e.id) + "')");
  if (e.parts.size() > limits::kParts) wrong("has more than 16 parts");
  for (size_t i = 0; i < e.parts.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (e.parts[i].role == e.parts[k].role)
        wrong("has two parts for '" + printable(e.parts[i].role, 40) + "'");
}

void check_metadata(const MetadataSpec& m) {
  const auto what = "metadata '" + printable(m.key, 80) + "' ";
  if (m.space.empty() || m.key.empty()) refuse_spec(what + "has no space or no key");
  const auto count = m.texts.size() + m.ints.size() + m.floats.size();
  if (!m.is_array && (count != 1 || m.length != 1))
    refuse_spec(what + "is not an array and must have one value");
  if (m.length < static_cast<int64_t>(count))
    refuse_spec(what + "has more items than its declared length, " + std::to_string(m.length));
}

}  // namespace

const Encoding* GraphBuilder::encoding(const TensorSpec& s, int64_t numel) {
  check_encoding(s, numel);
  const auto& spec = *s.encoding;
  auto& e = graph_->encodings_.emplace_back();
  e.id = graph_->intern(spec.id);
  e.parameters = graph_->intern(spec.parameters);
  e.block_elements = spec.block_elements;
  e.block_bytes = spec.block_bytes;
  e.stored_dtype = spec.stored_dtype;
  e.parts = room<StoredPart>(spec.parts.size());
  for (size_t i = 0; i < spec.parts.size(); ++i) {
    const auto& p = spec.parts[i];
    count_name(p.name.size());
    e.parts[i] = {p.dtype,      graph_->intern(p.role), graph_->keep(p.name),
                  copy(p.dims), p.file_offset,          p.bytes,
                  p.file};
  }
  return &e;
}

void GraphBuilder::metadata(const MetadataSpec& m) {
  check_metadata(m);
  auto& all = graph_->metadata_;
  metadata_values_ += m.texts.size() + m.ints.size() + m.floats.size();
  metadata_bytes_ += m.space.size() + m.key.size();
  for (const auto& text : m.texts) metadata_bytes_ += text.ptr ? text.len : 0;
  if (all.size() >= limits::kMetadata || metadata_values_ > limits::kMetadataValues ||
      metadata_bytes_ > limits::kMetadataBytes)
    refuse_spec("its metadata has more than " + std::to_string(limits::kMetadata) + " keys, " +
                std::to_string(limits::kMetadataValues) +
                " values or 32 MiB of text, tmeter's limits");
  const auto space = graph_->intern(m.space), key = graph_->keep(m.key);
  auto& kept = all.emplace_back();
  if (!graph_->metadata_index_.try_emplace({space, key}, &kept).second)
    refuse_spec("metadata '" + printable(m.key, 80) + "' of '" + printable(m.space, 40) +
                "' occurs twice");
  kept = {space, key, m.type, m.is_array, m.length, copy(m.texts), copy(m.ints), copy(m.floats)};
  for (auto& text : kept.texts) {
    const auto copied = text.ptr ? graph_->keep({text.ptr, text.len}) : std::string_view();
    text = {copied.data(), copied.size()};
  }
}

}  // namespace tmeter::core
