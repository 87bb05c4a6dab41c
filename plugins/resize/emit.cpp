#include <algorithm>

#include "replayed_sizes.hpp"

namespace tmeter::resize {
namespace {

using Id = GraphBuilder::Id;

class Emitter {
 public:
  Emitter(const Graph& recorded, const ReplayedSizes& replayed, GraphBuilder& builder)
      : recorded_(recorded), replayed_(replayed), builder_(builder) {}

  void run() {
    for (size_t i = 0; i < recorded_.inputs().size(); ++i) {
      const bool given = !recorded_.input_wanted(i).empty();
      builder_.input(recorded_.input_name(i), given ? "given" : recorded_.input_origin(i),
                     define(recorded_.inputs()[i]));
    }
    for (const auto& node : recorded_.nodes()) emit_node(node);
    for (const auto& output : recorded_.outputs()) builder_.output(use(output));
  }

 private:
  void emit_node(const Node& node) {
    const auto replaced = replayed_.literals.find(node.index());
    const auto literal_for = [&](std::string_view name) -> const Literal* {
      if (replaced == replayed_.literals.end()) return nullptr;
      const auto at = std::ranges::find(replaced->second, name, &Literal::argument);
      return at == replaced->second.end() ? nullptr : &*at;
    };
    const auto pads = replayed_.pads.find(node.index());
    std::vector<tmeter_arg> args;
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto name = node.arg_name(i);
      const auto value = node.arg(i);
      const auto* literal = literal_for(name);
      const Id id = literal ? integers(literal->sizes, value.is_list())
                    : i == 0 && pads != replayed_.pads.end() ? padded(node, pads->second)
                                                             : use(value);
      args.push_back(GraphBuilder::arg(name, id));
    }
    std::vector<Id> results;
    for (size_t i = 0; i < node.result_count(); ++i) results.push_back(define(node.result(i)));
    builder_.node(node.op(), node.overload(), static_cast<Id>(node.call().index() + 1), args,
                  results, node.location());
  }

  /// Adds a node that pads the operand as the network would for this size, before the recorded
  /// node.
  Id padded(const Node& node, const Sizes& pads) {
    const auto operand = node.arg(size_t{0});
    auto sizes = dims_in(replayed_, operand);
    for (size_t i = 0; i < pads.size() / 2 && i < sizes.size(); ++i)
      sizes[sizes.size() - 1 - i] += pads[2 * i] + pads[2 * i + 1];
    std::vector<tmeter_dim> dims;
    for (const auto d : sizes) dims.push_back(GraphBuilder::dim(d));
    const Id result = builder_.tensor_value(operand.dtype(), dims);
    builder_.node("aten::constant_pad_nd", "", static_cast<Id>(node.call().index() + 1),
                  {GraphBuilder::arg("self", use(operand)),
                   GraphBuilder::arg("pad", integers(pads, /*list=*/true))},
                  {result}, node.location());
    return result;
  }

  Id integers(const Sizes& sizes, bool list) {
    std::vector<Id> ids;
    for (const auto s : sizes) ids.push_back(builder_.integer(s));
    return list ? builder_.list(ids) : ids.front();
  }

  Id tensor(const Value& v) {
    std::vector<tmeter_dim> dims;
    for (const auto d : dims_in(replayed_, v)) dims.push_back(GraphBuilder::dim(d));
    return builder_.tensor_value(v.dtype(), dims);
  }

  /// The first occurrence of an input or result.
  Id define(const Value& v) {
    if (const auto it = ids_.find(v.handle()); it != ids_.end()) return it->second;
    Id id = 0;
    if (v.is_tensor()) {
      id = v.tensor() ? use(v) : tensor(v);
    } else if (v.is_list()) {
      std::vector<Id> items;
      for (size_t i = 0; i < v.size(); ++i) items.push_back(define(v[i]));
      id = builder_.list(items);
    } else {
      id = constant(v);
    }
    return ids_[v.handle()] = id;
  }

  Id use(const Value& v) {
    if (const auto it = ids_.find(v.handle()); it != ids_.end()) return it->second;
    Id id = 0;
    if (v.is_list()) {
      std::vector<Id> items;
      for (size_t i = 0; i < v.size(); ++i) items.push_back(use(v[i]));
      id = builder_.list(items);
    } else if (v.is_tensor()) {
      id = v.tensor() ? builder_.bound(static_cast<Id>(v.tensor().index() + 1)) : tensor(v);
    } else {
      id = constant(v);
    }
    return ids_[v.handle()] = id;
  }

  Id constant(const Value& v) {
    if (const auto it = replayed_.numbers.find(v.handle()); it != replayed_.numbers.end())
      return computed(it->second);
    switch (v.kind()) {
      case TMETER_VALUE_INT:
        return builder_.integer(v.as_int());
      case TMETER_VALUE_FLOAT:
        return builder_.real(v.as_float());
      case TMETER_VALUE_BOOL:
        return builder_.boolean(v.as_bool());
      case TMETER_VALUE_TEXT:
        return builder_.text(v.text());
      case TMETER_VALUE_DTYPE:
        return builder_.dtype(DType(static_cast<int32_t>(v.as_int())));
      case TMETER_VALUE_OTHER:
        return builder_.other(v.text());
      default:
        return builder_.none();
    }
  }

  Id computed(const c10::IValue& number) {
    if (number.isDouble()) return builder_.real(number.toDouble());
    if (number.isBool()) return builder_.boolean(number.toBool());
    return builder_.integer(number.toScalar().toLong());
  }

  const Graph& recorded_;
  const ReplayedSizes& replayed_;
  GraphBuilder& builder_;
  std::unordered_map<const tmeter_value*, Id> ids_;
};

}  // namespace

void emit(const Graph& recorded, const ReplayedSizes& replayed, GraphBuilder& builder) {
  Emitter(recorded, replayed, builder).run();
}

}  // namespace tmeter::resize
