#include "propagate/rules.hpp"

#include "propagate/known.hpp"

namespace tmeter::torch_backend {
namespace {

std::string tensor_text(at::ScalarType type, at::IntArrayRef dims) {
  std::string out;
  for (const auto d : dims) out += (out.empty() ? "" : ", ") + std::to_string(d);
  return std::string(DType(static_cast<int32_t>(type)).code()) + "[" + out + "]";
}

std::string text_of(const c10::IValue& v) {
  if (v.isTensor()) return tensor_text(v.toTensor().scalar_type(), v.toTensor().sizes());
  if (v.isInt()) return std::to_string(v.toInt());
  if (!v.isList()) return v.isNone() ? "nothing" : "a " + v.tagKind();
  std::string out;
  for (const auto& item : v.toListRef()) out += (out.empty() ? "" : ", ") + text_of(item);
  return "(" + out + ")";
}

/// What the file says of a value; none where it says nothing that can be compared.
c10::IValue recorded(const Value& v) {
  if (v.is_tensor()) {
    if (!v.dtype().known()) return {};
    const auto shape = v.shape();
    return at::empty(at::IntArrayRef(shape.begin(), shape.end()),
                     at::dtype(static_cast<at::ScalarType>(v.dtype().id())).device(at::kMeta));
  }
  if (v.kind() == TMETER_VALUE_INT) return v.as_int();
  if (!v.is_list()) return {};
  c10::impl::GenericList items(c10::AnyType::get());
  for (size_t i = 0; i < v.size(); ++i) items.push_back(recorded(v[i]));
  return items;
}

}  // namespace

bool is_of_libtorch(const Node& node) {
  return c10::Dispatcher::singleton()
      .findSchema({std::string(node.op()), std::string(node.overload())})
      .has_value();
}

const Rule* Rules::find(const Node& node) {
  const auto op = full_name(node);
  auto it = rules_.find(op);
  if (it == rules_.end()) it = rules_.emplace(op, find_rule(call_, op)).first;
  if (!it->second) return nullptr;
  if (checked_.insert(node.index()).second) require_recorded(node, *it->second);
  return &*it->second;
}

std::vector<c10::IValue> Rules::results(const Node& node, const Rule& rule,
                                        const torch::jit::Stack& args) const {
  return results_by_rule(call_, full_name(node), rule, args);
}

void Rules::require_recorded(const Node& node, const Rule& rule) const {
  const auto path = std::string(node.call().module().path());
  const auto refuse = [&](const std::string& what) {
    throw Error(TMETER_CANNOT_RUN, "the shape rule of plugin " + rule.plugin + " for " +
                                       full_name(node) + " does not fit this model: " + what +
                                       (path.empty() ? "" : ", in " + path));
  };
  const auto count = rule.schema.returns().size();
  if (count != node.result_count())
    refuse("its schema has " + std::to_string(count) + " results, the file " +
           std::to_string(node.result_count()));
  std::vector<c10::IValue> given;
  try {
    Environment as_recorded;
    given = results(node, rule, arguments_of(node, rule.schema, as_recorded));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    refuse(std::string("of the call that the file records it says: ") + e.what());
  }
  for (size_t i = 0; i < count; ++i) {
    const auto known = recorded(node.result(i));
    const auto has = text_of(known), gives = text_of(given[i]);
    if (!known.isNone() && has != gives)
      refuse("it gives " + gives + " where the file records " + has);
  }
}

}  // namespace tmeter::torch_backend
