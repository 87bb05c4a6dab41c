// Shape rules for in-house operators (plugin authors), and asking for them (loaders).
//
//   r.op("acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor")
//       .shape([](tmeter::ShapeCall& c) { c.give_like("x"); });
#pragma once
#include <functional>
#include <vector>

#include "../abi/shape_rule.h"
#include "loader.hpp"
#include "schema.hpp"

TMETER_SDK_BEGIN

/// One call of an operator whose results are wanted: arguments by schema name, results in order.
class ShapeCall {
 public:
  ShapeCall(std::string_view schema, const tmeter_value* const* args, size_t count,
            tmeter_builder* builder, tmeter_id* results, size_t result_count)
      : names_(schema_arguments(schema)),
        args_(args, args + count),
        builder_(builder),
        results_(results),
        result_count_(result_count) {}

  /// None when the call leaves it out.
  Value arg(std::string_view name) const {
    for (size_t i = 0; i < names_.size() && i < args_.size(); ++i) {
      if (names_[i] == name) return Value(args_[i]);
    }
    return Value();
  }
  /// A tensor argument that must be there.
  Value input(std::string_view name) const {
    const auto v = arg(name);
    if (!v.is_tensor())
      throw Error(TMETER_BAD_MODEL, "the argument '" + std::string(name) + "' is no tensor");
    return v;
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
      throw Error(TMETER_INTERNAL, "the shape rule gives more results than the schema has");
    results_[given_++] = id;
  }

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

/// For loaders: one call of an operator another plugin has a shape rule for.
class ShapeQuery {
 public:
  /// The rule's schema; empty when there is none.
  static std::string_view schema(const tmeter_request* request, std::string_view op) {
    return to_view(detail::shape_rules_api().schema(request, to_abi(op)));
  }

  explicit ShapeQuery(const tmeter_request* request)
      : request_(request), handle_(detail::shape_rules_api().begin(request)) {}
  ~ShapeQuery() { detail::shape_rules_api().end(handle_); }
  ShapeQuery(const ShapeQuery&) = delete;
  ShapeQuery& operator=(const ShapeQuery&) = delete;

  /// Make the values of the arguments here.
  GraphBuilder builder() { return GraphBuilder(handle_); }
  /// Throws when the rule fails. The values are valid as long as this query.
  std::vector<Value> infer(tmeter_call* call, std::string_view op,
                           const std::vector<tmeter_id>& args, size_t results) {
    std::vector<tmeter_id> ids(results);
    check(detail::shape_rules_api().infer(call, request_, to_abi(op), handle_, args.data(),
                                          args.size(), ids.data(), ids.size()));
    std::vector<Value> out;
    for (const auto id : ids) out.emplace_back(detail::shape_rules_api().value(handle_, id));
    return out;
  }

 private:
  const tmeter_request* request_;
  tmeter_builder* handle_;
};

TMETER_SDK_END
