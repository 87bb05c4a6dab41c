// Operators that are too small: for their own call, or for threads.
#include <algorithm>
#include <tmeter/cpp/op_class.hpp>
#include "plugins/common/wording.hpp"
#include "plugins/common/uses.hpp"

#include "rules.hpp"

namespace parallelism {
namespace {

using advice::Gain;
using tmeter::Node;
using tmeter::OpClass;

/// at::internal::GRAIN_SIZE (ATen/TensorIterator.h, torch 2.15): TensorIterator runs fewer elements
/// than that on the calling thread.
constexpr int64_t kGrain = 32768;
/// Share of time or traffic from which on it is told. Our choice.
constexpr double kShare = 0.1;

/// Run by TensorIterator::for_each.
bool is_by_element(const Node& node) {
  const auto kind = tmeter::op_class(node.op());
  return (kind == OpClass::kElementwise || kind == OpClass::kActivation ||
          kind == OpClass::kCopy) &&
         node.result_count() == 1 && node.result(0).is_tensor();
}

/// One thread's rates, which profiles of processors that tmeter measured have (`single.peak.…`).
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

void say_overhead(Model& model) {
  const double overhead = model.ledger.overhead();
  const auto total = model.ledger.seconds();
  if (overhead <= 0 || !total || *total <= 0) return;
  std::vector<Gain> gains;
  double waiting = 0;
  for (const auto& node : model.graph.nodes()) {
    const auto times = model.ledger.times_of(node);
    if (!times || times->longer() <= 0 || times->longer() >= overhead) continue;
    const Node nodes[]{node};
    gains.push_back({{node}, {}, overhead, advice::kind_of(nodes)});
    waiting += overhead + times->longer();
  }
  if (gains.empty() || waiting < kShare * *total) return;
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "small-operators";
  f.text = plugins::count_of(gains.size(), "operator") + (gains.size() == 1 ? " takes" : " take") +
           " longer to call than to run: " + plugins::percent(waiting / *total) +
           " of the predicted time on " + std::string(model.call.hardware_name());
  f.evidence = advice::seconds_text(overhead) + " for each call; " + advice::counts_text(gains);
  f.action =
      "torch.compile(model), on a GPU mode=\"reduce-overhead\" (CUDA graphs), calls them as one; "
      "or a "
      "larger batch. The change is that of calls which cost nothing";
  model.ledger.complete(f, gains);
  model.call.add(f);
}

void say_serial(Model& model) {
  const auto single = one_thread(model.call);
  std::vector<Gain> small;
  double bytes = 0, seconds = 0;
  for (const auto& node : model.graph.nodes()) {
    if (!is_by_element(node) || plugins::numbers_of(node.result(0).shape()) >= kGrain) continue;
    const auto moved = model.ledger.moved_by(node);
    if (!moved || moved->all() == 0) continue;
    const Node nodes[]{node};
    small.push_back({{node}, *moved, std::nullopt, advice::kind_of(nodes)});
    bytes += moved->all();
    const auto times = model.ledger.times_of(node);
    if (times) seconds += times->longer();
  }
  // Without a thread's rate nobody knows whether the machine has threads to lose.
  const auto total = model.ledger.seconds();
  if (small.empty() || !single || !total || bytes / single.bytes < kShare * *total) return;
  tmeter::Finding f;
  f.rule = "serial-operators";
  f.text = plugins::count_of(small.size(), "elementwise operator") +
           (small.size() == 1 ? " is" : " are") +
           " too small for threads: " + advice::seconds_text(bytes / single.bytes) +
           " on one instead of " + advice::seconds_text(seconds) + " on all, of " +
           advice::seconds_text(*total) + " predicted for the model";
  f.evidence =
      "PyTorch runs fewer than 32,768 numbers on one thread; " + advice::counts_text(small);
  f.action = "a larger batch, or torch.compile, which makes one loop of several";
  for (const auto& gain : small) f.about(gain.nodes.front());
  model.call.add(f);
}

}  // namespace parallelism
