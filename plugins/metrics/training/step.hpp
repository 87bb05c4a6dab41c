// The memory of a training step over time: forward, backward operator by operator, optimizer.
//
// As in torch's eager mode, a result lives until its last use, a kept tensor until the backward
// of its operator has run, a gradient until it has been passed on, the gradients of parameters
// until the end of the step. Allocators' rounding is that of `training.device`; workspaces of
// kernels are not counted.
#pragma once
#include <array>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "checkpointing.hpp"
#include "gradients.hpp"
#include "saved.hpp"

namespace training {

enum class Phase { kForward, kBackward, kOptimizer };

/// The content of the memory at one time.
struct MemoryContent {
  tmeter::Count weights = 0;      // parameters and buffers
  tmeter::Count states = 0;       // states of the optimizer, with master weights
  tmeter::Count gradients = 0;    // gradients of parameters
  tmeter::Count activations = 0;  // inputs, results in use, tensors kept for the backward
  tmeter::Count temporaries = 0;  // gradients of activations, and temporaries of formulas
  tmeter::Count total() const { return weights + states + gradients + activations + temporaries; }
};

struct StepMemory {
  MemoryContent peak;
  Phase phase = Phase::kForward;
  uint32_t node = kNone;                           // node at the peak; kNone: in the optimizer
  std::vector<tmeter::Count> totals;               // at each event, in order
  size_t backward_begin = 0, optimizer_begin = 0;  // events
};

/// Bytes that follow from the optimizer and the precision.
struct StepCosts {
  tmeter::Count weights = 0, states = 0;
  tmeter::Count buffers = 0;                         // bytes of the weights
  tmeter::Count trained_weights = 0;                 // bytes of the trained weights, with adapters
  std::vector<tmeter::Count> gradients;              // by tensor
  std::vector<tmeter::Count> adapters;               // gradients of the adapters beside a tensor
  std::vector<tmeter::Count> weights_of, states_of;  // by tensor, with its adapters'
  tmeter::Count optimizer_temporaries = 0;
};

StepMemory simulate_step(const tmeter::Graph& graph, const Gradients& gradients, const Tape& tape,
                         const Regions& regions, const StepCosts& costs, const Settings& settings);

}  // namespace training
