// Files with values of inputs, without LibTorch: .npy and .safetensors.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::torch_backend {

/// An array in a file: numbers in C order from `data` on.
struct FileArray {
  std::string name;  // empty in .npy
  int32_t dtype = -1;
  std::vector<int64_t> sizes;
  std::string_view data;
};

/// The arrays of a file's content. Throws TMETER_BAD_USAGE, which begins with `path`, for what is no such
/// file or damaged.
std::vector<FileArray> read_npy(std::string_view content, const std::string& path);
std::vector<FileArray> read_safetensors(std::string_view content, const std::string& path);

}  // namespace tmeter::torch_backend
