// The recorded tensors of tests/fixtures/tensor_stats, and the statistics NumPy gave for them.
#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugins/metrics/param_stats/collector.hpp"

namespace recorded {

struct RecordedTensor {
  std::string name;
  tmeter::DType dtype;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
  nlohmann::json expected;

  int64_t numel() const { return static_cast<int64_t>(bytes.size()) / dtype.bytes(); }
};

std::vector<RecordedTensor> tensors();

/// Analyses `bytes` in `parts` parts, each fed in chunks of `chunk` elements, as the host does.
param_stats::Statistics analyse(tmeter::DType type, const std::vector<uint8_t>& bytes, int64_t parts,
                             int64_t chunk, double threshold = 0.01, int* passes = nullptr);

/// Equal within 1e-6, the tolerance issue 5 asks for; also where one sums up rounding errors only:
/// then relative to `scale`.
::testing::AssertionResult close(double actual, const nlohmann::json& expected, double scale = 0);

}  // namespace recorded
