// `tmeter plugin info NAME`.
#include <array>
#include <sstream>

#include "apps/tmeter/plugin_commands.hpp"
#include "apps/tmeter/run_rights.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::app {
namespace {
using namespace core;

constexpr std::array<const char*, 5> kOptionTypes{"text", "whole number", "number", "true or false",
                                                  "one of"};
constexpr std::array<const char*, 5> kAxes{"operators", "module calls", "modules", "tensors",
                                           "the model"};
constexpr std::array<const char*, 5> kAggregations{"sum", "largest", "last", "weighted mean",
                                                   "not rolled up"};

template <size_t N>
const char* word(const std::array<const char*, N>& words, int32_t i) {
  return i >= 0 && static_cast<size_t>(i) < N ? words[static_cast<size_t>(i)] : "?";
}

/// "whole number, 1 to 4096"
std::string values_of(const tmeter_option_desc& o) {
  std::ostringstream out;
  out << word(kOptionTypes, o.type);
  if (o.choices.len) out << " " << view(o.choices);
  if (o.min <= o.max) out << ", " << o.min << " to " << o.max;
  return out.str();
}

void print_list(std::ostream& out, const char* title, const std::string& items) {
  if (!items.empty()) out << title << ": " << items << "\n";
}

void print_manifest(const Manifest& m, std::ostream& out) {
  print_list(out, "needs", joined(m.needs));
  for (const auto& l : m.loaders) out << "reads: " << l.title << "\n";
  print_list(out, "decodes", joined(m.decoders));
  if (!m.propagators.empty()) out << "computes: sizes for other inputs\n";
  if (!m.executors.empty()) out << "runs: models, by " << joined(m.executors) << "\n";
  if (!m.measured.empty()) out << "measures: while a model runs (--inference)\n";
  for (const auto& w : m.writers)
    out << "writes: --report " << w.name << "  (." << w.extension << ", " << w.media_type << ")\n";
  print_list(out, "handles", joined(m.handles));
  print_list(out, "gives the shapes of", joined(m.shape_rules));
  print_list(out, "may use, beyond computing", m.rights);
  out << "built for: plugin ABI 1." << m.abi_minor << "\n";
}

void print_tables(const PluginCapabilities& offers, const std::string& name, std::ostream& out) {
  if (!offers.metrics.empty()) out << "metrics:\n";
  for (const auto& m : offers.metrics) {
    out << "  " << view(m.id) << "  [" << view(m.unit) << "] of " << word(kAxes, m.axis) << ", "
        << word(kAggregations, m.aggregation) << ": " << view(m.convention) << "\n";
  }
  if (!offers.analyses.empty() || !offers.tensor_analyses.empty()) out << "analyses:\n";
  for (const auto& a : offers.analyses) {
    out << "  " << view(a.name);
    if (a.required.len) out << "  from " << view(a.required);
    if (a.produced.len) out << "  gives " << view(a.produced);
    out << "\n";
  }
  for (const auto& a : offers.tensor_analyses)
    out << "  " << view(a.name) << "  of the elements of tensors, on several threads\n";
  auto options = offers.options;
  options.insert(options.end(), offers.option_tables.begin(), offers.option_tables.end());
  if (!options.empty()) out << "options:\n";
  for (const auto& o : options) {
    out << "  --set " << name << "." << view(o.key) << "=" << view(o.default_value) << "  ("
        << values_of(o) << ")\n      " << view(o.text) << "\n";
  }
}

}  // namespace

std::string plugin_facts(const Settings& settings, const std::string& name, Worker& worker) {
  Registry registry(settings, worker.excluded());
  worker.enter_sandbox(run_rights(settings, {}, registry));
  auto& p = registry.get(name);
  std::ostringstream out;
  out << p.manifest.name << " " << p.manifest.version << "  (" << p.manifest.id << ")\n"
      << p.manifest.description << "\n"
      << (p.library.empty() ? "not available: " + p.manifest.unavailable : p.library) << "\n";
  if (!p.failure.empty()) out << "failed: " << p.failure << "\n";
  if (!p.library.empty() && p.failure.empty()) registry.open(p);
  print_manifest(p.manifest, out);
  print_tables(p.offers(), p.manifest.name, out);
  return out.str();
}

}  // namespace tmeter::app
