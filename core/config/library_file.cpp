#include "core/config/library_file.hpp"

#include <sys/stat.h>

#include "core/base/sha256.hpp"
#include "core/config/build_id.hpp"

namespace tmeter::core {

FileStamp stamp_of(const std::string& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return {static_cast<uint64_t>(info.st_size),
          int64_t{info.st_mtim.tv_sec} * kNanoseconds + info.st_mtim.tv_nsec};
}

LibraryIdentity identity_of(const std::string& library) {
  const auto stamp = stamp_of(library);
  return {stamp.size, stamp.mtime, sha256_of_file(library), build_id_of(library)};
}

bool is_still(const LibraryIdentity& identity, const std::string& library) {
  const auto now = stamp_of(library);
  if (now.size == 0 || now.size != identity.size) return false;
  if (now.mtime == identity.mtime) return true;
  if (!identity.build_id.empty()) return build_id_of(library) == identity.build_id;
  return sha256_of_file(library) == identity.sha256;
}

bool anybody_may_write(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0;
}

}  // namespace tmeter::core
