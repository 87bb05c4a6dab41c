#include "scaling.hpp"

#include <algorithm>

namespace parallelism {

double Scaling::time(double n) const {
  double sum = fixed;
  for (const auto& w : operators)
    sum += std::max(n * w.arithmetic, w.weights + n * w.activations) + overhead;
  return sum;
}

double Scaling::limit() const {
  double sum = 0;
  for (const auto& w : operators) sum += std::max(w.arithmetic, w.activations);
  return sum;
}

double Scaling::efficiency(double n) const {
  const double t = time(n);
  return t > 0 ? n * limit() / t : 1;
}

Choice choose(const Scaling& scaling, const Memory& memory, double share) {
  constexpr int64_t kMaxFactor = int64_t{1} << 20;
  Choice out;
  while (out.factor < kMaxFactor && scaling.efficiency(static_cast<double>(out.factor)) < share) {
    if (!memory.fits(static_cast<double>(2 * out.factor))) {
      out.limited_by_memory = true;
      break;
    }
    out.factor *= 2;
  }
  return out;
}

}  // namespace parallelism
