// The columns of param-stats, the two streamed analyses of a tensor, and their results for modules
// and findings.
#pragma once
#include <memory>
#include <tmeter/cpp/plugin.hpp>
#include <unordered_map>

#include "collector.hpp"
#include "spectrum.hpp"
#include "statistics.hpp"

namespace param_stats {

// The columns of param-stats in the order of reports: the text that users read of each, and the
// source of its value.

/// Exactly one function is set. It selects the analysis of the plugin that emits the column.
struct Column {
  tmeter::MetricSpec spec;
  /// A value of a tensor and, merged, of the parameters of a module or the model.
  tmeter::Cell (*pooled)(const PooledStatistics&) = nullptr;
  /// A value of a tensor only, because it does not merge exactly.
  tmeter::Cell (*of_tensor)(const Statistics&, const tmeter::Tensor&) = nullptr;
  /// A value of a tensor that is a matrix of finite values; computed on request.
  tmeter::Cell (*spectral)(const Spectrum&) = nullptr;
};
std::span<const Column> columns();

/// Separated by spaces, the form in which analyses declare their metrics.
std::string ids_where(bool (*applies)(const Column&));

// The two streamed analyses of a tensor, and their results for modules and findings.

/// The statistics that are computed while the elements are streamed.
class TensorStatistics final : public tmeter::TensorAnalysis {
 public:
  TensorStatistics(const tmeter::TensorPart& part, const tmeter::Call& call);
  void chunk(const tmeter::Chunk& chunk, tmeter::Call&) override;
  void merge(tmeter::TensorAnalysis& other) override;
  bool end(const tmeter::TensorPart& whole, tmeter::Call& call) override;
  void emit(const tmeter::Tensor& tensor, tmeter::Call& call) override;

 private:
  double threshold_;
  std::unique_ptr<Collector> collector_;
  Statistics statistics_;
};

/// Singular values. Elements are needed more than once and out of order: they are read in `end`.
class TensorSpectrum final : public tmeter::TensorAnalysis {
 public:
  void chunk(const tmeter::Chunk&, tmeter::Call&) override {}
  void merge(tmeter::TensorAnalysis&) override {}
  bool end(const tmeter::TensorPart& whole, tmeter::Call& call) override;
  void emit(const tmeter::Tensor& tensor, tmeter::Call& call) override;

 private:
  std::optional<Spectrum> spectrum_;
  std::string left_out_;  // why it is missing, if a user would expect it
};

/// Whether a tensor has singular values: floating point, of two dims or more.
bool is_matrix(const tmeter::Tensor& tensor);

/// Results of the tensors of this run by index. Used on the main thread only.
struct RunResults {
  std::unordered_map<size_t, Statistics> statistics;
  std::unordered_map<size_t, double> norms;  // spectral
};
RunResults& run_results();

/// Emits the columns of modules and the model: of their parameters taken together.
void roll_up(const tmeter::Graph& graph, tmeter::Call& call);
void roll_up_norms(const tmeter::Graph& graph, tmeter::Call& call);

void add_findings(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace param_stats
