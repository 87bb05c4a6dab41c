#include "executor/runner.hpp"

#include <optional>

#include "operators/limits.hpp"
#include "operators/messages.hpp"

namespace tmeter::torch_backend {
namespace {

using c10::IValue;

bool reports_operators(int32_t run) {
  return run == TMETER_RUN_OPERATORS || run == TMETER_RUN_MEMORY;
}

std::string mib(uint64_t bytes) { return std::to_string((bytes >> 20) + 1) + " MiB"; }

/// The number in "you tried to allocate 4096 bytes"; 0 if the text has no number.
uint64_t bytes_requested(std::string_view text) {
  constexpr std::string_view kBefore = "tried to allocate ";
  const auto at = text.find(kBefore);
  return at == std::string_view::npos
             ? 0
             : std::strtoull(std::string(text.substr(at + kBefore.size(), 24)).c_str(), nullptr,
                             10);
}

IValue tensor_of_number(const IValue& number) {
  auto tensor = c10::scalar_to_tensor(number.toScalar());
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

}  // namespace

/// Events of the CPU are reported at once, events of a GPU after the run, when its clock can be
/// read.
struct Runner::EventSink {
  ExecutorCall& call;
  DeviceClock& clock;
  tmeter_event event{};
  bool on_cpu, silent = false;
  std::optional<MemoryEvents> memory;
  struct DeviceInterval {
    size_t begin, end;
    const tmeter_node* node;
  };
  std::vector<DeviceInterval> device_intervals;

  EventSink(ExecutorCall& c, DeviceClock& k, int32_t run, int32_t threads, at::Device device)
      : call(c), clock(k), on_cpu(device.is_cpu()) {
    event.struct_size = sizeof event;
    event.run = run;
    event.threads = threads;
  }

  void report(int32_t kind, uint64_t at, const tmeter_node* node = nullptr, int64_t bytes = 0,
              uint64_t since = 0) {
    if (silent) return;
    event.kind = kind;
    event.nanoseconds = at;
    event.since = since;
    event.node = node;
    event.bytes = bytes;
    call.event(event);
  }
  void report_memory(const tmeter_node* node) {
    if (!memory || event.run != TMETER_RUN_MEMORY) return;
    for (const auto& m : memory->take()) {
      if (m.bytes == 0) continue;
      report(m.bytes > 0 ? TMETER_EVENT_ALLOCATE : TMETER_EVENT_FREE, m.nanoseconds, node,
             std::abs(m.bytes));
    }
  }
  void report_marked() {
    for (const auto& m : device_intervals) {
      report(TMETER_EVENT_OP_BEGIN, clock.at(m.begin), m.node);
      report(TMETER_EVENT_OP_END, clock.at(m.end), m.node, 0, clock.at(m.begin));
    }
  }
};

Runner::Runner(Program program, std::vector<at::Tensor> inputs, at::Device device, uint64_t limit)
    : program_(std::move(program)),
      inputs_(std::move(inputs)),
      device_(device),
      memory_limit_(limit),
      clock_(device),
      slots_(program_.slots) {}

void Runner::use_threads(int32_t threads) {
  if (threads == threads_) return;
  if (threads > max_threads_) {
    const int start = threads_that_start(static_cast<unsigned>(threads));
    if (start < threads)
      throw Error(TMETER_CANNOT_RUN, "only " + std::to_string(start) + " of " +
                                         std::to_string(threads) +
                                         " threads can be started on this machine (--threads)");
    max_threads_ = threads;
  }
  at::set_num_threads(threads);
  threads_ = threads;
}

void Runner::run(int32_t run, int32_t threads, ExecutorCall& call) {
  EventSink sink(call, clock_, run, threads, device_);
  run_program(sink);
}

void Runner::run_unobserved(int32_t threads, ExecutorCall& call) {
  EventSink sink(call, clock_, TMETER_RUN_WARM_UP, threads, device_);
  sink.silent = true;
  run_program(sink);
}

void Runner::run_program(EventSink& sink) {
  const auto run = sink.event.run;
  const c10::InferenceMode inference;
  const c10::DeviceGuard guard(device_);
  use_threads(sink.event.threads);
  for (auto& slot : slots_) slot = {};
  // On the CPU, --max-memory limits the whole process, and counting here would cost time.
  const auto limit = sink.on_cpu ? 0 : memory_limit_;
  if (run == TMETER_RUN_MEMORY || limit > 0) sink.memory.emplace(device_, limit);
  for (size_t i = 0; i < inputs_.size(); ++i) slots_[program_.inputs[i]] = inputs_[i];
  wait_for(device_);
  sink.report(TMETER_EVENT_RUN_BEGIN, now_ns());
  const auto since = now_ns();
  if (!sink.on_cpu) clock_.start(since);
  run_steps(sink);
  if (sink.on_cpu) return sink.report(TMETER_EVENT_RUN_END, now_ns(), nullptr, 0, since);
  const auto end = clock_.mark();
  wait_for(device_);
  sink.report_marked();
  sink.report(TMETER_EVENT_RUN_END, clock_.at(end), nullptr, 0, since);
}

void Runner::run_steps(EventSink& sink) {
  for (size_t i = 0; i < program_.steps.size();) {
    const auto& s = program_.steps[i];
    sink.call.at(s.place);
    if (sink.call.cancelled()) throw Error(TMETER_CANCELLED, "cancelled");
    if (s.kind > Step::Kind::kNumber) {
      i = control(s, i);
    } else {
      run_observed(s, sink);
      ++i;
    }
    for (const auto slot : s.last_uses) slots_[slot] = {};
    sink.report_memory(nullptr);
    if (sink.memory && sink.memory->beyond_limit())
      throw Error(TMETER_CANNOT_RUN, s.place + " takes more memory than is allowed: " +
                                         mib(sink.memory->used()) + " of " + mib(memory_limit_));
  }
}

void Runner::run_observed(const Step& s, EventSink& sink) {
  if (!reports_operators(sink.event.run)) return step(s);
  if (sink.on_cpu) {
    sink.report(TMETER_EVENT_OP_BEGIN, now_ns(), s.node);
    const auto since = now_ns();
    step(s);
    const auto end = now_ns();
    sink.report_memory(s.node);
    sink.report(TMETER_EVENT_OP_END, end, s.node, 0, since);
  } else {
    const auto begin = clock_.mark();
    step(s);
    sink.device_intervals.push_back({begin, clock_.mark(), s.node});
    sink.report_memory(s.node);
  }
}

namespace {

bool is_true(const IValue& value) {
  return value.isTensor() ? value.toTensor().item().toBool() : value.toScalar().toBool();
}

}  // namespace

/// The next step.
size_t Runner::control(const Step& step, size_t at) try {
  switch (step.kind) {
    case Step::Kind::kRequire:
      if (is_true(value_of(step.operands[0])) == step.taken) break;
      throw Error(TMETER_CANNOT_RUN,
                  step.place + ": the " + (step.taken ? "true" : "false") +
                      " branch is the only one in the graph, but these inputs lead to the other; "
                      "give others with --input-file or --seed");
    case Step::Kind::kMove:
      stack_.clear();
      for (const auto& operand : step.operands) push(operand);
      bind(step);
      break;
    case Step::Kind::kLeave:
      return is_true(value_of(step.operands[0])) ? at + 1 : step.to;
    default:
      return step.to;
  }
  return at + 1;
} catch (const std::exception&) {
  rethrow(step);
}

namespace {

std::string sizes_text(at::IntArrayRef sizes) {
  std::string out;
  for (const auto n : sizes) out += (out.empty() ? "" : "x") + std::to_string(n);
  return out;
}

void require_sizes(const Step& step, const at::Tensor& result) {
  if (result.sizes() == *step.required_sizes) return;
  throw Error(TMETER_CANNOT_RUN, step.place + " gives " + sizes_text(result.sizes()) +
                                     " for these inputs, but the recorded "
                                     "program depends on " +
                                     sizes_text(*step.required_sizes) +
                                     "; in a .pt2 file (torch.export), sizes may depend on data");
}

}  // namespace

void Runner::step(const Step& step) try {
  stack_.clear();
  for (const auto& operand : step.operands) push(operand);
  if (step.op) {
    step.op->callBoxed(stack_);
    if (step.required_sizes) require_sizes(step, stack_[0].toTensor());
  } else {
    auto number = step.compute(stack_);
    stack_.assign(1, std::move(number));
  }
  bind(step);
} catch (const std::exception&) {
  rethrow(step);
}

void Runner::push(const Operand& operand) {
  if (operand.kind == Operand::Kind::kConstant) {
    stack_.push_back(operand.constant);
  } else if (operand.kind == Operand::Kind::kSlot) {
    stack_.push_back(slots_[operand.slot]);
  } else {
    stack_.push_back(value_of(operand));
  }
}

IValue Runner::value_of(const Operand& operand) const {
  switch (operand.kind) {
    case Operand::Kind::kConstant:
      return operand.constant;
    case Operand::Kind::kSlot:
      return slots_[operand.slot];
    case Operand::Kind::kTensorOfNumber:
      return tensor_of_number(slots_[operand.slot]);
    default:
      break;
  }
  c10::impl::GenericList list(operand.element);
  list.reserve(operand.items.size());
  for (const auto& item : operand.items) list.push_back(value_of(item));
  return list;
}

void Runner::bind(const Step& step) {
  for (size_t i = 0; i < step.results.size() && i < stack_.size(); ++i) {
    const auto& result = step.results[i];
    auto& value = stack_[i];
    if (result.slot != Result::kNoSlot) {
      slots_[result.slot] = std::move(value);
    } else if (!result.items.empty()) {
      const auto items = value.toList();
      TORCH_CHECK(items.size() >= result.items.size(), "gives ", items.size(),
                  " tensors where the file has ", result.items.size());
      for (size_t k = 0; k < result.items.size(); ++k) {
        if (result.items[k] != Result::kNoSlot) slots_[result.items[k]] = items.get(k);
      }
    }
  }
  stack_.clear();
}

void Runner::rethrow(const Step& step) const {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    const auto* own = dynamic_cast<const c10::Error*>(&e);
    const std::string text = own ? own->what_without_backtrace() : e.what();
    const auto bytes = bytes_requested(text);
    throw Error(TMETER_CANNOT_RUN, step.place + ": " + short_reason(e) +
                                       (bytes ? ": it needs " + mib(bytes) : std::string()));
  }
}

namespace {

void collect_tensors_of(const IValue& value, std::vector<at::Tensor>& out) {
  if (value.isTensor()) {
    out.push_back(value.toTensor());
  } else if (value.isList()) {
    for (const IValue& item : value.toListRef()) collect_tensors_of(item, out);
  }
}

}  // namespace

std::vector<at::Tensor> Runner::outputs() const {
  std::vector<at::Tensor> out;
  for (const auto& operand : program_.outputs) collect_tensors_of(value_of(operand), out);
  return out;
}

}  // namespace tmeter::torch_backend
