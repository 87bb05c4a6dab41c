#include "load/by_rule.hpp"

#include "load/messages.hpp"

namespace tmeter::torch_backend {
namespace {

std::string rule_text(const std::string& op, const Rule& rule) {
  return "the shape rule of plugin " + rule.plugin + " for " + op;
}

/// An argument as a value of the query's builder.
class Arguments {
 public:
  explicit Arguments(GraphBuilder builder) : builder_(builder) {}

  GraphBuilder::Id add(const c10::IValue& v) {
    if (v.isTensor()) return tensor(v.toTensor());
    if (v.isInt()) return builder_.integer(v.toInt());
    if (v.isDouble()) return builder_.real(v.toDouble());
    if (v.isBool()) return builder_.boolean(v.toBool());
    if (v.isString()) return builder_.text(v.toStringRef());
    if (v.isNone()) return builder_.none();
    std::vector<GraphBuilder::Id> items;
    if (v.isTuple()) {
      for (const auto& item : v.toTupleRef().elements()) items.push_back(add(item));
      return builder_.list(items);
    }
    if (!v.isList()) return builder_.other(v.tagKind());
    const auto list = v.toList();
    for (size_t i = 0; i < list.size(); ++i) items.push_back(add(list.get(i)));
    return builder_.list(items);
  }

 private:
  GraphBuilder::Id tensor(const at::Tensor& t) {
    if (!t.defined()) return builder_.none();
    std::vector<tmeter_dim> dims;
    for (const auto d : t.sizes()) dims.push_back(GraphBuilder::dim(d));
    return builder_.tensor_value(DType(static_cast<int32_t>(t.scalar_type())), dims);
  }

  GraphBuilder builder_;
};

at::Tensor meta_tensor(const tmeter::Value& v, const std::string& whose) {
  if (!v.is_tensor() || !v.dtype().known())
    throw Error(TMETER_CANNOT_RUN, whose + " gives " +
                                       (v.is_tensor() ? "a tensor of a type that LibTorch lacks"
                                                      : "a list of something else than tensors"));
  const auto shape = v.shape();
  return at::empty(at::IntArrayRef(shape.begin(), shape.end()),
                   at::dtype(static_cast<at::ScalarType>(v.dtype().id())).device(at::kMeta));
}

c10::IValue from_rule(const tmeter::Value& v, const std::string& whose) {
  switch (v.kind()) {
    case TMETER_VALUE_TENSOR:
      return meta_tensor(v, whose);
    case TMETER_VALUE_INT:
      return v.as_int();
    case TMETER_VALUE_FLOAT:
      return v.as_float();
    case TMETER_VALUE_BOOL:
      return v.as_bool();
    case TMETER_VALUE_LIST: {
      c10::List<at::Tensor> list;
      for (size_t i = 0; i < v.size(); ++i) list.push_back(meta_tensor(v[i], whose));
      return list;
    }
    default:
      return {};
  }
}

}  // namespace

std::optional<Rule> find_rule(const Call& call, const std::string& op) {
  const auto found = ShapeQuery::find(call.handle(), op);
  if (!found) return std::nullopt;
  const std::string text(found->schema), plugin(found->plugin);
  try {
    return Rule{torch::jit::parseSchema(text), plugin};
  } catch (const std::exception& e) {
    throw Error(TMETER_CANNOT_RUN, "the schema '" + text + "' of a shape rule of plugin " + plugin +
                                       " cannot be read: " + short_reason(e));
  }
}

std::vector<c10::IValue> results_by_rule(const Call& call, const std::string& op, const Rule& rule,
                                         const torch::jit::Stack& args) {
  ShapeQuery query(call.handle());
  Arguments values(query.builder());
  std::vector<tmeter_id> ids;
  for (const auto& a : args) ids.push_back(values.add(a));
  std::vector<c10::IValue> out;
  for (const auto& r : query.infer(op, ids, rule.schema.returns().size()))
    out.push_back(from_rule(r, rule_text(op, rule)));
  return out;
}

}  // namespace tmeter::torch_backend
