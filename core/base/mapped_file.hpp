// A file mapped read-only. Owner: whoever opened it; the bytes live as long as the object.
#pragma once
#include <string>
#include <string_view>

namespace tmeter::core {

class MappedFile {
 public:
  /// Throws Error(kModel) for a missing file, a directory, an empty or unreadable file.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return {data_, size_}; }

 private:
  std::string path_;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tmeter::core
