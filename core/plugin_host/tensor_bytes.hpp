// The elements of tensors: their places in the model's files, and reading them in row-major order
// whatever their strides. Reading is safe from any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mapped_file.hpp"
#include "core/ir/builder.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Bytes of one element; 0 for an unknown type.
int64_t element_bytes(int32_t dtype);

/// One past the last element of its storage that a tensor reaches; nothing when that overflows or
/// a stride or offset is negative. 0 for a tensor without elements.
std::optional<int64_t> elements_end(const TensorSpec& spec);

/// Memory for elements that had to be copied together; aligned for every type.
class ElementBuffer {
 public:
  char* reserve(size_t bytes) {
    if (words_.size() * sizeof(uint64_t) < bytes) words_.resize((bytes + 7) / sizeof(uint64_t));
    return reinterpret_cast<char*>(words_.data());
  }

 private:
  std::vector<uint64_t> words_;
};

class TensorBytes {
 public:
  /// `model` holds the tensors that name no other file.
  explicit TensorBytes(const MappedFile& model) : model_(&model) {}

  /// Why the numbers cannot be read; empty when they can.
  std::string_view unavailable(const Tensor& tensor) const;

  /// Of the file the tensor lies in, in bytes.
  uint64_t file_size(const Tensor& tensor) const { return file_of(tensor).bytes().size(); }

  /// Elements [first, first + count), aligned to the size of one: of the mapping, or copied into
  /// `buffer`. Both must lie inside the tensor, which must be available.
  std::string_view view(const Tensor& tensor, int64_t first, int64_t count,
                        ElementBuffer& buffer) const;

  /// Its storage in the file from its first element to the last that its strides reach; empty when
  /// that is not in the file.
  std::string_view raw(const Tensor& tensor) const;

  /// Hints for the pages of these elements, where they are contiguous: to be read soon; not needed
  /// again.
  void expect(const Tensor& tensor, int64_t first, int64_t count) const;
  void release(const Tensor& tensor, int64_t first, int64_t count) const;

 private:
  const MappedFile& file_of(const Tensor& t) const { return t.file ? *t.file : *model_; }
  const MappedFile* model_;
};

}  // namespace tmeter::core
