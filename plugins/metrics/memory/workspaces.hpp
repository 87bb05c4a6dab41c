// Memory that LibTorch's CPU kernels allocate while an operator runs, beyond its results: copies in
// the layout of the kernel, columns of an image, unused statistics. README.md has the formulas and
// their sources. Float32 only; an operator without a rule counts as 0, so sums are lower bounds.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/strides.hpp"

namespace memory {

/// The machine that the formulas are for.
struct Kernels {
  int64_t threads = 1;
  int64_t block = 16;  // channels in a block of oneDNN: 16 with AVX-512, 8 with AVX2
  const plugins::Layouts* layouts = nullptr;  // known strides
};

/// The largest amount while it runs, beyond arguments and results.
tmeter::Count workspace_of(const tmeter::Node& node, const Kernels& kernels);

// Rules in separate files.
tmeter::Count convolution_workspace(const tmeter::Node& node, const Kernels& kernels);
tmeter::Count max_pool_workspace(const tmeter::Node& node, const Kernels& kernels);
tmeter::Count lstm_workspace(const tmeter::Node& node, const Kernels& kernels);
tmeter::Count gru_workspace(const tmeter::Node& node, const Kernels& kernels);
tmeter::Count rnn_workspace(const tmeter::Node& node, const Kernels& kernels);

/// The strides of a tensor; null if unknown.
const plugins::Strided* layout_of(const tmeter::Value& value, const Kernels& kernels);

/// A float32 tensor with known sizes.
bool is_plain_float(const tmeter::Value& value);

inline constexpr int64_t kFloat = 4, kIndex = 8;  // bytes

inline tmeter::Count rounded_up(tmeter::Count n, int64_t block) {
  return (n + tmeter::Count(block - 1)) / tmeter::Count(block) * tmeter::Count(block);
}

}  // namespace memory
