#include "savings.hpp"

#include "plugins/common/weight_macs.hpp"
#include "wording.hpp"

namespace quantization {
namespace {

// The profile of runs without --hardware: no advice for hardware that the user did not choose.
constexpr std::string_view kDefaultProfile = "horowitz-45nm";

/// Joules and seconds, if the profile has the values.
struct Cost {
  double energy = 0, seconds = 0;
  bool has_energy = true, has_time = true;

  void add(const tmeter::Call& call, const Weight& w, double macs, std::string_view dtype) {
    double each = 0, rate = 0;
    has_energy = has_energy && figure(call, "energy.mac.", w, dtype, each);
    has_time = has_time && figure(call, "peak.mac.", w, dtype, rate) && rate > 0;
    if (has_energy) energy += macs * each;
    if (has_time) seconds += macs / rate;
  }

 private:
  /// FAMILY.CLASS.DTYPE goes before FAMILY.DTYPE (docs/hardware-profiles.md).
  static bool figure(const tmeter::Call& call, const std::string& family, const Weight& w,
                     std::string_view dtype, double& value) {
    const auto* kind = w.matrix() ? "matmul." : "convolution.";
    return call.hardware_number(family + kind + std::string(dtype), value) ||
           call.hardware_number(family + std::string(dtype), value);
  }
};

/// The cost in int8 of the products with weights of 8 bits or fewer. Empty without operators, or if
/// the profile lacks one of the element types.
std::string in_int8(const Collection& reports, const Plan& plan, const tmeter::Graph& graph,
                    const tmeter::Call& call) {
  const auto macs = plugins::weight_macs(graph, call);
  if (macs.empty()) return {};
  Cost now, then;
  double total = 0;
  for (size_t i = 0; i < reports.size(); ++i) {
    const auto& scheme = plan.choices[i].scheme;
    if (!scheme || kSchemes[*scheme].bits > 8) continue;
    const double m = macs[reports[i].weight.tensor];
    total += m;
    now.add(call, reports[i].weight, m, reports[i].weight.layout.dtype.name());
    then.add(call, reports[i].weight, m, "int8");
  }
  if (total == 0) return {};
  const auto pair = [](double before, double after, int32_t unit, std::string_view name) {
    return tmeter::scaled(before, unit, name).text() + " → " +
           tmeter::scaled(after, unit, name).text();
  };
  std::string out;
  if (now.has_energy && then.has_energy)
    out += ", energy " + pair(now.energy, then.energy, TMETER_UNIT_JOULE, "J");
  if (now.has_time && then.has_time)
    out += ", time at peak " + pair(now.seconds, then.seconds, TMETER_UNIT_SECOND, "s");
  if (out.empty()) return {};
  return "; with activations in int8 as well, " +
         tmeter::scaled(total, TMETER_UNIT_OP, "MAC").text() +
         "MAC with these weights:" + out.substr(1);
}

}  // namespace

void report_savings(const Collection& reports, const Plan& plan, const tmeter::Graph& graph,
                    tmeter::Call& call) {
  if (call.hardware_name() == kDefaultProfile || plan.bytes_after >= plan.bytes_before) return;
  const auto before = static_cast<double>(plan.bytes_before);
  const auto after = static_cast<double>(plan.bytes_after);
  tmeter::Finding f;
  f.rule = "quantization-savings";
  double per_byte = 0, rate = 0;
  if (call.hardware_number("energy.dram", per_byte)) {
    f.evidence = "memory energy of reading all parameters once: " +
                 tmeter::scaled(before * per_byte, TMETER_UNIT_JOULE, "J").text() + " → " +
                 tmeter::scaled(after * per_byte, TMETER_UNIT_JOULE, "J").text();
  }
  if (call.hardware_number("peak.dram", rate) && rate > 0) {
    f.evidence += (f.evidence.empty() ? "" : "; ") + std::string("time at peak bandwidth: ") +
                  tmeter::scaled(before / rate, TMETER_UNIT_SECOND, "s").text() + " → " +
                  tmeter::scaled(after / rate, TMETER_UNIT_SECOND, "s").text();
  }
  if (f.evidence.empty()) return;
  f.evidence += in_int8(reports, plan, graph, call);
  f.text = "on " + std::string(call.hardware_title()) + " reading the parameters takes " +
           tmeter::fixed(before / after, 1) + " × less";
  f.action =
      "models bound by reading weights (a decoder at batch 1) gain that much; arithmetic does not "
      "change unless activations are quantized, too";
  call.add(f);
}

}  // namespace quantization
