#include "plan.hpp"

namespace quantization {
namespace {

bool fits(const Scheme& s, const Weight& w, double sqnr, const Rules& rules) {
  if (!(sqnr >= rules.least_sqnr)) return false;  // NaN: unknown
  if (s.scope == Scope::kGroup && !w.matrix()) return false;
  return w.sensitive.empty() || s.bits >= 8;
}

}  // namespace

Choice choose(const Weight& w, const Rules& rules) {
  Choice best{std::nullopt, w.layout.bytes()};
  if (!w.figures.finite || w.figures.zero) return best;
  double best_sqnr = 0;
  for (const auto i : rules.allowed) {
    const double sqnr = w.figures.sqnr[i];
    if (!fits(kSchemes[i], w, sqnr, rules)) continue;
    const auto bytes = stored_bytes(kSchemes[i], w.layout);
    if (bytes < best.bytes || (best.scheme && bytes == best.bytes && sqnr > best_sqnr)) {
      best = {i, bytes};
      best_sqnr = sqnr;
    }
  }
  return best;
}

}  // namespace quantization
