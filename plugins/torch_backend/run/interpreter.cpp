#include "run/interpreter.hpp"

#include "load/messages.hpp"
#include "load/names.hpp"
#include "run/decisions.hpp"

namespace tmeter::torch_backend {
namespace {

using torch::jit::Stack;

/// "This is intended to be a generic testing tensor type mode": nothing in LibTorch uses it.
constexpr auto kMode = c10::DispatchKey::TESTING_ONLY_GenericMode;

// LibTorch's callbacks are plain functions; this tells them whose run it is.
Run*& current_run() {
  thread_local Run* run = nullptr;
  return run;
}

void on_operator(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below_the_mode(kMode);
  if (current_run()) return current_run()->on_operator(op, *stack);
  op.callBoxed(stack);
}

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& function) {
  if (current_run()) current_run()->on_enter(function);
  return nullptr;
}

void on_leave(const at::RecordFunction&, at::ObserverContext*) {
  if (current_run()) current_run()->on_leave();
}

void on_tick(Stack&) {
  if (current_run()) current_run()->on_tick();
}

/// What is registered with LibTorch for good, at the first run.
void register_hooks() {
  static const bool done = [] {
    auto* mode = new torch::Library(torch::Library::IMPL, "_", kMode, __FILE__, __LINE__);
    mode->fallback(torch::CppFunction::makeFromBoxedFunction<&on_operator>());
    torch::jit::setPrintHandler([](const std::string&) {});  // print() in a model is not our output
    return true;
  }();
  (void)done;
}

c10::Symbol tick_symbol() {
  static const auto symbol = [] {
    static const torch::jit::RegisterOperators registration({torch::jit::Operator(
        "tmeter::tick() -> ()", on_tick, c10::AliasAnalysisKind::CONSERVATIVE)});
    return c10::Symbol::fromQualString("tmeter::tick");
  }();
  return symbol;
}

void add_ticks(torch::jit::Graph& graph, torch::jit::Block* block) {
  for (auto* node : block->nodes()) {
    for (auto* inner : node->blocks()) add_ticks(graph, inner);
    if (node->kind() != torch::jit::prim::Loop) continue;
    node->blocks()[0]->prependNode(graph.create(tick_symbol(), {}, 0));
  }
}

/// The interpreter as it is needed here: functions stay functions, nothing is fused or specialised.
class PlainInterpreter {
 public:
  PlainInterpreter()
      : profiling_(torch::jit::getProfilingMode()), executor_(torch::jit::getExecutorMode()) {
    torch::jit::getProfilingMode() = false;
    torch::jit::getExecutorMode() = false;
  }
  ~PlainInterpreter() {
    torch::jit::getProfilingMode() = profiling_;
    torch::jit::getExecutorMode() = executor_;
  }

 private:
  bool profiling_, executor_;
  torch::jit::GraphOptimizerEnabledGuard optimizer_{false};
  c10::InferenceMode inference_;
};

class FunctionCallbacks {
 public:
  FunctionCallbacks()
      : handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(on_enter, on_leave)
                                               .needsInputs(true)
                                               .scopes({at::RecordScope::TORCHSCRIPT_FUNCTION}))) {}
  ~FunctionCallbacks() { at::removeCallback(handle_); }

 private:
  at::CallbackHandle handle_;
};

class CurrentRun {
 public:
  explicit CurrentRun(Run* run) {
    current_run() = run;
    model_is_running() = true;
  }
  ~CurrentRun() {
    current_run() = nullptr;
    model_is_running() = false;
  }
};

/// LibTorch's warnings are about its own use, not about the model.
class Silence final : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

}  // namespace

void watch_loops(const torch::jit::CompilationUnit& code) {
  for (auto* function : code.get_functions()) {
    auto* graph_function = torch::jit::tryToGraphFunction(*function);
    if (graph_function) add_ticks(*graph_function->graph(), graph_function->graph()->block());
  }
}

bool Run::forward(const torch::jit::Module& root, std::vector<c10::IValue> inputs) {
  register_hooks();
  limits_.begin_run();
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard quiet(&silence);
  const PlainInterpreter plain;
  const FunctionCallbacks callbacks;
  const CurrentRun current(this);
  const c10::impl::IncludeDispatchKeyGuard mode(kMode);
  try {
    const auto at_once = [](const std::function<void()>& task) { task(); };
    const auto future = root.get_method("forward").run_async(std::move(inputs), {}, at_once);
    future->waitAndThrow();
    result_ = future->value();
    return true;
  } catch (const std::exception& e) {
    if (!failed_) fail(nullptr, {}, short_reason(e));
    return false;
  }
}

void Run::on_operator(const c10::OperatorHandle& op, Stack& stack) {
  const auto& info = evaluator_.info(op);
  Stack args;
  try {
    limits_.count_operator();
    args.assign(stack.end() - static_cast<ptrdiff_t>(info.args.size()), stack.end());
    if (info.name == "aten::_print") return torch::jit::drop(stack, info.args.size());
    evaluator_.execute(op, stack);
    next_value_decides() = false;
    if (!recorder_) return;
    recorder_->node(info, args, torch::jit::last(stack, info.results), calls_.current());
    recorder_->assumed(evaluator_.assumed(), info, calls_.path());
    foreign_.note(info);
  } catch (const Error&) {
    if (!failed_) failure_.own = std::current_exception();
    failed_ = true;
    throw;
  } catch (const DataDependent& e) {
    fail(&info, std::move(args), e.what());
    failure_.data_dependent = true;
    throw;
  } catch (const std::exception& e) {
    fail(&info, std::move(args), short_reason(e));
    throw;
  }
}

void Run::on_tick() {
  try {
    limits_.count_round();
  } catch (const Error&) {
    if (!failed_) failure_.own = std::current_exception();
    failed_ = true;
    throw;
  }
}

void Run::on_enter(const at::RecordFunction& function) {
  const auto inputs = function.inputs();
  const bool method = !inputs.empty() && inputs[0].isObject();
  calls_.enter(method ? inputs[0].toObject().get() : nullptr, function.name());
}

void Run::fail(const OperatorInfo* op, Stack args, std::string reason) {
  if (failed_) return;
  failed_ = true;
  failure_.module = calls_.path();
  failure_.reason = std::move(reason);
  failure_.args = std::move(args);
  if (!op) return;
  failure_.op = op->name;
  for (const auto& a : op->args) failure_.arg_names.push_back(a.name);
}

}  // namespace tmeter::torch_backend
