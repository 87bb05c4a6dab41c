// What a worker gives up before it touches a model: writing files, running programs, the network,
// other processes, and reading anything but what a run needs. By seccomp (system calls), Landlock
// (files), capabilities and rlimits, each where the kernel has it; a kernel or container without
// one of them still works, and the words returned say what does not hold.
//
// docs/reliability.md tells users what holds; tests/cli/test_sandbox.py tries it from a plugin.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::core {

/// What a run keeps.
struct Rights {
  std::vector<std::string>
      read;                // files and folders with all below them; what is not there is skipped
  std::vector<std::string> devices;  // … that may be written, too, and controlled: a GPU's
  bool counters = false;   // perf events of this process
  bool write = false;      // a plugin declared "files"
  bool network = false;    // … "network"
  bool processes = false;  // … "processes"
  bool threads = false;    // … "threads": they may outlive a callback, and choose their processor
  bool inference = false;  // the model is run
};

/// Adds what a plugin declares ("network files") to `rights`; false when a word is unknown.
bool add_rights(Rights& rights, std::string_view declared);

/// False with TMETER_SANDBOX=off: for debugging, and for the tests that show that it matters. Read
/// once, by the supervisor before it forks: a plugin that sets it changes nothing.
bool sandbox_wanted();

/// For good, for this thread and those it starts later: call it while there is one. Returns a line
/// per mechanism: "no writing, no programs, … (seccomp)", or what does not hold and why.
std::vector<std::string> enter_sandbox(const Rights& rights);

/// Whether this process has called `enter_sandbox`: no plugin is opened before.
bool in_sandbox();

// The parts, used by enter_sandbox alone.

struct FileLimits {
  std::string words;
  int landlock = 0;  // the version that holds; 0: none
};
FileLimits limit_files(const Rights& rights);  // landlock.cpp
std::string limit_system_calls(const Rights& rights);  // seccomp.cpp

}  // namespace tmeter::core
