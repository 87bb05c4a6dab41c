// roofline: for each operator, a lower bound of its time on a machine, its limit (arithmetic,
// memory or the overhead of its call), and the expected time with a band. Nothing is run.
//
// Rates come from the hardware profile of the run (docs/hardware-profiles.md), formulas from
// plugins/common/machine/profile.hpp.
#include <cmath>
#include <memory>
#include <tmeter/cpp/units.hpp>

#include "ceilings.hpp"
#include "plugins/common/machine/curves.hpp"
#include "plugins/common/machine/machine.hpp"
#include "plugins/common/machine/per_node.hpp"

namespace {

using namespace std::string_literals;
using machine::Work;
using tmeter::Call;
using tmeter::Cell;

/// The work and time of one operator, or of a module call that a module handler computes.
struct Point {
  double flops = 0, bytes = 0;
  std::optional<machine::Times> times;        // empty: the profile has no rate for it
  std::optional<machine::Expected> expected;  // empty: the profile has no curve for it
  double overhead = 0;                        // s, in the predicted time
  double call = 0;                            // s: the overhead or, if unknown, only the launch

  bool nothing() const { return flops == 0 && bytes == 0; }
  double seconds() const { return times->longer() + overhead; }
};

Cell intensity(const Point& p) { return p.bytes > 0 ? Cell(p.flops / p.bytes) : Cell(); }
Cell predicted(const Point& p) { return Cell(p.seconds()); }
Cell arithmetic(const Point& p) { return Cell(p.times->arithmetic); }
Cell moving(const Point& p) { return Cell(p.times->memory); }
Cell attainable(const Point& p) {
  const auto rate = p.flops / p.seconds();
  return std::isfinite(rate) ? Cell(rate) : Cell::unavailable();
}
Cell called(const Point& p) { return Cell(p.call); }
Cell memory_bound(const Point& p) {
  const bool yes = p.times->memory > p.times->arithmetic && p.times->memory >= p.overhead;
  return Cell(yes ? 1.0 : 0.0);
}
Cell overhead_bound(const Point& p) { return Cell(p.call > p.times->longer() ? 1.0 : 0.0); }

struct Column {
  tmeter::MetricSpec spec;
  Cell (*value)(const Point&);
  bool needs_machine;                        // peak rates in the profile
  bool needs_overhead = false;               // overhead.* in the profile
  double machine::Expected::*end = nullptr;  // needs curve.* in the profile, has no `value`

  bool needs_curve() const { return end != nullptr; }
  Cell of(const Point& p) const { return end ? Cell((*p.expected).*end) : value(p); }
};

constexpr std::string_view kRoofline =
    "roofline: max((MACs / peak.mac + other operations / peak.op) / efficiency, (bytes read + "
    "bytes written) / (bandwidth.CLASS, or else peak.dram)) + overhead.operator, operator by "
    "operator; a lower bound: caches and fusion are not modelled";

const std::array<Column, 8> kColumns{{
    {{.id = "predicted_time",
      .title = "predicted time",
      .unit = "s",
      .unit_kind = TMETER_UNIT_SECOND,
      .convention = kRoofline},
     predicted,
     true},
    {{.id = "arithmetic_intensity",
      .title = roofline::kIntensityTitle,
      .unit = roofline::kIntensityUnit,
      .unit_kind = TMETER_UNIT_OTHER,
      .aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN,
      .better = TMETER_BETTER_HIGHER,
      .convention = "(2 × MACs + other operations) / (bytes read + bytes written); of a module: "
                    "all its operations over all its bytes",
      .weight = "traffic_bytes"},
     intensity,
     false},
    {{.id = "memory_bound",
      .title = "memory-bound",
      .unit_kind = TMETER_UNIT_RATIO,
      .aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN,
      .convention = "share of the predicted time in operators that wait for memory: their bytes / "
                    "peak.dram take longer than their arithmetic and than overhead.operator",
      .weight = "predicted_time"},
     memory_bound,
     true},
    {{.id = "overhead_bound",
      .title = "overhead-bound",
      .unit_kind = TMETER_UNIT_RATIO,
      .aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN,
      .flags = TMETER_METRIC_DETAIL,
      .convention =
          "share of the predicted time in operators whose call (overhead.operator, or "
          "else overhead.launch) takes longer than their arithmetic and their memory traffic",
      .weight = "predicted_time"},
     overhead_bound,
     true,
     true},
    {{.id = "arithmetic_time",
      .title = "T arithmetic",
      .unit = "s",
      .unit_kind = TMETER_UNIT_SECOND,
      .flags = TMETER_METRIC_DETAIL,
      .convention = "(MACs / peak.mac + other operations / peak.op) / efficiency"},
     arithmetic,
     true},
    {{.id = "memory_time",
      .title = "T memory",
      .unit = "s",
      .unit_kind = TMETER_UNIT_SECOND,
      .flags = TMETER_METRIC_DETAIL,
      .convention = "(bytes read + bytes written) / peak.dram"},
     moving,
     true},
    {{.id = "overhead_time",
      .title = "T overhead",
      .unit = "s",
      .unit_kind = TMETER_UNIT_SECOND,
      .flags = TMETER_METRIC_DETAIL,
      .convention = "overhead.operator of the hardware profile, or else overhead.launch, once per "
                    "operator call; the predicted time includes only the former"},
     called,
     true,
     true},
    {{.id = "attainable_flops",
      .title = roofline::kRateTitle,
      .unit = roofline::kRateUnit,
      .unit_kind = TMETER_UNIT_OTHER,
      .aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN,
      .better = TMETER_BETTER_HIGHER,
      .flags = TMETER_METRIC_DETAIL,
      .convention = "(2 × MACs + other operations) / predicted_time; of a module: all its "
                    "operations over all its time",
      .weight = "predicted_time"},
     attainable,
     true},
}};

/// Indexed by machine::kBandEnds.
constexpr std::array<std::string_view, 3> kExpectedIds{"expected_time", "expected_time_low",
                                                       "expected_time_high"},
    kExpectedTitles{"expected time", "expected at least", "expected at most"},
    kExpectedConventions{
        "call + sqrt(arithmetic² + traffic²) by curves fitted on published measurements "
        "(docs/predictions.md), operator by operator",
        "one of ten measured times is shorter: expected_time times the band's factor; bands of "
        "operators add up",
        "one of ten measured times is longer: expected_time times the band's factor; bands of "
        "operators add up"};

std::vector<Column> all_columns() {
  std::vector<Column> out(kColumns.begin(), kColumns.end());
  for (size_t i = 0; i < machine::kBandEnds.size(); ++i)
    out.push_back({{.id = kExpectedIds[i],
                    .title = kExpectedTitles[i],
                    .unit = "s",
                    .unit_kind = TMETER_UNIT_SECOND,
                    .flags = TMETER_METRIC_DETAIL,
                    .convention = kExpectedConventions[i]},
                   nullptr,
                   false,
                   false,
                   machine::kBandEnds[i].value});
  return out;
}

const std::vector<Column>& columns() {
  static const auto all = all_columns();
  return all;
}

class Roofline {
 public:
  void start(Call& call);

  void draw_ceilings(Call& call) const { ceilings_.draw(machine_, call); }

  Cell at(const Column& column, const tmeter::Node& node, const Call& call) {
    if (is_unavailable(column)) return Cell::unavailable();
    const auto work = machine_.work_of(node, call);
    if (!work) return Cell::unsupported();
    const auto point = nodes_.of(node, *work, [&] { return point_of({&*work, 1}, 1, call); });
    return value(column, point);
  }
  Cell at(const Column& column, const tmeter::ModuleCall& m, const Call& call) {
    if (is_unavailable(column)) return Cell::unavailable();
    bool partial = false;
    const auto parts = machine_.work_of(m, call, partial);
    if (!parts) return Cell::unsupported();
    const auto calls = static_cast<double>(parts->size());
    const auto cell = value(column, point_of(*parts, calls, call));
    return partial && cell.known() ? cell.as_partial() : cell;
  }

 private:
  Point point_of(std::span<const Work> parts, double calls, const Call& call);
  bool is_unavailable(const Column& column) const {
    return (column.needs_machine && !missing_.empty()) ||
           (column.needs_curve() && !curves_.missing().empty());
  }
  void describe_provenance(const Column& column, const std::string& profile, Call& call) const;
  Cell value(const Column& column, const Point& point) const;

  machine::Machine machine_{"predicted time"};
  machine::Curves curves_;
  std::string missing_;             // a sentence; empty: the profile supports times
  std::optional<double> overhead_;  // empty: the profile has none, and times are lower bounds
  std::optional<double> launch_;    // of a kernel
  machine::PerNode<Work, Point> nodes_;
  roofline::Ceilings ceilings_;
};

void Roofline::start(Call& call) {
  machine_.start(call);
  nodes_.forget();
  ceilings_.forget();
  overhead_ = machine::Machine::number(call, "overhead.operator");
  launch_ = machine::Machine::number(call, "overhead.launch");
  missing_.clear();
  if (!machine_.has_peak_mac() || !machine_.bandwidth())
    missing_ = machine_.quoted_name() + " has no peak rates (peak.mac.*, peak.dram)";
  curves_.start(machine_, call);
  const auto profile =
      std::string(call.hardware_name()) + ": " + std::string(call.hardware_title());
  for (const auto& column : columns()) describe_provenance(column, profile, call);
}

void Roofline::describe_provenance(const Column& column, const std::string& profile,
                                   Call& call) const {
  const auto no_overhead = "the profile has no time for an operator's call (overhead.operator)"s;
  const auto launch = launch_ ? ", whose launch alone takes " +
                                    tmeter::scaled(*launch_, TMETER_UNIT_SECOND, "s").text()
                              : ""s;
  const auto id = column.spec.id;
  if (column.needs_curve()) {
    if (curves_.missing().empty())
      call.set_provenance(id, TMETER_PROVENANCE_ESTIMATED,
                          "curves on hardware profile " + profile + ", " + curves_.origin() +
                              "; eight of ten measured times are in the band");
    else
      call.set_provenance(id, TMETER_PROVENANCE_UNAVAILABLE, curves_.missing());
  } else if (!column.needs_machine) {
    return;
  } else if (missing_.empty() && column.needs_overhead && !overhead_ && !launch_) {
    call.set_provenance(id, TMETER_PROVENANCE_UNAVAILABLE, no_overhead);
  } else if (missing_.empty()) {
    call.set_provenance(id, TMETER_PROVENANCE_ESTIMATED,
                        "roofline on hardware profile " + profile +
                            (overhead_ ? "" : "; a lower bound: " + no_overhead + launch));
  } else {
    call.set_provenance(id, TMETER_PROVENANCE_UNAVAILABLE, missing_);
  }
}

Point Roofline::point_of(std::span<const Work> parts, double calls, const Call& call) {
  Point point;
  for (const auto& work : parts) {
    point.flops += 2 * work.macs + work.ops;
    point.bytes += work.bytes;
  }
  if (point.nothing() || !missing_.empty()) return point;
  point.times = machine_.times_of(parts, call);
  if (point.times)
    for (const auto& work : parts) ceilings_.add(work, machine_, call);
  if (curves_.missing().empty()) point.expected = curves_.of(parts, machine_, call);
  point.overhead = calls * overhead_.value_or(0);
  point.call = calls * overhead_.value_or(launch_.value_or(0));
  return point;
}

Cell Roofline::value(const Column& column, const Point& point) const {
  if (column.needs_overhead && !overhead_ && !launch_) return Cell::unavailable();
  if (point.nothing()) return Cell::zero_by_rule();  // a view takes no time
  const bool available =
      column.needs_curve() ? point.expected.has_value() : point.times.has_value();
  return available || !(column.needs_machine || column.needs_curve()) ? column.of(point)
                                                                      : Cell::unavailable();
}

void register_all(tmeter::Registrar& r) {
  const auto roofline = std::make_shared<Roofline>();
  r.configure([roofline](Call& call) { roofline->start(call); });
  r.handlers_by_signature();
  for (const auto& column : columns()) {
    r.metric(column.spec);
    r.op("*").handle(column.spec.id, [roofline, &column](const tmeter::Node& node, Call& call) {
      return roofline->at(column, node, call);
    });
    const auto of_call = [roofline, &column](const tmeter::Graph&, const tmeter::ModuleCall& m,
                                             Call& call) { return roofline->at(column, m, call); };
    r.module_type("*", column.spec.id, of_call, 0, "macs other_flops read_bytes written_bytes");
  }
  r.analysis("ceilings", "predicted_time", "",
             [roofline](const tmeter::Graph&, Call& call) { roofline->draw_ceilings(call); });
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.roofline",
        .version = "1.0.0",
        .description = "Arithmetic intensity, and the least time on a hardware profile",
        .needs = "params flops memory",
    }),
    [](tmeter::Registrar& r) { register_all(r); })
