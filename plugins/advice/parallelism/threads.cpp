// The best number of threads, as the plugin profile measured it.
#include <cstdlib>
#include <tmeter/cpp/observer.hpp>
#include "plugins/common/wording.hpp"

#include "rules.hpp"

namespace parallelism {

void report_threads(const Model& model) {
  const auto best = model.call.read("best_threads", TMETER_AXIS_MODEL, 0);
  if (!best.is_int()) return;
  const tmeter::ObserverCall runs(model.call.handle());
  const auto used = std::strtol(std::string(runs.fact("threads")).c_str(), nullptr, 10);
  if (best.count().value() <= 0 || best.count().value() >= used) return;
  const auto few = std::to_string(best.count().value()), all = std::to_string(used);
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "thread-count";
  f.text = "measured here, the model is fastest on " + few + " of " + all + " threads";
  const auto efficiency = model.call.read("parallel_efficiency", TMETER_AXIS_MODEL, 0);
  if (efficiency.known())
    f.evidence = "all " + all + " are " +
                 tmeter::fixed(efficiency.real() * static_cast<double>(used), 2) +
                 " times as fast as one; more threads must be 2 % faster to count as better";
  f.action = "torch.set_num_threads(" + few + ") or OMP_NUM_THREADS=" + few +
             "; run other requests on the remaining threads";
  model.call.add(f);
}

}  // namespace parallelism
