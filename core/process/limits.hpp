// How much memory and time a worker may take, and the words users give them in.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

namespace tmeter::core {

struct Limits {
  uint64_t memory = 0;  ///< bytes of its own; mapped model files do not count
  /// Seconds for the whole run; 0: unlimited, except `running_file` for code that the file
  /// contains.
  double timeout = 0;
  double running_file = 60;
};

/// The smaller of half the machine's memory and 8 GiB.
uint64_t default_max_memory();

/// "8GiB", "500MB", "2000000"; throws Error(kUsage) naming `option`.
uint64_t parse_bytes(const std::string& option, const std::string& text);
/// "60", "1.5", "500ms", "2min"; throws Error(kUsage) naming `option`.
double parse_seconds(const std::string& option, const std::string& text);

/// "8.0 GiB"
std::string bytes_text(uint64_t bytes);
/// "60 s", "0.5 s"
std::string seconds_text(double seconds);

/// Limits the allocations of this process. False if it already has more, as under sanitizers; then
/// only `worker_memory` enforces the limit.
bool limit_memory(uint64_t bytes);
/// The limit that is in force; 0: none.
uint64_t memory_limit();
/// Why an allocation failed: "out of memory: more than 64.0 MiB (--max-memory) is needed"; without
/// the limit where none is in force or no memory is left for the text.
std::string out_of_memory_text() noexcept;
/// False if this process cannot even have a sixteenth of its limit, or another mapping.
bool has_memory_left();

}  // namespace tmeter::core
