#include "core/base/mapped_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "core/base/missing_file.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {

/// One mapping in the list the fault handler walks. Never freed, so that the handler may read the
/// list at any moment; `size` is 0 once the mapping is gone.
struct Guard {
  const char* data;
  std::atomic<size_t> size;
  std::string message;
  Guard* next;
};

namespace {

std::atomic<Guard*> guards{nullptr};
struct sigaction before {};

void write_to_stderr(std::string_view message) {
  const auto written = write(STDERR_FILENO, message.data(), message.size());
  static_cast<void>(written);
}
std::atomic<LostFileHandler> on_lost_file{write_to_stderr};

/// Only async-signal-safe calls here: see signal-safety(7).
void on_fault(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (const Guard* g = guards.load(std::memory_order_acquire); g; g = g->next) {
    const auto begin = reinterpret_cast<uintptr_t>(g->data);
    if (at < begin || at - begin >= g->size.load(std::memory_order_relaxed)) continue;
    static std::atomic_flag reported = ATOMIC_FLAG_INIT;
    while (reported.test_and_set()) pause();  // another thread ends the program
    on_lost_file.load()(g->message);
    _exit(static_cast<int>(ErrorKind::kModel));
  }
  // another handler's fault: the repeated access reaches that handler
  sigaction(signal, &before, nullptr);
}

/// Runs once, before any plugin, because a later change would be blamed on the running plugin.
void install_fault_handler() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    return sigaction(SIGBUS, &action, &before) == 0;
  }();
  static_cast<void>(installed);
}

Guard* guard(const char* data, size_t size, const std::string& path) {
  install_fault_handler();
  auto* g = new Guard{data, size,
                      printable(path) +
                          ": became shorter while it was read, or its disk failed; try again once "
                          "it is completely written",
                      guards.load()};
  while (!guards.compare_exchange_weak(g->next, g)) {
  }
  return g;
}

constexpr size_t kPage = 4096;

/// The pages that touch [offset, offset + size), as far as the file goes.
std::pair<size_t, size_t> pages(size_t offset, size_t size, size_t file) {
  const size_t begin = std::min(offset, file) / kPage * kPage;
  return {begin, std::min(size + (offset - begin), file - begin)};
}

constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kModel, printable(path) + ": " + why);
}

}  // namespace

void set_lost_file_handler(LostFileHandler handler) { on_lost_file = handler; }

Folder::Folder(const std::string& of_file) {
  const auto folder = std::filesystem::path(of_file).parent_path();
  fd_ = Descriptor(open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file(open(path.c_str(), kOpenFlags));
  map(file.get(), path);
}

MappedFile::MappedFile(const std::string& path, OrDirectory) : path_(path) {
  const Descriptor file(open(path.c_str(), kOpenFlags));
  struct stat info {};
  const bool directory = file.get() >= 0 && fstat(file.get(), &info) == 0 && S_ISDIR(info.st_mode);
  if (directory)
    install_fault_handler();  // files in it are mapped while a loader runs
  else
    map(file.get(), path);
}

MappedFile::MappedFile(const Folder& folder, const std::string& name, const std::string& path)
    : path_(path) {
  const Descriptor file(openat(folder.descriptor(), name.c_str(), kOpenFlags));
  map(file.get(), name);
}

void MappedFile::map(int file, const std::string& name) {
  if (file < 0) {
    const int why = errno;
    std::error_code not_a_link;
    const auto target = std::filesystem::read_symlink(path_, not_a_link);
    if (why == ENOENT && !not_a_link)
      refuse(name, "is a link to " + printable(target.string()) +
                       ", which does not exist; download or link it again");
    refuse(name, why == ENOENT ? "no such file" + missing_file_advice(path_)
                               : std::string("cannot be opened: ") + std::strerror(why));
  }
  struct stat info {};
  if (fstat(file, &info) != 0) refuse(name, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) refuse(name, "is a directory; give the model file inside it");
  if (!S_ISREG(info.st_mode)) refuse(name, "is not a regular file; save the model to disk first");
  if (info.st_size == 0) refuse(name, "is empty (0 bytes); was it saved or downloaded completely?");
  size_ = static_cast<size_t>(info.st_size);
  void* p = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  if (p == MAP_FAILED) refuse(name, std::string("cannot be mapped: ") + std::strerror(errno));
  data_ = static_cast<const char*>(p);
  guard_ = guard(data_, size_, path_);
}

MappedFile::~MappedFile() {
  if (!guard_) return;
  guard_->size = 0;
  munmap(const_cast<char*>(data_), size_);
}

void MappedFile::expect(size_t offset, size_t size) const {
  if (is_directory()) return;
  const auto [begin, length] = pages(offset, size, size_);
  madvise(const_cast<char*>(data_) + begin, length, MADV_WILLNEED);
}

void MappedFile::release(size_t offset, size_t size) const {
  if (is_directory()) return;
  const auto [begin, length] = pages(offset, size, size_);
  madvise(const_cast<char*>(data_) + begin, length, MADV_DONTNEED);
}

}  // namespace tmeter::core
