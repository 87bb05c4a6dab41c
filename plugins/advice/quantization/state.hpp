// The tensor analysis: streams a weight through both passes, emits its values, and keeps the data
// for the plan.
#pragma once
#include <memory>
#include <tmeter/cpp/plugin.hpp>

#include "measure.hpp"
#include "plan.hpp"

#pragma GCC visibility push(hidden)
namespace quantization {

/// A weight as the findings need it.
struct Report {
  Weight weight;
  tmeter::Tensor tensor;
  std::vector<Outlier> outputs, inputs;  // channels
};

/// The measurements of a run, in the order of the tensors.
using Collection = std::vector<Report>;

/// Floating-point parameters of rank 2 and more that are not empty.
bool is_weight(const tmeter::Tensor& tensor);
/// 1 for transposed convolutions, whose outputs are dim 1; else 0.
int channel_axis_of(const tmeter::Tensor& tensor);

/// States of the tensor analysis add themselves to `into`, which outlives them.
std::unique_ptr<tmeter::TensorAnalysis> make_state(const tmeter::TensorPart& part,
                                                   double outlier_ratio, Collection& into);

/// "sqnr_int8_channel", for every scheme.
const std::array<std::string, kSchemeCount>& metric_ids();

}  // namespace quantization
#pragma GCC visibility pop
