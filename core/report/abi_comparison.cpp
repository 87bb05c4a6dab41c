// tmeter.host.comparison/0.1: the pairs and notes of a comparison.
#include <tmeter/abi/draft/comparison.h>

#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/report/report.hpp"

namespace tmeter::core {
namespace {

const Comparison& comparison_of(const tmeter_report* r) {
  return reinterpret_cast<const Report*>(r)->comparison;
}

tmeter_status module_pair_at(const tmeter_report* r, size_t i, tmeter_pair* out) {
  const auto& pairs = comparison_of(r).pairs;
  if (i >= pairs.size()) return TMETER_INVALID_ARGUMENT;
  const auto& p = pairs[i];
  return hand_over<tmeter_pair>({0, p.flags, p.before, p.after, p.depth}, out, sizeof(tmeter_pair));
}

}  // namespace

const void* comparison_interface() {
  static const tmeter_comparison_api api{
      sizeof(tmeter_comparison_api),
      0,
      [](const tmeter_report* r) { return to_handle(comparison_of(r).before); },
      [](const tmeter_report* r) { return comparison_of(r).pairs.size(); },
      module_pair_at,
      [](const tmeter_report* r) { return comparison_of(r).notes.size(); },
      [](const tmeter_report* r, size_t i) {
        const auto& notes = comparison_of(r).notes;
        return i < notes.size() ? to_abi(notes[i]) : tmeter_str{};
      }};
  return &api;
}

}  // namespace tmeter::core
