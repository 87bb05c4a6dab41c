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

std::string_view TensorBytes::unavailable(const Tensor& t) const {
  if (element_bytes(t.dtype) == 0) return "its element type is unknown";
  if (t.numel == 0) return {};
  if (t.storage_bytes == 0) return "the file was saved without weights";
  if (t.file_offset < 0) return "its bytes are compressed, or in a form of their own, in the file";
  if (t.numel > t.storage_bytes / element_bytes(t.dtype))
    return "it only repeats the few elements that were saved (stride 0)";
  return {};
}

std::string_view TensorBytes::view(const Tensor& t, int64_t first, int64_t count,
                                   ElementBuffer& buffer) const {
  if (count == 0) return {};
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
  int64_t last = 0;
  for (size_t i = 0; i < t.dims.size(); ++i) last += t.strides[i] * (t.dims[i] - 1);
  const int64_t bytes = element_bytes(t.dtype);
  return file_of(t).bytes().substr(to_size(t.file_offset + t.storage_offset * bytes),
                                   to_size((last + 1) * bytes));
}

void TensorBytes::expect(const Tensor& t, int64_t first, int64_t count) const {
  if (count == 0 || !is_contiguous(t)) return;
  const int64_t bytes = element_bytes(t.dtype);
  file_of(t).expect(to_size(t.file_offset + (t.storage_offset + first) * bytes),
                    to_size(count * bytes));
}

void TensorBytes::release(const Tensor& t, int64_t first, int64_t count) const {
  const int64_t bytes = element_bytes(t.dtype);
  if (count == 0) return;
  if (is_contiguous(t)) {
    file_of(t).release(to_size(t.file_offset + (t.storage_offset + first) * bytes),
                       to_size(count * bytes));
  } else if (first + count == t.numel) {
    file_of(t).release(to_size(t.file_offset), to_size(t.storage_bytes));
  }
}

}  // namespace tmeter::core
