// The destinations of a run's reports, in the supervisor's hands: files are opened before any work
// begins and appear only when all of it is done; standard output is kept back until then.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/output_file.hpp"

namespace tmeter::core {

/// What goes to standard output, kept back: in memory, and beyond a few MiB in a nameless file.
class Spool {
 public:
  Spool() = default;
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  void write(std::string_view bytes);
  /// Passes everything to standard output.
  void output();

 private:
  void move_to_file();
  std::string memory_;
  std::FILE* file_ = nullptr;
};

class Outputs {
 public:
  /// One target for each path; an empty one is standard output. Throws Error as OutputFile does.
  explicit Outputs(const std::vector<std::string>& paths);
  /// Throws Error(kInternal) for a target that is not there.
  void write(size_t target, std::string_view bytes);
  /// Nothing more will be written, if all goes well: the disk may begin.
  void push();
  /// Everything is there: when all files are on the disk they get their names, then standard output
  /// is written.
  void commit();

 private:
  void sync();
  std::vector<std::unique_ptr<OutputFile>> files_;  // null: standard output
  std::vector<bool> written_;                       // what nobody wrote does not appear
  std::vector<std::unique_ptr<Spool>> spools_;      // in the order of the targets
};

}  // namespace tmeter::core
