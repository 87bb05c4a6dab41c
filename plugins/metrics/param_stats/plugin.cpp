// param-stats: statistics of the elements of parameters, buffers and constants.
#include <algorithm>
#include <tmeter/cpp/numbers.hpp>

#include "plugins/common/options.hpp"
#include "tensor_statistics.hpp"

namespace {

using namespace param_stats;

/// Empty tensors have no statistics.
bool has_statistics(const tmeter::Tensor& tensor, tmeter::Call&) {
  return tmeter::decodable(tensor.dtype()) && tensor.numel() > tmeter::Count(0);
}

bool needs_spectrum(const tmeter::Tensor& tensor, tmeter::Call& call) {
  return has_statistics(tensor, call) && is_matrix(tensor) && call.option_bool("spectral");
}

/// Warns once for each reason.
void warn_of_undecodable(const tmeter::Graph& graph, tmeter::Call& call) {
  std::vector<std::string_view> reported;
  for (const auto& t : graph.tensors()) {
    const auto why = tmeter::undecodable(t.dtype());
    if (why.empty() || t.is_tied() || t.numel() == tmeter::Count(0)) continue;
    for (const auto& c : columns())
      if (c.pooled)
        call.emit(c.spec.id, TMETER_AXIS_TENSOR, t.index(), tmeter::Cell::unavailable());
    if (std::find(reported.begin(), reported.end(), why) != reported.end()) continue;
    reported.push_back(why);
    call.warn("no statistics of '" + std::string(t.name()) + "' (" + std::string(t.dtype().name()) +
              "): " + std::string(why));
  }
}

void configure(tmeter::Call& call) {
  run_results() = {};
  call.set_convention("effective_rank",
                      std::to_string(call.option_int("effective-rank")) +
                          ": the longest shorter side of a matrix with an effective rank "
                          "(param-stats.effective-rank=N sets it)");
}

void summarise_run(const tmeter::Graph& graph, tmeter::Call& call) {
  warn_of_undecodable(graph, call);
  if (run_results().statistics.empty()) return;
  const auto& all = run_results().statistics;
  if (std::any_of(all.begin(), all.end(), [](auto& s) { return !s.second.has_near_zeros; }))
    call.info(
        "quantiles, entropy, near zero and histograms of packed weights take twice the time: "
        "param-stats.packed-quantiles=true computes them");
  roll_up(graph, call);
  add_findings(graph, call);
}

void register_options(tmeter::Registrar& r) {
  r.option(
      plugins::real_option("threshold", "0.01", 0, 1,
                           "near zero is |x| up to this times the root mean square of its tensor"));
  r.option(plugins::flag_option("packed-quantiles", false,
                                "true: quantiles, entropy, near zero and histograms of packed "
                                "weights as well, in twice the time"));
  r.option(plugins::flag_option(
      "spectral", true, "false: no spectral norms or ranks, even if a column requests them"));
  r.option(plugins::real_option(
      "spectral-tolerance", "1e-6", 1e-8, 0.1,
      "relative error of spectral norms of matrices too large for an effective rank"));
  r.option(plugins::integer_option(
      "effective-rank", "64", 0, 8192,
      "compute the effective rank of matrices with up to this number of rows or columns; "
      "the time rises with this number, memory with its square (8 B per thread)"));
}

void register_all(tmeter::Registrar& r) {
  // The host reads them as long as the plugin is open.
  static const auto streamed = ids_where([](const Column& c) { return !c.spectral; });
  static const auto pooled = ids_where([](const Column& c) { return c.pooled != nullptr; });
  static const auto spectral = ids_where([](const Column& c) { return c.spectral != nullptr; });
  for (const auto& c : columns()) r.metric(c.spec);
  register_options(r);
  r.configure(configure);
  r.tensor_analysis("param-stats", streamed, has_statistics,
                    [](const tmeter::TensorPart& part, tmeter::Call& call) {
                      return std::make_unique<TensorStatistics>(part, call);
                    });
  r.analysis("param-stats-summary", "", pooled, summarise_run);
  // All their metrics are on request; the host leaves the analyses out otherwise.
  r.tensor_analysis(
      "param-stats-spectrum", spectral, needs_spectrum,
      [](const tmeter::TensorPart&, tmeter::Call&) { return std::make_unique<TensorSpectrum>(); });
  r.analysis("param-stats-spectrum-summary", "", "spectral_norm", roll_up_norms);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.param-stats",
                       .version = "1.0.0",
                       .description = "Statistics of the elements of tensors",
                   }),
                   [](tmeter::Registrar& r) { register_all(r); })
