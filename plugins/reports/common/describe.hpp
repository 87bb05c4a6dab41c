// Descriptions of the model, of values of its graph, and of findings.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <utility>
#include <vector>

namespace reports {

/// Class of the model, or its name in the file.
std::string_view model_name(const tmeter::Report& report);

/// "torch.export (torch 2.15.0)"; empty if the file does not state it.
std::string format_of(const tmeter::Report& report);

/// "97.80 MiB"; empty if unknown.
std::string file_size(const tmeter::Report& report);

/// Wall time of the analysis in seconds.
std::optional<double> analysis_seconds(const tmeter::Report& report);

/// The first elements of each output of a run, by its place ("0"); on request.
std::vector<std::pair<std::string, std::string>> output_values(const tmeter::Report& report);

/// " (×2)" after the name of a module that is called twice; empty for one call or none.
std::string calls_mark(const tmeter::Module& module);

/// "x: f32[1, 3, 224, 224] (inferred)", with the origin of sizes that are not recorded.
std::string describe_input(const tmeter::Graph& graph, size_t i);

/// "f32[batch=8, 3, 224, 224]"; scalars and lists as their values, long lists shortened.
std::string describe(const tmeter::Value& value);

/// "llama", "[8, 8, 4]", "[a, b, … 50,000]": the value.
std::string describe(const tmeter::Metadata& fact);

/// "f32[64, 3, 7, 7]", "gptq[4096, 4096]"
std::string describe(const tmeter::Tensor& tensor);

/// "175 operators: 54 counted, 121 zero by rule, 0 unknown"; empty if no metric has coverage.
std::string describe_coverage(const tmeter::Report& report);

/// "no rule for acme::fused ×3, acme::gate ×1 and 2 more"; empty if every operator has one.
std::string describe_unknown(const tmeter::Report& report);

/// "4,089,184,256", "≥12", "100.00 %", "?": the value that an assertion is about.
std::string describe_value(const tmeter::Report& report, const tmeter::AssertionView& assertion);

// The parts of a finding as text.

/// "param mem 97.49 MiB → 24.40 MiB"; empty when the report has no such metric.
std::string describe_change(const tmeter::Report& report, const tmeter_change& change);

/// The module path, operator or tensor that a finding is about; empty for the whole model.
std::string describe_target(const tmeter::Graph& graph, const tmeter_target& target);

/// The findings of each row, by their places in the report. Safe from any thread.
class FindingsByRow {
 public:
  explicit FindingsByRow(const tmeter::Report& report);
  /// Findings about the row itself, not about the whole model; in the order of the report.
  const std::vector<size_t>& of(int32_t axis, size_t index) const;

 private:
  std::map<std::pair<int32_t, size_t>, std::vector<size_t>> rows_;
};

/// Elements of the parameters among a node's arguments, each once; 0 without any.
int64_t parameters_of(const tmeter::Node& node);
/// Parameters and buffers among a node's arguments, those in lists included, each once.
std::vector<tmeter::Tensor> tensors_of(const tmeter::Node& node);

}  // namespace reports
