// A graph made ready to run: every operator looked up, every argument a constant or the number of a
// slot, and known after which step a slot is no longer needed. Nothing is worked out per run.
#pragma once
#include <vector>

#include "operators/libtorch.hpp"
#include "torchscript/loaded_model_state.hpp"

namespace tmeter::torch_backend {

/// Where a value comes from when a step runs.
struct Operand {
  enum class Kind : uint8_t {
    kConstant,
    kSlot,
    kTensorOfNumber,  // the slot has a number and the operator takes a tensor
    kList             // made of other operands
  };
  Kind kind = Kind::kConstant;
  uint32_t slot = 0;
  c10::IValue constant{};
  c10::TypePtr element{};  // of a list
  std::vector<Operand> items{};
};

/// Where a result goes: into a slot, nowhere (kNoSlot), or, of a list, each item for itself.
struct Result {
  static constexpr uint32_t kNoSlot = ~uint32_t{0};
  uint32_t slot = kNoSlot;
  std::vector<uint32_t> items{};
};

/// Arithmetic on sizes that only a run knows; operators of the .pt2 format that LibTorch lacks.
using Compute = c10::IValue (*)(const std::vector<c10::IValue>& operands);

struct Step {
  enum class Kind : uint8_t {
    kOperator,
    kNumber,   // `compute`
    kRequire,  // the operand must be `taken`, or the graph has not the way that data leads to
    kMove,     // operands into results, all at once
    kLeave,    // go on at step `to` unless the operand is true
    kGoBack    // to step `to`
  };
  Kind kind = Kind::kOperator;
  bool taken = true;
  uint32_t to = 0;
  std::optional<c10::OperatorHandle> op;
  Compute compute = nullptr;
  const tmeter_node* node = nullptr;
  std::vector<Operand> operands;
  std::vector<Result> results;
  std::vector<uint32_t> last_uses;  // slots that nothing after this step needs
  std::vector<int64_t> counted_on;  // sizes of the result that numbers of the program follow
  bool counts = false;              // there are some
  std::string place;                // "aten::conv2d of layer1.0", "torch.cond at net.py:3"
};

struct Program {
  std::vector<Step> steps;
  std::vector<uint32_t> inputs;  // the slots of tensors that are given, in order
  std::vector<Operand> outputs;
  size_t slots = 0;
};

/// What the program is made with: `weight` gives each parameter, buffer and constant, on `device`;
/// `written`: the model changes it.
struct ProgramSource {
  const Graph& graph;
  const LoadedModelState& state;
  at::Device device;
  std::function<at::Tensor(const Tensor&, bool written)> weight;
};

/// Throws TMETER_CANNOT_RUN when the graph has what cannot be run, with its module.
Program make_program(const ProgramSource& source);

/// The tensors of the graph's inputs in the order of Program::inputs, lists opened.
std::vector<Value> input_tensors(const Graph& graph);

/// "aten::conv2d of layer1.0"
std::string place_of(const Node& node);

}  // namespace tmeter::torch_backend
