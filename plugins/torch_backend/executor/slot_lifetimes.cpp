#include <algorithm>

#include "executor/program.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr size_t kNever = SIZE_MAX;

/// The first and the last step that each slot is used in.
class Lifetimes {
 public:
  explicit Lifetimes(const Program& program)
      : first_(program.slots, kNever), last_(program.slots, kNever), live_to_end_(program.slots) {
    for (size_t i = 0; i < program.steps.size(); ++i) {
      for (const auto& result : program.steps[i].results) {
        made(result.slot, i);
        for (const auto slot : result.items) made(slot, i);
      }
      for (const auto& operand : program.steps[i].operands) used(operand, i);
    }
    for (const auto& output : program.outputs) used(output, kNever);
    for (const auto slot : program.inputs) live_to_end_[slot] = true;
  }

  /// A value from before the loop must live until its last iteration has ended.
  void extend_over(const StepRange& loop) {
    for (size_t slot = 0; slot < first_.size(); ++slot) {
      auto& last = last_[slot];
      if (first_[slot] < loop.first && last != kNever && last >= loop.first && last <= loop.last)
        last = loop.last + 1;
    }
  }

  void store(Program& program) const {
    for (uint32_t slot = 0; slot < first_.size(); ++slot) {
      if (!live_to_end_[slot] && last_[slot] != kNever)
        program.steps[last_[slot]].last_uses.push_back(slot);
    }
  }

 private:
  void made(uint32_t slot, size_t step) {
    if (slot == Result::kNoSlot) return;
    first_[slot] = std::min(first_[slot], step);
    last_[slot] = step;
  }

  void used(const Operand& operand, size_t step) {
    if (operand.kind == Operand::Kind::kSlot || operand.kind == Operand::Kind::kTensorOfNumber) {
      if (step == kNever)
        live_to_end_[operand.slot] = true;
      else
        last_[operand.slot] = step;
    }
    for (const auto& item : operand.items) used(item, step);
  }

  std::vector<size_t> first_, last_;
  std::vector<bool> live_to_end_;
};

}  // namespace

void set_last_uses(Program& program, const std::vector<StepRange>& loops) {
  Lifetimes lifetimes(program);
  for (const auto& loop : loops) lifetimes.extend_over(loop);
  lifetimes.store(program);
}

}  // namespace tmeter::torch_backend
