// A new graph with the modules, calls and tensors of another one.
#include <tmeter/abi/graph.h>

#include "core/ir/builder.hpp"

namespace tmeter::core {
namespace {

uint32_t id_of(size_t index) { return static_cast<uint32_t>(index + 1); }

EncodingSpec spec_of(const Encoding& e) {
  EncodingSpec s{e.id, e.parameters, e.block_elements, e.block_bytes, e.stored_dtype, {}};
  for (const auto& p : e.parts)
    s.parts.push_back({p.dtype, p.role, p.name, p.dims, p.file_offset, p.bytes, p.file});
  return s;
}

}  // namespace

TensorSpec spec_of(const Tensor& t) {
  TensorSpec s;
  s.kind = t.kind;
  s.dtype = t.dtype;
  s.name = t.name;
  s.storage_key = t.storage_key;
  s.dims = t.dims;
  if (t.encoding)
    s.encoding = spec_of(*t.encoding);
  else
    s.strides = t.strides;
  s.storage_offset = t.storage_offset;
  s.file_offset = t.file_offset;
  s.storage_bytes = t.storage_bytes;
  s.file = t.file;
  s.trainable = t.trainable;
  return s;
}

void GraphBuilder::take_facts_of(const Graph& graph) {
  for (const auto& [key, value] : graph.properties()) property(key, value);
  for (const auto& m : graph.metadata())
    metadata({m.space, m.key, m.type, m.is_array, m.length, m.texts, m.ints, m.floats});
}

GraphBuilder::GraphBuilder(const Graph& frame) : GraphBuilder() {
  take_facts_of(frame);
  for (const auto* m : frame.modules()) {
    const Id id = module(m->parent ? id_of(m->parent->index) : 0, m->name, m->type);
    for (const auto& a : m->attributes) module_attribute(id, a.name, copy_value(*a.value));
  }
  for (const auto& c : frame.calls())
    module_call(id_of(c.module->index), c.parent ? id_of(c.parent->index) : 0);
  for (const auto& t : frame.tensors()) {
    auto s = spec_of(t);
    s.owner = id_of(t.owner->index);
    tensor(s);
  }
}

void GraphBuilder::take_sizes_of(const Graph& graph) {
  graph_->symbols_ = graph.symbols_;
  for (auto& s : graph_->symbols_) {
    s.name = graph_->intern(s.name);
    s.place = {};
  }
  graph_->expressions_ = graph.expressions_;
  for (const auto& c : graph.conditions()) condition(c.expr, c.text);
}

/// Attributes are constants: no tensors, no symbolic sizes.
GraphBuilder::Id GraphBuilder::copy_value(const Value& v) {
  switch (v.kind) {
    case TMETER_VALUE_INT:
      return value_int({v.i, 0});
    case TMETER_VALUE_BOOL:
      return value_bool(v.i != 0);
    case TMETER_VALUE_DTYPE:
      return value_dtype(static_cast<int32_t>(v.i));
    case TMETER_VALUE_FLOAT:
      return value_float(v.f);
    case TMETER_VALUE_TEXT:
      return value_text(v.text);
    case TMETER_VALUE_OTHER:
      return value_other(v.text);
    case TMETER_VALUE_LIST: {
      std::vector<Id> items;
      for (const auto* item : v.items) items.push_back(copy_value(*item));
      return value_list(items);
    }
    default:
      return value_none();
  }
}

}  // namespace tmeter::core
