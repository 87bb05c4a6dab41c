#include "core/process/outputs.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <system_error>

#include "core/base/error.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMostInMemory = size_t{8} << 20;

[[noreturn]] void fail() {
  throw Error(write_failure(errno), std::string("the report cannot be kept in a temporary file: ") +
                                        std::strerror(errno));
}

}  // namespace

Spool::~Spool() {
  if (file_) std::fclose(file_);
}

void Spool::write(std::string_view bytes) {
  if (!file_ && memory_.size() + bytes.size() > kMostInMemory) move_to_file();
  if (!file_) {
    memory_ += bytes;
  } else if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    fail();
  }
}

void Spool::move_to_file() {
  file_ = std::tmpfile();
  if (!file_) fail();
  if (std::fwrite(memory_.data(), 1, memory_.size(), file_) != memory_.size()) fail();
  memory_ = {};
}

void Spool::output() {
  if (!file_) return Terminal::output(memory_);
  if (std::fflush(file_) != 0) fail();
  std::rewind(file_);
  std::array<char, 1 << 16> buffer;
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), file_))
    Terminal::output({buffer.data(), n});
}

Outputs::Outputs(const std::vector<std::string>& paths) {
  for (const auto& path : paths) {
    files_.push_back(path.empty() ? nullptr : std::make_unique<OutputFile>(path));
    written_.push_back(false);
    spools_.push_back(path.empty() ? std::make_unique<Spool>() : nullptr);
  }
}

void Outputs::write(size_t target, std::string_view bytes) {
  if (target >= files_.size()) throw Error(ErrorKind::kInternal, "a report without destination");
  written_[target] = true;
  if (files_[target]) {
    files_[target]->write(bytes);
  } else {
    spools_[target]->write(bytes);
  }
}

void Outputs::push() {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i] && written_[i]) files_[i]->push();
  }
}

/// At once: a file system with a journal then writes it for all of them together, instead of
/// waiting for the disk once for each (ten reports: 7 ms instead of 30). Where no thread can be had
/// the files wait their turn.
void Outputs::sync() {
  std::vector<OutputFile*> files;
  for (size_t i = 0; i < files_.size(); ++i)
    if (files_[i] && written_[i]) files.push_back(files_[i].get());
  std::vector<std::future<void>> running;
  while (files.size() > 1) {
    const auto sync = [file = files.back()] { file->sync(); };
    files.pop_back();
    try {
      running.push_back(std::async(std::launch::async, sync));
    } catch (const std::system_error&) {
      sync();
    }
  }
  for (auto* file : files) file->sync();  // this thread's own
  for (auto& file : running) file.get();
}

void Outputs::commit() {
  sync();
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i] && written_[i]) files_[i]->commit();
  }
  for (auto& spool : spools_) {
    if (spool) spool->output();
  }
}

}  // namespace tmeter::core
