#include "resize.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "operators/messages.hpp"
#include "operators/meta_kernels/registry.hpp"
#include "operators/torch_version.hpp"
#include "replay.hpp"
#include "replayed_sizes.hpp"
#include "rules.hpp"
#include "samples.hpp"

namespace tmeter::resize {
namespace {

struct SizeLiteral {
  std::string_view op;  // beginning of the name
  std::string_view argument;
};
constexpr std::array<SizeLiteral, 25> kSizeLiterals{{
    {"aten::upsample_", "output_size"},
    {"aten::_upsample_", "output_size"},
    {"aten::adaptive_", "output_size"},
    {"aten::avg_pool", "kernel_size"},
    {"aten::max_pool", "kernel_size"},
    {"aten::col2im", "output_size"},
    {"aten::slice", "start"},
    {"aten::slice", "end"},
    {"aten::narrow", "start"},
    {"aten::narrow", "length"},
    {"aten::split", "split_size"},
    {"aten::split", "split_sizes"},
    {"aten::roll", "shifts"},
    {"aten::arange", "end"},
    {"aten::linspace", "steps"},
    {"aten::expand", "size"},
    {"aten::broadcast_to", "size"},
    {"aten::repeat", "repeats"},
    {"aten::zeros", "size"},
    {"aten::ones", "size"},
    {"aten::full", "size"},
    {"aten::empty", "size"},
    {"aten::rand", "size"},
    {"aten::new_", "size"},
    {"aten::unfold", "size"},
}};

void add_changes(const Value& argument, const ReplayedSizes& replayed, SizeChanges& out) {
  for_each_tensor_value(argument, [&](const Value& v) {
    const auto before = sizes_of(v.shape()), after = dims_in(replayed, v);
    for (size_t d = 0; d < before.size() && d < after.size(); ++d) {
      if (before[d] != after[d]) out.emplace(before[d], after[d]);
    }
  });
}

SizeChanges changes_at(const Node& node, const ReplayedSizes& replayed) {
  SizeChanges out;
  for (size_t i = 0; i < node.arg_count(); ++i) add_changes(node.arg(i), replayed, out);
  return out;
}

SizeChanges changes_of_inputs(const Graph& graph, const ReplayedSizes& replayed) {
  SizeChanges out;
  for (const auto& input : graph.inputs()) add_changes(input, replayed, out);
  return out;
}

/// The number of literals equal to a changed size. 1 does not count, because it is too common.
size_t equal_to_changed(const Value& v, const SizeChanges& changes) {
  size_t count = 0;
  for (size_t i = 0; i < v.size(); ++i) count += equal_to_changed(v[i], changes);
  const bool plain = v.kind() == TMETER_VALUE_INT && !v.producer() && v.as_int() > 1;
  const bool changed =
      plain && std::any_of(changes.begin(), changes.end(),
                           [&](const SizeChange& c) { return c.first == v.as_int(); });
  return count + (changed ? 1 : 0);
}

/// Both ends of a slice that is as long as the input, or a multiple of it, from a table that does
/// not change: table[m - n : m + n], as DeBERTa takes its relative positions.
size_t unresolved_slice_ends(const Node& node, const ReplayedSizes& replayed,
                             const SizeChanges& inputs) {
  const auto start = node.arg("start"), end = node.arg("end");
  const auto is_plain = [](const Value& v) {
    return v.kind() == TMETER_VALUE_INT && !v.producer() && v.as_int() > 0;
  };
  if (node.op() != "aten::slice" || !is_plain(start) || !is_plain(end)) return 0;
  const int64_t length = end.as_int() - start.as_int();
  const bool follows = std::any_of(inputs.begin(), inputs.end(), [&](const SizeChange& c) {
    return c.first > 1 && length > 0 && length % c.first == 0;
  });
  return follows && changes_at(node, replayed).empty() ? 2 : 0;
}

/// Pads of changed dims before other operators than convolution and pooling. They cannot be judged.
/// A pad of zeros counts too, because it was computed.
size_t unresolved_pads(const Node& node, const ReplayedSizes& replayed) {
  const auto pads = node.arg("pad");
  const auto before = sizes_of(node.arg(size_t{0}).shape());
  const auto after = dims_in(replayed, node.arg(size_t{0}));
  if (before.size() != after.size() || pads.size() > 2 * before.size()) return 0;
  size_t count = 0, zeros = 0;
  for (size_t i = 0; i < pads.size(); ++i) {
    const size_t dim = before.size() - 1 - i / 2;
    if (before[dim] == after[dim] || pads[i].producer()) continue;
    ++(pads[i].as_int() == 0 ? zeros : count);
  }
  return count > 0 ? count : zeros;
}

/// Any number of an operator that LibTorch lacks may be a size.
size_t literals_of_rule(const Node& node, const ReplayedSizes& replayed) {
  const auto changes = changes_at(node, replayed);
  size_t count = 0;
  for (size_t i = 0; i < node.arg_count(); ++i) count += equal_to_changed(node.arg(i), changes);
  return count;
}

/// Counts them by operator: plain numbers in size arguments that equal a recorded size which has
/// changed, of the operator's tensors or of an input; and pads of changed dims. Literals that were
/// replaced do not count, nor do those that modules of torch.nn were constructed with.
std::map<std::string, size_t> unresolved_literals(const Graph& recorded,
                                                  const ReplayedSizes& replayed,
                                                  const ConvPoolPadding& padding) {
  std::map<std::string, size_t> out;
  const auto inputs = changes_of_inputs(recorded, replayed);
  for (const auto& node : recorded.nodes()) {
    if (replayed.literals.contains(node.index()) || is_of_torch_nn(node)) continue;
    if (const auto count = is_of_libtorch(node) ? 0 : literals_of_rule(node, replayed))
      out[full_name(node)] += count;
    for (const auto& row : kSizeLiterals) {
      if (!node.op().starts_with(row.op)) continue;
      auto changes = changes_at(node, replayed);
      if (changes.empty()) changes = inputs;
      if (const auto count = equal_to_changed(node.arg(row.argument), changes))
        out[full_name(node)] += count;
    }
    if (const auto count = unresolved_slice_ends(node, replayed, inputs))
      out[full_name(node)] += count;
    if (!is_padding(node) || padding.padded_at(node)) continue;
    if (const auto count = unresolved_pads(node, replayed)) out[full_name(node)] += count;
  }
  return out;
}

using Paddings = std::map<size_t, Repadding>;
using Inputs = std::vector<Sizes>;  // by input of the graph; empty for values other than tensors

/// During its lifetime, LibTorch neither warns nor tracks gradients, and comparisons need values.
class ReplayMode {
 public:
  ReplayMode() : guard_(&handler_) { evaluation_state().model_is_running = true; }
  ~ReplayMode() { evaluation_state().model_is_running = false; }

 private:
  class Handler final : public c10::WarningHandler {
    void process(const c10::Warning&) override {}
  };
  Handler handler_;
  c10::WarningUtils::WarningHandlerGuard guard_;
  c10::InferenceMode inference_;
};

Inputs recorded_inputs(const Graph& graph) {
  Inputs out;
  for (const auto& value : graph.inputs()) out.push_back(sizes_of(value.shape()));
  return out;
}

Inputs requested_inputs(const Graph& graph) {
  auto out = recorded_inputs(graph);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto requested = graph.input_wanted(i);
    if (!requested.empty()) out[i] = sizes_of(requested);
  }
  return out;
}

/// The wanted inputs with the recorded number of samples, if the number of samples and other sizes
/// change. Two passes then apply the changes one after the other, which keeps them apart.
std::optional<Inputs> halfway(const Inputs& recorded, const Inputs& requested) {
  auto same_samples = requested;
  std::vector<DimsChange> samples;
  for (size_t i = 0; i < requested.size(); ++i) {
    if (requested[i].empty()) continue;
    same_samples[i][0] = recorded[i][0];
    samples.push_back({same_samples[i], requested[i]});
  }
  const bool both = same_samples != recorded && same_samples != requested;
  return both && change_of_samples(samples) ? std::optional(same_samples) : std::nullopt;
}

std::string dims_text(const Sizes& dims) {
  std::string out;
  for (const auto d : dims) out += (out.empty() ? "" : "x") + std::to_string(d);
  return out;
}

/// "--input x=8x3x224x224 (the file has 1x3x224x224)"
std::string requested_sizes(const Graph& graph) {
  std::string out;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto requested = graph.input_wanted(i);
    if (requested.empty()) continue;
    out += (out.empty() ? "" : " ") + std::string("--input ") + std::string(graph.input_name(i)) +
           "=" + dims_text(sizes_of(requested)) + " (the file has " +
           dims_text(sizes_of(graph.inputs()[i].shape())) + ")";
  }
  return out;
}

constexpr std::string_view kAdvice = "; export the model with dynamic_shapes, or with that input";

[[noreturn]] void refuse(const Graph& graph, const Replay& replay) {
  const auto [text, of_weights] = describe_failure(replay.failure());
  if (of_weights && !replay.replaced_any())
    throw Error(TMETER_BAD_MODEL, text + " from " + requested_sizes(graph));
  throw Error(TMETER_CANNOT_RUN, text + ", with " + requested_sizes(graph) + std::string(kAdvice));
}

[[noreturn]] void refuse_ambiguous(const Graph& graph, const std::string& op) {
  throw Error(TMETER_CANNOT_RUN, "sizes written into " + op + " can be read in several ways for " +
                                     requested_sizes(graph) + std::string(kAdvice));
}

/// "36 × aten::view, 1 × aten::expand"
std::string counted(const std::map<std::string, size_t>& ops) {
  std::string out;
  for (const auto& [op, count] : ops)
    out += (out.empty() ? "" : ", ") + std::to_string(count) + " × " + op;
  return out;
}

size_t sum(const std::map<std::string, size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), size_t{0},
                         [](size_t n, const auto& entry) { return n + entry.second; });
}

/// The number of replaced literals.
size_t replaced_numbers(const Graph& graph, const ReplayedSizes& replayed) {
  size_t count = 0;
  for (const auto& [i, literals] : replayed.literals) {
    for (const auto& literal : literals) {
      const auto written = graph.nodes()[i].arg(literal.argument);
      if (!written.is_list()) ++count;
      for (size_t k = 0; k < written.size() && k < literal.sizes.size(); ++k)
        count += written[k].as_int() != literal.sizes[k] ? 1 : 0;
    }
  }
  for (const auto& [i, pads] : replayed.pads)
    count += pads.size() - static_cast<size_t>(std::count(pads.begin(), pads.end(), 0));
  return count;
}

void report_paddings(const Graph& graph, const Paddings& paddings, const Call& call) {
  constexpr std::string_view kDecision[] = {"fixed", "'same'"};
  for (const auto kind : {PaddingKind::kFixed, PaddingKind::kSame}) {
    std::map<std::string, size_t> unsure;
    for (const auto& [i, padding] : paddings) {
      const auto node = graph.nodes()[i];
      if (!padding.estimate.sure && padding.estimate.kind == kind)
        ++unsure[std::string(node.op()) + " in " + std::string(node.call().module().type())];
    }
    if (unsure.empty()) continue;
    call.warn(
        "paddings that may be fixed or TensorFlow's 'same', which differ for --input, were "
        "assumed to be " +
        std::string(kDecision[static_cast<size_t>(kind)]) + ": " + counted(unsure));
  }
}

void report(const Graph& graph, const ReplayedSizes& replayed, const Paddings& paddings,
            GraphBuilder& builder, const Call& call) {
  std::map<std::string, size_t> replaced;
  for (const auto& [i, literals] : replayed.literals)
    ++replaced[std::string(graph.nodes()[i].op())];
  for (const auto& [i, pads] : replayed.pads) ++replaced[std::string(graph.nodes()[i].op())];
  if (!replaced.empty()) {
    call.warn(
        "the file fixes sizes inside the model for its recorded input; they were replaced to "
        "follow --input in " +
        counted(replaced));
  }
  const auto left = unresolved_literals(graph, replayed, ConvPoolPadding(graph));
  if (!left.empty()) {
    call.warn("numbers that may follow from changed sizes were left as they are in the file: " +
              counted(left));
  }
  report_paddings(graph, paddings, call);
  size_t kept = sum(left);
  for (const auto& [i, padding] : paddings)
    kept += padding.estimate.kind == PaddingKind::kFixed ? padding.count : 0;
  builder.property("literals.replaced", std::to_string(replaced_numbers(graph, replayed)));
  builder.property("literals.kept", std::to_string(kept));
}

}  // namespace

void resize(const Graph& graph, GraphBuilder& builder, Call& call) {
  at::set_num_threads(1);
  note_untried_version(call);
  const MetaKernels kernels;
  const ReplayMode mode;
  Limits limits(call, "resize");
  const auto requested = requested_inputs(graph);
  std::vector<Inputs> passes{requested};
  if (auto first = halfway(recorded_inputs(graph), requested))
    passes.insert(passes.begin(), *first);

  Rules rules(call);
  ReplayedSizes replayed;
  Paddings paddings;
  for (const auto& inputs : passes) {
    Replay replay(graph, replayed, limits, rules);
    if (!replay.run(inputs)) refuse(graph, replay);
    if (!replay.ambiguous_operator().empty()) refuse_ambiguous(graph, replay.ambiguous_operator());
    auto result = replay.result();
    paddings = replay.repaddings();
    replayed = std::move(result);
  }
  emit(graph, replayed, builder);
  report(graph, replayed, paddings, builder, call);
}

}  // namespace tmeter::resize
