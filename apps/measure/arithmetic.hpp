// Measures the arithmetic of the cores in registers: multiply-accumulates and plain operations by
// element type, with each instruction set of the processor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace measure {

struct Kernel {
  const char* family;  ///< "peak.mac"
  const char* dtype;   ///< PyTorch's name
  const char* how;     ///< its method, for the profile's source
  /// Runs this number of rounds; returns the number of operations.
  double (*run)(size_t rounds);
};

struct InstructionSet {
  std::string name;  ///< Highway's name: "AVX3_DL"
  std::vector<Kernel> kernels;
};

/// The sets this processor has; sets with dot products first.
std::vector<InstructionSet> instruction_sets();

/// Extensions for dot products of narrow types, which Highway (1.0) does not use.
std::vector<InstructionSet> dot_product_sets();

}  // namespace measure
