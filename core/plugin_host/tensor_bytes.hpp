// The elements of tensors: their places in the model's files, and reading them in row-major order
// independent of their strides. Reading is safe from any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/mapped_file.hpp"
#include "core/ir/builder.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Bytes of one element; 0 for an unknown type.
int64_t element_bytes(int32_t dtype);

/// One past the last element of its storage that a tensor reaches; empty when that overflows or
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

/// Stored bytes of a tensor, including its parts; -1: unknown.
int64_t stored_bytes(const Tensor& tensor);
int64_t part_bytes(const StoredPart& part);
/// The same without the parts of an encoded tensor.
int64_t own_bytes(const Tensor& tensor);

class TensorBytes;

/// Gives the elements of encoded tensors as float32. Safe from any thread.
class ElementDecoder {
 public:
  virtual ~ElementDecoder() = default;
  /// Why a tensor cannot be decoded; empty if it can be. Lives as long as this object.
  virtual std::string_view unavailable(const Tensor& tensor, const TensorBytes& bytes) = 0;
  /// Elements [first, first + count) of an available tensor: whole blocks, except at its
  /// end.
  virtual void decode(const Tensor& tensor, int64_t first, int64_t count, float* out) = 0;
  /// Whether the blocks are in the order of their elements.
  virtual bool in_order(const Tensor& tensor) = 0;
};

class TensorBytes {
 public:
  /// `model` holds the tensors that name no other file. Without a decoder encoded tensors are
  /// unavailable.
  explicit TensorBytes(const MappedFile& model, ElementDecoder* decoder = nullptr)
      : model_(&model), decoder_(decoder) {}

  /// Why the elements cannot be read; empty if they can be.
  std::string_view unavailable(const Tensor& tensor) const;

  /// Size in bytes of the tensor's file.
  uint64_t file_size(const Tensor& tensor) const { return file_of(tensor).bytes().size(); }

  /// Elements [first, first + count), aligned to the size of one: of the mapping, or copied into
  /// `buffer`. Both must be inside the tensor, which must be available.
  std::string_view view(const Tensor& tensor, int64_t first, int64_t count,
                        ElementBuffer& buffer) const;

  /// The storage of an encoded tensor, and of one of its parts; empty: not in the file.
  std::string_view stored(const Tensor& tensor) const;
  std::string_view stored(const StoredPart& part) const;

  /// The storage of a tensor that is not encoded, from its first element to the last
  /// that its strides reach; empty: not in the file.
  std::string_view raw(const Tensor& tensor) const;

  /// Hints for the pages of these elements if they are contiguous: to be read soon; not needed
  /// again.
  void expect(const Tensor& tensor, int64_t first, int64_t count) const;
  void release(const Tensor& tensor, int64_t first, int64_t count) const;

 private:
  const MappedFile& file_of(const Tensor& t) const { return t.file ? *t.file : *model_; }
  std::string_view encoded_unavailable(const Tensor& t) const;
  std::optional<std::pair<size_t, size_t>> blocks_of(const Tensor& t, int64_t first,
                                                     int64_t count) const;
  std::string_view decoded(const Tensor& t, int64_t first, int64_t count,
                           ElementBuffer& buffer) const;
  const MappedFile* model_;
  ElementDecoder* decoder_;
};

}  // namespace tmeter::core
