#include "families.hpp"

#include <algorithm>
#include <array>

namespace blueprint {
namespace {

constexpr std::array kFamilies{
#include "families.inc"
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family* find_family(std::string_view model_type) {
  const auto it = std::find_if(kFamilies.begin(), kFamilies.end(),
                               [&](const Family& f) { return f.type == model_type; });
  return it == kFamilies.end() ? nullptr : &*it;
}

bool has_trait(const Family* family, std::string_view trait) {
  if (!family) return false;
  const auto& words = family->traits;
  for (size_t at = words.find(trait); at != words.npos; at = words.find(trait, at + 1)) {
    const auto end = at + trait.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

}  // namespace blueprint
