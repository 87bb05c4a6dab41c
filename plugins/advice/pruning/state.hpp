// The tensor analysis: one pass over a weight, its columns, and the data for the findings.
#pragma once
#include <memory>
#include <mutex>
#include <tmeter/cpp/plugin.hpp>

#include "magnitudes.hpp"
#include "structure.hpp"

#pragma GCC visibility push(hidden)
namespace pruning {

/// The results of a weight.
struct Weight {
  tmeter::Tensor tensor;
  std::string name;
  Shape shape;
  bool finite = true;
  bool table = false;  // an embedding: its rows are entries, not filters
  int64_t elements = 0;
  double power = 0;  // Σ x²
  Curve curve{};
  std::optional<double> kept_2_4;
  std::vector<size_t> dead;  // filters
  double low = 0;            // share of filters with a small norm
  /// L2 norms, only of attention projections: their sums are the norms of heads.
  std::vector<double> filter_norms, input_norms;

  int64_t filters() const { return shape.transposed ? shape.columns : shape.rows; }
  /// The share of Σx² that the largest half of the elements keeps: a bound for 2:4.
  double unstructured_50() const {
    const double loss = loss_at(curve, 0.5);
    return 1 - loss * loss;
  }
};

/// The results of a run: weights in the order of the tensors, and the magnitudes of all.
struct Collection {
  std::vector<Weight> weights;
  Magnitudes all{false};
  std::mutex mutex;  // guards `all`, to which tensors add on any thread
};

/// Floating-point parameters of rank 2 and more that are not empty.
bool is_weight(const tmeter::Tensor& tensor);
/// Embeddings by module type or, without a type, by name.
bool is_table(const tmeter::Tensor& tensor);
/// Each state adds its results to `into`, which must outlive it.
std::unique_ptr<tmeter::TensorAnalysis> make_state(const tmeter::TensorPart& part,
                                                   Collection& into);

}  // namespace pruning
#pragma GCC visibility pop
