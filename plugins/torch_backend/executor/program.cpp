#include "executor/program.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "executor/weights.hpp"
#include "operators/arguments.hpp"
#include "operators/messages.hpp"
#include "operators/missing_operators.hpp"
#include "operators/size_arithmetic.hpp"

namespace tmeter::torch_backend {
namespace {

using c10::IValue;
using c10::TypeKind;

[[noreturn]] void cannot(const Node& node, const std::string& what) {
  throw Error(TMETER_CANNOT_RUN, place_of(node) + ": " + what);
}

bool is_number_value(const Value& value) {
  return value.kind() == TMETER_VALUE_INT || value.kind() == TMETER_VALUE_FLOAT ||
         value.kind() == TMETER_VALUE_BOOL;
}

/// Whether the operator has any kernel. Tensors of other layouts (sparse, quantized) have kernels
/// of their own, so which one a run needs is unknown.
bool has_kernel(const c10::OperatorHandle& op, at::Device device) {
  using Key = c10::DispatchKey;
  const std::array kKeys{device.is_cpu() ? Key::CPU : Key::CUDA,
                         Key::CompositeImplicitAutograd,
                         Key::CompositeExplicitAutograd,
                         Key::CompositeExplicitAutogradNonFunctional,
                         Key::BackendSelect,
                         Key::QuantizedCPU,
                         Key::SparseCPU,
                         Key::SparseCsrCPU,
                         Key::MkldnnCPU,
                         Key::NestedTensorCPU};
  return std::any_of(kKeys.begin(), kKeys.end(),
                     [&](Key key) { return op.hasKernelForDispatchKey(key); });
}

/// Kinds of operators in a file: of LibTorch, arithmetic on sizes, assertions.
enum class Role { kOperator, kNumber, kAssertion };

Role role_of(const Node& node) {
  if (is_assertion(node.op())) return Role::kAssertion;
  return arithmetic_on_sizes(node.op(), node.arg_count()) ? Role::kNumber : Role::kOperator;
}

class ProgramBuilder {
 public:
  explicit ProgramBuilder(const ProgramSource& source)
      : source_(source), regions_(regions_of(source.graph)), dynamic_(!regions_.empty()) {}

  Program run() {
    for (const auto& value : input_tensors(source_.graph)) {
      program_.inputs.push_back(slot_for(value));
    }
    find_operators();
    mutated_ = mutated_tensors(source_.graph, operators_);
    for (const auto& node : source_.graph.nodes()) {
      at_boundaries(node.index());
      add(node);
    }
    at_boundaries(source_.graph.nodes().size());
    for (const auto& value : source_.graph.outputs()) {
      program_.outputs.push_back(operand(value, c10::AnyType::get(), 0));
    }
    program_.slots = slots_;
    set_last_uses(program_, loops_);
    return std::move(program_);
  }

 private:
  /// Reports all missing operators in one error.
  void find_operators() {
    std::map<std::string, std::string> missing;  // operator → its first place
    for (const auto& node : source_.graph.nodes()) {
      operators_.emplace_back();
      if (role_of(node) != Role::kOperator) continue;
      const std::string overload(node.overload());
      const auto op = c10::Dispatcher::singleton().findSchema({std::string(node.op()), overload});
      if (!op || !has_kernel(*op, source_.device)) {
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
    // Sizes are known in advance unless the size of a result depends on values.
    if (role == Role::kNumber && !dynamic_) return;
    Step step;
    step.node = node.handle();
    step.place = place_of(node);
    if (const auto filled = source_.state.filled.find(node.index());
        filled != source_.state.filled.end())
      return add_filled(node, std::move(step), filled->second);
    try {
      if (role == Role::kNumber) {
        add_number_operands(node, step);
      } else {
        step.op = operators_[node.index()];
        add_operands(node, step);
        require_recorded_sizes(node, step);
      }
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      cannot(node, short_reason(e));
    }
    for (size_t i = 0; i < node.result_count(); ++i) step.results.push_back(result(node.result(i)));
    program_.steps.push_back(std::move(step));
  }

  /// Adds a copy of the recorded contents, for each run again because the program may change it.
  void add_filled(const Node& node, Step step, const at::Tensor& filled) {
    step.op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::clone", "");
    step.operands = {{.constant = filled.to(source_.device)}, {}};
    step.results.push_back(result(node.result(0)));
    program_.steps.push_back(std::move(step));
  }

  /// A recording of TorchScript has plain numbers where the program reads a tensor's size.
  void require_recorded_sizes(const Node& node, Step& step) const {
    const bool recorded = source_.graph.property("format").starts_with("TorchScript");
    const bool may_vary = step.op->hasTag(at::Tag::dynamic_output_shape) ||
                          is_of_operator_library(step.op->schema().name());
    if (!recorded || !may_vary) return;
    if (node.result_count() == 0 || !node.result(0).is_tensor()) return;
    step.required_sizes = sizes_of(node.result(0).shape());
  }

  // Control flow. A loop becomes
  //     carried slots ← first values
  //   test:
  //     … condition …
  //     leave unless it holds
  //     … body …
  //     carried slots ← results
  //     back to test
  //   left:
  //     results ← carried slots
  // Nodes of the loop name the first values, which take the place of the carried slots.

  struct OpenLoop {
    const Region* region;
    uint32_t test;            // its step
    size_t leave = SIZE_MAX;  // its step; SIZE_MAX before the body begins
    std::vector<Operand> carried;
    std::vector<uint32_t> outside;  // the slots of the first values
  };

  /// Handles regions that end, decide or begin before node `i`.
  void at_boundaries(size_t i) {
    for (;;) {
      if (!open_.empty() && open_.back().leave != SIZE_MAX && open_.back().region->end == i) {
        close_loop();
      } else if (!open_.empty() && open_.back().leave == SIZE_MAX &&
                 open_.back().region->body == i) {
        open_.back().leave = program_.steps.size();
        control(Step::Kind::kLeave, *open_.back().region,
                {slot_operand(open_.back().region->condition)});
      } else if (next_region_ < regions_.size() && regions_[next_region_].begin == i) {
        const auto& region = regions_[next_region_++];
        region.is_loop ? open_loop(region) : require(region);
      } else {
        return;
      }
    }
  }

  Step& control(Step::Kind kind, const Region& region, std::vector<Operand> operands,
                std::vector<Result> results = {}) {
    Step step;
    step.kind = kind;
    step.place = region.place;
    step.operands = std::move(operands);
    step.results = std::move(results);
    return program_.steps.emplace_back(std::move(step));
  }

  Operand slot_operand(const Value& value) const {
    const auto it = slot_of_.find(value.handle());
    if (it == slot_of_.end())
      throw Error(TMETER_CANNOT_RUN, "control flow of the graph uses a value without a source");
    return {.kind = Operand::Kind::kSlot, .slot = it->second};
  }

  void require(const Region& region) {
    control(Step::Kind::kRequire, region, {slot_operand(region.condition)}).taken = region.taken;
  }

  void open_loop(const Region& region) {
    OpenLoop loop{&region, 0, SIZE_MAX, {}, {}};
    std::vector<Operand> first;
    std::vector<Result> into;
    for (const auto& value : region.carried) {
      first.push_back(slot_operand(value));
      loop.outside.push_back(first.back().slot);
      loop.carried.push_back({.kind = Operand::Kind::kSlot, .slot = slots_});
      into.push_back({.slot = slots_++});
    }
    for (size_t i = 0; i < region.carried.size(); ++i)
      slot_of_[region.carried[i].handle()] = loop.carried[i].slot;
    control(Step::Kind::kMove, region, std::move(first), std::move(into));
    loop.test = static_cast<uint32_t>(program_.steps.size());
    open_.push_back(std::move(loop));
  }

  void close_loop() {
    const auto loop = std::move(open_.back());
    open_.pop_back();
    const auto& region = *loop.region;
    std::vector<Operand> next;
    std::vector<Result> carried, results;
    for (size_t i = 0; i < region.results.size(); ++i) {
      next.push_back(slot_operand(region.results[i]));
      carried.push_back({.slot = loop.carried[i].slot});
      results.push_back({.slot = next.back().slot});
    }
    control(Step::Kind::kMove, region, std::move(next), std::move(carried));
    control(Step::Kind::kGoBack, region, {}).to = loop.test;
    program_.steps[loop.leave].to = static_cast<uint32_t>(program_.steps.size());
    loops_.push_back({loop.test, program_.steps.size() - 1});
    control(Step::Kind::kMove, region, loop.carried, std::move(results));
    for (size_t i = 0; i < region.carried.size(); ++i)
      slot_of_[region.carried[i].handle()] = loop.outside[i];
  }

  void add_number_operands(const Node& node, Step& step) {
    step.kind = Step::Kind::kNumber;
    step.compute = arithmetic_on_sizes(node.op(), node.arg_count());
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto value = node.arg(i);
      step.operands.push_back(operand(
          value, value.is_tensor() ? c10::TypePtr(c10::TensorType::get()) : c10::NumberType::get(),
          0));
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

  /// Replaces devices of the model by the device of the run. Factories need one; operators on
  /// tensors run on the device of these.
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
      if (!v.tensor()) throw std::runtime_error("uses a tensor without a source in the file");
      environment_.set(
          v, source_.weight(v.tensor(), mutated_.contains(v.tensor().canonical().handle())));
    });
    if (type->kind() == TypeKind::AnyType) return of_any_type(value);
    return to_argument(value, type, length, environment_);
  }

  /// The operand for outputs and for arguments of unknown type.
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

  const ProgramSource& source_;
  std::vector<Region> regions_;
  bool dynamic_;  // some sizes are known only in a run
  size_t next_region_ = 0;
  std::vector<OpenLoop> open_;
  std::vector<StepRange> loops_;  // inner ones first
  Program program_;
  Environment environment_;                                    // parameters, buffers and constants
  std::vector<std::optional<c10::OperatorHandle>> operators_;  // index: node
  std::unordered_set<const tmeter_tensor*> mutated_;
  std::unordered_map<const tmeter_value*, uint32_t> slot_of_;
  uint32_t slots_ = 0;
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

Program make_program(const ProgramSource& source) { return ProgramBuilder(source).run(); }

}  // namespace tmeter::torch_backend
