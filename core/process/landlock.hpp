// The access rights that Landlock handles, by its version:
// https://docs.kernel.org/userspace-api/landlock.html
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/process/sandbox.hpp"

namespace tmeter::core {

/// The kernel's struct landlock_ruleset_attr: rights that are refused unless a rule gives them.
struct Ruleset {
  uint64_t files, network, scoped;
};

Ruleset ruleset_of(int version, const Rights& rights);

/// The size of the struct in each version.
size_t ruleset_size(int version);

}  // namespace tmeter::core
