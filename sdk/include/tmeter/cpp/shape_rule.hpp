// Shape rules for in-house operators (plugin authors), and calls of them (loaders, propagators).
//
//   r.op("acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor")
//       .shape([](tmeter::ShapeCall& c) { c.give_like("x"); });
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "../abi/shape_rule.h"
#include "loader.hpp"
#include "schema.hpp"

TMETER_SDK_BEGIN

/// One call of an operator whose results are requested: arguments by schema name, results in order.
class ShapeCall {
 public:
  ShapeCall(tmeter_call* call, std::string_view schema, const tmeter_value* const* args,
            size_t count, tmeter_builder* builder, tmeter_id* results, size_t result_count)
      : call_(call),
        names_(schema_arguments(schema)),
        args_(args, args + count),
        builder_(builder),
        results_(results),
        result_count_(result_count) {}

  /// For warnings and calls of other rules.
  Call call() const { return Call(call_); }

  /// None: the call leaves it out.
  Value arg(std::string_view name) const {
    for (size_t i = 0; i < names_.size() && i < args_.size(); ++i) {
      if (names_[i] == name) return Value(args_[i]);
    }
    return Value();
  }
  /// A mandatory tensor argument. A name that the schema does not have is the plugin's
  /// error.
  Value input(std::string_view name) const {
    const auto v = arg(name);
    if (std::find(names_.begin(), names_.end(), name) == names_.end())
      detail::raise(
          Error(TMETER_INTERNAL, "the schema has no argument '" + std::string(name) + "'"));
    if (!v.is_tensor())
      detail::raise(
          Error(TMETER_BAD_MODEL, "the argument '" + std::string(name) + "' is not a tensor"));
    return v;
  }

  /// Refuses these arguments, as the operator itself would: "x must have 32 columns".
  [[noreturn]] void refuse(const std::string& why) const {
    detail::raise(Error(TMETER_BAD_MODEL, why));
  }

  /// The next result.
  void give(DType dtype, const std::vector<int64_t>& dims) { give(tensor(dtype, dims)); }
  void give_like(std::string_view name) {
    const auto v = input(name);
    give(v.dtype(), {v.shape().begin(), v.shape().end()});
  }
  void give_int(int64_t v) { give(builder_.integer(v)); }
  void give_none() { give(builder_.none()); }
  /// A list of tensors.
  struct TensorShape {
    DType dtype;
    std::vector<int64_t> dims;
  };
  void give_list(const std::vector<TensorShape>& items) {
    std::vector<tmeter_id> ids;
    for (const auto& i : items) ids.push_back(tensor(i.dtype, i.dims));
    give(builder_.list(ids));
  }

 private:
  tmeter_id tensor(DType dtype, const std::vector<int64_t>& dims) {
    std::vector<tmeter_dim> d;
    for (const auto n : dims) d.push_back(GraphBuilder::dim(n));
    return builder_.tensor_value(dtype, d);
  }
  void give(tmeter_id id) {
    if (given_ == result_count_)
      detail::raise(
          Error(TMETER_INTERNAL, "the shape rule gives more results than the schema has"));
    results_[given_++] = id;
  }

  tmeter_call* call_;
  std::vector<std::string_view> names_;
  std::vector<const tmeter_value*> args_;
  GraphBuilder builder_;
  tmeter_id* results_;
  size_t result_count_, given_ = 0;
};

namespace detail {

inline const tmeter_shape_rules_api& shape_rules_api() {
  static const auto& api = interface_of<tmeter_shape_rules_api>(TMETER_HOST_SHAPE_RULES);
  return api;
}

}  // namespace detail

/// Thrown by ShapeQuery: a rule refuses these arguments.
class ShapeRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// For loaders and propagators: one call of an operator for which another plugin has a shape rule.
class ShapeQuery {
 public:
  struct Rule {
    std::string_view schema, plugin;  ///< id of the rule's plugin
  };
  /// The rule for "acme::gated_mlp" or "acme::gated_mlp.out", if there is one.
  static std::optional<Rule> find(tmeter_call* call, std::string_view op) {
    tmeter_str schema{}, plugin{};
    const auto status = detail::shape_rules_api().find(call, to_abi(op), &schema, &plugin);
    if (status == TMETER_UNSUPPORTED) return std::nullopt;
    check(status);
    return Rule{to_view(schema), to_view(plugin)};
  }

  explicit ShapeQuery(tmeter_call* call)
      : call_(call), handle_(detail::shape_rules_api().begin(call)) {}
  ~ShapeQuery() { detail::shape_rules_api().end(handle_); }
  ShapeQuery(const ShapeQuery&) = delete;
  ShapeQuery& operator=(const ShapeQuery&) = delete;

  /// Create the values of the arguments in this builder.
  GraphBuilder builder() { return GraphBuilder(handle_); }
  /// Throws ShapeRefused, or an error if the rule fails. The values are valid as long as this
  /// query.
  std::vector<Value> infer(std::string_view op, const std::vector<tmeter_id>& args,
                           size_t results) {
    std::vector<tmeter_id> ids(results);
    tmeter_str why{};
    const auto status = detail::shape_rules_api().infer(call_, to_abi(op), handle_, args.data(),
                                                        args.size(), ids.data(), ids.size(), &why);
    if (status == TMETER_CANNOT_RUN) detail::raise(ShapeRefused(std::string(to_view(why))));
    check(status);
    std::vector<Value> out;
    for (const auto id : ids) out.emplace_back(detail::shape_rules_api().value(handle_, id));
    return out;
  }

 private:
  tmeter_call* call_;
  tmeter_builder* handle_;
};

TMETER_SDK_END
