#include "torchscript/run/interpreter.hpp"

#include <functional>
#include <memory>

#include "operators/evaluator.hpp"
#include "operators/messages.hpp"
#include "torchscript/load/names.hpp"
#include "torchscript/primitives/guards.hpp"

namespace tmeter::torch_backend {
namespace {

using torch::jit::Stack;

// LibTorch's callbacks are plain functions: this is the run of their thread.
Run*& current_run() {
  thread_local Run* run = nullptr;
  return run;
}

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& function) {
  if (current_run()) current_run()->on_enter(function);
  return nullptr;
}

void on_leave(const at::RecordFunction&, at::ObserverContext*) {
  if (current_run()) current_run()->on_leave();
}

void on_tick(Stack&) {
  if (auto* limits = Limits::current()) limits->count_round();
}

void on_call(Stack&) {
  if (auto* limits = Limits::current()) limits->count_call();
}

/// Registers an operator without arguments that calls `function`.
c10::Symbol own_operator(const char* name, void (*function)(Stack&)) {
  // Never destroyed, because programs point at it.
  new torch::jit::RegisterOperators({torch::jit::Operator(std::string(name) + "() -> ()", function,
                                                          c10::AliasAnalysisKind::CONSERVATIVE)});
  return c10::Symbol::fromQualString(name);
}

c10::Symbol printed_operator() {
  static const auto symbol = [] {
    new torch::jit::RegisterOperators({torch::jit::Operator(
        "tmeter::printed(t x) -> ()",
        [](Stack& stack) {
          check_printed(Operands(&stack.back(), 1));
          stack.pop_back();
        },
        c10::AliasAnalysisKind::CONSERVATIVE)});
    return c10::Symbol::fromQualString("tmeter::printed");
  }();
  return symbol;
}

/// Inserts a check, because formatting is an instruction of the interpreter and not an operator
/// that could be replaced.
void check_formatted(torch::jit::Graph& graph, torch::jit::Node* node) {
  const std::string_view op = node->kind().toQualString();
  if (op != "aten::format" && op != "aten::percentFormat") return;
  for (auto* input : node->inputs())
    graph.create(printed_operator(), {input}, 0)->insertBefore(node);
}

/// prim::tolist reads the memory of a tensor, without LibTorch's dispatcher.
void give_values(torch::jit::Graph& graph, torch::jit::Node* node) {
  if (node->kind() != torch::jit::prim::tolist) return;
  static const auto symbol = [] {
    new torch::jit::RegisterOperators({torch::jit::Operator(
        "tmeter::known(Tensor x) -> Tensor",
        [](Stack& stack) {
          if (current_run()) stack.back() = current_run()->with_values(stack.back().toTensor());
        },
        c10::AliasAnalysisKind::CONSERVATIVE)});
    return c10::Symbol::fromQualString("tmeter::known");
  }();
  auto* with_values = graph.create(symbol, {node->input(0)}, 1)->insertBefore(node);
  node->replaceInput(0, with_values->output());
}

/// LibTorch applies autocast when it optimises a graph, which this interpreter does not.
void note_autocast(torch::jit::Graph& graph, torch::jit::Node* node) {
  if (node->kind() != torch::jit::prim::Enter) return;
  static const auto symbol = [] {
    new torch::jit::RegisterOperators({torch::jit::Operator(
        "tmeter::enters(t x) -> ()",
        [](Stack& stack) {
          const auto entered = stack.back();
          stack.pop_back();
          if (!entered.isObject()) return;
          const auto type = entered.toObjectRef().type();
          if (!type->name() || type->name()->name() != "autocast") return;
          const auto slot = type->findAttributeSlot("_enabled");
          const bool off = slot && entered.toObjectRef().getSlot(*slot).isBool() &&
                           !entered.toObjectRef().getSlot(*slot).toBool();
          if (!off) {
            note_question(
                "the model enters an autocast region, but tmeter leaves the types of its tensors "
                "unchanged; bytes are affected, FLOPs are not");
          }
        },
        c10::AliasAnalysisKind::CONSERVATIVE)});
    return c10::Symbol::fromQualString("tmeter::enters");
  }();
  graph.create(symbol, {node->input(0)}, 0)->insertBefore(node);
}

void add_ticks(torch::jit::Graph& graph, torch::jit::Block* block) {
  static const auto tick = own_operator("tmeter::tick", on_tick);
  for (auto* node : block->nodes()) {
    for (auto* inner : node->blocks()) add_ticks(graph, inner);
    check_formatted(graph, node);
    give_values(graph, node);
    note_autocast(graph, node);
    if (node->kind() != torch::jit::prim::Loop) continue;
    node->blocks()[0]->prependNode(graph.create(tick, {}, 0));
  }
}

void add_call(torch::jit::Graph& graph) {
  static const auto call = own_operator("tmeter::call", on_call);
  graph.block()->prependNode(graph.create(call, {}, 0));
}

/// Sets up the interpreter: functions stay functions, operators are neither fused nor specialised.
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
    evaluation_state().model_is_running = true;
  }
  ~CurrentRun() {
    current_run() = nullptr;
    evaluation_state().model_is_running = false;
  }
};

}  // namespace

void note_question(const std::string& what) {
  if (current_run()) current_run()->note_query(what);
}

void watch_loops(const torch::jit::CompilationUnit& code) {
  for (auto* function : code.get_functions()) {
    auto* graph_function = torch::jit::tryToGraphFunction(*function);
    if (!graph_function) continue;
    auto& graph = *graph_function->graph();
    add_ticks(graph, graph.block());
    add_call(graph);
  }
}

bool Run::forward(const torch::jit::Module& root, std::vector<c10::IValue> inputs) {
  limits_.begin_run();
  const PlainInterpreter plain;
  const FunctionCallbacks callbacks;
  const CurrentRun current(this);
  const OperatorMode mode(*this);
  try {
    const auto at_once = [](const std::function<void()>& task) { task(); };
    const auto future = root.get_method("forward").run_async(std::move(inputs), {}, at_once);
    future->waitAndThrow();
    result_ = future->value();
    return true;
  } catch (const std::exception& e) {
    if (!failed_) keep_stop();
    if (!failed_) fail(nullptr, {}, short_reason(e));
    return false;
  }
}

/// Keeps the error that Limits::stop() threw; the interpreter has turned it into text.
void Run::keep_stop() {
  try {
    limits_.rethrow();
  } catch (...) {
    failure_.own = std::current_exception();
    failed_ = true;
  }
}

namespace {

/// The number of arguments, lists counted by their items.
size_t items_of(const Stack& args) {
  size_t items = 0;
  for (const auto& a : args) items += a.isList() ? a.toListRef().size() : 1;
  return items;
}

}  // namespace

void Run::on_operator(const c10::OperatorHandle& op, Stack& stack) {
  const auto& info = evaluator_.info(op);
  Stack args;
  try {
    limits_.at(info.name, calls_.path());
    args.assign(stack.end() - static_cast<ptrdiff_t>(info.args.size()), stack.end());
    limits_.count_operator(items_of(args));
    if (info.name == "aten::_print") return torch::jit::drop(stack, info.args.size());
    evaluator_.execute(op, stack);
    evaluation_state().next_value_is_condition = false;
    if (evaluator_.assumed() != Assumption::kNone && assumed_.empty())
      assumed_ = info.full_name() + (calls_.path().empty() ? "" : " in " + calls_.path());
    if (!recorder_) return;
    recorder_->node(info, args, torch::jit::last(stack, info.results), calls_.current());
    recorder_->assumed(evaluator_.assumed(), info, calls_.path());
    follow_random_numbers(op, info, args, torch::jit::last(stack, info.results));
    foreign_.note(info);
  } catch (const Error&) {
    if (!failed_) failure_.own = std::current_exception();
    failed_ = true;
    throw;
  } catch (const WorkLimitExceeded& e) {
    const auto& path = calls_.path();
    if (!failed_) {
      failure_.own = std::make_exception_ptr(
          Error(TMETER_CANNOT_RUN,
                (path.empty() ? info.name : path + " (" + info.name + ")") + " " + e.what()));
    }
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

void Run::note_query(const std::string& what) {
  if (recorder_) recorder_->note_query(what);
}

at::Tensor Run::with_values(const at::Tensor& tensor) {
  if (!tensor.is_meta()) return tensor;
  if (values_) return values_->of(tensor);
  fail(nullptr, {}, "needs values that depend on weights or inputs");
  failure_.op = "prim::tolist";
  failure_.data_dependent = true;
  throw DataDependent("needs values that depend on weights or inputs");
}

/// Small tensors have values even in a run on shapes. If these are random, the path through the
/// program may be random, too.
void Run::follow_random_numbers(const c10::OperatorHandle& op, const OperatorInfo& info,
                                const Stack& args, c10::ArrayRef<c10::IValue> results) {
  bool random = op.hasTag(at::Tag::nondeterministic_seeded);
  if (!random && random_.empty()) return;
  const auto storage_of = [](const at::Tensor& t) -> c10::StorageImpl* {
    return t.is_meta() || !t.has_storage() ? nullptr : t.storage().unsafeGetStorageImpl();
  };
  for (const auto& arg : args) {
    for_each_tensor(arg, [&](const at::Tensor& t) { random |= random_.contains(storage_of(t)); });
  }
  if (!random) return;
  if (info.data_dependent || info.name == "aten::item" || info.name == "aten::is_nonzero") {
    note_query(
        "the program reads random numbers (" + info.full_name() +
        "), and its control flow or a size may depend on them; the values are those of one draw");
  }
  const auto mark = [&](const at::Tensor& t) {
    if (auto* storage = storage_of(t)) {
      random_.emplace(storage, t.storage().getWeakStorageImpl());
    }
  };
  for (const auto& result : results) for_each_tensor(result, mark);
  for (size_t i = 0; i < args.size(); ++i) {
    if (info.args[i].written) for_each_tensor(args[i], mark);
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
