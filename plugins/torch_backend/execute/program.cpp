#include "execute/program.hpp"

#include <algorithm>
#include <map>

#include "execute/written.hpp"
#include "load/messages.hpp"
#include "propagate/arguments.hpp"
#include "propagate/known.hpp"
#include "propagate/size_arithmetic.hpp"

namespace tmeter::torch_backend {
namespace {

using c10::IValue;
using c10::TypeKind;

[[noreturn]] void cannot(const Node& node, const std::string& what) {
  throw Error(TMETER_CANNOT_RUN, place_of(node) + " " + what);
}

bool is_number_value(const Value& value) {
  return value.kind() == TMETER_VALUE_INT || value.kind() == TMETER_VALUE_FLOAT ||
         value.kind() == TMETER_VALUE_BOOL;
}

bool has_kernel(const c10::OperatorHandle& op, at::Device device) {
  using Key = c10::DispatchKey;
  const auto own = device.is_cpu() ? Key::CPU : Key::CUDA;
  return op.hasKernelForDispatchKey(own) || op.hasKernelForAnyDispatchKey(c10::DispatchKeySet(
             {Key::CompositeImplicitAutograd, Key::CompositeExplicitAutograd,
              Key::CompositeExplicitAutogradNonFunctional, Key::BackendSelect}));
}

/// Tensors of other layouts (sparse, quantized) have their own kernels: only what has none at all is
/// known to be missing.
bool has_any_kernel(const c10::OperatorHandle& op, at::Device device) {
  if (has_kernel(op, device)) return true;
  using Key = c10::DispatchKey;
  for (const auto key : {Key::QuantizedCPU, Key::SparseCPU, Key::SparseCsrCPU, Key::MkldnnCPU,
                         Key::NestedTensorCPU, Key::CatchAll}) {
    if (op.hasKernelForDispatchKey(key)) return true;
  }
  return false;
}

/// Which operators a file may have that stand for none of LibTorch's.
enum class Role { kOperator, kNumber, kAssertion };

Role role_of(const Node& node) {
  if (is_assertion(node.op())) return Role::kAssertion;
  return arithmetic_on_sizes(node.op(), node.arg_count()) ? Role::kNumber : Role::kOperator;
}

class Maker {
 public:
  explicit Maker(const ProgramSource& source) : source_(source) {}

  Program run() {
    for (const auto& value : input_tensors(source_.graph)) {
      program_.inputs.push_back(slot_for(value));
    }
    find_operators();
    written_ = written_tensors(source_.graph, operators_);
    for (const auto& node : source_.graph.nodes()) add(node);
    for (const auto& value : source_.graph.outputs()) {
      program_.outputs.push_back(operand(value, c10::AnyType::get(), 0));
    }
    program_.slots = slots_;
    find_last_uses();
    return std::move(program_);
  }

 private:
  /// All that is missing is told at once.
  void find_operators() {
    std::map<std::string, std::string> missing;  // operator → its first place
    for (const auto& node : source_.graph.nodes()) {
      operators_.emplace_back();
      if (role_of(node) != Role::kOperator) continue;
      const std::string overload(node.overload());
      const auto op =
          c10::Dispatcher::singleton().findSchema({std::string(node.op()), overload});
      if (!op || !has_any_kernel(*op, source_.device)) {
        missing.emplace(full_name(node), node.call().module().path());
        continue;
      }
      operators_.back() = op;
      dynamic_ = dynamic_ || op->hasTag(at::Tag::dynamic_output_shape) ||
                 op->hasTag(at::Tag::data_dependent_output);
    }
    if (!missing.empty()) report_missing(missing);
  }

  [[noreturn]] static void report_missing(const std::map<std::string, std::string>& missing) {
    std::string text;
    bool higher_order = false;
    for (const auto& [op, module] : missing) {
      text += (text.empty() ? "" : ", ") + op + (module.empty() ? "" : " (in " + module + ")");
      higher_order = higher_order || op.starts_with("higher_order::");
    }
    throw Error(TMETER_CANNOT_RUN,
                "LibTorch cannot run " + text +
                    (higher_order ? ": operators that run graphs of their own are not supported"
                                  : ": give the library that has it with --op-library FILE"));
  }

  void add(const Node& node) {
    const auto role = role_of(node);
    if (role == Role::kAssertion) return;
    // Sizes are known beforehand, unless an operator's result is as large as its values say.
    if (role == Role::kNumber && !dynamic_) return;
    Step step;
    step.node = node.handle();
    step.place = place_of(node);
    try {
      if (role == Role::kNumber) {
        add_number_operands(node, step);
      } else {
        step.op = operators_[node.index()];
        add_operands(node, step);
      }
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      cannot(node, short_reason(e));
    }
    for (size_t i = 0; i < node.result_count(); ++i) step.results.push_back(result(node.result(i)));
    program_.steps.push_back(std::move(step));
  }

  void add_number_operands(const Node& node, Step& step) {
    step.compute = arithmetic_on_sizes(node.op(), node.arg_count());
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto value = node.arg(i);
      step.operands.push_back(operand(
          value,
          value.is_tensor() ? c10::TypePtr(c10::TensorType::get()) : c10::NumberType::get(), 0));
    }
  }

  void add_operands(const Node& node, Step& step) {
    const auto& schema = step.op->schema();
    bool takes_tensors = false;
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      const auto& argument = schema.arguments()[i];
      const auto value = argument_of(node, schema, i);
      if (value.handle()) {
        step.operands.push_back(
            operand(value, type_of_argument(argument), argument.N().value_or(1)));
        takes_tensors = takes_tensors || has_tensors(value);
      } else if (argument.default_value()) {
        step.operands.push_back({.constant = *argument.default_value()});
      } else if (argument.type()->kind() == TypeKind::OptionalType) {
        step.operands.emplace_back();
      } else {
        throw std::runtime_error("lacks its argument '" + argument.name() + "'");
      }
    }
    set_device(schema, takes_tensors, step);
  }

  /// Devices named in the model say where it used to run. What makes tensors out of nothing is told
  /// where; what takes some follows them.
  void set_device(const c10::FunctionSchema& schema, bool takes_tensors, Step& step) const {
    for (size_t i = 0; i < step.operands.size(); ++i) {
      auto type = schema.arguments()[i].real_type();
      if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
      auto& value = step.operands[i].constant;
      if (type->kind() != TypeKind::DeviceObjType) continue;
      if (value.isDevice() || (!takes_tensors && !source_.device.is_cpu())) value = source_.device;
    }
  }

  static bool has_tensors(const Value& value) {
    bool any = false;
    for_each_tensor_value(value, [&](const Value&) { any = true; });
    return any;
  }

  bool uses_slot(const Value& value) const {
    if (slot_of_.contains(value.handle())) return true;
    for (size_t i = 0; i < value.size(); ++i) {
      if (uses_slot(value[i])) return true;
    }
    return false;
  }

  Operand operand(const Value& value, const c10::TypePtr& type, int32_t length) {
    if (!uses_slot(value)) return {.constant = constant(value, type, length)};
    if (const auto* optional = type->castRaw<c10::OptionalType>())
      return operand(value, optional->getElementType(), length);
    const auto* list = type->castRaw<c10::ListType>();
    if (value.is_list() || list) {
      Operand out{.kind = Operand::Kind::kList};
      out.element = list ? list->getElementType() : c10::TypePtr(c10::AnyType::get());
      if (!value.is_list()) {  // int[2] given as one number
        out.items.assign(static_cast<size_t>(std::max(length, 1)), operand(value, out.element, 1));
      }
      for (size_t i = 0; i < value.size(); ++i)
        out.items.push_back(operand(value[i], out.element, 1));
      return out;
    }
    const bool number = type->kind() == TypeKind::TensorType && is_number_value(value);
    return {.kind = number ? Operand::Kind::kTensorOfNumber : Operand::Kind::kSlot,
            .slot = slot_of_.at(value.handle())};
  }

  IValue constant(const Value& value, const c10::TypePtr& type, int32_t length) {
    for_each_tensor_value(value, [this](const Value& v) {
      if (environment_.find(v)) return;
      if (!v.tensor()) throw std::runtime_error("uses a tensor that nothing in the file makes");
      environment_.set(v, source_.weight(v.tensor(), written_.contains(v.tensor().canonical().handle())));
    });
    if (type->kind() == TypeKind::AnyType) return of_any_type(value);
    return to_argument(value, type, length, environment_);
  }

  /// For outputs and for operators whose schema is not known.
  IValue of_any_type(const Value& value) {
    if (value.is_list()) {
      c10::impl::GenericList list(c10::AnyType::get());
      for (size_t i = 0; i < value.size(); ++i) list.push_back(of_any_type(value[i]));
      return list;
    }
    if (value.is_tensor()) return environment_.tensor(value);
    if (is_number_value(value)) return number(value, environment_);
    return value.kind() == TMETER_VALUE_TEXT ? IValue(std::string(value.text())) : IValue();
  }

  uint32_t slot_for(const Value& value) {
    const auto [it, added] = slot_of_.try_emplace(value.handle(), slots_);
    if (added) ++slots_;
    return it->second;
  }

  Result result(const Value& value) {
    Result out;
    if (value.is_list()) {
      for (size_t i = 0; i < value.size(); ++i) {
        out.items.push_back(value[i].is_none() ? Result::kNoSlot : slot_for(value[i]));
      }
    } else if (!value.is_none() && !value.tensor() && (value.is_tensor() || dynamic_)) {
      out.slot = slot_for(value);
    }
    return out;
  }

  /// What a step makes and nobody uses goes at once; outputs and inputs stay until the end.
  void find_last_uses() {
    std::vector<size_t> last(slots_, SIZE_MAX);
    std::vector<bool> kept(slots_, false);
    const std::function<void(const Operand&, size_t)> use = [&](const Operand& o, size_t at) {
      if (o.kind == Operand::Kind::kSlot || o.kind == Operand::Kind::kTensorOfNumber)
        at == SIZE_MAX ? void(kept[o.slot] = true) : void(last[o.slot] = at);
      for (const auto& item : o.items) use(item, at);
    };
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      for (const auto& r : program_.steps[i].results) {
        if (r.slot != Result::kNoSlot) last[r.slot] = i;
        for (const auto slot : r.items) {
          if (slot != Result::kNoSlot) last[slot] = i;
        }
      }
      for (const auto& o : program_.steps[i].operands) use(o, i);
    }
    for (const auto& o : program_.outputs) use(o, SIZE_MAX);
    for (const auto slot : program_.inputs) kept[slot] = true;
    for (uint32_t s = 0; s < slots_; ++s) {
      if (!kept[s] && last[s] != SIZE_MAX) program_.steps[last[s]].last_uses.push_back(s);
    }
  }

  const ProgramSource& source_;
  Program program_;
  Environment environment_;  // parameters, buffers and constants
  std::vector<std::optional<c10::OperatorHandle>> operators_;  // by node
  std::unordered_set<const tmeter_tensor*> written_;
  std::unordered_map<const tmeter_value*, uint32_t> slot_of_;
  uint32_t slots_ = 0;
  bool dynamic_ = false;  // some sizes are known only when it runs
};

void collect_tensors(const Value& value, std::vector<Value>& out) {
  for_each_tensor_value(value, [&](const Value& v) { out.push_back(v); });
}

}  // namespace

std::string place_of(const Node& node) {
  const std::string module(node.call().module().path());
  return full_name(node) + (module.empty() ? "" : " of " + module);
}

std::vector<Value> input_tensors(const Graph& graph) {
  std::vector<Value> out;
  for (const auto& value : graph.inputs()) collect_tensors(value, out);
  return out;
}

Program make_program(const ProgramSource& source) { return Maker(source).run(); }

}  // namespace tmeter::torch_backend
