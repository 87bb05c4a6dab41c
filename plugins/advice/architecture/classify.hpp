// What kind of network it is, and how much work, each with the figures it rests on.
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
