// Recurrent layers on the CPU: an LSTM layer by layer in oneDNN, others step by step.
#include <algorithm>
#include <optional>

#include "workspaces.hpp"

namespace memory {
namespace {

using tmeter::Count;
using tmeter::Node;
using tmeter::Value;

/// Memory in use, and its maximum so far.
class PeakTracker {
 public:
  void allocate(Count bytes) { now_ += bytes, most_ = std::max(most_, now_); }
  void free(Count bytes) { now_ = now_ - bytes; }
  void allocate_and_free(Count bytes) { allocate(bytes), free(bytes); }
  Count peak() const { return most_; }

 private:
  Count now_ = 0, most_ = 0;
};

/// Sizes of a layer stack; empty unless `input` is [time, batch, features].
struct Stack {
  Count steps, batch, features, hidden;
  int64_t layers, directions;
  bool copies_input;  // batch first: brought into the order of time

  static std::optional<Stack> of(const Node& node) {
    const auto x = node.arg("input"), params = node.arg("params");
    if (x.shape().rank() != 3 || params.size() < 2) return std::nullopt;
    const auto recurrent = params[1];
    if (!is_plain_float(params[0]) || !is_plain_float(recurrent) || recurrent.shape().rank() != 2)
      return std::nullopt;
    const auto layers = node.arg("num_layers").as_int();
    constexpr int64_t kMaxLayers = 4096;
    if (layers < 1 || layers > kMaxLayers) return std::nullopt;
    const bool batch_first = node.arg("batch_first").as_bool();
    const auto batch = x.shape()[batch_first ? 0 : 1], steps = x.shape()[batch_first ? 1 : 0];
    return Stack{steps,
                 batch,
                 x.shape()[2],
                 recurrent.shape()[1],
                 layers,
                 node.arg("bidirectional").as_bool() ? 2 : 1,
                 batch_first && batch > 1 && steps > 1};
  }

  Count states() const { return batch * hidden * Count(kFloat); }
  Count output() const { return steps * states(); }  // bytes of one direction
};

Count results_bytes(const Node& node) {
  Count sum = 0;
  for (size_t i = 0; i < node.result_count(); ++i)
    if (node.result(i).is_tensor()) sum += node.result(i).bytes();
  return sum;
}

Count peak_beyond_results(const PeakTracker& tracker, const Node& node) {
  const auto results = results_bytes(node);
  return tracker.peak() > results ? tracker.peak() - results : Count(0);
}

/// A leading dimension as oneDNN chooses it: whole cache lines, and not a multiple of 256
/// (get_good_ld, src/cpu/rnn/rnn_utils.cpp).
Count good_leading_dim(Count n) {
  const auto row = rounded_up(n, 16);
  return row.value() % 256 == 0 ? row + Count(16) : row;
}

/// oneDNN's scratchpad of a layer (set_workspace_sizes and set_offsets in src/cpu/rnn/rnn_utils),
/// each part in pages: states and cell states before and after the layer at all steps, gates –
/// gates of all steps only for a batch of one, where their products are merged – and a hidden
/// state.
Count lstm_scratchpad(const Stack& s, Count features) {
  const auto pages = [](Count numbers) { return rounded_up(numbers * Count(kFloat), 4096); };
  const Count rows = Count(2) * (s.steps + Count(1)) * s.batch;
  const Count gate_rows = s.batch == Count(1) ? s.steps : s.batch;
  return pages(rows * good_leading_dim(std::max(features, s.hidden))) + pages(rows * s.hidden) +
         pages(gate_rows * good_leading_dim(Count(4) * s.hidden)) +
         pages(s.batch * good_leading_dim(s.hidden)) + Count(4096);
}

/// mkldnn_rnn_layer (aten/src/ATen/native/mkldnn/RNN.cpp): per layer and direction output, hidden
/// and cell state stay; the sum of the biases, both weights packed, and the scratchpad go. Filters
/// are packed in blocks of twice the vector (ldgOi32o with AVX-512).
void lstm_direction(const Stack& s, Count features, int64_t block, PeakTracker& tracker) {
  const Count packed = rounded_up(s.hidden, 2 * block);
  tracker.allocate(s.output());
  tracker.allocate(Count(2) * s.states());
  const Count bias = Count(4) * s.hidden;
  const Count weights = Count(4) * packed * (features + s.hidden);
  tracker.allocate_and_free((bias + weights) * Count(kFloat) + lstm_scratchpad(s, features));
}

/// Each of two directions keeps its output until the next layer's output exists.
void lstm_layer(const Stack& s, bool first, Count features, int64_t block, PeakTracker& tracker) {
  for (int64_t d = 0; d < s.directions; ++d) {
    lstm_direction(s, features, block, tracker);
    if (s.directions == 2 && !first) tracker.free(s.output());
  }
  if (s.directions == 2) tracker.allocate(Count(2) * s.output());  // both in one
}

/// FullLayer and FullBidirectionalLayer (aten/src/ATen/native/RNN.cpp): the gates' part of the
/// input for all steps at once, the output of each step, and all of them stacked; the last step's
/// stays, as the state. Steps and gates of one direction are there until those of the other have
/// begun, or ended.
void stepwise_layer(const Stack& s, int64_t gates, PeakTracker& tracker) {
  const Count of_input = Count(gates) * s.output(), steps = s.output(), stacked = s.output();
  tracker.allocate(of_input);
  tracker.allocate(steps + stacked);
  if (s.directions == 1) {
    tracker.free(of_input + steps);
  } else {
    tracker.allocate(of_input);
    tracker.free(of_input);
    tracker.allocate(steps + stacked);
    tracker.allocate(Count(2) * stacked);  // both in one
    tracker.free(of_input + Count(2) * (steps + stacked));
  }
  tracker.allocate(Count(s.directions) * s.states());
}

template <class Layer>
void layers(const Stack& s, PeakTracker& tracker, const Layer& layer) {
  for (int64_t i = 0; i < s.layers; ++i) {
    layer(i == 0, i == 0 ? s.features : Count(s.directions) * s.hidden);
    if (i > 0) tracker.free(Count(s.directions) * s.output());  // the output of the layer before
  }
}

Count stepwise(const Node& node, int64_t gates) {
  const auto s = Stack::of(node);
  if (!s) return 0;
  PeakTracker tracker;
  layers(*s, tracker, [&](bool, Count) { stepwise_layer(*s, gates, tracker); });
  tracker.allocate(Count(s->layers * s->directions) * s->states());
  return peak_beyond_results(tracker, node);
}

}  // namespace

Count lstm_workspace(const Node& node, const Kernels& k) {
  const auto s = Stack::of(node);
  if (!s) return 0;
  // Projections are not oneDNN's: their weights are more than two (and two biases) a layer.
  const auto params = static_cast<int64_t>(node.arg("params").size());
  const auto each = node.arg("has_biases").as_bool(true) ? 4 : 2;
  if (params != each * s->layers * s->directions) return 0;
  PeakTracker tracker;
  if (s->copies_input) tracker.allocate(s->steps * s->batch * s->features * Count(kFloat));
  layers(*s, tracker,
         [&](bool first, Count features) { lstm_layer(*s, first, features, k.block, tracker); });
  tracker.allocate(Count(2 * s->layers * s->directions) * s->states());
  return peak_beyond_results(tracker, node);
}

Count gru_workspace(const Node& node, const Kernels&) { return stepwise(node, 3); }
Count rnn_workspace(const Node& node, const Kernels&) { return stepwise(node, 1); }

}  // namespace memory
