#include "core/base/sha256.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <tmeter/cpp/sha256.hpp>

namespace tmeter::core {

std::string sha256_of_file(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return {};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return file && !bytes.fail() ? sha256_hex(bytes.view()) : std::string();
}

}  // namespace tmeter::core
