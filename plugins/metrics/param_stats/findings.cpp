#include <tmeter/cpp/units.hpp>

#include "plugins/common/wording.hpp"
#include "tensor_statistics.hpp"

namespace param_stats {
namespace {

using tmeter::Tensor;

constexpr size_t kMaxNamedTensors = 5;     // in the text; all tensors are targets
constexpr double kExtremeDeviations = 50;  // |x| / std of an extreme element
constexpr double kLargestFloat16 = 65504;
/// The dtype of smaller tensors does not matter.
constexpr int64_t kMinWideBytes = 1024;

struct MeasuredTensor {
  Tensor tensor;
  const Statistics* statistics;
};

struct Rule {
  std::string_view name;
  int32_t severity;
  bool (*holds)(const Tensor&, const Statistics&);
  std::string_view what;  // after "3 tensors have "
  std::string (*evidence)(const Tensor&, const Statistics&);
  std::string_view action;
};

std::string number(double v) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.3g", v);
  return buffer.data();
}
bool is_float(const Tensor& t) { return t.dtype().kind() == tmeter::DTypeClass::kFloat; }
bool is_weight_matrix(const Tensor& t) { return is_matrix(t) && t.numel() > tmeter::Count(1); }
double magnitude_in_deviations(const Statistics& f) {
  const double deviation = f.moments.n ? f.moments.deviation() : 0;
  return deviation > 0 ? f.largest_magnitude() / deviation : 0;
}

constexpr std::array<Rule, 7> kRules{{
    {"not-finite", TMETER_SEVERITY_ERROR,
     [](const Tensor&, const Statistics& f) { return f.nan + f.inf > 0; }, "NaN or infinite values",
     [](const Tensor&, const Statistics& f) {
       return std::to_string(f.nan) + " NaN, " + std::to_string(f.inf) + " infinite of " +
              std::to_string(f.elements());
     },
     "results will be NaN: go back to a checkpoint from before training diverged; leave masks of "
     "-inf out of the file"},
    {"constant-weights", TMETER_SEVERITY_WARNING,
     [](const Tensor& t, const Statistics& f) { return is_weight_matrix(t) && f.constant(); },
     "the same value throughout",
     [](const Tensor&, const Statistics& f) { return "all " + number(f.min); },
     "check that these weights were trained and saved: such a layer cannot distinguish its inputs"},
    {"beyond-float16", TMETER_SEVERITY_WARNING,
     [](const Tensor& t, const Statistics& f) {
       return is_float(t) && f.moments.n > 0 && f.largest_magnitude() > kLargestFloat16;
     },
     "values beyond the range of float16 (65,504)",
     [](const Tensor&, const Statistics& f) { return "up to " + number(f.largest_magnitude()); },
     "do not convert these to float16: they would become infinite; bfloat16 has the range"},
    {"extreme-values", TMETER_SEVERITY_ADVICE,
     [](const Tensor& t, const Statistics& f) {
       return is_weight_matrix(t) && magnitude_in_deviations(f) > kExtremeDeviations;
     },
     "values larger than 50 standard deviations",
     [](const Tensor&, const Statistics& f) {
       return number(f.largest_magnitude()) + " at a standard deviation of " +
              number(f.moments.deviation());
     },
     "quantize these per channel or per group: one scale for all would round the rest away"},
    {"wide-dtype", TMETER_SEVERITY_ADVICE,
     [](const Tensor& t, const Statistics& f) {
       return !t.is_encoded() && (f.fits_bfloat16 || f.fits_half || f.fits_single) &&
              !f.constant() && t.bytes() >= tmeter::Count(kMinWideBytes);
     },
     "only values that a type of half the size holds exactly",
     [](const Tensor& t, const Statistics& f) {
       const auto* to = f.fits_single ? "float32" : f.fits_bfloat16 ? "bfloat16" : "float16";
       return plugins::bytes_text(t.bytes()) + " of " + std::string(t.dtype().name()) + " are " +
              to;
     },
     "save these in the narrower type: the file shrinks and nothing is lost"},
    {"misaligned", TMETER_SEVERITY_ADVICE,
     [](const Tensor& t, const Statistics&) {
       const int64_t at = t.file_offset(), size = t.dtype().bytes();
       return at >= 0 && size > 0 && at % size != 0;
     },
     "a file offset that is not a multiple of the element size",
     [](const Tensor& t, const Statistics&) {
       return "byte " + std::to_string(t.file_offset()) + ", " + std::to_string(t.dtype().bytes()) +
              " bytes per element";
     },
     "save the file again with padding (safetensors: a header padded with spaces): a misaligned "
     "tensor cannot be used in the mapped file and must be copied"},
    {"zero-vectors", TMETER_SEVERITY_INFO,
     [](const Tensor& t, const Statistics& f) {
       return is_float(t) && t.is_parameter() && t.shape().rank() == 1 && f.constant() &&
              f.max == 0 && t.numel() > tmeter::Count(1);
     },
     "zeros only",
     [](const Tensor& t, const Statistics&) { return std::to_string(t.numel().value()); },
     "leave such biases out (bias=False) if they are not to be trained"},
}};

void add_finding(const Rule& rule, const std::vector<MeasuredTensor>& found, tmeter::Call& call) {
  tmeter::Finding finding;
  finding.severity = rule.severity;
  finding.rule = rule.name;
  finding.text = std::to_string(found.size()) +
                 (found.size() == 1 ? " tensor has " : " tensors have ") + std::string(rule.what);
  finding.action = rule.action;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto& [tensor, statistics] = found[i];
    finding.about(tensor);
    if (i < kMaxNamedTensors)
      finding.evidence +=
          (i ? "; " : "") + std::string(tensor.name()) + ": " + rule.evidence(tensor, *statistics);
  }
  if (found.size() > kMaxNamedTensors)
    finding.evidence += "; and " + std::to_string(found.size() - kMaxNamedTensors) + " more";
  call.add(finding);
}

}  // namespace

void add_findings(const tmeter::Graph& graph, tmeter::Call& call) {
  const auto& statistics = run_results().statistics;
  std::vector<MeasuredTensor> measured;
  for (const auto& t : graph.tensors()) {
    const auto found = statistics.find(t.index());
    if (found != statistics.end()) measured.push_back({t, &found->second});
  }
  for (const auto& rule : kRules) {
    std::vector<MeasuredTensor> found;
    for (const auto& s : measured)
      if (rule.holds(s.tensor, *s.statistics)) found.push_back(s);
    if (!found.empty()) add_finding(rule, found, call);
  }
}

}  // namespace param_stats
