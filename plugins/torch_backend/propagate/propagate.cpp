#include "propagate/propagate.hpp"

#include <map>

#include "load/messages.hpp"
#include "meta_kernels/registry.hpp"
#include "propagate/emit.hpp"
#include "propagate/replay.hpp"
#include "propagate/samples.hpp"
#include "run/report_failure.hpp"

namespace tmeter::torch_backend {
namespace {

using Inputs = std::vector<Sizes>;  // by input of the graph; empty for what is no tensor

/// LibTorch as the replay needs it, for as long as this lives.
class Quiet {
 public:
  Quiet() : guard_(&handler_) { model_is_running() = true; }
  ~Quiet() { model_is_running() = false; }

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

Inputs wanted_inputs(const Graph& graph) {
  auto out = recorded_inputs(graph);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto wanted = graph.input_wanted(i);
    if (!wanted.empty()) out[i] = sizes_of(wanted);
  }
  return out;
}

/// The wanted inputs with the recorded number of samples, when both it and other sizes change: the
/// two are worked out one after the other, so that each change can be told from the other.
std::optional<Inputs> halfway(const Inputs& recorded, const Inputs& wanted) {
  auto same_samples = wanted;
  std::vector<DimsChange> samples;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].empty()) continue;
    same_samples[i][0] = recorded[i][0];
    samples.push_back({same_samples[i], wanted[i]});
  }
  const bool both = same_samples != recorded && same_samples != wanted;
  return both && change_of_samples(samples) ? std::optional(same_samples) : std::nullopt;
}

std::string shape_text(const Sizes& dims) {
  std::string out;
  for (const auto d : dims) out += (out.empty() ? "" : "x") + std::to_string(d);
  return out;
}

/// "--input x=8x3x224x224 (the file has 1x3x224x224)"
std::string wish(const Graph& graph) {
  std::string out;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto wanted = graph.input_wanted(i);
    if (wanted.empty()) continue;
    out += (out.empty() ? "" : " ") + std::string("--input ") + std::string(graph.input_name(i)) +
           "=" + shape_text(sizes_of(wanted)) + " (the file has " +
           shape_text(sizes_of(graph.inputs()[i].shape())) + ")";
  }
  return out;
}

constexpr std::string_view kAdvice = "; export the model with dynamic_shapes, or with that input";

[[noreturn]] void refuse(const Graph& graph, const Replay& replay) {
  const auto [text, of_weights] = misfit(replay.failure());
  if (of_weights && !replay.replaced_any())
    throw Error(TMETER_BAD_MODEL, text + " from " + wish(graph));
  throw Error(TMETER_CANNOT_RUN, text + ", with " + wish(graph) + std::string(kAdvice));
}

[[noreturn]] void refuse_doubtful(const Graph& graph, const std::string& op) {
  throw Error(TMETER_CANNOT_RUN, "sizes written into " + op + " can be read in several ways for " +
                                     wish(graph) + std::string(kAdvice));
}

/// "36 × aten::view, 1 × aten::expand"
std::string counted(const std::map<std::string, size_t>& ops) {
  std::string out;
  for (const auto& [op, count] : ops)
    out += (out.empty() ? "" : ", ") + std::to_string(count) + " × " + op;
  return out;
}

void tell(const Graph& graph, const Known& known, const std::vector<std::string>& kept,
          const Call& call) {
  std::map<std::string, size_t> replaced;
  for (const auto& [i, sizes] : known.literals) ++replaced[std::string(graph.nodes()[i].op())];
  if (!replaced.empty()) {
    call.warn(
        "the file fixes sizes inside the model for its recorded input; they were replaced to "
        "follow --input in " +
        counted(replaced));
  }
  std::map<std::string, size_t> left;
  for (const auto& k : kept) ++left[k];
  if (!left.empty()) {
    call.warn("sizes that equal one of the recorded input were left as the file has them: " +
              counted(left));
  }
}

}  // namespace

void propagate(const Graph& graph, GraphBuilder& builder, Call& call) {
  at::set_num_threads(1);
  register_meta_kernels();
  const Quiet quiet;
  Limits limits(call, call.option_float("timeout"), call.option_int("max-operators"));
  const auto wanted = wanted_inputs(graph);
  std::vector<Inputs> passes{wanted};
  if (auto first = halfway(recorded_inputs(graph), wanted)) passes.insert(passes.begin(), *first);

  Known known;
  std::vector<std::string> kept;
  for (const auto& inputs : passes) {
    Replay replay(graph, known, limits);
    if (!replay.run(inputs)) refuse(graph, replay);
    if (!replay.doubtful().empty()) refuse_doubtful(graph, replay.doubtful());
    auto result = replay.result();
    const auto more = replay.kept();
    kept.insert(kept.end(), more.begin(), more.end());
    known = std::move(result);
  }
  emit(graph, known, builder);
  tell(graph, known, kept, call);
}

}  // namespace tmeter::torch_backend
