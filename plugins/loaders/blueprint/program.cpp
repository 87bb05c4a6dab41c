#include "program.hpp"

#include <algorithm>
#include <iterator>

namespace blueprint {
namespace {

using tmeter::DType;
using tmeter::GraphBuilder;

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

tmeter_id id_of(const Module& m) { return static_cast<tmeter_id>(m.index() + 1); }

const tmeter_blueprint_api& api() {
  static const auto& api =
      tmeter::detail::interface_of<tmeter_blueprint_api>(TMETER_HOST_BLUEPRINT);
  return api;
}

std::string shape_text(const Tensor& t) {
  std::string out;
  for (const auto d : t.shape()) out += (out.empty() ? "" : ", ") + std::to_string(d);
  return "[" + out + "]";
}

}  // namespace

Size Size::operator*(const Size& o) const {
  Size out;
  if (__builtin_mul_overflow(number, o.number, &out.number))
    throw Contradiction("a size is beyond 2^63");
  std::merge(open.begin(), open.end(), o.open.begin(), o.open.end(), std::back_inserter(out.open));
  return out;
}

Tensor find_tensor(const Module& m, std::string_view name) {
  for (size_t i = 0; m && i < m.tensor_count(); ++i)
    if (last_part(m.tensor(i).name()) == name) return m.tensor(i);
  return Tensor();
}

Module find_child(const Module& m, std::string_view name) {
  for (size_t i = 0; m && i < m.child_count(); ++i)
    if (m.child(i).name() == name) return m.child(i);
  return Module();
}

Module first_child(const Module& m, const std::vector<std::string_view>& names) {
  for (const auto name : names)
    if (const auto child = find_child(m, name)) return child;
  return Module();
}

Tensor first_tensor(const Module& m, const std::vector<std::string_view>& names) {
  for (const auto name : names)
    if (const auto tensor = find_tensor(m, name)) return tensor;
  return Tensor();
}

bool is_matrix(const Module& m) {
  const auto weight = find_tensor(m, "weight");
  return weight && weight.shape().rank() == 2;
}

Program::Program(tmeter_builder* builder, DType dtype, int64_t max_tokens)
    : builder_(builder), graph_(builder), dtype_(dtype), max_tokens_(max_tokens) {}

void Program::does_not_fit(const Tensor& t, const Value& x) const {
  throw Contradiction("tensor '" + std::string(t.name()) + "' of shape " + shape_text(t) +
                      " is given vectors of " + text(x.back()));
}

std::string Program::text(const Size& s) const {
  std::string out = std::to_string(s.number);
  for (const auto i : s.open) out += " × " + open_[i].name;
  return out;
}

Size Program::symbol(std::string_view name, int64_t most, int64_t usual, int64_t least) {
  if (most <= 0) most = INT64_MAX;
  return open(std::string(name), [&] {
    return graph_.expr_symbol(graph_.symbol(name, least, most, std::min(most, usual)));
  });
}

Size Program::sequence() { return symbol("sequence", max_tokens_, kUsualSequence); }

Size Program::derived(int32_t op, const Size& a, int64_t b) {
  const auto name = "(" + text(a) + ", " + std::to_string(op) + ", " + std::to_string(b) + ")";
  return open(name, [&] { return graph_.expr(op, {expression(a), graph_.expr_int(b)}); });
}

template <class F>
Size Program::open(const std::string& name, const F& make) {
  const auto entry =
      std::find_if(open_.begin(), open_.end(), [&](const OpenSize& o) { return o.name == name; });
  Size s;
  s.open.push_back(static_cast<size_t>(entry - open_.begin()));
  if (entry == open_.end()) open_.push_back({name, make()});
  return s;
}

tmeter_id Program::expression(const Size& s) {
  auto [it, is_new] = expressions_.try_emplace(s, 0);
  if (!is_new) return it->second;
  std::vector<tmeter_id> factors;
  if (s.number != 1 || s.open.empty()) factors.push_back(graph_.expr_int(s.number));
  for (const auto i : s.open) factors.push_back(open_[i].expression);
  return it->second = factors.size() == 1 ? factors.front() : graph_.expr(TMETER_EXPR_MUL, factors);
}

tmeter_dim Program::dim(const Size& s) {
  return s.open.empty() ? GraphBuilder::dim(s.number) : GraphBuilder::dim_expr(expression(s));
}

std::vector<tmeter_dim> Program::dims(const std::vector<Size>& sizes) {
  std::vector<tmeter_dim> out;
  for (const auto& s : sizes) out.push_back(dim(s));
  return out;
}

Value Program::made(std::vector<Size> sizes, DType dtype) {
  const auto id = graph_.tensor_value(dtype, dims(sizes));
  return {id, std::move(sizes), dtype};
}

tmeter_id Program::sizes(const std::vector<Size>& sizes) {
  std::vector<tmeter_id> items;
  for (const auto& s : sizes) items.push_back(graph_.integer(dim(s)));
  return graph_.list(items);
}

Program::ModuleCallScope::ModuleCallScope(Program& p, const Module& m, std::string_view type)
    : p_(p) {
  if (!type.empty()) p.type(m, type);
  p.calls_.push_back(m.parent() ? p.graph_.module_call(id_of(m), p.calls_.back())
                                : p.calls_.back());
}

Program::ModuleCallScope::ModuleCallScope(Program& p, const Module& parent, std::string_view name,
                                          std::string_view type)
    : p_(p) {
  p.calls_.push_back(
      p.graph_.module_call(p.graph_.module(id_of(parent), name, type), p.calls_.back()));
}

void Program::type(const Module& m, std::string_view type) {
  if (m.qualified_type().empty())
    tmeter::check(api().module_type(builder_, id_of(m), tmeter::to_abi(type)));
}

void Program::attribute(const Module& m, std::string_view name, int64_t value) {
  graph_.module_attribute(id_of(m), name, graph_.integer(value));
}
void Program::attribute(const Module& m, std::string_view name, std::string_view value) {
  graph_.module_attribute(id_of(m), name, graph_.text(value));
}

Value Program::input(std::string_view name, DType dtype, std::vector<Size> sizes) {
  auto v = made(std::move(sizes), dtype);
  graph_.input(name, "blueprint", v.id);
  return v;
}

void Program::output(const Value& v) { graph_.output(v.id); }

Value Program::bound(const Tensor& t) {
  auto& id = used_[t.index()];
  if (id == 0) id = graph_.bound(static_cast<tmeter_id>(t.index() + 1));
  std::vector<Size> sizes;
  for (const auto d : t.shape()) sizes.emplace_back(d);
  return {id, std::move(sizes), t.dtype()};
}

Value Program::node(std::string_view op, std::vector<std::pair<std::string_view, tmeter_id>> args,
                    std::vector<Size> sizes, DType dtype) {
  auto out = made(std::move(sizes), dtype);
  std::vector<tmeter_arg> given;
  for (const auto& [name, id] : args) given.push_back(GraphBuilder::arg(name, id));
  graph_.node(op, "", calls_.back(), given, {out.id});
  return out;
}

Value Program::linear(const Value& x, const Tensor& weight, const Tensor& bias) {
  const auto shape = weight.shape();
  if (shape.rank() != 2 || x.back() != Size(shape[1])) does_not_fit(weight, x);
  auto sizes = x.dims;
  sizes.back() = shape[0];
  std::vector<std::pair<std::string_view, tmeter_id>> args{{"input", x.id},
                                                           {"weight", bound(weight).id}};
  if (bias) args.emplace_back("bias", bound(bias).id);
  return node("aten::linear", std::move(args), std::move(sizes), x.dtype);
}

Value Program::linear(const Module& m, const Value& x) {
  const ModuleCallScope calling(*this, m, "torch.nn.modules.linear.Linear");
  const auto weight = find_tensor(m, "weight");
  if (!weight) throw UnsupportedStructure("'" + std::string(m.path()) + "' has no weight");
  return linear(x, weight, find_tensor(m, "bias"));
}

Value Program::transposed_linear(const Module& m, const Value& x) {
  const ModuleCallScope calling(*this, m, "transformers.pytorch_utils.Conv1D");
  const auto weight = find_tensor(m, "weight"), bias = find_tensor(m, "bias");
  if (!weight || weight.shape().rank() != 2)
    throw UnsupportedStructure("'" + std::string(m.path()) + "' has no matrix");
  if (x.back() != Size(weight.shape()[0])) does_not_fit(weight, x);
  Size rows;
  for (size_t i = 0; i + 1 < x.dims.size(); ++i) rows = rows * x.dims[i];
  const auto flat = view(x, {rows, x.back()});
  const Size out(weight.shape()[1]);
  const auto y =
      bias
          ? node("aten::addmm",
                 {{"self", bound(bias).id}, {"mat1", flat.id}, {"mat2", bound(weight).id}},
                 {rows, out}, x.dtype)
          : node("aten::mm", {{"self", flat.id}, {"mat2", bound(weight).id}}, {rows, out}, x.dtype);
  auto sizes = x.dims;
  sizes.back() = out;
  return view(y, std::move(sizes));
}

Value Program::embedding(const Module& m, const Value& ids) {
  const ModuleCallScope calling(*this, m, "torch.nn.modules.sparse.Embedding");
  const auto weight = find_tensor(m, "weight");
  if (!weight || weight.shape().rank() != 2)
    throw UnsupportedStructure("'" + std::string(m.path()) + "' is not a table of embeddings");
  auto sizes = ids.dims;
  sizes.emplace_back(weight.shape()[1]);
  return node("aten::embedding", {{"weight", bound(weight).id}, {"indices", ids.id}},
              std::move(sizes), dtype_);
}

Value Program::norm(const Module& m, const Value& x) {
  const auto weight = first_tensor(m, kNormWeight), bias = first_tensor(m, {"bias", "beta"});
  const ModuleCallScope calling(
      *this, m,
      bias ? "torch.nn.modules.normalization.LayerNorm" : "torch.nn.modules.normalization.RMSNorm");
  if (weight && weight.shape().rank() == 1 && x.back() != Size(weight.shape()[0]))
    does_not_fit(weight, x);
  std::vector<std::pair<std::string_view, tmeter_id>> args{{"input", x.id},
                                                           {"normalized_shape", sizes({x.back()})}};
  if (weight) args.emplace_back("weight", bound(weight).id);
  if (bias) args.emplace_back("bias", bound(bias).id);
  return node(bias ? "aten::layer_norm" : "aten::rms_norm", std::move(args), x.dims, x.dtype);
}

Value Program::convolution(const Module& m, const Value& x, std::vector<Size> to,
                           const Sliding& how) {
  const auto weight = find_tensor(m, "weight"), bias = find_tensor(m, "bias");
  // GGUF has a filter of each channel as a matrix.
  const bool is_flat = weight.shape().rank() == 2;
  const auto along = is_flat ? 1 : weight.shape().rank() - 2;
  const ModuleCallScope calling(
      *this, m, along == 1 ? "torch.nn.modules.conv.Conv1d" : "torch.nn.modules.conv.Conv2d");
  if (x.dims[1] != Size(how.groups) * (is_flat ? 1 : weight.shape()[1])) does_not_fit(weight, x);
  const auto filter =
      is_flat ? view(bound(weight), {weight.shape()[0], 1, weight.shape()[1]}) : bound(weight);
  std::vector<std::pair<std::string_view, tmeter_id>> args{{"input", x.id}, {"weight", filter.id}};
  if (bias) args.emplace_back("bias", bound(bias).id);
  const auto repeated = [&](int64_t n) {
    return graph_.list(std::vector<tmeter_id>(static_cast<size_t>(along), graph_.integer(n)));
  };
  args.emplace_back("stride", repeated(how.stride));
  args.emplace_back("padding", repeated(how.padding));
  args.emplace_back("groups", graph_.integer(how.groups));
  return node(along == 1 ? "aten::conv1d" : "aten::conv2d", std::move(args), std::move(to),
              x.dtype);
}

Value Program::unary(std::string_view op, const Value& x) {
  return node(op, {{"self", x.id}}, x.dims, x.dtype);
}

Value Program::binary(std::string_view op, const Value& a, const Value& b) {
  return node(op, {{"self", a.id}, {"other", b.id}}, a.dims, a.dtype);
}

Value Program::view(const Value& x, std::vector<Size> to) {
  const auto size = sizes(to);
  return node("aten::view", {{"self", x.id}, {"size", size}}, std::move(to), x.dtype);
}

Value Program::transpose(const Value& x, size_t a, size_t b) {
  auto to = x.dims;
  std::swap(to[a], to[b]);
  return node("aten::transpose",
              {{"self", x.id},
               {"dim0", graph_.integer(static_cast<int64_t>(a))},
               {"dim1", graph_.integer(static_cast<int64_t>(b))}},
              std::move(to), x.dtype);
}

std::vector<Value> Program::split(const Value& x, const std::vector<Size>& parts) {
  std::vector<Value> out;
  std::vector<tmeter_id> ids;
  for (const auto& part : parts) {
    auto to = x.dims;
    to.back() = part;
    ids.push_back(out.emplace_back(made(std::move(to), x.dtype)).id);
  }
  graph_.node("aten::split_with_sizes", "", calls_.back(),
              {GraphBuilder::arg("self", x.id), GraphBuilder::arg("split_sizes", sizes(parts)),
               GraphBuilder::arg("dim", graph_.integer(-1))},
              {graph_.list(ids)});
  return out;
}

Value Program::concat(const Value& a, const Value& b) {
  auto to = a.dims;
  to.back() = a.back().number + b.back().number;
  return node("aten::cat", {{"tensors", graph_.list({a.id, b.id})}, {"dim", graph_.integer(-1)}},
              std::move(to), a.dtype);
}

Value Program::attention(const Value& q, const Value& k, const Value& v, bool causal) {
  auto to = q.dims;
  to.back() = v.back();
  return node("aten::scaled_dot_product_attention",
              {{"query", q.id},
               {"key", k.id},
               {"value", v.id},
               {"is_causal", graph_.boolean(causal)},
               {"enable_gqa", graph_.boolean(q.dims[1] != k.dims[1])}},
              std::move(to), q.dtype);
}

Value Program::einsum(std::string_view equation, const Value& a, const Value& b,
                      std::vector<Size> to) {
  return node("aten::einsum",
              {{"equation", graph_.text(equation)}, {"tensors", graph_.list({a.id, b.id})}},
              std::move(to), a.dtype);
}

Value Program::topk(const Value& scores, int64_t k) {
  auto to = scores.dims;
  to.back() = k;
  auto values = made(to, scores.dtype), indices = made(to, DType(TMETER_DTYPE_INT64));
  graph_.node("aten::topk", "", calls_.back(),
              {GraphBuilder::arg("self", scores.id), GraphBuilder::arg("k", graph_.integer(k))},
              {values.id, indices.id});
  return values;
}

Value Program::experts(const Value& x, const std::vector<Tensor>& weights, int64_t number,
                       const Size& rows, int64_t out) {
  std::vector<tmeter_id> ids;
  for (const auto& w : weights) ids.push_back(bound(w).id);
  return node("blueprint::experts",
              {{"input", x.id}, {"weights", graph_.list(ids)}, {"experts", graph_.integer(number)}},
              {rows, Size(out)}, x.dtype);
}

Value Program::unknown(const std::string& op, const Value& x, const std::vector<Tensor>& tensors) {
  std::vector<tmeter_id> ids;
  for (const auto& t : tensors) ids.push_back(bound(t).id);
  return node(op, {{"input", x.id}, {"tensors", graph_.list(ids)}}, x.dims, x.dtype);
}

}  // namespace blueprint
