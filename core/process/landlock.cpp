// Which files may be read. The numbers are the kernel's: Debian 12's headers lack the later ones.
#include "core/process/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "core/base/descriptor.hpp"

namespace tmeter::core {
namespace {

constexpr uint64_t kExecute = 1u << 0, kWriteFile = 1u << 1, kReadFile = 1u << 2,
                   kReadDir = 1u << 3, kControlDevice = 1u << 15;  // version 5
/// All rights to files known to a version of Landlock (its first bits).
constexpr std::array<int, 6> kFileRights{0, 13, 14, 15, 15, 16};
constexpr uint64_t kTcpBind = 1u << 0, kTcpConnect = 1u << 1;           // version 4
constexpr uint64_t kAbstractSocket = 1u << 0, kSignalOthers = 1u << 1;  // version 6
constexpr int kRulePathBeneath = 1;
constexpr uint32_t kQueryVersion = 1u << 0;

struct __attribute__((packed)) PathBeneath {
  uint64_t allowed;
  int32_t folder;
};

void allow(int ruleset, const std::string& path, uint64_t rights_of_files) {
  const Descriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return;
  const PathBeneath rule{S_ISDIR(info.st_mode) ? rights_of_files | kReadDir : rights_of_files,
                         file.get()};
  syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &rule, 0);
}

FileLimits does_not_hold(const char* why) {
  return {std::string("any file this user can read can be read (") + why + ")"};
}

}  // namespace

Ruleset ruleset_of(int version, const Rights& rights) {
  const auto index = static_cast<size_t>(version);
  const int bits = kFileRights[index < kFileRights.size() ? index : kFileRights.size() - 1];
  Ruleset out{(uint64_t{1} << bits) - 1, 0, 0};
  if (rights.write) out.files = 0;
  if (rights.processes) out.files &= ~kExecute;
  if (version >= 4 && !rights.network) out.network = kTcpBind | kTcpConnect;
  if (version >= 6) {
    out.scoped = (rights.network ? 0 : kAbstractSocket) | (rights.processes ? 0 : kSignalOthers);
  }
  return out;
}

size_t ruleset_size(int version) { return version >= 6 ? 24 : version >= 4 ? 16 : 8; }

FileLimits limit_files(const Rights& rights) {
  const auto version =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, nullptr, 0, kQueryVersion));
  if (version < 1) return does_not_hold("this kernel has no Landlock");
  const auto attributes = ruleset_of(version, rights);
  if (attributes.files == 0) return does_not_hold("a plugin declares that it writes files");
  const Descriptor ruleset(static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &attributes, ruleset_size(version), 0)));
  if (ruleset.get() < 0) return does_not_hold(std::strerror(errno));
  for (const auto& path : rights.read) allow(ruleset.get(), path, kReadFile);
  const auto of_devices = (kReadFile | kWriteFile | kControlDevice) & attributes.files;
  for (const auto& path : rights.devices) allow(ruleset.get(), path, of_devices);
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return does_not_hold(std::strerror(errno));
  return {"reads the model's folder, plugins and system libraries only (Landlock " +
              std::to_string(version) + ")",
          version};
}

}  // namespace tmeter::core
