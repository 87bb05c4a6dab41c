// Prints every operator of the linked LibTorch, whether a file may use it, and the reason if not:
//
//   dispatched <tab> aten::add.Tensor <tab> schema <tab> reason, empty if it may be used
//
// With --call: calls each permitted dispatched operator with tensors without values, in a process
// of its own, and prints the operators that end it with a signal. test_operators.py checks both
// lists.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/in_child.hpp"
#include "torchscript/review/review.hpp"

namespace {

using c10::FunctionSchema;
using tmeter::torch_backend::OperatorKind;
using tmeter::torch_backend::refusal;

std::string text_of(const FunctionSchema& schema) {
  std::ostringstream out;
  out << schema;
  return out.str();
}

void print(std::string_view kind, const FunctionSchema& schema, std::string_view reason) {
  std::cout << kind << '\t' << schema.operator_name() << '\t' << text_of(schema) << '\t' << reason
            << '\n';
}

std::vector<c10::OperatorHandle> dispatched() {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::vector<c10::OperatorHandle> out;
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    if (op) out.push_back(*op);
  }
  return out;
}

void print_all() {
  for (const auto& op : dispatched())
    print("dispatched", op.schema(), refusal(op.schema(), OperatorKind::kDispatched));
  for (const auto& op : torch::jit::getAllOperators()) {
    if (!op->isC10Op())
      print("primitive", op->schema(), refusal(op->schema(), OperatorKind::kPrimitive));
  }
}

// --- calls ---

/// Properties of all tensors of a call.
struct Form {
  std::vector<int64_t> sizes;
  at::ScalarType dtype;
};

/// A value for an argument; None if no value is known.
c10::IValue value_for(const c10::Type& type, const Form& form) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
      return at::empty(form.sizes, at::dtype(form.dtype).device(at::kMeta));
    case c10::TypeKind::IntType:
    case c10::TypeKind::NumberType:
      return 1;
    case c10::TypeKind::FloatType:
      return 0.5;
    case c10::TypeKind::BoolType:
      return true;
    case c10::TypeKind::DeviceObjType:
      return at::Device(at::kMeta);
    case c10::TypeKind::StringType:
      return "mean";
    case c10::TypeKind::OptionalType:
      return value_for(*type.containedTypes()[0], form);
    case c10::TypeKind::ListType: {
      c10::impl::GenericList list(type.containedTypes()[0]);
      for (size_t i = 0; i < form.sizes.size(); ++i) {
        auto item = value_for(*type.containedTypes()[0], form);
        if (item.isNone()) return {};
        list.push_back(std::move(item));
      }
      return list;
    }
    default:
      return {};
  }
}

enum class Given { kAll, kRequired };

/// False if an argument has no known value.
bool call(const c10::OperatorHandle& op, const Form& form, Given given) {
  torch::jit::Stack stack;
  for (const auto& a : op.schema().arguments()) {
    if (given == Given::kRequired && a.default_value()) {
      stack.push_back(*a.default_value());
      continue;
    }
    auto value = given == Given::kRequired && a.type()->kind() == c10::TypeKind::OptionalType
                     ? c10::IValue()
                     : value_for(*a.type(), form);
    if (value.isNone() && a.type()->kind() != c10::TypeKind::OptionalType) return false;
    stack.push_back(std::move(value));
  }
  // As in a run: factories make tensors without values, too.
  for (size_t i = 0; i < stack.size(); ++i) {
    const auto& a = op.schema().arguments()[i];
    if (a.name() == "device" && stack[i].isNone()) stack[i] = at::Device(at::kMeta);
  }
  try {
    op.callBoxed(stack);
  } catch (const std::exception&) {
  }
  return true;
}

void call_in_all_forms(const c10::OperatorHandle& op) {
  for (const auto dtype : {at::kFloat, at::kLong}) {
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{}, {3}, {2, 3}, {2, 3, 3}, {2, 3, 4, 4}, {1, 2, 3, 4, 4}}) {
      for (const auto given : {Given::kRequired, Given::kAll}) call(op, {sizes, dtype}, given);
    }
  }
}

/// How a process that calls these operators ends.
int end_of(const std::vector<c10::OperatorHandle>& ops, size_t begin, size_t end) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit seconds{20, 20}, none{0, 0}, memory{uint64_t{16} << 30, uint64_t{16} << 30};
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_CORE, &none);
    if (tmeter::testing::kMemoryIsLimited) setrlimit(RLIMIT_AS, &memory);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(2);
    const c10::InferenceMode inference;
    for (size_t i = begin; i < end; ++i) call_in_all_forms(ops[i]);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// Bisects the operators that end a process until one remains.
void find_deadly(const std::vector<c10::OperatorHandle>& ops, size_t begin, size_t end) {
  const int status = begin < end ? end_of(ops, begin, end) : 0;
  if (status == 0) return;
  if (end - begin == 1) {
    print(WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : "status",
          ops[begin].schema(), "");
    return;
  }
  const auto middle = begin + (end - begin) / 2;
  find_deadly(ops, begin, middle);
  find_deadly(ops, middle, end);
}

void call_all() {
  at::set_num_threads(1);
  auto ops = dispatched();
  std::erase_if(
      ops, [](const auto& op) { return !refusal(op.schema(), OperatorKind::kDispatched).empty(); });
  for (size_t i = 0; i < ops.size(); i += 64) find_deadly(ops, i, std::min(i + 64, ops.size()));
}

}  // namespace

int main(int argc, char** argv) {
  argc > 1 && std::string_view(argv[1]) == "--call" ? call_all() : print_all();
}
