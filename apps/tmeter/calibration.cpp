#include "apps/tmeter/calibration.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <sstream>
#include <tmeter/cpp/op_class.hpp>
#include <vector>

#include "apps/tmeter/child_program.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/report_reader/saved_report.hpp"

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;
using tmeter::OpClass;

constexpr const char* kRunFor = "3s";
/// Name of the module whose operators do no work beyond their call.
constexpr std::string_view kCalls = "calls";
constexpr double kMinShare = 0.2;  // least share of an operator's time that is not overhead

/// Values of one operator of the run.
struct Sample {
  double seconds = 0, macs = 0, ops = 0, bytes = 0;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double peak(const HardwareProfile& profile, std::string_view key) {
  const auto at = profile.numbers.find(key);
  return at == profile.numbers.end() ? 0 : at->second.value;
}

Sample sample_of(const Results& results, size_t node) {
  const auto value = [&](std::string_view id) {
    const auto* column = results.find(id);
    return column ? real(column->cell(TMETER_AXIS_NODE, node)) : 0.0;
  };
  return {value("op_time"), value("macs"), value("other_flops"),
          value("read_bytes") + value("written_bytes")};
}

bool multiplies(OpClass kind) {
  constexpr std::array kKinds{OpClass::kConvolution, OpClass::kMatmul, OpClass::kAttention,
                              OpClass::kRecurrent};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

void put(std::ostream& out, const std::string& key, double value, const char* unit,
         const std::string& source) {
  out << "\n[" << key << "]\nvalue = " << value << "\nunit = \"" << unit << "\"\nsource = \""
      << source << "\"\n";
}

/// Shares of peak arithmetic, and bytes per second, by class.
struct Shares {
  std::map<OpClass, std::vector<double>> efficiency, bandwidth;
};

/// A multiplying operator bounded by arithmetic gives its share of the peak rate; any other
/// operator gives its bandwidth.
void add(const Sample& s, OpClass kind, double overhead, const HardwareProfile& peaks,
         Shares& shares) {
  if (s.seconds <= 0 || s.bytes <= 0) return;
  const double seconds = std::max(s.seconds - overhead, kMinShare * s.seconds);
  const double arithmetic =
      s.macs / peak(peaks, "peak.mac.float32") + s.ops / peak(peaks, "peak.op.float32");
  const bool bound = arithmetic > s.bytes / peak(peaks, "peak.dram");
  if (multiplies(kind) && bound) {
    shares.efficiency[kind].push_back(std::min(arithmetic / seconds, 1.0));
  } else {
    shares.bandwidth[kind].push_back(s.bytes / seconds);
  }
}

/// The profile entries from the report of a run.
std::string rates_of(const Report& report, const HardwareProfile& peaks, const std::string& when) {
  std::vector<double> calls;
  for (const auto& node : report.graph->nodes())
    if (node.call->module->path == kCalls)
      calls.push_back(sample_of(report.results, node.index).seconds);
  if (calls.empty()) return "# no operators were measured\n";
  const double overhead = median(calls);
  Shares shares;
  for (const auto& node : report.graph->nodes()) {
    if (node.call->module->path == kCalls) continue;
    add(sample_of(report.results, node.index), tmeter::op_class(node.op), overhead, peaks, shares);
  }
  std::ostringstream out;
  out.precision(7);
  const auto engine = report.properties.find("run.engine");
  const auto by =
      when + ", " + (engine == report.properties.end() ? "" : engine->second) + ": median of ";
  put(out, "overhead.operator", overhead, "s",
      by + std::to_string(calls.size()) + " additions of one number");
  for (const auto& [kind, values] : shares.efficiency)
    put(out, "efficiency." + std::string(tmeter::name_of(kind)), median(values), "ratio",
        by + std::to_string(values.size()) + " operators");
  for (const auto& [kind, values] : shares.bandwidth)
    put(out, "bandwidth." + std::string(tmeter::name_of(kind)), median(values), "B/s",
        by + std::to_string(values.size()) + " operators, with operands in the caches");
  return out.str();
}

}  // namespace

std::string calibrate(const HardwareProfile& peaks, const std::string& when) {
  const auto why_not = [](const std::string& why) {
    return "\n# overhead.operator and efficiency.* are unmeasured: " + printable(why) + "\n";
  };
  const auto model = data_folder() + "/calibration.pt2";
  std::error_code failed;
  const auto self = fs::read_symlink("/proc/self/exe", failed).string();
  if (!fs::exists(model, failed) || self.empty()) return why_not(model + " is missing");
  const auto ran = run_program(
      {self, model, "--inference", "--quiet", "--plugins=params,flops,memory,latency,-allocations",
       "--run-for", kRunFor, "--timeout", "60", "--report", "json"},
      true);
  if (!ran.fine()) return why_not("running a model " + ran.words());
  try {
    return rates_of(read_report(ran.output).report, peaks, when);
  } catch (const Error& e) {
    return why_not(e.what());
  }
}

}  // namespace tmeter::app
