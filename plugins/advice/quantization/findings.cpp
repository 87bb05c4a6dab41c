#include "findings.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "plugins/common/weight_macs.hpp"
#include "wording.hpp"

namespace quantization {
namespace {

using tmeter::Call;
using tmeter::Finding;
using SelectedReports = std::vector<const Report*>;

constexpr size_t kNamesListed = 5;

template <class F>
SelectedReports pick(const Collection& reports, F f) {
  SelectedReports out;
  for (size_t i = 0; i < reports.size(); ++i)
    if (f(reports[i], i)) out.push_back(&reports[i]);
  return out;
}

/// Adds the weights as targets; returns their names: "a.weight, b.weight and 3 more".
std::string names(const SelectedReports& picked, Finding& finding) {
  for (const auto* r : picked) finding.about(r->tensor);
  return listed(picked.size(), kNamesListed, [&](size_t i) { return picked[i]->weight.name; });
}

double best_sqnr(const Weight& w, const Rules& rules) {
  double best = -INFINITY;
  for (const auto i : rules.allowed) best = std::fmax(best, w.measured.sqnr[i]);
  return best;
}

/// "int8 per channel: 20 tensors, 95.4 % of the weights"
std::string shares_text(const Collection& reports, const Plan& plan) {
  struct Share {
    size_t tensors = 0;
    double elements = 0;
  };
  std::map<std::optional<size_t>, Share> shares;
  double all = static_cast<double>(plan.others);
  for (size_t i = 0; i < reports.size(); ++i) {
    auto& s = shares[plan.choices[i].scheme];
    ++s.tensors;
    s.elements += static_cast<double>(reports[i].weight.layout.elements);
    all += static_cast<double>(reports[i].weight.layout.elements);
  }
  std::string out;
  for (const auto& [scheme, s] : shares) {
    const std::string title =
        scheme ? std::string(kSchemes[*scheme].title) : std::string("weights as stored");
    out += title + ": " + count_of(s.tensors, "tensor") + ", " + percent(s.elements, all) + "; ";
  }
  out += "not quantized by rule (norms, biases): " + percent(static_cast<double>(plan.others), all);
  return out;
}

std::string worst_text(const Collection& reports, const Plan& plan) {
  const Report* worst = nullptr;
  double least = INFINITY;
  for (size_t i = 0; i < reports.size(); ++i) {
    if (!plan.choices[i].scheme) continue;
    const double v = reports[i].weight.measured.sqnr[*plan.choices[i].scheme];
    if (v < least) least = v, worst = &reports[i];
  }
  return worst ? "; lowest SQNR " + decibels(least) + " (" + worst->weight.name + ")" : "";
}

/// The torchao calls for the schemes in the plan, and the layers that no call covers.
std::string steps(const Collection& reports, const Plan& plan) {
  std::vector<size_t> used;
  bool others = false;  // not matrices
  for (size_t i = 0; i < reports.size(); ++i) {
    const auto& scheme = plan.choices[i].scheme;
    if (!scheme) continue;
    if (std::find(used.begin(), used.end(), *scheme) == used.end()) used.push_back(*scheme);
    others = others || (!reports[i].weight.matrix() && kSchemes[*scheme].bits < 16);
  }
  std::string out = "with torchao, per layer by FqnToConfig: ";
  out += listed(used.size(), used.size(), [&](size_t i) {
    return std::string(kSchemes[used[i]].id) + " is " + advice_for(kSchemes[used[i]]);
  });
  if (others)
    out +=
        "; convolutions: torchao.quantization.pt2e, prepare_pt2e and convert_pt2e, int8 per "
        "channel";
  return out + "; measure the accuracy afterwards: SQNR does not predict it";
}

void report_plan(const Collection& reports, const Plan& plan, const Settings& settings,
                 const tmeter::Graph& graph, Call& call) {
  Finding f;
  f.rule = "quantization-plan";
  const auto budget = decibels(settings.rules.least_sqnr);
  if (plan.bytes_after >= plan.bytes_before) {
    f.text = "no allowed scheme makes these weights smaller at an SQNR of " + budget + " or more";
    f.evidence = count_of(reports.size(), "weight") + " tried";
    return call.add(f);
  }
  const auto before = static_cast<double>(plan.bytes_before);
  f.severity = TMETER_SEVERITY_ADVICE;
  f.text = "the parameters fit in " + bytes_text(static_cast<double>(plan.bytes_after)) +
           " instead of " + bytes_text(before) + ", every weight with an SQNR of at least " +
           budget;
  f.evidence = shares_text(reports, plan) + worst_text(reports, plan);
  for (const double other : {30.0, 40.0}) {
    if (other <= settings.rules.least_sqnr) continue;
    auto rules = settings.rules;
    rules.least_sqnr = other;
    f.evidence += "; at " + decibels(other) + " " +
                  bytes_text(static_cast<double>(plan_of(graph, reports, rules).bytes_after));
  }
  f.action = steps(reports, plan);
  f.changes.push_back({"param_bytes", before, static_cast<double>(plan.bytes_after)});
  call.add(f);
}

void report_keep_precision(const Collection& reports, const Plan& plan, const Settings& settings,
                           Call& call) {
  const auto kept = pick(reports, [&](const Report& r, size_t i) {
    const auto& measured = r.weight.measured;
    return !plan.choices[i].scheme && measured.finite && !measured.zero &&
           !(best_sqnr(r.weight, settings.rules) >= settings.rules.least_sqnr);
  });
  if (kept.empty()) return;
  Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "keep-precision";
  f.text = count_of(kept.size(), "weight") + " must keep the stored precision: " + names(kept, f);
  f.evidence = "no allowed scheme reaches " + decibels(settings.rules.least_sqnr) + ": best " +
               listed(kept.size(), kNamesListed, [&](size_t i) {
                 return decibels(best_sqnr(kept[i]->weight, settings.rules));
               });
  f.action =
      "exclude these modules (filter_fn of quantize_, or None in FqnToConfig), or allow more "
      "schemes with --set quantization-advice.schemes=";
  call.add(f);
}

void report_rules(const Collection& reports, const Plan& plan, Call& call) {
  const auto kept =
      pick(reports, [](const Report& r, size_t) { return !r.weight.sensitive.empty(); });
  if (kept.empty() && plan.others == 0) return;
  Finding f;
  f.rule = "keep-precision-by-rule";
  f.text = "first and last layers keep at least 8 bits, norms and biases are not quantized";
  f.evidence = listed(kept.size(), kNamesListed, [&](size_t i) {
    return kept[i]->weight.name + " (" + std::string(kept[i]->weight.sensitive) + ")";
  });
  for (const auto* r : kept) f.about(r->tensor);
  if (plan.others)
    f.evidence += (f.evidence.empty() ? "" : "; ") + std::string("parameters of rank 0 and 1: ") +
                  bytes_text(static_cast<double>(plan.other_bytes));
  f.action =
      "common practice, not a measurement: errors at the inputs and outputs of a network do not "
      "average out; --set quantization-advice.protect=false treats all weights alike";
  call.add(f);
}

/// "fc1.weight, input channels 7 (12.4 ×), 3 (6.1 ×)"
std::string outlier_text(const Report& r) {
  std::string out = r.weight.name;
  const auto add = [&](const char* title, const auto& channels) {
    if (channels.empty()) return;
    out += title + listed(channels.size(), 3, [&](size_t i) {
             return std::to_string(channels[i].index) + " (" + tmeter::fixed(channels[i].ratio, 1) +
                    " ×)";
           });
  };
  add(", output channels ", r.outputs);
  add(", input channels ", r.inputs);
  const auto& sqnr = r.weight.measured.sqnr;
  return out + ": int4 " + decibels(sqnr[*scheme_at("int4_channel")]) + " per channel, " +
         decibels(sqnr[*scheme_at("int4_group32")]) + " in groups of 32";
}

void report_outliers(const Collection& reports, const Settings& settings, Call& call) {
  auto found = pick(
      reports, [](const Report& r, size_t) { return !r.outputs.empty() || !r.inputs.empty(); });
  if (found.empty()) return;
  const auto worst = [](const Report* r) {
    return std::max(r->outputs.empty() ? 0 : r->outputs[0].ratio,
                    r->inputs.empty() ? 0 : r->inputs[0].ratio);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Report* a, const Report* b) { return worst(a) > worst(b); });
  Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "outlier-channels";
  f.text = count_of(found.size(), "weight") + (found.size() == 1 ? " has " : " have ") +
           "channels whose largest weight is at least " + tmeter::general(settings.outlier_ratio) +
           " × the median channel's: " + names(found, f);
  f.evidence =
      listed(found.size(), kNamesListed, [&](size_t i) { return outlier_text(*found[i]); });
  f.action =
      "output channels: use scales per channel or group; input channels: use small groups, or move "
      "their scale into the layer before (SmoothQuant, AWQ) first";
  call.add(f);
}

void report_broken(const Collection& reports, Call& call) {
  const auto broken =
      pick(reports, [](const Report& r, size_t) { return !r.weight.measured.finite; });
  if (!broken.empty()) {
    Finding f;
    f.severity = TMETER_SEVERITY_ERROR;
    f.rule = "not-finite";
    f.text = count_of(broken.size(), "weight") + (broken.size() == 1 ? " holds" : " hold") +
             " NaN, infinity or values beyond float32: " + names(broken, f);
    f.evidence = "they were not quantized";
    f.action =
        "go back to a checkpoint from before training diverged; torch.isfinite finds the elements";
    call.add(f);
  }
  const auto half = *scheme_at("fp16");
  const auto large = pick(reports, [&](const Report& r, size_t) {
    return r.weight.measured.finite && !r.weight.measured.zero &&
           std::isnan(r.weight.measured.sqnr[half]);
  });
  if (large.empty()) return;
  Finding f;
  f.severity = TMETER_SEVERITY_WARNING;
  f.rule = "beyond-float16";
  f.text = count_of(large.size(), "weight") + " cannot be cast to float16: " + names(large, f);
  f.evidence = "elements of 65,520 or more would become infinite";
  f.action = "use bfloat16";
  call.add(f);
}

// The profile of runs without --hardware: no advice for hardware that the user did not choose.
constexpr std::string_view kDefaultProfile = "horowitz-45nm";

/// Joules and seconds, if the profile has the values.
struct Cost {
  double energy = 0, seconds = 0;
  bool has_energy = true, has_time = true;

  void add(const tmeter::Call& call, const Weight& w, double macs, std::string_view dtype) {
    double each = 0, rate = 0;
    has_energy = has_energy && profile_value(call, "energy.mac.", w, dtype, each);
    has_time = has_time && profile_value(call, "peak.mac.", w, dtype, rate) && rate > 0;
    if (has_energy) energy += macs * each;
    if (has_time) seconds += macs / rate;
  }

 private:
  /// FAMILY.CLASS.DTYPE takes precedence over FAMILY.DTYPE (docs/hardware-profiles.md).
  static bool profile_value(const tmeter::Call& call, const std::string& family, const Weight& w,
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

/// The savings on the hardware that the user named, by its profile. Reports nothing without named
/// hardware, nor for values that its profile lacks.
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

}  // namespace

Plan plan_of(const tmeter::Graph& graph, const Collection& reports, const Rules& rules) {
  Plan plan;
  std::vector<bool> planned(graph.tensors().size());
  for (const auto& r : reports) {
    const auto choice = choose(r.weight, rules);
    planned[r.weight.tensor] = true;
    plan.bytes_before += r.weight.stored;
    plan.bytes_after += choice.bytes;
    plan.choices.push_back(choice);
  }
  for (const auto& t : graph.tensors()) {
    if (!t.is_parameter() || t.is_tied() || planned[t.index()]) continue;
    plan.bytes_before += t.bytes().value();
    plan.bytes_after += t.bytes().value();
    plan.others += t.numel().value();
    plan.other_bytes += t.bytes().value();
  }
  return plan;
}

void report_findings(const Collection& reports, const Plan& plan, const Settings& settings,
                     const tmeter::Graph& graph, Call& call) {
  report_broken(reports, call);
  report_plan(reports, plan, settings, graph, call);
  report_savings(reports, plan, graph, call);
  report_keep_precision(reports, plan, settings, call);
  report_rules(reports, plan, call);
  report_outliers(reports, settings, call);
}

}  // namespace quantization
