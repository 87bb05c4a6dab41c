// Reads values of inputs from .npy and .safetensors files, without LibTorch.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::torch_backend {

/// An array in a file: elements in C order.
struct FileArray {
  std::string name;  // empty in .npy
  int32_t dtype = -1;
  std::vector<int64_t> sizes;
  std::string_view data;
};

/// The arrays in a file's content. Throws TMETER_BAD_USAGE with a message that begins with `path`
/// if the file has another format or is damaged.
std::vector<FileArray> read_npy(std::string_view content, const std::string& path);
std::vector<FileArray> read_safetensors(std::string_view content, const std::string& path);

}  // namespace tmeter::torch_backend
