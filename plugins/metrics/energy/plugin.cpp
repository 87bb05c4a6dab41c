// energy: an estimate of the joules one inference takes, per operator, on a hardware profile.
//
// Never a measurement: provenance names model and profile, and what the profile cannot say is left
// out by name. The formulas are in model.hpp, the profiles in hardware/, both are described in
// docs/hardware-profiles.md.
#include <memory>

#include "estimate.hpp"

namespace {

using energy::Estimator;
using energy::Terms;
using tmeter::Cell;

constexpr std::string_view kTotal =
    "estimate: MACs × energy per MAC + other operations × energy per operation (by operator class "
    "and element type) + bytes read and written × energy per DRAM byte + static power × roofline "
    "time; every byte an operator touches is charged as DRAM traffic, operators run one at a time";
constexpr std::string_view kCompute =
    "estimate: MACs × energy.mac + other arithmetic operations × energy.op, figures of the "
    "hardware "
    "profile by operator class and element type";
constexpr std::string_view kMemory =
    "estimate: (read_bytes + written_bytes) × energy.dram; no reuse of caches between operators";
constexpr std::string_view kStatic =
    "estimate: power.static × max((MACs / peak.mac + other operations / peak.op) / efficiency, "
    "bytes / peak.dram); the time is a lower bound without launch overheads";

/// One published metric: which term it is, or the sum.
struct Column {
  std::string_view id, title;
  uint32_t flags;
  std::string_view convention;
  std::optional<double> Terms::*term;  // null: the total
};

constexpr std::array<Column, 4> kColumns{{
    {"energy", "energy", 0, kTotal, nullptr},
    {"energy_compute", "E compute", TMETER_METRIC_DETAIL, kCompute, &Terms::compute},
    {"energy_memory", "E memory", TMETER_METRIC_DETAIL, kMemory, &Terms::memory},
    {"energy_static", "E static", TMETER_METRIC_DETAIL, kStatic, &Terms::standing},
}};

/// The terms the profile has, added up; empty when one of them is missing for this operator.
std::optional<double> total_of(const Terms& terms, const energy::Scope& scope) {
  const auto lacks = [](bool wanted, const auto& term) { return wanted && !term; };
  if (!scope.compute || lacks(scope.compute, terms.compute) || lacks(scope.memory, terms.memory) ||
      lacks(scope.standing, terms.standing)) {
    return std::nullopt;
  }
  return *terms.compute + terms.memory.value_or(0) + terms.standing.value_or(0);
}

/// Whether the profile can give this column at all.
bool in_scope(const Column& column, const energy::Scope& scope) {
  if (column.term == &Terms::memory) return scope.memory;
  if (column.term == &Terms::standing) return scope.standing;
  return scope.compute;
}

Cell energy_of(const Estimator& estimator, const Column& column, const energy::Estimate& of) {
  if (of.kind == energy::Estimate::Kind::kUnknown) return Cell::unsupported();
  if (of.kind == energy::Estimate::Kind::kNothing) return Cell::zero_by_rule();
  const auto value = column.term ? of.terms.*column.term : total_of(of.terms, estimator.scope());
  return value ? Cell(*value) : Cell::unavailable();
}

Cell evaluate(Estimator& estimator, const Column& column, const tmeter::Node& node,
              const tmeter::Call& call) {
  if (!in_scope(column, estimator.scope())) return Cell::unavailable();
  return energy_of(estimator, column, estimator.of(node, call));
}

Cell evaluate(Estimator& estimator, const Column& column, const tmeter::ModuleCall& m,
              const tmeter::Call& call) {
  if (!in_scope(column, estimator.scope())) return Cell::unavailable();
  bool partial = false;
  const auto parts = estimator.machine().work_of(m, call, partial);
  if (!parts) return Cell::unsupported();
  const auto value = energy_of(estimator, column, estimator.of(*parts, call));
  return partial && value.known() ? value.as_partial() : value;
}

std::string left_out(const energy::Scope& scope) {
  std::string text;
  if (!scope.memory) text += "; without energy_memory: " + scope.missing_memory;
  if (!scope.standing) text += "; without energy_static: " + scope.missing_standing;
  return text;
}

void say_provenance(const Estimator& estimator, const tmeter::Call& call) {
  const auto& scope = estimator.scope();
  const auto profile =
      std::string(call.hardware_name()) + ": " + std::string(call.hardware_title());
  const auto say = [&](std::string_view metric, const std::string& missing,
                       const std::string& extra) {
    if (missing.empty()) {
      call.set_provenance(metric, TMETER_PROVENANCE_ESTIMATED,
                          "linear energy model on hardware profile " + profile + extra);
    } else {
      call.set_provenance(metric, TMETER_PROVENANCE_UNAVAILABLE, missing);
    }
  };
  say("energy", scope.missing_compute, left_out(scope));
  say("energy_compute", scope.missing_compute, {});
  say("energy_memory", scope.missing_memory, {});
  say("energy_static", scope.missing_standing, {});
}

void register_all(tmeter::Registrar& r) {
  const auto estimator = std::make_shared<Estimator>();
  r.configure([estimator](tmeter::Call& call) {
    estimator->start(call);
    say_provenance(*estimator, call);
  });
  for (const auto& column : kColumns) {
    r.metric({.id = column.id,
              .title = column.title,
              .unit = "J",
              .unit_kind = TMETER_UNIT_JOULE,
              .flags = column.flags,
              .convention = column.convention});
    r.op("*").handle(column.id, [estimator, &column](const tmeter::Node& node, tmeter::Call& call) {
      return evaluate(*estimator, column, node, call);
    });
    const auto of_call = [estimator, &column](const tmeter::Graph&, const tmeter::ModuleCall& m,
                                              tmeter::Call& call) {
      return evaluate(*estimator, column, m, call);
    };
    r.module_type("*", column.id, of_call, 0, "macs other_flops read_bytes written_bytes");
  }
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.energy",
                       .version = "1.0.0",
                       .description = "Estimated energy per inference on a hardware profile",
                       .needs = "params flops memory",
                   }),
                   [](tmeter::Registrar& r) { register_all(r); })
