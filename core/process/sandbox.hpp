// The sandbox that a worker enters before it opens a model or a plugin. It denies writing files,
// running programs, the network, other processes, and reading files that the run does not need. It
// is made of seccomp (system calls), Landlock (files), capabilities and rlimits, each where the
// kernel has it. A kernel or container without one of them still works; the returned strings name
// the missing protection.
//
// docs/reliability.md lists the guarantees; tests/cli/test_sandbox.py attacks them from a plugin.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::core {

/// The rights that a run keeps.
struct Rights {
  std::vector<std::string> read;  // files and folders with all below them; missing ones are skipped
  std::vector<std::string> devices;  // … that may be written, too, and controlled: a GPU's
  bool counters = false;             // perf events of this process
  bool write = false;                // a plugin declared "files"
  bool network = false;              // … "network"
  bool processes = false;            // … "processes"
  bool threads = false;    // … "threads": they may outlive a callback, and choose their processor
  bool inference = false;  // the model is run
};

/// Adds what a plugin declares ("network files") to `rights`; false when a word is unknown.
bool add_rights(Rights& rights, std::string_view declared);

/// False with TMETER_SANDBOX=off, for debugging and for tests that compare. The supervisor reads it
/// once before it forks, so a plugin that sets it has no effect.
bool sandbox_requested();

/// Permanent, for this thread and all threads it starts later: call it while there is one thread.
/// Returns a line per mechanism: "no writing, no programs, … (seccomp)", or the missing protection
/// and the reason.
std::vector<std::string> enter_sandbox(const Rights& rights);

/// Whether this process has called `enter_sandbox`: no plugin is opened before.
bool in_sandbox();

// The parts, used only by enter_sandbox.

struct FileLimits {
  std::string words;
  int landlock = 0;  // the version that holds; 0: none
};
FileLimits limit_files(const Rights& rights);          // landlock.cpp
std::string limit_system_calls(const Rights& rights);  // seccomp.cpp

}  // namespace tmeter::core
