// Operators that are too small, for their own call or for several threads, and the best number of
// threads as the plugin profile measured it.
#include <algorithm>
#include <cstdlib>
#include <tmeter/cpp/observer.hpp>
#include <tmeter/cpp/op_class.hpp>

#include "plugins/common/uses.hpp"
#include "plugins/common/wording.hpp"
#include "rules.hpp"

namespace parallelism {

namespace {

using advice::Saving;
using tmeter::Node;
using tmeter::OpClass;

/// at::internal::GRAIN_SIZE (ATen/TensorIterator.h, torch 2.15): TensorIterator runs fewer elements
/// on the calling thread.
constexpr int64_t kGrainElements = 32768;
/// Smallest share of the time that is reported. Our choice.
constexpr double kMinTimeShare = 0.1;

/// Run by TensorIterator::for_each.
bool is_by_element(const Node& node) {
  const auto kind = tmeter::op_class(node.op());
  return (kind == OpClass::kElementwise || kind == OpClass::kActivation ||
          kind == OpClass::kCopy) &&
         node.result_count() == 1 && node.result(0).is_tensor();
}

/// The bandwidth of one thread, in profiles that tmeter measured (`single.peak.…`).
struct OneThread {
  double bytes = 0;
  explicit operator bool() const { return bytes > 0; }
};

OneThread one_thread(const tmeter::Call& call) {
  OneThread out;
  if (!call.hardware_number("single.peak.dram", out.bytes)) out.bytes = 0;
  return out;
}

}  // namespace

void report_overhead(Model& model) {
  const double overhead = model.estimator.overhead();
  const auto total = model.estimator.seconds();
  if (overhead <= 0 || !total || *total <= 0) return;
  std::vector<Saving> savings;
  double waiting = 0;
  for (const auto& node : model.graph.nodes()) {
    const auto times = model.estimator.times_of(node);
    if (!times || times->longer() <= 0 || times->longer() >= overhead) continue;
    const Node nodes[]{node};
    savings.push_back({{node}, {}, overhead, advice::kind_of(nodes)});
    waiting += overhead + times->longer();
  }
  if (savings.empty() || waiting < kMinTimeShare * *total) return;
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "small-operators";
  f.text = plugins::count_of(savings.size(), "operator") +
           (savings.size() == 1 ? " takes" : " take") +
           " longer to call than to run: " + plugins::percent(waiting / *total) +
           " of the predicted time on " + std::string(model.call.hardware_name());
  f.evidence = advice::seconds_text(overhead) + " for each call; " + advice::counts_text(savings);
  f.action =
      "torch.compile(model), on a GPU with mode=\"reduce-overhead\" (CUDA graphs), calls them as "
      "one; a larger batch helps, too. The change is for calls without overhead";
  model.estimator.complete(f, savings);
  model.call.add(f);
}

void report_serial(Model& model) {
  const auto single = one_thread(model.call);
  std::vector<Saving> small;
  double bytes = 0, seconds = 0;
  for (const auto& node : model.graph.nodes()) {
    if (!is_by_element(node) || plugins::element_count(node.result(0).shape()) >= kGrainElements)
      continue;
    const auto traffic = model.estimator.traffic_of(node);
    if (!traffic || traffic->all() == 0) continue;
    const Node nodes[]{node};
    small.push_back({{node}, *traffic, std::nullopt, advice::kind_of(nodes)});
    bytes += traffic->all();
    const auto times = model.estimator.times_of(node);
    if (times) seconds += times->longer();
  }
  // Without the bandwidth of one thread the loss is unknown.
  const auto total = model.estimator.seconds();
  if (small.empty() || !single || !total || bytes / single.bytes < kMinTimeShare * *total) return;
  tmeter::Finding f;
  f.rule = "serial-operators";
  f.text = plugins::count_of(small.size(), "elementwise operator") +
           (small.size() == 1 ? " is" : " are") +
           " too small for several threads: " + advice::seconds_text(bytes / single.bytes) +
           " on one instead of " + advice::seconds_text(seconds) + " on all, of " +
           advice::seconds_text(*total) + " predicted for the model";
  f.evidence =
      "PyTorch runs fewer than 32,768 elements on one thread; " + advice::counts_text(small);
  f.action = "use a larger batch, or torch.compile, which fuses several into one loop";
  for (const auto& saving : small) f.about(saving.nodes.front());
  model.call.add(f);
}

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
