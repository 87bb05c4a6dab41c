// quantization-advice: rounds the weights to 28 schemes, reports the loss of each, and plans the
// scheme of each weight. Definitions: docs/conventions.md, "Quantization".
#include "findings.hpp"
#include "plugins/common/options.hpp"

namespace {

using namespace quantization;
using tmeter::Cell;

// For linear layers the schemes of one torchao call each; int8 and bfloat16 for all other weights.
constexpr std::string_view kDefaultSchemes =
    "int4_group128_asym int4_group64_asym int4_group32_asym int8_channel bf16";

std::vector<size_t> parse_schemes(std::string_view text) {
  std::vector<size_t> out;
  while (!text.empty()) {
    const auto end = text.find_first_of(" ,");
    const auto word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word.empty()) continue;
    const auto found = scheme_at(word);
    if (!found) {
      std::string ids;
      for (const auto& s : kSchemes) ids += (ids.empty() ? "" : ", ") + std::string(s.id);
      throw tmeter::Error(TMETER_BAD_USAGE, "quantization-advice.schemes: '" + std::string(word) +
                                                "' is not a scheme; known: " + ids);
    }
    out.push_back(*found);
  }
  if (out.empty())
    throw tmeter::Error(TMETER_BAD_USAGE, "quantization-advice.schemes: name at least one scheme");
  return out;
}

/// The state of one run; `start` resets it.
struct Run {
  Settings settings;
  bool protect = true;
  int64_t gguf_bytes = 0;
  Collection reports;

  void start(tmeter::Call& call) {
    settings.rules = {parse_schemes(call.option_text("schemes")), call.option_float("min-sqnr")};
    settings.outlier_ratio = call.option_float("outlier-ratio");
    protect = call.option_bool("protect");
    gguf_bytes = call.option_int("gguf-bytes");
    reports.clear();
  }
};

/// Bytes and bits of every parameter under the plan; a tied one has those of its canonical tensor.
void emit_plan(const Plan& plan, const Run& run, const tmeter::Graph& graph, tmeter::Call& call) {
  std::vector<int64_t> bytes(graph.tensors().size());
  for (const auto& t : graph.tensors()) bytes[t.index()] = t.bytes().value();
  for (size_t i = 0; i < run.reports.size(); ++i)
    bytes[run.reports[i].weight.tensor] = plan.choices[i].bytes;
  for (const auto& t : graph.tensors()) {
    if (!t.is_parameter()) continue;
    const int64_t stored = bytes[t.canonical().index()], n = t.numel().value();
    call.emit("quantized_bytes", TMETER_AXIS_TENSOR, t.index(), tmeter::Count(stored));
    if (n > 0)
      call.emit("quantized_bits", TMETER_AXIS_TENSOR, t.index(),
                Cell(8.0 * static_cast<double>(stored) / static_cast<double>(n)));
  }
}

void add_curve(const Run& run, const tmeter::Graph& graph, tmeter::Call& call) {
  tmeter::Series s;
  s.id = "quantized_size";
  s.title = "size under an error budget";
  s.x_title = "least SQNR";
  s.x_unit = "dB";
  s.y_title = "bytes of parameters";
  s.y_unit = "B";
  for (int budget = 10; budget <= 50; budget += 5) {
    const Rules rules{run.settings.rules.allowed, static_cast<double>(budget)};
    s.x.push_back(budget);
    s.y.push_back(static_cast<double>(plan_of(graph, run.reports, rules).bytes_after));
  }
  call.add(s);
}

void advise(Run& run, const tmeter::Graph& graph, tmeter::Call& call) {
  if (run.reports.empty()) return;  // no weight could be read
  for (auto& r : run.reports)
    if (run.protect) r.weight.sensitive = sensitive_by_rule(r.tensor);
  const auto plan = plan_of(graph, run.reports, run.settings.rules);
  emit_plan(plan, run, graph, call);
  add_curve(run, graph, call);
  report_findings(run.reports, plan, run.settings, graph, call);
  report_gguf_plan(run.reports, run.settings, run.gguf_bytes, graph, call);
}

std::string_view convention() {
  return "10 log10(Σx² / Σ(x - q)²) of the weights, rounded as docs/conventions.md says; empty "
         "if nothing is lost; unavailable for tensors with NaN or infinity, with zeros only, or "
         "beyond the range of the format";
}

void register_metrics(tmeter::Registrar& r) {
  for (size_t i = 0; i < kSchemeCount; ++i)
    r.metric({.id = metric_ids()[i],
              .title = kSchemes[i].column.empty() ? kSchemes[i].title : kSchemes[i].column,
              .unit = "dB",
              .unit_kind = TMETER_UNIT_OTHER,
              .axis = TMETER_AXIS_TENSOR,
              .aggregation = TMETER_AGGREGATE_NONE,
              .better = TMETER_BETTER_HIGHER,
              .flags = TMETER_METRIC_TENSORS |
                       (kSchemes[i].column.empty() ? uint32_t{TMETER_METRIC_DETAIL} : 0u),
              .convention = convention(),
              .description = kSchemes[i].title});
  r.metric({.id = "quantized_bits",
            .title = "plan",
            .unit = "bit",
            .unit_kind = TMETER_UNIT_OTHER,
            .axis = TMETER_AXIS_TENSOR,
            .aggregation = TMETER_AGGREGATE_NONE,
            .flags = TMETER_METRIC_TENSORS,
            .convention = "bits per element under the plan, with scales and zero points"});
  r.metric({.id = "quantized_bytes",
            .title = "plan bytes",
            .unit = "B",
            .unit_kind = TMETER_UNIT_BYTE,
            .axis = TMETER_AXIS_TENSOR,
            .flags = TMETER_METRIC_TENSORS,
            .convention =
                "bytes of the parameters under the plan, with scales and zero points: each in "
                "the smallest allowed scheme whose SQNR is at least min-sqnr, else as stored"});
}

void register_options(tmeter::Registrar& r) {
  r.option(plugins::real_option(
      "min-sqnr", "20", 0, 200,
      "error budget in dB: 20 is noise of 1 % of the weights' power, which 4 bits in "
      "small groups reach; 30 to 40 needs 8 bits"));
  r.option(plugins::text_option(
      "schemes", "schemes the plan may use, separated by spaces or commas", kDefaultSchemes));
  r.option(plugins::real_option(
      "outlier-ratio", "6", 1, 1e9,
      "an outlier channel's largest weight is at least this many times the median channel's"));
  r.option(plugins::integer_option(
      "gguf-bytes", "0", 0, 1e15,
      "most bytes of a GGUF file's tensors after llama-quantize; 0: by min-sqnr"));
  r.option(plugins::flag_option(
      "protect", true, "at least 8 bits for embeddings, first convolutions and output layers"));
}

std::string produced_by_stream() {
  std::string out;
  for (const auto& id : metric_ids()) out += (out.empty() ? "" : " ") + id;
  return out;
}

void register_all(tmeter::Registrar& r) {
  static const std::string produced = produced_by_stream();
  const auto run = std::make_shared<Run>();
  r.configure([run](tmeter::Call& call) { run->start(call); });
  register_metrics(r);
  register_options(r);
  r.tensor_analysis(
      "quantization", produced, [](const tmeter::Tensor& t, tmeter::Call&) { return is_weight(t); },
      [run](const tmeter::TensorPart& part, tmeter::Call&) {
        return make_state(part, run->settings.outlier_ratio, run->reports);
      });
  r.analysis("quantization-plan", "macs", "quantized_bits quantized_bytes",
             [run](const tmeter::Graph& graph, tmeter::Call& call) { advise(*run, graph, call); });
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.quantization-advice",
        .version = "1.0.0",
        .description = "Quantization error of the weights, and a plan within an error budget",
        .needs = "flops",
    }),
    [](tmeter::Registrar& r) { register_all(r); })
