#include <algorithm>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/wording.hpp"
#include "rules.hpp"

namespace energy_advice {

using energy::Work;
using machine::Machine;

std::string joules_text(double joules) {
  return tmeter::scaled(joules, TMETER_UNIT_JOULE, "J").text();
}

Model::Model(const tmeter::Graph& g, tmeter::Call& c) : graph(g), call(c) {
  const auto total = call.read("energy", TMETER_AXIS_MODEL, 0);
  if (!total.known()) return;
  joules_ = total.real();
  estimator_.start(call);
  per_byte_ = Machine::number(call, "energy.dram").value_or(0);
  for (const auto& node : graph.nodes()) {
    const auto cell = call.read("energy", node);
    if (!cell.known() || cell.real() <= 0) continue;
    if (const auto work = estimator_.machine().work_of(node, call))
      operators_.push_back({node, *work, cell.real()});
  }
}

std::optional<double> Model::of(const Work& work) { return estimator_.of({&work, 1}, call).total; }

bool Model::has(tmeter::OpClass kind, tmeter::DType type) const {
  machine::Profile profile;
  const auto lookup = [this](const std::string& key) { return Machine::number(call, key); };
  const auto found = profile.value_for(lookup, machine::Family::kEnergyMac, kind, type);
  return found && found->type == type;
}

std::string Model::share_text(double saved) const {
  return joules_text(saved) + " of " + joules_text(joules_) + " (" +
         plugins::percent(saved / joules_) + ")";
}

std::string Model::by() const {
  return "linear energy model on hardware profile " + std::string(call.hardware_name());
}

void Model::report(tmeter::Finding& f, double saved) {
  most_saved_ = std::max(most_saved_, std::min(saved, joules_));
  f.severity = TMETER_SEVERITY_ADVICE;
  f.evidence += (f.evidence.empty() ? "" : "; ") + by();
  f.changes.push_back({"energy", joules_, std::max(joules_ - saved, 0.0)});
  call.add(f);
}

}  // namespace energy_advice
