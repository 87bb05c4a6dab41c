// The weights of tests/fixtures/trained and PyTorch's results for them, for tests of weight
// analyses.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tmeter/cpp/dtype.hpp>
#include <vector>

namespace tmeter_test {

struct StoredTensor {
  tmeter::DType dtype;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
};

inline std::vector<char> bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A safetensors file: 8 bytes of header length, JSON, bytes.
inline std::map<std::string, StoredTensor> stored_tensors(const std::filesystem::path& path) {
  const std::map<std::string, std::string> types{
      {"F32", "float32"}, {"F16", "float16"}, {"BF16", "bfloat16"}};
  const auto file = bytes_of_file(path);
  uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  const auto begin = file.begin() + 8;
  const auto table = nlohmann::json::parse(begin, begin + static_cast<int64_t>(header));
  std::map<std::string, StoredTensor> out;
  for (const auto& [name, entry] : table.items()) {
    if (name == "__metadata__") continue;
    const auto at = entry["data_offsets"].get<std::vector<int64_t>>();
    const auto data = begin + static_cast<int64_t>(header);
    out[name] = {tmeter::DType::parse(types.at(entry["dtype"].get<std::string>())),
                 entry["shape"].get<std::vector<int64_t>>(),
                 std::vector<uint8_t>(data + at[0], data + at[1])};
  }
  return out;
}

inline nlohmann::json json_file(const std::filesystem::path& path) {
  const auto text = bytes_of_file(path);
  return nlohmann::json::parse(text.begin(), text.end());
}

}  // namespace tmeter_test
