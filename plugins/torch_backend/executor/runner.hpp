// Runs a program, operator by operator, and tells what happens.
#pragma once
#include <tmeter/cpp/executor.hpp>

#include "executor/memory_events.hpp"
#include "executor/program.hpp"
#include "executor/run_device.hpp"

namespace tmeter::torch_backend {

class Runner final : public Execution {
 public:
  Runner(Program program, std::vector<at::Tensor> inputs, at::Device device, uint64_t memory_limit);

  void run(int32_t run, int32_t threads, ExecutorCall& call) override;

  /// A run that nobody is told of.
  void run_untold(int32_t threads, ExecutorCall& call);
  /// What the last run gave, lists opened; until the next one begins.
  std::vector<at::Tensor> outputs() const;

 private:
  struct Telling;  // to whom and of what, in one run

  void use_threads(int32_t threads);
  void run_telling(Telling& telling);
  void all_steps(Telling& telling);
  void tell_step(const Step& step, Telling& telling);
  void step(const Step& step);
  size_t control(const Step& step, size_t at);
  void push(const Operand& operand);
  c10::IValue value_of(const Operand& operand) const;
  void bind(const Step& step);
  [[noreturn]] void rethrow(const Step& step) const;

  Program program_;
  std::vector<at::Tensor> inputs_;
  at::Device device_;
  uint64_t memory_limit_;
  int32_t threads_ = 0, most_threads_ = 0;
  DeviceClock clock_;
  std::vector<c10::IValue> slots_;
  torch::jit::Stack stack_;
};

}  // namespace tmeter::torch_backend
