// The plan: the smallest allowed scheme of each weight within the error budget, and the weights
// that keep at least 8 bits by rule.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

#include "measure.hpp"

namespace quantization {

/// One weight after all measurements.
struct Weight {
  std::string name;
  size_t tensor = 0;  // index in the graph
  Layout layout;
  Measurements measured;
  int64_t stored = 0;          // bytes in the file, parts included
  std::string_view sensitive;  // why it gets at least 8 bits; empty if it may have fewer
  bool matrix() const { return layout.dims.size() == 2; }
};

struct Choice {
  std::optional<size_t> scheme;  // empty: unchanged
  int64_t bytes = 0;
  double bits(const Weight& w) const {
    return 8.0 * static_cast<double>(bytes) / static_cast<double>(w.layout.elements);
  }
};

/// The candidates of a plan: positions in kSchemes.
struct Rules {
  std::vector<size_t> allowed;
  double least_sqnr = 0;  // dB
};

/// Kernels for groups of weights exist only for matrix products, so weights of other rank get
/// schemes per tensor or channel. Of equal bytes the better SQNR wins, then the first allowed.
Choice choose(const Weight& weight, const Rules& rules);

// Weights the field keeps at 8 bits or more, by rule and not by measurement.

/// Why: "first convolution", "token embedding", "output layer"; empty for all others.
std::string_view sensitive_by_rule(const tmeter::Tensor& tensor);

}  // namespace quantization
