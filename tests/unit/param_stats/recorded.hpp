// The tensors of tests/fixtures/tensor_stats with their statistics by NumPy.
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

/// Analyses `bytes` like the host: in `parts` parts, each passed in chunks of `chunk` elements.
param_stats::Statistics analyse(tmeter::DType type, const std::vector<uint8_t>& bytes,
                                int64_t parts, int64_t chunk, double threshold = 0.01,
                                int* passes = nullptr);

/// Equal within 1e-6, the promised tolerance, relative to the expected value; relative to `scale`
/// where the value is a sum of rounding errors.
::testing::AssertionResult close(double actual, const nlohmann::json& expected, double scale = 0);

}  // namespace recorded
