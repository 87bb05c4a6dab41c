#include "apps/tmeter/calibration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "apps/tmeter/child_program.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;

/// All calls of an operator.
struct Row {
  double calls = 0, macs = 0, seconds = 0;
};

struct Class {
  const char* name;
  const char* op;
};
constexpr std::array<Class, 3> kClasses{{{"convolution", "aten::conv2d"},
                                         {"matmul", "aten::linear"},
                                         {"attention", "aten::scaled_dot_product_attention"}}};
constexpr const char* kNearlyNothing = "aten::relu";  // of 16 elements

double real(const std::string& text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end ? value : 0;
}

/// "operator calls macs op_time notes"
std::optional<Row> row_of(const std::string& tsv, const std::string& op) {
  for (const auto& line : split(tsv, "\n")) {
    const auto fields = split(line, "\t");
    if (fields.size() < 4 || fields[0] != op) continue;
    const Row row{real(fields[1]), real(fields[2]), real(fields[3])};
    if (row.calls > 0 && row.seconds > 0) return row;
  }
  return std::nullopt;
}

std::string figure(const std::string& key, double value, const char* unit, const std::string& source) {
  std::array<char, 64> number;
  std::snprintf(number.data(), number.size(), "%.6e", value);
  return "\n[" + key + "]\nvalue = " + number.data() + "\nunit = \"" + unit + "\"\nsource = \"" + source +
         "\"\n";
}

}  // namespace

std::string calibrated_figures(const CalibrationRuns& runs, const HardwareProfile& rates,
                               const std::string& when) {
  const auto peak = rates.numbers.find("peak.mac.float32");
  const auto one = row_of(runs.one, kNearlyNothing), all = row_of(runs.all, kNearlyNothing);
  if (!one || !all || peak == rates.numbers.end() || peak->second.value <= 0) return {};
  const double overhead = std::min(one->seconds / one->calls, all->seconds / all->calls);
  auto out = figure("overhead.operator", overhead, "s",
                    when + ": aten::relu of 16 elements by LibTorch, mean of " +
                        std::to_string(static_cast<int>(one->calls)) + " calls' medians");
  for (const auto& c : kClasses) {
    double best = 0;
    for (const auto* tsv : {&runs.one, &runs.all}) {
      const auto row = row_of(*tsv, c.op);
      if (!row || row->macs <= 0) continue;
      const double seconds = std::max(row->seconds - row->calls * overhead, 1e-12);
      best = std::max(best, row->macs / seconds / peak->second.value);
    }
    if (best > 0)
      out += figure(std::string("efficiency.") + c.name, std::min(best, 1.0), "ratio",
                    when + ": " + c.op + " in float32 by LibTorch, of peak.mac.float32");
  }
  return out;
}

std::string calibrate(const HardwareProfile& rates, const std::string& when) {
  const auto why_not = [](const std::string& why) {
    return "\n# overhead.operator and efficiency.* are unmeasured: " + printable(why) + "\n";
  };
  const auto model = data_folder() + "/calibration.pt2";
  std::error_code failed;
  const auto self = fs::read_symlink("/proc/self/exe", failed).string();
  if (!fs::exists(model, failed) || self.empty()) return why_not(model + " is not there");
  std::vector<std::string> command{self,     "--inference",  "--run-for=2s",           "--timeout=60",
                                   "--plugins=flops,latency", "--by=operator", "--columns=macs,op_time",
                                   "--raw",  "--report=tsv", "--quiet",                model};
  const auto all = run_program(command, true);
  if (!all.fine()) return why_not("running a model by LibTorch " + all.words());
  command.emplace_back("--threads=1");
  const auto figures = calibrated_figures({run_program(command, true).output, all.output}, rates, when);
  return figures.empty() ? why_not("the model was not run") : figures;
}

}  // namespace tmeter::app
