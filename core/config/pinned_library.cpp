#include "core/config/pinned_library.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/sha256.hpp"
#include "core/config/elf_file.hpp"

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

bool is_unchanged(const LibraryIdentity& identity, const std::string& library) {
  return is_unchanged(identity, stamp_of(library), library);
}

bool is_unchanged(const LibraryIdentity& identity, const FileStamp& now,
                  const std::string& library) {
  if (now.size == 0 || now.size != identity.size) return false;
  if (now.mtime == identity.mtime) return true;
  if (!identity.build_id.empty()) return build_id_of(library) == identity.build_id;
  return sha256_of_file(library) == identity.sha256;
}

std::string other_writers(const struct stat& info) {
  if ((info.st_mode & S_IWOTH) != 0)
    return "anybody on this machine can change it; `chmod o-w` fixes that";
  if (info.st_uid == 0 || info.st_uid == geteuid() || info.st_uid == owner_of_tmeter()) return {};
  return "it belongs to another user (" + std::to_string(info.st_uid) +
         "), who can change it; `chown` fixes that";
}

std::string other_writers(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? other_writers(info) : std::string();
}

namespace {
namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // the kernel's own limit
/// A descriptor above the small numbers that careless code closes.
constexpr int kMinDescriptor = 512;

[[noreturn]] void refuse(const std::string& library, const std::string& why) {
  throw Error(ErrorKind::kPlugin, "plugin " + library + " " + why);
}

[[noreturn]] void refuse_unread(const std::string& library, int error) {
  if (error == ENOENT) refuse(library, "does not exist");
  refuse(library, std::string("cannot be read: ") + std::strerror(error));
}

void require_trusted(const std::string& library, const struct stat& info,
                     const std::string& folder = {}) {
  const auto why = other_writers(info);
  if (why.empty()) return;
  refuse(library, folder.empty() ? "is not used: " + why
                                 : "is not used: of its folder " + folder + ", " + why);
}

Descriptor at_high_descriptor(Descriptor file) {
  const int moved = fcntl(file.get(), F_DUPFD_CLOEXEC, kMinDescriptor);
  return moved >= 0 ? Descriptor(moved) : std::move(file);
}

/// The target of a link. A user who can write the folder of a link can replace the plugin, too.
fs::path followed(const std::string& library, fs::path path) {
  for (int i = 0; i < kMaxLinks; ++i) {
    struct stat info {};
    const auto folder = path.parent_path();
    if (stat(folder.c_str(), &info) == 0) require_trusted(library, info, folder.string());
    if (lstat(path.c_str(), &info) != 0) refuse_unread(library, errno);
    if (!S_ISLNK(info.st_mode)) return path;
    std::error_code failed;
    const auto target = fs::read_symlink(path, failed);
    if (failed) refuse_unread(library, failed.value());
    path = target.is_absolute() ? target : folder / target;
  }
  refuse_unread(library, ELOOP);
}

void require_regular(const std::string& library, const struct stat& info) {
  if (S_ISDIR(info.st_mode))
    refuse(library, "is a folder; give the .tmeter file inside it, or the folder as --plugin-path");
  if (!S_ISREG(info.st_mode)) refuse(library, "is not a regular file");
}

}  // namespace

PinnedLibrary::PinnedLibrary(const std::string& library)
    : path_(fs::absolute(library).lexically_normal().string()) {
  // Checked before opening, because opening a pipe would wait for a writer.
  struct stat info {};
  if (stat(path_.c_str(), &info) != 0) refuse_unread(path_, errno);
  require_regular(path_, info);
  const auto place = followed(path_, path_);
  const Descriptor folder(open(place.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  file_ = at_high_descriptor(Descriptor(openat(folder.get(), place.filename().c_str(),
                                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)));
  if (file_.get() < 0) refuse_unread(path_, errno);
  struct stat of_folder {};
  if (fstat(file_.get(), &info) != 0 || fstat(folder.get(), &of_folder) != 0)
    refuse_unread(path_, errno);
  require_regular(path_, info);
  require_trusted(path_, info);
  require_trusted(path_, of_folder, place.parent_path().string());
  std::error_code failed;
  const auto real = fs::canonical(place.parent_path(), failed);
  folder_ = (failed ? place.parent_path() : real).string();
  opened_ = stamp();
}

void PinnedLibrary::seal() {
  const auto fail = [&](const char* doing) {
    refuse(path_,
           std::string("cannot be copied into memory: ") + doing + ": " + std::strerror(errno));
  };
  const auto name = fs::path(path_).filename().string();
  Descriptor copy(memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (copy.get() < 0) fail("memfd_create");
  off_t done = 0;
  for (;;) {
    constexpr size_t kPiece = size_t{1} << 30;
    const auto n = sendfile(copy.get(), file_.get(), &done, kPiece);
    if (n < 0 && errno != EINTR) fail("sendfile");
    if (n == 0) break;
  }
  const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (fcntl(copy.get(), F_ADD_SEALS, seals) != 0) fail("seals");
  file_ = at_high_descriptor(std::move(copy));
  opened_ = stamp();
}

std::string PinnedLibrary::path_by_descriptor() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_.get());
}

FileStamp PinnedLibrary::stamp() const { return stamp_of(file_.get()); }

void PinnedLibrary::require_unchanged() const {
  if (!(stamp() == opened_)) refuse(path_, "was written into while it was opened; start again");
}

}  // namespace tmeter::core
