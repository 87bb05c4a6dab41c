#include "tests/fuzz/targets.hpp"

#include "core/base/error.hpp"

namespace tmeter::fuzz {

const Target* find_target(std::string_view name) {
  for (const auto targets : {text_targets(), file_targets()}) {
    for (const auto& t : targets) {
      if (t.name == name) return &t;
    }
  }
  return nullptr;
}

void run(const Target& target, std::string_view input) {
  try {
    target.run(input);
  } catch (const core::Error& e) {
    if (e.kind() == core::ErrorKind::kInternal) throw;
  }
}

}  // namespace tmeter::fuzz
