#include "core/plugin_host/tensor_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <tmeter/cpp/dtype.hpp>

#include "core/base/checked.hpp"

namespace tmeter::core {
namespace {

size_t to_size(int64_t n) { return static_cast<size_t>(n); }

/// Row-major without gaps; dims of size 1 may have any stride.
bool is_contiguous(const Tensor& t) {
  int64_t expected = 1;
  for (size_t i = t.dims.size(); i-- > 0;) {
    if (t.dims[i] != 1 && t.strides[i] != expected) return false;
    expected *= t.dims[i];
  }
  return true;
}

/// Elements [first, first + count) of a tensor with any strides, one by one.
template <size_t Bytes>
void gather(const Tensor& t, const char* storage, int64_t first, int64_t count, char* out) {
  const size_t rank = t.dims.size();
  std::vector<int64_t> index(rank);
  int64_t at = t.storage_offset;
  for (size_t i = rank; i-- > 0;) {
    index[i] = first % t.dims[i];
    first /= t.dims[i];
    at += index[i] * t.strides[i];
  }
  for (int64_t done = 0; done < count; ++done, out += Bytes) {
    std::memcpy(out, storage + to_size(at) * Bytes, Bytes);
    for (size_t i = rank; i-- > 0;) {
      at += t.strides[i];
      if (++index[i] < t.dims[i]) break;
      at -= t.strides[i] * t.dims[i];
      index[i] = 0;
    }
  }
}

void gather(const Tensor& t, const char* storage, int64_t first, int64_t count, int64_t bytes,
            char* out) {
  switch (bytes) {
    case 1:
      return gather<1>(t, storage, first, count, out);
    case 2:
      return gather<2>(t, storage, first, count, out);
    case 4:
      return gather<4>(t, storage, first, count, out);
    case 8:
      return gather<8>(t, storage, first, count, out);
    default:
      return gather<16>(t, storage, first, count, out);
  }
}

}  // namespace

int64_t element_bytes(int32_t dtype) { return tmeter::DType(dtype).bytes(); }

std::optional<int64_t> elements_end(const TensorSpec& s) {
  int64_t contiguous = 1;
  std::optional<int64_t> last =
      s.storage_offset < 0 ? std::nullopt : std::optional(s.storage_offset);
  for (size_t i = s.dims.size(); i-- > 0;) {
    if (s.dims[i] == 0) return 0;
    const int64_t stride = s.strides ? (*s.strides)[i] : contiguous;
    const auto reach = stride < 0 ? std::nullopt : checked_mul(stride, s.dims[i] - 1);
    last = last && reach ? checked_add(*last, *reach) : std::nullopt;
    const auto product = checked_mul(contiguous, s.dims[i]);
    if (!last || !product) return std::nullopt;
    contiguous = *product;
  }
  return last ? checked_add(*last, 1) : std::nullopt;
}

int64_t part_bytes(const StoredPart& p) {
  if (p.bytes > 0) return p.bytes;
  int64_t bytes = element_bytes(p.dtype);
  for (const auto d : p.dims) bytes = checked_mul(bytes, d).value_or(INT64_MAX);
  return bytes;
}

int64_t own_bytes(const Tensor& t) {
  if (!t.encoding) return t.numel * element_bytes(t.dtype);
  if (t.storage_bytes > 0 || t.numel == 0) return t.storage_bytes;
  const auto& e = *t.encoding;
  if (e.block_elements == 0 || e.block_bytes == 0) return -1;
  return checked_mul(t.numel / e.block_elements, e.block_bytes).value_or(-1);
}

int64_t stored_bytes(const Tensor& t) {
  auto sum = own_bytes(t);
  if (!t.encoding || sum < 0) return sum;
  for (const auto& p : t.encoding->parts) sum = checked_add(sum, part_bytes(p)).value_or(INT64_MAX);
  return sum;
}

std::string_view TensorBytes::unavailable(const Tensor& t) const {
  if (t.encoding) return encoded_unavailable(t);
  if (element_bytes(t.dtype) == 0) return "its element type is unknown";
  if (t.numel == 0) return {};
  if (t.storage_bytes == 0) return "the file was saved without weights";
  if (t.file_offset < 0) return "its bytes are compressed, or in a form of their own, in the file";
  if (t.numel > t.storage_bytes / element_bytes(t.dtype))
    return "it only repeats the few elements that were saved (stride 0)";
  return {};
}

std::string_view TensorBytes::encoded_unavailable(const Tensor& t) const {
  if (t.numel == 0) return {};
  if (t.storage_bytes == 0) return "the file was saved without weights";
  if (t.file_offset < 0) return "its bytes are compressed, or in a form of their own, in the file";
  if (!decoder_) return "it is encoded, and its elements are not decoded in this kind of call";
  return decoder_->unavailable(t, *this);
}

std::string_view TensorBytes::stored(const Tensor& t) const {
  if (t.file_offset < 0 || t.storage_bytes == 0) return {};
  return file_of(t).bytes().substr(to_size(t.file_offset), to_size(t.storage_bytes));
}

std::string_view TensorBytes::stored(const StoredPart& p) const {
  if (p.file_offset < 0 || p.bytes == 0) return {};
  return (p.file ? *p.file : *model_).bytes().substr(to_size(p.file_offset), to_size(p.bytes));
}

/// Decodes whole blocks and returns the requested elements.
std::string_view TensorBytes::decoded(const Tensor& t, int64_t first, int64_t count,
                                      ElementBuffer& buffer) const {
  const int64_t block = std::max<int64_t>(t.encoding->block_elements, 1);
  const int64_t begin = first / block * block;
  const int64_t end = std::min((first + count + block - 1) / block * block, t.numel);
  auto* out = reinterpret_cast<float*>(buffer.reserve(to_size(end - begin) * sizeof(float)));
  decoder_->decode(t, begin, end - begin, out);
  return {reinterpret_cast<const char*>(out + (first - begin)), to_size(count) * sizeof(float)};
}

std::string_view TensorBytes::view(const Tensor& t, int64_t first, int64_t count,
                                   ElementBuffer& buffer) const {
  if (count == 0) return {};
  if (t.encoding) return decoded(t, first, count, buffer);
  const int64_t bytes = element_bytes(t.dtype);
  const char* storage = file_of(t).bytes().data() + t.file_offset;
  const auto size = to_size(count * bytes);
  if (!is_contiguous(t)) {
    char* out = buffer.reserve(size);
    gather(t, storage, first, count, bytes, out);
    return {out, size};
  }
  const char* begin = storage + (t.storage_offset + first) * bytes;
  // 16-byte elements are pairs of 8-byte numbers.
  const auto alignment = static_cast<uintptr_t>(std::min<int64_t>(bytes, 8));
  if (reinterpret_cast<uintptr_t>(begin) % alignment == 0) return {begin, size};
  char* out = buffer.reserve(size);
  std::memcpy(out, begin, size);
  return {out, size};
}

std::string_view TensorBytes::raw(const Tensor& t) const {
  if (element_bytes(t.dtype) == 0 || t.numel == 0 || t.storage_bytes == 0 || t.file_offset < 0)
    return {};
  if (t.encoding) return {};
  int64_t last = 0;
  for (size_t i = 0; i < t.dims.size(); ++i) last += t.strides[i] * (t.dims[i] - 1);
  const int64_t bytes = element_bytes(t.dtype);
  return file_of(t).bytes().substr(to_size(t.file_offset + t.storage_offset * bytes),
                                   to_size((last + 1) * bytes));
}

/// The bytes that hold these elements of an encoded tensor, offset in the file and length, where
/// their blocks are in order.
std::optional<std::pair<size_t, size_t>> TensorBytes::blocks_of(const Tensor& t, int64_t first,
                                                                int64_t count) const {
  const auto* e = t.encoding;
  if (!e || count == 0 || e->block_elements == 0 || e->block_bytes == 0 || !decoder_ ||
      !decoder_->in_order(t))
    return std::nullopt;
  const auto begin = std::min(first / e->block_elements * e->block_bytes, t.storage_bytes);
  const auto end =
      std::min((first + count + e->block_elements - 1) / e->block_elements * e->block_bytes,
               t.storage_bytes);
  return std::pair(to_size(t.file_offset + begin), to_size(end - begin));
}

void TensorBytes::expect(const Tensor& t, int64_t first, int64_t count) const {
  if (const auto range = blocks_of(t, first, count))
    return file_of(t).expect(range->first, range->second);
  if (count == 0 || t.encoding || !is_contiguous(t)) return;
  const int64_t bytes = element_bytes(t.dtype);
  file_of(t).expect(to_size(t.file_offset + (t.storage_offset + first) * bytes),
                    to_size(count * bytes));
}

void TensorBytes::release(const Tensor& t, int64_t first, int64_t count) const {
  const int64_t bytes = element_bytes(t.dtype);
  if (count == 0) return;
  if (const auto range = blocks_of(t, first, count))
    return file_of(t).release(range->first, range->second);
  if (!t.encoding && is_contiguous(t)) {
    file_of(t).release(to_size(t.file_offset + (t.storage_offset + first) * bytes),
                       to_size(count * bytes));
  } else if (first + count == t.numel) {
    file_of(t).release(to_size(t.file_offset), to_size(t.storage_bytes));
  }
}

}  // namespace tmeter::core
