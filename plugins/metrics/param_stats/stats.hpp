// The state of one tensor while it is streamed, and what is kept of it for modules and findings.
#pragma once
#include <memory>
#include <unordered_map>

#include "collector.hpp"
#include "metrics.hpp"
#include "sketch.hpp"

namespace param_stats {

class Stats final : public tmeter::TensorAnalysis {
 public:
  Stats(const tmeter::TensorPart& part, const tmeter::Call& call);
  void chunk(const tmeter::Chunk& chunk, tmeter::Call&) override;
  void merge(tmeter::TensorAnalysis& other) override;
  bool end(const tmeter::TensorPart& whole, tmeter::Call& call) override;
  void emit(const tmeter::Tensor& tensor, tmeter::Call& call) override;

 private:
  void find_spectrum(const tmeter::Tensor& tensor, const tmeter::Call& call);

  double threshold_;
  std::unique_ptr<Collector> collector_;
  std::shared_ptr<RowSketch> sketch_;  // for spectral norms; shared with the passes after
  Figures figures_;
  std::string left_out_;  // why there is no spectral norm, where one would be expected
};

/// Figures of the tensors that were streamed in this run, by index. Used on the main thread only.
using Kept = std::unordered_map<size_t, Figures>;
Kept& kept();

/// The parameters of every module and of the model, merged.
void roll_up(const tmeter::Graph& graph, tmeter::Call& call);

/// What the numbers say in words.
void add_findings(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace param_stats
