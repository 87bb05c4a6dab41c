// The shares of operators in the energy, and the energy of the same run on other devices.
#include <algorithm>
#include <map>
#include <tmeter/cpp/op_class.hpp>

#include "plugins/common/wording.hpp"
#include "rules.hpp"

namespace energy_advice {
namespace {

constexpr size_t kKindsNamed = 5;

struct Kind {
  std::string name;
  size_t count = 0;
  double joules = 0;
};

/// "53 × conv2d 61.9 %, …", by energy.
std::string kinds_text(const Model& model) {
  std::map<std::string_view, Kind> by_name;
  for (const auto& o : model.operators()) {
    const auto name = tmeter::base_name(o.node.op());
    auto& kind = by_name.try_emplace(name, Kind{std::string(name)}).first->second;
    ++kind.count;
    kind.joules += o.joules;
  }
  std::vector<Kind> kinds;
  for (auto& [name, kind] : by_name) kinds.push_back(std::move(kind));
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.joules > b.joules; });
  return plugins::listed(kinds.size(), kKindsNamed, [&](size_t i) {
    return std::to_string(kinds[i].count) + " × " + kinds[i].name + " " +
           plugins::percent(kinds[i].joules / model.joules());
  });
}

}  // namespace

void report_shares(Model& model) {
  tmeter::Finding f;
  f.rule = "energy-shares";
  f.text = joules_text(model.joules()) + " a run: ";
  bool first = true;
  for (const auto& [metric, what] :
       {std::pair("energy_compute", "arithmetic"), std::pair("energy_memory", "memory traffic"),
        std::pair("energy_static", "static power")}) {
    const auto cell = model.call.read(metric, TMETER_AXIS_MODEL, 0);
    if (!cell.known()) continue;
    f.text += (first ? "" : ", ") + std::string(what) + " " +
              plugins::percent(cell.real() / model.joules());
    first = false;
  }
  f.evidence = kinds_text(model) + "; " + model.by();
  const auto most =
      std::max_element(model.operators().begin(), model.operators().end(),
                       [](const Operator& a, const Operator& b) { return a.joules < b.joules; });
  if (most != model.operators().end()) f.about(most->node);
  model.call.add(f);
}

void report_devices(Model& model) {
  energy::PublishedTables tables;
  const auto here = std::string(model.call.hardware_name());
  std::map<std::string_view, double> sums;
  std::map<std::string_view, bool> has_energy;
  for (const auto& o : model.operators())
    for (const auto& m : tables.machines({&o.work, 1})) {
      has_energy.try_emplace(m.name, true).first->second &= m.joules.has_value();
      sums[m.name] += m.joules.value_or(0);
    }
  std::string others;
  bool is_machine = false;
  std::pair<std::string_view, double> least{{}, model.joules()};
  for (const auto& [name, joules] : sums) {
    is_machine |= name == here;
    if (!has_energy[name] || name == here) continue;
    others += (others.empty() ? "" : ", ") + joules_text(joules) + " on " + std::string(name);
    if (joules < least.second) least = {name, joules};
  }
  if (others.empty()) return;
  tmeter::Finding f;
  f.rule = "energy-device";
  const double saved = model.joules() - least.second;
  // A table of bare circuits describes no device that another one could replace.
  if (is_machine && !least.first.empty() && saved >= kMinShare * model.joules()) {
    f.text =
        "the same run on " + std::string(least.first) + " would save " + model.share_text(saved);
    f.evidence = "published table " + std::string(least.first) + ", one operator at a time";
    f.action = "run it there in batches that fill the device; its idle power counts between runs";
    return model.report(f, saved);
  }
  f.text = "by the published tables of other machines the same run takes " + others;
  f.evidence = joules_text(model.joules()) + " by the " + model.by();
  model.call.add(f);
}

}  // namespace energy_advice
