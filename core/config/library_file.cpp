#include "core/config/library_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/sha256.hpp"
#include "core/config/build_id.hpp"

namespace tmeter::core {
namespace {

/// The owner of the tmeter binary is trusted: that user can replace tmeter itself.
uid_t owner_of_tmeter() {
  static const uid_t owner = [] {
    struct stat info {};
    return stat("/proc/self/exe", &info) == 0 ? info.st_uid : geteuid();
  }();
  return owner;
}

}  // namespace

FileStamp stamp_of(const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return {};
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return {static_cast<uint64_t>(info.st_size),
          int64_t{info.st_mtim.tv_sec} * kNanoseconds + info.st_mtim.tv_nsec};
}

FileStamp stamp_of(const std::string& file) {
  struct stat info {};
  return stat(file.c_str(), &info) == 0 ? stamp_of(info) : FileStamp();
}

FileStamp stamp_of(int file) {
  struct stat info {};
  return fstat(file, &info) == 0 ? stamp_of(info) : FileStamp();
}

LibraryIdentity identity_of(const std::string& library) {
  const auto stamp = stamp_of(library);
  return {stamp.size, stamp.mtime, sha256_of_file(library), build_id_of(library)};
}

bool is_still(const LibraryIdentity& identity, const std::string& library) {
  return is_still(identity, stamp_of(library), library);
}

bool is_still(const LibraryIdentity& identity, const FileStamp& now, const std::string& library) {
  if (now.size == 0 || now.size != identity.size) return false;
  if (now.mtime == identity.mtime) return true;
  if (!identity.build_id.empty()) return build_id_of(library) == identity.build_id;
  return sha256_of_file(library) == identity.sha256;
}

std::string who_else_may_write(const struct stat& info) {
  if ((info.st_mode & S_IWOTH) != 0)
    return "anybody on this machine can change it; `chmod o-w` mends that";
  if (info.st_uid == 0 || info.st_uid == geteuid() || info.st_uid == owner_of_tmeter()) return {};
  return "it belongs to another user (" + std::to_string(info.st_uid) +
         "), who can change it; `chown` mends that";
}

std::string who_else_may_write(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? who_else_may_write(info) : std::string();
}

}  // namespace tmeter::core
