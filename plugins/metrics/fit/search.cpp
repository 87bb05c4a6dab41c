#include "search.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tmeter/cpp/trials.hpp>

#include "layers_of_model.hpp"
#include "metrics.hpp"
#include "plugins/common/serving/largest.hpp"
#include "plugins/common/serving/model_length.hpp"
#include "plugins/common/serving/serving.hpp"

namespace fit {
namespace {

using serving::bytes_text;
using tmeter::Call;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Finding;
using tmeter::Graph;

constexpr size_t kMaxOperators = 20'000;  // up to this size a trial takes milliseconds

/// A size that can grow: a dim that is a symbol or a multiple of one, or the two sides of an image.
struct Size {
  std::string_view name;  // "batch"
  std::vector<size_t> symbols;
  int64_t least = 1, most = 0;  // range of the symbols
  int64_t factor = 1;           // the dim, by a symbol

  std::string text(int64_t n) const { return std::to_string(n * factor); }
  std::string with_article() const { return (name == "image" ? "an " : "a ") + std::string(name); }
};

struct OpenDim {
  size_t symbol;
  int64_t factor;
};

/// "s77", "16*s77" or "s77*16".
std::optional<OpenDim> open_dim(const Graph& graph, const tmeter::Value& input, int64_t dim) {
  auto text = input.dim_text(dim);
  int64_t factor = 1;
  if (const auto star = text.find('*'); star != text.npos) {
    const auto before = text.substr(0, star), after = text.substr(star + 1);
    const bool first = !before.empty() && before.front() >= '0' && before.front() <= '9';
    const auto number = first ? before : after;
    const auto* end = number.data() + number.size();
    const auto parsed = std::from_chars(number.data(), end, factor);
    if (parsed.ec != std::errc() || parsed.ptr != end || factor < 1) return std::nullopt;
    text = first ? after : before;
  }
  const auto symbols = graph.symbols();
  for (size_t i = 0; i < symbols.size(); ++i)
    if (!text.empty() && tmeter::to_view(symbols[i].name) == text) return OpenDim{i, factor};
  return std::nullopt;
}

void add_dim(Size& size, const Graph& graph, std::optional<OpenDim> dim) {
  if (!dim || std::ranges::find(size.symbols, dim->symbol) != size.symbols.end()) return;
  if (!size.symbols.empty() && dim->factor != size.factor) return;
  const auto info = graph.symbols()[dim->symbol];
  const auto most = std::min(info.max, serving::kMaxSearched / dim->factor);
  size.least = std::max(size.least, info.min);
  size.most = size.symbols.empty() ? most : std::min(size.most, most);
  size.factor = dim->factor;
  size.symbols.push_back(dim->symbol);
}

/// Adds the two last dims of an image, when both are open and no other input has them: a mask of
/// attention is as long as the tokens.
void add_image(Size& size, const Graph& graph, size_t input) {
  const auto own = std::string(graph.input_name(input)) + ".";
  std::vector<OpenDim> sides;
  for (const int64_t dim : {2, 3}) {
    const auto side = open_dim(graph, graph.inputs()[input], dim);
    if (!side) return;
    const auto place = tmeter::to_view(graph.symbols()[side->symbol].place);
    if (!place.empty() && !place.starts_with(own)) return;
    sides.push_back(*side);
  }
  for (const auto& side : sides) add_dim(size, graph, side);
}

/// Batch, context and image, in this order; without symbols where the file fixes them.
std::array<Size, 3> sizes_of(const Graph& graph) {
  std::array<Size, 3> out{{{"batch", {}}, {"context", {}}, {"image", {}}}};
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto input = graph.inputs()[i];
    if (!input.is_tensor() || input.shape().rank() < 2) continue;
    const bool floats = input.dtype().kind() == tmeter::DTypeClass::kFloat;
    const auto rank = input.shape().rank();
    if (out[0].symbols.empty()) add_dim(out[0], graph, open_dim(graph, input, 0));
    if (rank == 2 && !floats && out[1].symbols.empty())
      add_dim(out[1], graph, open_dim(graph, input, 1));
    if (rank == 4 && floats && out[2].symbols.empty()) add_image(out[2], graph, i);
  }
  return out;
}

/// A metric whose value, plus the constant part, has to stay within the memory.
struct Limit {
  std::string_view metric;
  Count fixed, memory;
};

struct Found {
  int64_t size = 0;
  std::string unknown;  // why it is missing; empty if it is known
};

Found largest_size(const Size& size, const Limit& limit, const Call& call) {
  Found out;
  const auto fits = [&](int64_t n) {
    if (!out.unknown.empty() || call.cancelled()) return false;
    std::vector<tmeter_trial_size> sizes;
    for (const auto s : size.symbols) sizes.push_back({s, n});
    const auto value = tmeter::try_figure(call, limit.metric, sizes);
    if (!value)
      out.unknown = "the model cannot have " + size.with_article() + " of " + size.text(n);
    else if (!value->known() || value->partial())
      out.unknown = std::string(limit.metric) + " is not known for " + size.with_article() +
                    " of " + size.text(n);
    return out.unknown.empty() && limit.fixed + value->count() <= limit.memory;
  };
  out.size = serving::largest(size.least, size.most, fits);
  if (out.size < size.least) out.size = 0;
  return out;
}

/// Emits the three values, and one finding on them.
void find_largest(const Graph& graph, const Limit& limit, std::array<std::string_view, 3> ids,
                  const std::string& subject, const Call& call) {
  const auto sizes = sizes_of(graph);
  Finding f;
  f.rule = "fit-largest";
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& size = sizes[i];
    if (size.symbols.empty()) continue;
    const auto found = graph.nodes().size() > kMaxOperators
                           ? Found{0, "a model of more than 20000 operators takes too long to try"}
                           : largest_size(size, limit, call);
    if (!found.unknown.empty()) {
      emit_unavailable(call, {ids[i]}, found.unknown);
      continue;
    }
    emit_total(call, ids[i], Count(found.size) * size.factor);
    f.text += f.text.empty() ? subject + " fits with " : ", or ";
    f.text += found.size == 0 ? "no " + std::string(size.name)
              : found.size == size.most
                  ? "every " + std::string(size.name) + " that the file allows, to " +
                        size.text(found.size)
                  : size.with_article() + " of at most " + size.text(found.size);
  }
  f.evidence = "each on its own, with the other sizes as in this report; " +
               std::string(limit.metric) + " was computed at this size and the next";
  if (const auto length = serving::model_length(graph); length && !sizes[1].symbols.empty())
    f.evidence += "; the model's own longest context is " + std::to_string(length->tokens);
  if (!f.text.empty()) call.add(f);
  if (std::ranges::all_of(sizes, [](const Size& s) { return s.symbols.empty(); }))
    emit_unavailable(call, {ids[0]},
                     "the file fixes all sizes: export it with dynamic_shapes, or give --input");
}

/// A name that is not a pattern or list of training.checkpoint.
bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// The type of the numbered modules that are called most: the layers of a stack.
std::string layer_type(const Graph& graph) {
  std::map<std::string_view, size_t> calls;
  for (const auto& m : graph.modules()) {
    if (is_number(m.name()) && m.child_count() > 0 && is_plain(m.type()) &&
        m.type() != "Sequential")
      calls[m.type()] += m.calls();
  }
  const auto most = std::ranges::max_element(calls, {}, [](const auto& c) { return c.second; });
  return most == calls.end() || most->second < 2 ? std::string() : std::string(most->first);
}

/// Findings on the peak of training under other options.
void report_training_remedies(const Graph& graph, Count peak, Count memory, const Call& call) {
  if (graph.nodes().size() > kMaxOperators) return;
  const auto layer = layer_type(graph);
  struct Remedy {
    std::string what, option, value;
  };
  std::vector<Remedy> remedies{{"bfloat16 throughout", "training.precision", "bf16"},
                               {"Adam with 8-bit states", "training.optimizer", "adam8bit"}};
  if (!layer.empty())
    remedies.push_back({"checkpointing of each " + layer, "training.checkpoint", layer});
  for (const auto& r : remedies) {
    const tmeter_trial_option option{tmeter::to_abi(r.option), tmeter::to_abi(r.value)};
    const auto then = tmeter::try_figure(call, "step_peak_bytes", {}, {&option, 1});
    if (!then || !then->is_int() || then->partial() || then->count() >= peak) continue;
    Finding f;
    f.rule = "fit-remedy";
    f.severity = peak <= memory ? TMETER_SEVERITY_INFO : TMETER_SEVERITY_ADVICE;
    f.text = r.what + " lowers the peak of training by " + bytes_text(peak - then->count());
    if (then->count() > memory)
      f.text += "; " + bytes_text(then->count() - memory) + " are still too much";
    else if (peak > memory)
      f.text += "; then it fits";
    f.action = "--set " + r.option + "=" + r.value;
    f.changes.push_back({"step_peak_bytes", static_cast<double>(peak.value()),
                         static_cast<double>(then->count().value())});
    call.add(f);
  }
}

}  // namespace

void fit_inference(const Graph& graph, Count memory, const Call& call) {
  const auto total = [&call](std::string_view id) { return call.read(id, TMETER_AXIS_MODEL, 0); };
  const auto weights = total("param_bytes"), buffers = total("buffer_bytes"),
             peak = total("peak_activation_bytes");
  for (const auto& [id, cell] :
       {std::pair("param_bytes", weights), std::pair("buffer_bytes", buffers),
        std::pair("peak_activation_bytes", peak)})
    if (!cell.empty() && (!cell.known() || cell.partial()))
      return emit_unavailable(call, {"fits", "fit_bytes", "fit_max_batch"},
                              std::string(id) + " is not known for the whole model");
  if (peak.empty())
    return emit_unavailable(
        call, {"fits", "fit_bytes", "fit_max_batch"},
        "a file with only weights has no activations, and no engine is known for it");
  const Count fixed = weights.count() + buffers.count();
  const Need need{"inference",
                  {{"fit_weight_bytes", "weights", weights.count()},
                   {"fit_buffer_bytes", "buffers", buffers.count()},
                   {"fit_activation_bytes", "activations", peak.count()}},
                  "workspaces of kernels are not included",
                  std::max(Count(1), (fixed + peak.count() + (memory - 1)) / memory).value()};
  judge(need, {memory}, call);
  const auto all = need.all();
  for (const auto& w : smaller_weights(graph, weights.count(), call)) {
    const auto then = all - weights.count() + w.bytes;
    auto text = w.what + " take " + bytes_text(all - then) + " less";
    if (then > memory)
      text += "; " + bytes_text(then - memory) + " are still too much";
    else if (all > memory)
      text += "; then it fits";
    advise(call, all <= memory, text, w.evidence + "; activations as they are", w.action, all,
           then);
  }
  find_largest(graph, {"peak_activation_bytes", fixed, memory},
               {"fit_max_batch", "fit_max_context", "fit_max_image"}, "inference", call);
}

void fit_training(const Graph& graph, Count memory, const Call& call) {
  const auto peak = call.read("step_peak_bytes", TMETER_AXIS_MODEL, 0);
  if (peak.is_unknown() || peak.empty()) return;  // no plugin has it, or the file has no operators
  if (!peak.is_int() || peak.partial())
    return emit_unavailable(call, {"fits_training", "fit_max_training_batch"},
                            "step_peak_bytes is not known for the whole model");
  const bool fits = peak.count() <= memory;
  emit_total(call, "fits_training", Count(fits ? 1 : 0));
  Finding f;
  f.rule = "fit-training";
  f.severity = fits ? TMETER_SEVERITY_INFO : TMETER_SEVERITY_WARNING;
  f.text = "a training step " + std::string(fits ? "fits" : "does not fit") + " into " +
           bytes_text(memory) + ": its peak is " + bytes_text(peak.count()) + ", " +
           (fits ? bytes_text(memory - peak.count()) + " are left"
                 : bytes_text(peak.count() - memory) + " too much");
  f.evidence = "step_peak_bytes, with the options of training";
  if (!fits) f.action = "--set training.devices=8 shows the memory of each of 8 devices";
  call.add(f);
  find_largest(graph, {"step_peak_bytes", 0, memory},
               {"fit_max_training_batch", "fit_max_training_context", "fit_max_training_image"},
               "training", call);
  report_training_remedies(graph, peak.count(), memory, call);
}

}  // namespace fit
