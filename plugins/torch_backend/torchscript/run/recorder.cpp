#include "torchscript/run/recorder.hpp"

#include <algorithm>

#include "operators/evaluator.hpp"
#include "operators/limits.hpp"

namespace tmeter::torch_backend {
namespace {

/// A tensor is filled at once, so few wait for it.
constexpr size_t kMostUnfilled = 64;

}  // namespace

// Arithmetic on sizes happens in tensors too: a trace turns x.size(0) // 2 into operators on
// numbers. A node needs a tensor among its results, or one that it writes into, that is not such a
// number made from numbers.
bool Recorder::computes_tensors(const OperatorInfo& op, const torch::jit::Stack& args,
                                c10::ArrayRef<c10::IValue> results) const {
  bool any = false, only_numbers = true, has_argument = false;
  for (const auto& r : results) {
    for_each_tensor(r, [&](const at::Tensor& t) {
      any = true;
      only_numbers = only_numbers && t.dim() == 0 && !t.is_meta();
    });
  }
  for (size_t i = 0; i < args.size(); ++i) {
    for_each_tensor(args[i], [&](const at::Tensor& t) {
      has_argument = true;
      any = any || op.args[i].written;
      only_numbers = only_numbers && values_.is_number(t);
    });
  }
  return any && !(only_numbers && has_argument);
}

void Recorder::node(const OperatorInfo& op, const torch::jit::Stack& args,
                    c10::ArrayRef<c10::IValue> results, GraphBuilder::Id module_call) {
  if (!computes_tensors(op, args, results)) return;
  std::vector<tmeter_arg> arguments;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].isNone()) continue;
    if (!unfilled_.empty() && !op.args[i].written)
      for_each_tensor(args[i], [this](const at::Tensor& t) { keep_filled(t); });
    arguments.push_back(GraphBuilder::arg(op.args[i].name, values_.use(args[i], op.args[i].kind)));
  }
  std::vector<GraphBuilder::Id> made;
  for (const auto& r : results) made.push_back(values_.define(r));
  if (op.uninitialised && results[0].isTensor() && !results[0].toTensor().is_meta())
    unfilled_.emplace_back(results[0].toTensor(), nodes_);
  if (unfilled_.size() > kMostUnfilled) unfilled_.erase(unfilled_.begin());
  ++nodes_;
  builder_.node(op.name, op.overload, module_call, arguments, made);
}

/// Before anything reads it: what is in it then came there by no operator.
void Recorder::keep_filled(const at::Tensor& tensor) {
  const auto it = std::ranges::find_if(unfilled_, [&](const auto& u) { return u.first.is_same(tensor); });
  if (it == unfilled_.end()) return;
  if (!tensor.is_meta()) state_.filled[it->second] = tensor.clone();
  unfilled_.erase(it);
}

void Recorder::output(const c10::IValue& value) {
  if (value.isNone()) return;
  if (auto* limits = Limits::current()) limits->spend(100);  // tuples may share their items
  if (value.isTuple()) {
    for (const auto& item : value.toTupleRef().elements()) output(item);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) output(entry.value());
  } else {
    builder_.output(values_.use(value));
  }
}

void Recorder::assumed(Assumption assumption, const OperatorInfo& op, const std::string& path) {
  if (assumption == Assumption::kNone || !warned_.insert(op.full_name()).second) return;
  const auto place = op.full_name() + (path.empty() ? "" : " in " + path);
  builder_.property("assumed", place);
  switch (assumption) {
    case Assumption::kLargest:
      return call_.warn("the size of the result of " + place +
                        " depends on data; the largest possible one was used");
    case Assumption::kOneValue:
      return call_.warn("the number of distinct values in " + place +
                        " depends on data; one was assumed");
    case Assumption::kZeros:
      return call_.warn(place + " has no implementation here; zeros were taken for its result");
    default:
      return call_.warn("the value " + place +
                        " reads depends on data and sets sizes; 1 was assumed");
  }
}

}  // namespace tmeter::torch_backend
