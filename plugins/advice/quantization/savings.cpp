#include "savings.hpp"

#include "text.hpp"

namespace quantization {
namespace {

// The profile that stands in when none is named: advice for hardware nobody asked about is noise.
constexpr std::string_view kDefaultProfile = "horowitz-45nm";

}  // namespace

void say_savings(const Plan& plan, tmeter::Call& call) {
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
  f.text = "on " + std::string(call.hardware_title()) + " reading the parameters takes " +
           tmeter::detail::format_real("%.1f", before / after) + " × less";
  f.action =
      "what is bound by reading weights (a decoder at batch 1) gains that much; arithmetic stays "
      "as "
      "it is unless activations are quantized too";
  call.add(f);
}

}  // namespace quantization
