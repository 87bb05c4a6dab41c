// The header of a safetensors file: a table of names, types, shapes and offsets before the raw
// bytes. Format: https://github.com/huggingface/safetensors#format
//
//   8 bytes   N, little-endian
//   N bytes   JSON: {"__metadata__": {text: text}, NAME: {"dtype", "shape", "data_offsets"}, …}
//   the rest  the elements of all tensors, without gaps
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../common/json_util.hpp"

namespace safetensors {

struct StoredTensor {
  std::string_view name;
  int32_t dtype = 0;
  std::string_view
      element;  // the file's word for a type that torch lacks or counts otherwise: F4, F6_E2M3
  std::vector<int64_t> dims;
  int64_t begin = 0, end = 0;  // bytes of the file
};

class Header {
 public:
  /// Whether the file begins with a plausible length and a '{'.
  static bool plausible(std::string_view file);

  /// Throws BadFile for every file that the reference implementation refuses.
  explicit Header(std::string_view file);
  Header(const Header&) = delete;  // the texts live in the document
  Header& operator=(const Header&) = delete;

  /// In the order of the file.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// "pt" if PyTorch wrote the file; empty if unknown.
  std::string_view format() const { return format_; }
  /// `__metadata__`: key and text.
  const std::vector<std::pair<std::string_view, std::string_view>>& metadata() const {
    return metadata_;
  }

 private:
  void read_metadata(loading::json::element metadata);
  StoredTensor read_tensor(loading::json::object fields, int64_t data, int64_t file_size) const;
  void check_layout(int64_t data, int64_t file_size) const;

  loading::json::document document_;
  std::vector<StoredTensor> tensors_;
  std::string_view format_;
  std::vector<std::pair<std::string_view, std::string_view>> metadata_;
};

}  // namespace safetensors
