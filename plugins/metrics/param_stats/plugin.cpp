// param-stats: what the numbers inside parameters, buffers and constants are like.
#include <tmeter/cpp/numbers.hpp>

#include "stats.hpp"

namespace {

using namespace param_stats;

/// Empty tensors have no figures; those of other types have none that can be known.
bool wants(const tmeter::Tensor& tensor, tmeter::Call&) {
  return tmeter::decodable(tensor.dtype()) && tensor.numel() > tmeter::Count(0);
}

/// Once for each reason.
void name_undecodable(const tmeter::Graph& graph, tmeter::Call& call) {
  std::vector<std::string_view> said;
  for (const auto& t : graph.tensors()) {
    const auto why = tmeter::undecodable(t.dtype());
    if (why.empty() || t.is_tied() || t.numel() == tmeter::Count(0)) continue;
    for (const auto& m : pooled_metrics())
      call.emit(m.spec.id, TMETER_AXIS_TENSOR, t.index(), tmeter::Cell::unavailable());
    if (std::find(said.begin(), said.end(), why) != said.end()) continue;
    said.push_back(why);
    call.warn("no statistics of '" + std::string(t.name()) + "' (" + std::string(t.dtype().name()) +
              "): " + std::string(why));
  }
}

void start(tmeter::Call& call) {
  kept().clear();
  call.set_convention("effective_rank", std::to_string(call.option_int("effective-rank")) +
                                            ": the longest shorter side of a matrix that has one "
                                            "(param-stats.effective-rank=N for others)");
}

void summarise_run(const tmeter::Graph& graph, tmeter::Call& call) {
  name_undecodable(graph, call);
  if (kept().empty()) return;
  roll_up(graph, call);
  add_findings(graph, call);
}

void register_all(tmeter::Registrar& r) {
  for (const auto& m : pooled_metrics()) r.metric(m.spec);
  for (const auto& m : tensor_metrics()) r.metric(m.spec);
  r.option({.key = "threshold",
            .type = TMETER_OPTION_FLOAT,
            .default_value = "0.01",
            .text = "near zero is |x| up to this times the root mean square of its tensor",
            .min = 0,
            .max = 1});
  r.option({.key = "spectral",
            .type = TMETER_OPTION_BOOL,
            .default_value = "true",
            .text = "work out spectral norms and ranks, which takes about as long as the rest"});
  r.option({.key = "spectral-tolerance",
            .type = TMETER_OPTION_FLOAT,
            .default_value = "1e-3",
            .text = "what spectral norms may be off by, relative, of matrices too large for an "
                    "effective rank; 1e-6 takes several times as long",
            .min = 1e-8,
            .max = 0.1});
  r.option({.key = "effective-rank",
            .type = TMETER_OPTION_INT,
            .default_value = "64",
            .text = "work out the effective rank of matrices with up to so many rows or columns; "
                    "the time rises with this number, memory with its square (8 B a thread)",
            .min = 0,
            .max = 8192});
  r.configure(start);
  r.tensor_analysis("param-stats", all_ids(), wants,
                    [](const tmeter::TensorPart& part, tmeter::Call& call) {
                      return std::make_unique<Stats>(part, call);
                    });
  r.analysis("param-stats-summary", "", pooled_ids(), summarise_run);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.param-stats",
                       .version = "1.0.0",
                       .description = "Statistics of the numbers inside tensors",
                   }),
                   [](tmeter::Registrar& r) { register_all(r); })
