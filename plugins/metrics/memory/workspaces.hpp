// Memory that LibTorch's CPU kernels take while an operator runs, beyond its results: tensors in
// the layout that a kernel wants, columns of an image, statistics that nobody asked for. README.md
// has the formulas and where they are from. Float32 only; what has no rule takes nothing here, so
// that sums are lower bounds.
#pragma once
#include "plugins/common/strides.hpp"
#include <tmeter/cpp/plugin.hpp>

namespace memory {

/// What the formulas ask of the machine.
struct Kernels {
  int64_t threads = 1;
  int64_t block = 16;  // channels that oneDNN keeps together: 16 with AVX-512, 8 with AVX2
  const plugins::Layouts* layouts = nullptr;  // strides, where they are known
};

/// Beyond what is there before and its results, at most while it runs.
tmeter::Count workspace_of(const tmeter::Node& node, const Kernels& kernels);

// Rules of their own files.
tmeter::Count convolution_workspace(const tmeter::Node& node, const Kernels& kernels);
tmeter::Count max_pool_workspace(const tmeter::Node& node, const Kernels& kernels);
tmeter::Count lstm_workspace(const tmeter::Node& node, const Kernels& kernels);
tmeter::Count gru_workspace(const tmeter::Node& node, const Kernels& kernels);
tmeter::Count rnn_workspace(const tmeter::Node& node, const Kernels& kernels);

/// How a tensor lies in memory; none where that is not known.
const plugins::Strided* layout_of(const tmeter::Value& value, const Kernels& kernels);

/// A float32 tensor all of whose sizes are known.
bool is_plain_float(const tmeter::Value& value);

inline constexpr int64_t kFloat = 4, kIndex = 8;  // bytes

inline tmeter::Count rounded_up(tmeter::Count n, int64_t block) {
  return (n + tmeter::Count(block - 1)) / tmeter::Count(block) * tmeter::Count(block);
}

}  // namespace memory
