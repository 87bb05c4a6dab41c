// Values under other sizes and options, for analyses that look for the largest batch or compare
// settings.
#include <algorithm>

#include "core/analysis/engine.hpp"
#include "core/analysis/size_notes.hpp"
#include "core/analysis/size_overrides.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

/// Sets other values of plugins' options, and restores them at the end of its life.
class OptionOverrides {
 public:
  OptionOverrides() = default;
  OptionOverrides(const OptionOverrides&) = delete;
  OptionOverrides& operator=(const OptionOverrides&) = delete;
  ~OptionOverrides() {
    for (auto i = changed_.rbegin(); i != changed_.rend(); ++i) std::swap(*i->at, i->value);
  }

  /// Throws Error(kUsage) for an unknown option or an invalid value.
  void set(const std::vector<Plugin*>& plugins, const std::string& name, const std::string& text) {
    const auto dot = name.find('.');
    const auto key = dot == name.npos ? std::string() : name.substr(dot + 1);
    for (auto* p : plugins) {
      if (p->manifest.name != name.substr(0, dot)) continue;
      for (const auto& declared : p->offers().options)
        if (view(declared.key) == key) return change(p->options[key], declared, text, name);
    }
    throw Error(ErrorKind::kUsage, "no plugin of this run has an option '" + printable(name) + "'");
  }

 private:
  struct SavedValue {
    OptionValue* at;
    OptionValue value;
  };
  void change(OptionValue& at, const tmeter_option_desc& declared, const std::string& text,
              const std::string& name) {
    changed_.push_back({&at, option_value(declared, text, name)});
    std::swap(*changed_.back().at, changed_.back().value);
  }
  std::vector<SavedValue> changed_;
};

/// Marks sizes as given, like --bind, and restores the marks at the end of its life.
class GivenMarks {
 public:
  explicit GivenMarks(Graph& graph) : graph_(graph) {
    for (const auto& s : graph.symbols()) before_.push_back(s.given);
  }
  GivenMarks(const GivenMarks&) = delete;
  GivenMarks& operator=(const GivenMarks&) = delete;
  ~GivenMarks() {
    for (size_t i = 0; i < before_.size(); ++i) graph_.mark_given(i, before_[i]);
  }

 private:
  Graph& graph_;
  std::vector<bool> before_;
};

bool is_possible(const Graph& graph, const tmeter_trial_size& size) {
  const auto& s = graph.symbols()[size.symbol];
  return size.value >= s.min && size.value <= s.max;
}

}  // namespace

tmeter_number Engine::total_of(size_t column) {
  configure();
  signatures_ = signatures_of(graph_);
  require(column);
  return results_.columns[column].cell(TMETER_AXIS_MODEL, 0);
}

tmeter_status Engine::try_value(const Trial& trial, tmeter_number& out) {
  require_analysis("trials");
  if (!trial_graph_ || column_index(trial.metric) == kNone) return TMETER_UNSUPPORTED;
  auto& graph = *trial_graph_;
  for (const auto& size : trial.sizes) {
    if (size.symbol >= graph.symbols().size())
      throw Error(ErrorKind::kPlugin, "it tries a size that the graph does not have");
    if (!is_possible(graph, size)) return TMETER_CANNOT_RUN;
  }
  auto status = TMETER_OK;
  {
    OptionOverrides options;
    for (const auto& o : trial.options) options.set(plugins_, str(o.name), str(o.value));
    SizeOverrides sizes(graph);
    const GivenMarks given(graph);
    for (const auto& size : trial.sizes) {
      sizes.set(size.symbol, size.value);
      graph.mark_given(size.symbol, true);
    }
    if (!trial.sizes.empty() && !sizes.try_apply()) return TMETER_CANNOT_RUN;
    try {
      CallLog log(-1);  // the report's own run gives the warnings
      Engine engine(graph, plugins_, log, context_.hardware);
      out = engine.total_of(engine.column_index(trial.metric));
      if (rests_on_assumption(graph) && is_number(out)) out.flags |= TMETER_NUMBER_ASSUMED;
    } catch (const PluginError&) {
      throw;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kModel) throw;
      status = TMETER_CANNOT_RUN;
    }
  }
  configure();  // plugins drop their state for the trial's sizes
  return status;
}

}  // namespace tmeter::core
