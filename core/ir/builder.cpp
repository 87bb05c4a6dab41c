#include "core/ir/builder.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <memory>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/ir/limits.hpp"
#include "core/ir/size_demands.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::kModel, what); }

void limit(size_t size, size_t most, const char* what) {
  if (size >= most)
    refuse("the model has more than " + std::to_string(most) + " " + what + ", tmeter's limit");
}

/// numel; 16-byte elements must fit 63 bits. `what()`: the owner of the dims.
template <class What>
int64_t checked_numel(std::span<const int64_t> dims, const What& what) {
  if (dims.size() > limits::kRank)
    refuse(what() + " has rank " + std::to_string(dims.size()) + "; at most 64 is accepted");
  int64_t numel = 1;
  for (const auto d : dims) {
    const auto product = d < 0 ? std::nullopt : checked_mul(numel, d);
    if (!product || !checked_mul(*product, 16))
      refuse(what() + " has the impossible shape " + shape_text(dims));
    numel = *product;
  }
  return numel;
}

/// The number of values that a walk through it visits: a nested list counts as often as it occurs.
double shown_value_count(const Value& v) { return v.kind == TMETER_VALUE_LIST ? 1 + v.f : 1; }

/// A key that is equal for tensors with the same memory and layout.
std::string tie_key(const TensorSpec& s, std::span<const int64_t> strides) {
  return std::string(s.storage_key) + '\0' + std::to_string(s.storage_offset) + shape_text(s.dims) +
         shape_text(strides) + std::to_string(s.dtype) +
         std::string(s.encoding ? s.encoding->id : std::string_view());
}

}  // namespace

void GraphBuilder::property(std::string_view key, std::string_view value) {
  auto& properties = graph_->properties_;
  const bool is_new = !properties.contains(key);
  if (is_new) limit(properties.size(), limits::kProperties, "properties");
  if (key.size() + value.size() > limits::kPropertyBytes)
    refuse("property '" + printable(key, 40) + "' has more than 64 KiB, tmeter's limit");
  properties[std::string(key)] = std::string(value);
}

GraphBuilder::Id GraphBuilder::symbol(std::string_view name, int64_t min, int64_t max,
                                      int64_t value) {
  limit(graph_->symbols_.size(), limits::kSymbols, "symbols");
  if (min > max) refuse("symbol '" + printable(name) + "' has a range without a value");
  graph_->symbols_.push_back({graph_->intern(name), min, max, value});
  return static_cast<Id>(graph_->symbols_.size());
}

GraphBuilder::Id GraphBuilder::expr_symbol(Id symbol) {
  if (symbol < 1 || symbol > graph_->symbols_.size())
    refuse("a shape expression names a symbol that does not exist");
  return graph_->expressions_.add_symbol(symbol - 1);
}

void GraphBuilder::condition(Id expr, std::string_view text) {
  limit(graph_->conditions_.size(), limits::kConditions, "conditions on sizes");
  if (!graph_->expressions_.contains(expr))
    refuse("a condition names an expression that does not exist");
  graph_->conditions_.push_back({expr, graph_->intern(printable(text, limits::kConditionText))});
}

Module& GraphBuilder::module_at(Id id, const char* what) {
  if (id < 1 || id > graph_->modules_.size())
    refuse(std::string(what) + " names a module that does not exist");
  return graph_->modules_[id - 1];
}

GraphBuilder::Id GraphBuilder::module(Id parent, std::string_view name, std::string_view type) {
  limit(graph_->modules_.size(), limits::kModules, "modules");
  if ((parent == 0) != graph_->modules_.empty())
    refuse("the module tree must have exactly one root");
  Module* up = parent ? &module_at(parent, "a module") : nullptr;
  std::string_view path;
  if (up) {
    if (up->depth >= limits::kModuleDepth) refuse("modules are nested more than 1,000 deep");
    path = path_of(*up, name);
    if (!module_paths_.insert(path, graph_->modules_.size(),
                              [&](size_t i) { return graph_->modules_[i].path; }))
      refuse("module '" + printable(path) + "' occurs twice");
  }
  auto& m = graph_->modules_.emplace_back();
  m.name = up ? path.substr(path.size() - name.size()) : graph_->keep(name);
  m.path = path;
  m.type = graph_->intern(type);
  m.parent = up;
  if (up) {
    m.depth = up->depth + 1;
    up->children.push_back(&m);
  }
  return static_cast<Id>(graph_->modules_.size());
}

std::string_view GraphBuilder::path_of(const Module& parent, std::string_view name) {
  const size_t size = parent.path.size() + !parent.path.empty() + name.size();
  if (size > limits::kPathBytes)
    refuse("the path of a module has " + std::to_string(size) + " bytes, beginning with '" +
           printable(parent.path.empty() ? name : parent.path, 40) + "'; tmeter accepts 4,096");
  count_name(size);
  if (parent.path.empty()) return graph_->keep(name);
  auto* path = static_cast<char*>(graph_->arena_.allocate(size, 1));
  auto* at = std::copy(parent.path.begin(), parent.path.end(), path);
  *at++ = '.';
  std::copy(name.begin(), name.end(), at);
  return {path, size};
}

void GraphBuilder::count_name(size_t bytes) {
  name_bytes_ += bytes;
  if (name_bytes_ > limits::kNameBytes)
    refuse(
        "the paths of its modules and the names of its tensors take more than 128 MiB, tmeter's "
        "limit (" +
        std::to_string(graph_->modules_.size()) + " modules and " +
        std::to_string(graph_->tensors_.size()) + " tensors so far)");
}

void GraphBuilder::module_attribute(Id module, std::string_view name, Id v) {
  limit(attributes_, limits::kValues, "attributes of modules");
  ++attributes_;
  module_at(module, "an attribute")
      .attributes.push_back({graph_->intern(name), &value(v, "a module attribute")});
}

GraphBuilder::Id GraphBuilder::module_call(Id module, Id parent) {
  limit(graph_->calls_.size(), limits::kNodes, "module calls");
  auto& m = module_at(module, "a module call");
  if (parent > graph_->calls_.size())
    refuse("a module call names a parent call that does not exist");
  auto& call = graph_->calls_.emplace_back();
  call.index = graph_->calls_.size() - 1;
  call.module = &m;
  call.parent = parent ? &graph_->calls_[parent - 1] : nullptr;
  call.graph = graph_.get();
  ++m.calls;
  return static_cast<Id>(graph_->calls_.size());
}

/// As in PyTorch, a dim of 0 counts as 1, so strides may overflow although the number of elements
/// does not.
template <class What>
std::span<int64_t> GraphBuilder::contiguous_strides(std::span<const int64_t> dims,
                                                    const What& what) {
  const auto strides = room<int64_t>(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    const auto next = checked_mul(stride, std::max<int64_t>(dims[i], 1));
    if (!next) refuse(what() + " has the impossible shape " + shape_text(dims));
    stride = *next;
  }
  return strides;
}

GraphBuilder::Id GraphBuilder::tensor(const TensorSpec& s) {
  limit(graph_->tensors_.size(), limits::kTensors, "tensors");
  const auto what = [&] { return "tensor '" + printable(s.name) + "'"; };
  if (s.owner < 1 || s.owner > graph_->modules_.size()) module_at(s.owner, what().c_str());
  auto& owner = graph_->modules_[s.owner - 1];
  const int64_t numel = checked_numel(s.dims, what);
  if (s.strides && s.strides->size() != s.dims.size())
    refuse(what() + " has a different number of dims and strides");
  const auto strides = s.strides ? copy(*s.strides) : contiguous_strides(s.dims, what);
  count_name(s.name.size());
  const auto name = graph_->keep(s.name);
  const auto storage_key = graph_->intern(s.storage_key);
  const auto dims = copy(s.dims);
  const auto* encoding = s.encoding ? this->encoding(s, numel) : nullptr;
  if (!s.name.empty() && !tensor_names_.insert(name, graph_->tensors_.size(),
                                               [&](size_t i) { return graph_->tensors_[i].name; }))
    refuse(what() + " occurs twice");
  auto& t = graph_->tensors_.emplace_back();
  t.index = graph_->tensors_.size() - 1;
  t.kind = s.kind;
  t.dtype = s.dtype;
  t.name = name;
  t.storage_key = storage_key;
  t.dims = dims;
  t.numel = numel;
  t.storage_offset = s.storage_offset;
  t.file_offset = s.file_offset;
  t.storage_bytes = s.storage_bytes;
  t.file = s.file;
  t.trainable = s.trainable;
  t.encoding = encoding;
  t.owner = &owner;
  t.canonical = &t;
  t.strides = strides;
  if (!s.storage_key.empty()) t.canonical = tied_.emplace(tie_key(s, t.strides), &t).first->second;
  owner.tensors.push_back(&t);
  return static_cast<Id>(graph_->tensors_.size());
}

Value& GraphBuilder::new_value(int32_t kind, bool defined) {
  limit(graph_->values_.size(), limits::kValues, "values");
  auto& v = graph_->values_.emplace_back();
  v.kind = kind;
  v.defined = defined;
  return v;
}

Value& GraphBuilder::value(Id id, const char* what) {
  if (id < 1 || id > graph_->values_.size())
    refuse(std::string(what) + " refers to a value that does not exist");
  return graph_->values_[id - 1];
}

GraphBuilder::Id GraphBuilder::value_none() {
  return new_value(TMETER_VALUE_NONE, true), last_value();
}

GraphBuilder::Id GraphBuilder::value_tensor(int32_t dtype, std::span<const DimSpec> dims) {
  const bool symbolic = std::ranges::any_of(dims, [](const auto& d) { return d.expr != 0; });
  const auto sizes = room<int64_t>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].expr && !graph_->expressions_.contains(dims[i].expr))
      refuse("a dim names an expression that does not exist");
    sizes[i] = dims[i].expr ? 0 : dims[i].value;
  }
  checked_numel(sizes, [] { return std::string("a tensor"); });
  auto& v = new_value(TMETER_VALUE_TENSOR, false);
  v.dtype = dtype;
  v.dims = sizes;
  if (symbolic) {
    v.dim_exprs = room<ExprId>(dims.size());
    std::ranges::transform(dims, v.dim_exprs.begin(), &DimSpec::expr);
    v.expressions = &graph_->expressions_;
  }
  return last_value();
}

GraphBuilder::Id GraphBuilder::value_from_outside(int32_t dtype, std::span<const DimSpec> dims) {
  const auto id = value_tensor(dtype, dims);
  graph_->values_.back().defined = true;
  return id;
}

GraphBuilder::Id GraphBuilder::value_bound(Id tensor) {
  if (tensor < 1 || tensor > graph_->tensors_.size())
    refuse("a value is bound to a tensor that does not exist");
  const auto& t = graph_->tensors_[tensor - 1];
  auto& v = new_value(TMETER_VALUE_TENSOR, true);
  v.dtype = t.dtype;
  v.dims = t.dims;
  v.tensor = &t;
  return last_value();
}

GraphBuilder::Id GraphBuilder::value_int(DimSpec d) {
  if (d.expr && !graph_->expressions_.contains(d.expr))
    refuse("a size names an expression that does not exist");
  auto& v = new_value(TMETER_VALUE_INT, true);
  v.i = d.value;
  v.expr = d.expr;
  return last_value();
}

GraphBuilder::Id GraphBuilder::value_float(double f) {
  return new_value(TMETER_VALUE_FLOAT, true).f = f, last_value();
}

GraphBuilder::Id GraphBuilder::value_bool(bool b) {
  return new_value(TMETER_VALUE_BOOL, true).i = b, last_value();
}

GraphBuilder::Id GraphBuilder::value_text(std::string_view text) {
  return new_value(TMETER_VALUE_TEXT, true).text = graph_->intern(text), last_value();
}

GraphBuilder::Id GraphBuilder::value_dtype(int32_t dtype) {
  return new_value(TMETER_VALUE_DTYPE, true).i = dtype, last_value();
}

GraphBuilder::Id GraphBuilder::value_other(std::string_view text) {
  return new_value(TMETER_VALUE_OTHER, true).text = graph_->intern(text), last_value();
}

GraphBuilder::Id GraphBuilder::value_list(std::span<const Id> items) {
  const auto pointers = room<Value*>(items.size());
  bool defined = true;
  uint8_t depth = 0;
  double shown = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    pointers[i] = &value(items[i], "a list");
    defined = defined && pointers[i]->defined;
    depth = std::max(depth, pointers[i]->depth);
    shown += shown_value_count(*pointers[i]);
  }
  if (depth >= limits::kListDepth) refuse("lists are nested more than 64 deep");
  if (shown > limits::kListValues)
    refuse("a list has, with the lists inside it, more than 10,000,000 values, tmeter's limit");
  auto& v = new_value(TMETER_VALUE_LIST, defined);
  v.depth = depth + 1;
  v.f = shown;
  v.items = pointers;
  return last_value();
}

void GraphBuilder::define(Value& v, const Node* producer) {
  v.defined = true;
  if (!v.producer) v.producer = producer;
  for (auto* item : v.items) {
    if (!item->defined) define(*item, producer);
  }
}

void GraphBuilder::require_defined(Value& v, std::string_view op, std::string_view arg) const {
  if (v.defined) return;
  for (auto* item : v.items) require_defined(*item, op, arg);
  if (v.items.empty())
    refuse("node " + std::to_string(graph_->nodes_.size()) + " (" + printable(op) + ") uses '" +
           printable(arg) +
           "' before anything defines it: the graph has a cycle or a dangling reference");
  v.defined = true;  // all members are known here
}

void GraphBuilder::input(std::string_view name, std::string_view origin, Id id) {
  limit(graph_->inputs_.size(), limits::kInputs, "inputs");
  auto& v = value(id, "a model input");
  define(v, nullptr);
  graph_->inputs_.push_back({graph_->intern(name), graph_->intern(origin), &v, {}});
}

void GraphBuilder::want_input(std::string_view name, std::span<const int64_t> dims) {
  const auto what = [&] { return "input '" + printable(name) + "'"; };
  checked_numel(dims, what);
  auto& inputs = graph_->inputs_;
  const auto it =
      std::find_if(inputs.begin(), inputs.end(), [&](const Input& i) { return i.name == name; });
  if (it == inputs.end() || it->value->kind != TMETER_VALUE_TENSOR ||
      it->value->dims.size() != dims.size())
    refuse(what() + " is to have other sizes, but is not a tensor of that rank");
  it->requested = copy(dims);
}

void GraphBuilder::output(Id id) {
  limit(graph_->outputs_.size(), limits::kInputs, "outputs");
  graph_->outputs_.push_back(&value(id, "a model output"));
}

GraphBuilder::Id GraphBuilder::node(std::string_view op, std::string_view overload, Id call,
                                    std::span<const std::pair<std::string_view, Id>> args,
                                    std::span<const Id> results, std::string_view location) {
  limit(graph_->nodes_.size(), limits::kNodes, "nodes");
  const auto full_name = [&] {
    return overload.empty() ? std::string(op) : std::string(op) + "." + std::string(overload);
  };
  if (call < 1 || call > graph_->calls_.size())
    refuse("node " + printable(full_name()) + " belongs to a module call that does not exist");
  const auto kept_args = room<Arg>(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const auto& [name, id] = args[i];
    auto& v = value(id, "an argument");
    if (!v.defined) require_defined(v, full_name(), name);
    kept_args[i] = {graph_->intern(name), &v};
  }
  const auto kept_results = room<Value*>(results.size());
  for (size_t i = 0; i < results.size(); ++i) kept_results[i] = &value(results[i], "a result");

  auto& n = graph_->nodes_.emplace_back();  // no step below refuses anything
  n.index = graph_->nodes_.size() - 1;
  n.op = graph_->intern(op);
  n.overload = graph_->intern(overload);
  n.location = graph_->intern(location);
  n.call = &graph_->calls_[call - 1];
  n.args = kept_args;
  n.results = kept_results;
  for (auto* result : kept_results) define(*result, &n);
  return static_cast<Id>(graph_->nodes_.size());
}

void GraphBuilder::node_name(Id node, std::string_view name) {
  if (node < 1 || node > graph_->nodes_.size()) refuse("a name is for a node that does not exist");
  graph_->nodes_[node - 1].name = graph_->keep(name);
}

void GraphBuilder::number_preorder() {
  std::vector<Module*> stack{&graph_->modules_.front()};
  while (!stack.empty()) {
    Module* m = stack.back();
    stack.pop_back();
    m->index = graph_->preorder_.size();
    graph_->preorder_.push_back(m);
    stack.insert(stack.end(), m->children.rbegin(), m->children.rend());
  }
}

void GraphBuilder::fill_ownership() {
  const auto index = [](size_t i) { return static_cast<uint32_t>(i); };
  auto& b = graph_->ownership_;
  b.call_of_node.reserve(graph_->nodes_.size());
  for (const auto& n : graph_->nodes_) b.call_of_node.push_back(index(n.call->index));
  for (const auto& c : graph_->calls_) {
    b.module_of_call.push_back(index(c.module->index));
    b.parent_of_call.push_back(c.parent ? index(c.parent->index) : OwnershipColumns::kNone);
  }
  for (const auto* m : graph_->preorder_) {
    b.parent_of_module.push_back(m->parent ? index(m->parent->index) : OwnershipColumns::kNone);
    if (m->calls == 0) b.containers.push_back(index(m->index));
  }
  for (const auto& t : graph_->tensors_) {
    b.owner_of_tensor.push_back(index(t.owner->index));
    b.canonical_of_tensor.push_back(index(t.canonical->index));
    b.tensors.push_back(index(t.index));
  }
  const auto earlier = [&](uint32_t x, uint32_t y) {
    return b.canonical_of_tensor[x] < b.canonical_of_tensor[y];
  };
  if (!std::is_sorted(b.tensors.begin(), b.tensors.end(), earlier))  // only if some are tied
    std::stable_sort(b.tensors.begin(), b.tensors.end(), earlier);
}

std::unique_ptr<Graph> GraphBuilder::finish() {
  if (graph_->modules_.empty()) module(0, "", "");
  if (graph_->calls_.empty()) module_call(1, 0);
  number_preorder();
  fill_ownership();
  graph_->name_places();
  graph_->evaluate();
  if (!graph_->symbols_.empty())
    for (const auto& n : graph_->nodes_)
      if (has_size_demands(n)) graph_->nodes_with_size_demands_.push_back(&n);
  return std::move(graph_);
}

}  // namespace tmeter::core
