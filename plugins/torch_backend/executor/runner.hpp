// Runs a program operator by operator and reports events.
#pragma once
#include <tmeter/cpp/executor.hpp>

#include "executor/device.hpp"
#include "executor/program.hpp"

namespace tmeter::torch_backend {

class Runner final : public Execution {
 public:
  Runner(Program program, std::vector<at::Tensor> inputs, at::Device device, uint64_t memory_limit);

  void run(int32_t run, int32_t threads, ExecutorCall& call) override;

  /// A run without events.
  void run_unobserved(int32_t threads, ExecutorCall& call);
  /// The outputs of the last run, including items of lists. Valid until the next run.
  std::vector<at::Tensor> outputs() const;

 private:
  struct EventSink;  // reports the events of one run

  void use_threads(int32_t threads);
  void run_program(EventSink& sink);
  void run_steps(EventSink& sink);
  void run_observed(const Step& step, EventSink& sink);
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
  int32_t threads_ = 0, max_threads_ = 0;
  DeviceClock clock_;
  std::vector<c10::IValue> slots_;
  torch::jit::Stack stack_;
};

}  // namespace tmeter::torch_backend
