// The kind of network and the amount of work, each with its evidence.
#pragma once
#include <string>

#include "profile.hpp"

namespace architecture {

struct Verdict {
  std::string kind;      // "transformer"
  std::string size;      // "medium: 1 to 10 GMACs"
  std::string evidence;  // shares and counts
};

Verdict classify(const Profile& profile);

}  // namespace architecture
