// A graph prepared to run: every operator is resolved, every argument is a constant or the number
// of a slot, and each slot has a step after which it is free. Nothing of this is repeated per run.
#pragma once
#include <string>
#include <vector>

#include "operators/libtorch.hpp"
#include "torchscript/run/loaded_model_state.hpp"

namespace tmeter::torch_backend {

/// The source of a value when a step runs.
struct Operand {
  enum class Kind : uint8_t {
    kConstant,
    kSlot,
    kTensorOfNumber,  // the slot has a number, but the operator needs a tensor
    kList             // a list of other operands
  };
  Kind kind = Kind::kConstant;
  uint32_t slot = 0;
  c10::IValue constant{};
  c10::TypePtr element{};  // type of a list's items
  std::vector<Operand> items{};
};

/// The target of a result: a slot, none (kNoSlot), or one per item of a list.
struct Result {
  static constexpr uint32_t kNoSlot = ~uint32_t{0};
  uint32_t slot = kNoSlot;
  std::vector<uint32_t> items{};
};

/// Arithmetic on sizes that are known only in a run: operators of the .pt2 format that LibTorch
/// lacks.
using Compute = c10::IValue (*)(const std::vector<c10::IValue>& operands);

struct Step {
  enum class Kind : uint8_t {
    kOperator,
    kNumber,   // `compute`
    kRequire,  // the operand must equal `taken`: the graph has only that branch
    kMove,     // operands into results, simultaneously
    kLeave,    // continue at step `to` unless the operand is true
    kGoBack    // a jump to step `to`
  };
  Kind kind = Kind::kOperator;
  bool taken = true;
  uint32_t to = 0;
  std::optional<c10::OperatorHandle> op;
  Compute compute = nullptr;
  const tmeter_node* node = nullptr;
  std::vector<Operand> operands;
  std::vector<Result> results;
  std::vector<uint32_t> last_uses;  // slots that are free after this step
  /// Sizes of the result, because numbers of the program depend on them.
  std::optional<std::vector<int64_t>> required_sizes;
  std::string place;  // "aten::conv2d of layer1.0", "torch.cond at net.py:3"
};

struct Program {
  std::vector<Step> steps;
  std::vector<uint32_t> inputs;  // the slots of input tensors, in order
  std::vector<Operand> outputs;
  size_t slots = 0;
};

/// The parts of a program. `weight` returns a parameter, buffer or constant on `device`; `mutated`
/// if the model changes it.
struct ProgramSource {
  const Graph& graph;
  const LoadedModelState& state;
  at::Device device;
  std::function<at::Tensor(const Tensor&, bool mutated)> weight;
};

/// Throws TMETER_CANNOT_RUN, naming the module, if a part of the graph cannot be run.
Program make_program(const ProgramSource& source);

/// The steps of a loop.
struct StepRange {
  size_t first, last;
};

/// Sets `last_uses` of every step. An unused result is free at once; inputs and outputs live until
/// the end. `loops` has inner loops first (slot_lifetimes.cpp).
void set_last_uses(Program& program, const std::vector<StepRange>& loops);

/// The tensors of the graph's inputs in the order of Program::inputs, items of lists included.
std::vector<Value> input_tensors(const Graph& graph);

/// "aten::conv2d of layer1.0"
std::string place_of(const Node& node);

// Control flow of a graph: torch.cond and torch.while_loop, in the notation of the .pt2 loader
// (plugins/loaders/pt2/higher_order.cpp).

struct Region {
  bool is_loop = false;
  size_t begin = 0;          // its first node
  size_t body = 0, end = 0;  // for a loop
  bool taken = true;         // for a condition: the recorded branch
  Value condition;
  std::vector<Value> carried;  // carried between iterations: the first values
  std::vector<Value> results;  // their values for the next iteration
  std::string place;           // "torch.cond at net.py:12"
};

/// Regions in the order of their beginning, outer ones first. Throws TMETER_CANNOT_RUN if the graph
/// lacks the description of its control flow.
std::vector<Region> regions_of(const Graph& graph);

}  // namespace tmeter::torch_backend
