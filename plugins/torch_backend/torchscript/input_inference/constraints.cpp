#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "torchscript/input_inference/candidates.hpp"
#include "torchscript/load/names.hpp"

namespace tmeter::torch_backend {
namespace {

using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;

constexpr size_t kMaxSteps = 5000;  // bounds the recursion too

/// How a weight of an operator constrains its input: one dim of the weight is the size.
struct WeightRule {
  std::string_view op;
  size_t input, weight;
  Constraint::Kind kind;
  int64_t dim;          // dim of the weight that has the size; -1: the last
  int64_t spatial = 0;  // kChannels
  size_t groups = 0;    // index of the argument that multiplies the size; 0: no such argument
};
using Kind = Constraint::Kind;
constexpr std::array<WeightRule, 26> kWeightRules{{
    {"aten::conv1d", 0, 1, Kind::kChannels, 1, 1, 6},
    {"aten::conv2d", 0, 1, Kind::kChannels, 1, 2, 6},
    {"aten::conv3d", 0, 1, Kind::kChannels, 1, 3, 6},
    {"aten::conv_transpose1d", 0, 1, Kind::kChannels, 0, 1},
    {"aten::conv_transpose2d", 0, 1, Kind::kChannels, 0, 2},
    {"aten::conv_transpose3d", 0, 1, Kind::kChannels, 0, 3},
    {"aten::_convolution", 0, 1, Kind::kChannels, 1, 0, 8},
    {"torchvision::deform_conv2d", 0, 1, Kind::kChannels, 1, 2},
    {"aten::linear", 0, 1, Kind::kFeatures, 1},
    {"aten::addmm", 1, 2, Kind::kFeatures, 0},
    {"aten::mm", 0, 1, Kind::kFeatures, 0},
    {"aten::matmul", 0, 1, Kind::kFeatures, 0},
    {"aten::layer_norm", 0, 2, Kind::kFeatures, -1},
    {"aten::embedding", 1, 0, Kind::kIndices, 0},
    {"aten::embedding_bag", 1, 0, Kind::kIndices, 0},
    {"aten::lstm", 0, 2, Kind::kSequence, 1},
    {"aten::gru", 0, 2, Kind::kSequence, 1},
    {"aten::rnn_tanh", 0, 2, Kind::kSequence, 1},
    {"aten::rnn_relu", 0, 2, Kind::kSequence, 1},
    {"aten::lstm_cell", 0, 2, Kind::kFeatures, 1},
    {"aten::gru_cell", 0, 2, Kind::kFeatures, 1},
    {"aten::rnn_tanh_cell", 0, 2, Kind::kFeatures, 1},
    {"aten::rnn_relu_cell", 0, 2, Kind::kFeatures, 1},
    {"aten::one_hot", 0, 0, Kind::kIndices, 0},
    {"aten::_native_multi_head_attention", 0, 5, Kind::kSequence, 1},
    {"aten::_transformer_encoder_layer_fwd", 0, 3, Kind::kSequence, 1},
}};

/// Operators whose second (and further) tensor arguments share shape with the first.
constexpr std::array<std::string_view, 6> kArithmetic{"aten::add", "aten::sub",  "aten::mul",
                                                      "aten::div", "aten::add_", "aten::mul_"};

const torch::jit::Graph* graph_of(torch::jit::Function* function) {
  const auto* graph_function = function ? torch::jit::tryToGraphFunction(*function) : nullptr;
  return graph_function ? graph_function->graph().get() : nullptr;
}

/// A called function with the known values of its arguments, which determine the weights used
/// inside.
struct Frame {
  const torch::jit::Graph* graph = nullptr;
  std::vector<std::optional<c10::IValue>> bound;
};
using FramePtr = std::shared_ptr<const Frame>;

std::optional<c10::IValue> resolve(const Value* value, const Frame& frame) {
  const auto* node = value->node();
  if (node->kind() == prim::Param) {
    const auto i = value->offset();
    const bool own = node->owningBlock() == frame.graph->block();
    return own && i < frame.bound.size() ? frame.bound[i] : std::nullopt;
  }
  if (node->kind() == prim::Constant) return torch::jit::toIValue(value);
  if (node->kind() == prim::ListConstruct && !node->inputs().empty()) {
    return resolve(node->input(0),
                   frame);  // weights of a recurrent layer: the first one constrains
  }
  if (node->kind() == prim::unchecked_cast || node->kind() == c10::aten::t) {
    const auto inner = resolve(node->input(0), frame);
    const bool turned = inner && inner->isTensor() && node->kind() == c10::aten::t;
    return turned ? std::optional<c10::IValue>(inner->toTensor().t()) : inner;
  }
  if (node->kind() != prim::GetAttr) return std::nullopt;
  const auto object = resolve(node->input(0), frame);
  if (!object || !object->isObject()) return std::nullopt;
  const auto& type = *object->toObjectRef().type();
  const auto slot = type.findAttributeSlot(node->s(torch::jit::attr::name));
  return slot ? std::optional(object->toObjectRef().getSlot(*slot)) : std::nullopt;
}

/// The function that a node calls; null graph if it is unknown.
struct Callee {
  const torch::jit::Graph* graph = nullptr;
  size_t first = 0;  // the node's input that is the first argument
};
Callee callee_of(const torch::jit::Node* node, const Frame& frame) {
  if (node->kind() == prim::CallMethod) {
    const auto object = resolve(node->input(0), frame);
    const auto cls = object && object->isObject() ? object->toObject()->type()
                                                  : node->input(0)->type()->cast<c10::ClassType>();
    return {graph_of(cls ? cls->findMethod(node->s(torch::jit::attr::name)) : nullptr), 0};
  }
  if (node->kind() == prim::CallFunction) {
    const auto type = node->input(0)->type()->cast<c10::FunctionType>();
    return {graph_of(type ? type->function() : nullptr), 1};
  }
  return {};
}

class ConstraintFinder {
 public:
  Constraint run(const Value* value, const FramePtr& frame) {
    if (++steps_ > kMaxSteps || !seen_.insert({value, frame}).second) return {};
    for (const auto& use : value->uses()) {
      const auto constraint = constraint_at(use, *frame);
      if (constraint.kind != Kind::kNone) return constraint;
      const auto further = follow(use, frame);
      if (further.kind != Kind::kNone) return further;
    }
    return {};
  }

 private:
  static Constraint constraint_at(const Use& use, const Frame& frame) {
    const std::string_view op = use.user->kind().toQualString();
    for (const auto& t : kWeightRules) {
      if (op != t.op || use.offset != t.input) continue;
      if (t.kind == Kind::kIndices) return {t.kind, 0, 0, false, at::kLong};
      const auto inputs = use.user->inputs();
      const auto weight =
          t.weight < inputs.size() ? first_tensor(resolve(inputs[t.weight], frame)) : at::Tensor();
      if (!weight.defined() || weight.dim() == 0) continue;
      return constraint_by(t, weight, *use.user, frame);
    }
    return {};
  }

  /// Recurrent layers have a list of weights: the first one constrains.
  static at::Tensor first_tensor(const std::optional<c10::IValue>& value) {
    if (!value) return {};
    if (value->isTensor()) return value->toTensor();
    if (!value->isTensorList() || value->toTensorVector().empty()) return {};
    return value->toTensorVector()[0];
  }

  static Constraint constraint_by(const WeightRule& t, const at::Tensor& weight,
                                  const torch::jit::Node& node, const Frame& frame) {
    Constraint out{t.kind, 0, t.spatial, false, weight.scalar_type()};
    if (t.dim >= weight.dim()) return {};
    out.size = weight.size(t.dim);
    if (t.groups) out.size *= integer(node, t.groups, frame).value_or(1);
    if (out.kind == Kind::kChannels && out.spatial == 0) out.spatial = weight.dim() - 2;
    if (out.kind == Kind::kChannels && (out.spatial < 1 || out.spatial > 3)) return {};
    if (out.kind == Kind::kSequence && node.inputs().size() > 8) {
      const auto first = resolve(node.inputs()[node.inputs().size() - 1], frame);
      out.batch_first = first && first->isBool() && first->toBool();
    }
    return out;
  }

  static std::optional<int64_t> integer(const torch::jit::Node& node, size_t i,
                                        const Frame& frame) {
    if (i >= node.inputs().size()) return std::nullopt;
    const auto value = resolve(node.inputs()[i], frame);
    return value && value->isInt() ? std::optional(value->toInt()) : std::nullopt;
  }

  Constraint follow(const Use& use, const FramePtr& frame) {
    const auto* node = use.user;
    if (const auto callee = callee_of(node, *frame); callee.graph) {
      return enter(callee, use, frame);
    }
    if (node->kind() == prim::Return) return leave_block(use, frame);
    if (node->kind() == prim::Loop) return loop(use, frame);
    const std::string_view op = node->kind().toQualString();
    const bool aten = op.starts_with("aten::");
    const bool arithmetic =
        std::find(kArithmetic.begin(), kArithmetic.end(), op) != kArithmetic.end();
    if (aten && use.offset > 0 && !arithmetic) return {};
    if (!aten && !op.starts_with("prim::")) return {};
    for (const auto* output : node->outputs()) {
      const auto kind = output->type()->kind();
      const bool carries = kind == c10::TypeKind::TensorType || kind == c10::TypeKind::ListType ||
                           kind == c10::TypeKind::TupleType || kind == c10::TypeKind::OptionalType;
      if (!carries || holds_numbers(*output->type())) continue;
      if (const auto found = run(output, frame); found.kind != Kind::kNone) return found;
    }
    return {};
  }

  /// Shapes: values derived from them do not constrain the input.
  static bool holds_numbers(const c10::Type& type) {
    if (type.kind() != c10::TypeKind::ListType) return false;
    const auto kind = type.containedTypes()[0]->kind();
    return kind == c10::TypeKind::IntType || kind == c10::TypeKind::FloatType;
  }

  Constraint enter(const Callee& callee, const Use& use, const FramePtr& frame) {
    if (use.offset < callee.first) return {};
    auto inner = std::make_shared<Frame>();
    inner->graph = callee.graph;
    for (size_t i = callee.first; i < use.user->inputs().size(); ++i) {
      inner->bound.push_back(resolve(use.user->inputs()[i], *frame));
    }
    const auto i = use.offset - callee.first;
    if (i >= callee.graph->inputs().size()) return {};
    const bool outer = std::exchange(returned_, false);
    const auto inside = run(callee.graph->inputs()[i], inner);
    const bool comes_back = std::exchange(returned_, outer);
    if (inside.kind != Kind::kNone || !comes_back) return inside;
    for (const auto* output : use.user->outputs()) {
      if (output->type()->kind() != c10::TypeKind::TensorType &&
          !output->type()->isSubtypeOf(*c10::ListType::ofTensors())) {
        continue;
      }
      if (const auto found = run(output, frame); found.kind != Kind::kNone) return found;
    }
    return {};
  }

  Constraint leave_block(const Use& use, const FramePtr& frame) {
    const auto* owner = use.user->owningBlock()->owningNode();
    if (!owner) {
      returned_ = true;
      return {};
    }
    const size_t skip = owner->kind() == prim::Loop ? 1 : 0;  // the node's condition
    if (use.offset < skip || use.offset - skip >= owner->outputs().size()) return {};
    return run(owner->outputs()[use.offset - skip], frame);
  }

  Constraint loop(const Use& use, const FramePtr& frame) {
    if (use.offset < 2) return {};
    const auto inside = run(use.user->blocks()[0]->inputs()[use.offset - 1], frame);
    return inside.kind != Kind::kNone ? inside : run(use.user->outputs()[use.offset - 2], frame);
  }

  /// Holds the frames, so that addresses are not reused.
  std::set<std::pair<const Value*, FramePtr>> seen_;
  size_t steps_ = 0;
  bool returned_ = false;  // the value reached the end of the running function
};

/// The constraint of a module's weight: [out, in, kernel…] of a convolution, [out, in] of a linear
/// layer, weight_ih_l0 [gates, in] of a recurrent layer.
Constraint constraint_of_weight(const std::string& name, const at::Tensor& weight) {
  const auto part = last_part(name);
  if (part == "weight_ih_l0" && weight.dim() == 2) {
    return {Kind::kSequence, weight.size(1), 0, false, weight.scalar_type()};
  }
  if (part != "weight" || weight.dim() < 2 || weight.dim() > 5) return {};
  const auto kind = weight.dim() == 2 ? Kind::kFeatures : Kind::kChannels;
  return {kind, weight.size(1), weight.dim() - 2, false, weight.scalar_type()};
}

}  // namespace

at::ScalarType float_type_of(const torch::jit::Module& root) {
  for (const at::Tensor& p : root.parameters()) {
    if (at::isFloatingType(p.scalar_type())) return p.scalar_type();
  }
  return at::kFloat;
}

Constraint constraint_on_argument(const torch::jit::Module& root, size_t i) {
  auto frame = std::make_shared<Frame>();
  const auto method = root.find_method("forward");
  frame->graph = method ? graph_of(&method->function()) : nullptr;
  if (!frame->graph || i + 1 >= frame->graph->inputs().size()) return {};
  frame->bound.emplace_back(root._ivalue());
  return ConstraintFinder().run(frame->graph->inputs()[i + 1], frame);
}

Constraint constraint_of_weights(const torch::jit::Module& root) {
  for (const auto& parameter : root.named_parameters()) {
    const auto constraint = constraint_of_weight(parameter.name, parameter.value);
    if (constraint.kind != Kind::kNone) return constraint;
  }
  return {};
}

std::vector<int64_t> named_image_sizes(const torch::jit::Module& root) {
  constexpr std::array<std::string_view, 2> kNames{"image_size", "img_size"};
  std::vector<int64_t> out;
  const auto add = [&](std::string_view name, const c10::IValue& value) {
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) return;
    if (value.isInt() && value.toInt() > 0) out.push_back(value.toInt());
    if (value.isTuple() && !value.toTupleRef().elements().empty()) {
      const auto first = value.toTupleRef().elements()[0];
      if (first.isInt() && first.toInt() > 0) out.push_back(first.toInt());
    }
  };
  for (const auto& module : root.modules()) {
    const auto type = module.type();
    for (size_t i = 0; i < type->numAttributes(); ++i) {
      add(type->getAttributeName(i), module._ivalue()->getSlot(i));
    }
    for (size_t i = 0; i < type->numConstants(); ++i) {
      add(type->getConstantName(i), type->getConstant(i));
    }
  }
  return out;
}

}  // namespace tmeter::torch_backend
