// tmeter.host.graph/1: the C view of core/ir. Handles are the graph's own objects.
#include <tmeter/abi/graph.h>

#include <tmeter/cpp/dtype.hpp>

#include "core/ir/graph.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/signature_escape.hpp"
#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {
namespace {

/// Element i of a list of objects or pointers as a handle; null: out of range.
template <class List>
auto element(const List& list, size_t i) {
  if constexpr (std::is_pointer_v<typename List::value_type>) {
    return i < list.size()
               ? to_handle(
                     static_cast<const std::remove_pointer_t<typename List::value_type>*>(list[i]))
               : nullptr;
  } else {
    return i < list.size() ? to_handle(&list[i]) : nullptr;
  }
}

tmeter_status symbol_at(const tmeter_graph* g, size_t i, tmeter_symbol_info* out) {
  const auto& symbols = from_handle(g)->symbols();
  if (i >= symbols.size()) return TMETER_INVALID_ARGUMENT;
  const auto& s = symbols[i];
  return fill_struct<tmeter_symbol_info>(
      {0, 0, to_abi(s.name), s.min, s.max, s.value, to_abi(s.place)}, out,
      TMETER_SIZE_1_0(tmeter_symbol_info));
}

const tmeter_value* find_arg(const tmeter_node* n, tmeter_str name) {
  const auto requested = view(name);
  for (const auto& a : from_handle(n)->args) {
    if (a.name == requested) return to_handle(static_cast<const Value*>(a.value));
  }
  return nullptr;
}

tmeter_str dim_text(const tmeter_value* v, size_t i) {
  const auto& value = *from_handle(v);
  if (i >= value.dim_exprs.size() || !value.dim_exprs[i]) return {};
  return to_abi(value.expressions->text(value.dim_exprs[i]));
}

tmeter_i64_span span_to_abi(std::span<const int64_t> s) { return {s.data(), s.size()}; }

/// Notes that the function reveals more than an operator's signature.
template <class T>
T noting_escape(T shown) {
  SignatureEscape::note();
  return shown;
}

int64_t file_offset(const tmeter_tensor* t) {
  const auto& x = *from_handle(t);
  const auto bytes = DType(x.dtype).bytes();
  return noting_escape(x.file_offset < 0 || x.encoding ? -1
                                                       : x.file_offset + x.storage_offset * bytes);
}

tmeter_status tensor_storage(const tmeter_tensor* handle, tmeter_tensor_storage* out) {
  const auto& t = *from_handle(handle);
  tmeter_tensor_storage s{};
  s.stored_bytes = stored_bytes(t);
  s.own_bytes = own_bytes(t);
  s.stored_dtype = t.dtype;
  if (const auto* e = t.encoding) {
    s.part_count = static_cast<uint32_t>(e->parts.size());
    s.encoding = to_abi(e->id);
    s.parameters = to_abi(e->parameters);
    s.block_elements = e->block_elements;
    s.block_bytes = e->block_bytes;
    s.stored_dtype = e->stored_dtype;
  }
  return noting_escape(fill_struct(s, out, TMETER_SIZE_1_2(tmeter_tensor_storage)));
}

tmeter_status tensor_part_at(const tmeter_tensor* handle, size_t i, tmeter_stored_part* out) {
  const auto* e = from_handle(handle)->encoding;
  if (!e || i >= e->parts.size()) return TMETER_INVALID_ARGUMENT;
  const auto& p = e->parts[i];
  return noting_escape(
      fill_struct<tmeter_stored_part>({0, p.dtype, to_abi(p.role), to_abi(p.name), p.dims.data(),
                                       p.dims.size(), p.file_offset, part_bytes(p), nullptr},
                                      out, TMETER_SIZE_1_2(tmeter_stored_part)));
}

tmeter_status give_metadata(const Metadata& m, tmeter_metadata* out) {
  return fill_struct<tmeter_metadata>(
      {0, m.type, to_abi(m.space), to_abi(m.key), m.is_array, static_cast<uint32_t>(m.count()),
       m.length, m.texts.data(), m.ints.data(), m.floats.data()},
      out, TMETER_SIZE_1_2(tmeter_metadata));
}

tmeter_status metadata_at(const tmeter_graph* g, size_t i, tmeter_metadata* out) {
  const auto& all = from_handle(g)->metadata();
  return i < all.size() ? give_metadata(all[i], out) : TMETER_INVALID_ARGUMENT;
}

tmeter_status metadata_find(const tmeter_graph* g, tmeter_str space, tmeter_str key,
                            tmeter_metadata* out) {
  const auto* m = from_handle(g)->find_metadata(view(space), view(key));
  return m ? give_metadata(*m, out) : TMETER_UNSUPPORTED;
}

/// A list in a module call's content; empty without memory for it.
template <class Span, auto List>
Span contents_of(const tmeter_module_call* handle) noexcept {
  try {
    const auto& call = *from_handle(handle);
    const auto& list = call.graph->contents(call).*List;
    return {to_handles(list), list.size()};
  } catch (...) {
    return {};
  }
}

}  // namespace

const tmeter_graph_api* graph_interface() {
  static const tmeter_graph_api api{
      sizeof(tmeter_graph_api),
      0,
      [](const tmeter_graph* g, tmeter_str key) {
        return to_abi(from_handle(g)->property(view(key)));
      },
      [](const tmeter_graph* g) { return from_handle(g)->nodes().size(); },
      [](const tmeter_graph* g, size_t i) { return element(from_handle(g)->nodes(), i); },
      [](const tmeter_graph* g) { return from_handle(g)->modules().size(); },
      [](const tmeter_graph* g, size_t i) { return element(from_handle(g)->modules(), i); },
      [](const tmeter_graph* g) { return from_handle(g)->calls().size(); },
      [](const tmeter_graph* g, size_t i) { return element(from_handle(g)->calls(), i); },
      [](const tmeter_graph* g) { return from_handle(g)->tensors().size(); },
      [](const tmeter_graph* g, size_t i) { return element(from_handle(g)->tensors(), i); },
      [](const tmeter_graph* g) { return from_handle(g)->symbols().size(); },
      symbol_at,
      [](const tmeter_graph* g) { return from_handle(g)->inputs().size(); },
      [](const tmeter_graph* g, size_t i) -> const tmeter_value* {
        const auto& inputs = from_handle(g)->inputs();
        return i < inputs.size() ? to_handle(static_cast<const Value*>(inputs[i].value)) : nullptr;
      },
      [](const tmeter_graph* g, size_t i) {
        const auto& inputs = from_handle(g)->inputs();
        return i < inputs.size() ? to_abi(inputs[i].name) : tmeter_str{};
      },
      [](const tmeter_graph* g, size_t i) {
        const auto& inputs = from_handle(g)->inputs();
        return i < inputs.size() ? to_abi(inputs[i].origin) : tmeter_str{};
      },
      [](const tmeter_graph* g) { return from_handle(g)->outputs().size(); },
      [](const tmeter_graph* g, size_t i) { return element(from_handle(g)->outputs(), i); },

      [](const tmeter_node* n) { return from_handle(n)->index; },
      [](const tmeter_node* n) { return to_abi(from_handle(n)->op); },
      [](const tmeter_node* n) { return to_abi(from_handle(n)->overload); },
      [](const tmeter_node* n) { return from_handle(n)->args.size(); },
      [](const tmeter_node* n, size_t i) {
        const auto& args = from_handle(n)->args;
        return i < args.size() ? to_abi(args[i].name) : tmeter_str{};
      },
      [](const tmeter_node* n, size_t i) -> const tmeter_value* {
        const auto& args = from_handle(n)->args;
        return i < args.size() ? to_handle(static_cast<const Value*>(args[i].value)) : nullptr;
      },
      find_arg,
      [](const tmeter_node* n) { return from_handle(n)->results.size(); },
      [](const tmeter_node* n, size_t i) { return element(from_handle(n)->results, i); },
      [](const tmeter_node* n) {
        return noting_escape(to_handle(static_cast<const ModuleCall*>(from_handle(n)->call)));
      },
      [](const tmeter_node* n) { return noting_escape(to_abi(from_handle(n)->location)); },

      [](const tmeter_value* v) { return from_handle(v)->kind; },
      [](const tmeter_value* v) { return from_handle(v)->dtype; },
      [](const tmeter_value* v) { return span_to_abi(from_handle(v)->dims); },
      dim_text,
      [](const tmeter_value* v) { return from_handle(v)->i; },
      [](const tmeter_value* v) {
        const auto& value = *from_handle(v);
        return value.kind == TMETER_VALUE_FLOAT ? value.f : static_cast<double>(value.i);
      },
      [](const tmeter_value* v) { return to_abi(from_handle(v)->text); },
      [](const tmeter_value* v) { return from_handle(v)->items.size(); },
      [](const tmeter_value* v, size_t i) { return element(from_handle(v)->items, i); },
      [](const tmeter_value* v) { return to_handle(from_handle(v)->tensor); },
      [](const tmeter_value* v) { return noting_escape(to_handle(from_handle(v)->producer)); },

      [](const tmeter_module* m) { return from_handle(m)->index; },
      [](const tmeter_module* m) { return to_abi(from_handle(m)->name); },
      [](const tmeter_module* m) { return to_abi(from_handle(m)->path); },
      [](const tmeter_module* m) { return to_abi(from_handle(m)->type); },
      [](const tmeter_module* m) {
        return to_handle(static_cast<const Module*>(from_handle(m)->parent));
      },
      [](const tmeter_module* m) { return from_handle(m)->children.size(); },
      [](const tmeter_module* m, size_t i) { return element(from_handle(m)->children, i); },
      [](const tmeter_module* m) { return from_handle(m)->calls; },
      [](const tmeter_module* m) { return from_handle(m)->tensors.size(); },
      [](const tmeter_module* m, size_t i) { return element(from_handle(m)->tensors, i); },
      [](const tmeter_module* m) { return from_handle(m)->attributes.size(); },
      [](const tmeter_module* m, size_t i) {
        const auto& a = from_handle(m)->attributes;
        return i < a.size() ? to_abi(a[i].name) : tmeter_str{};
      },
      [](const tmeter_module* m, size_t i) -> const tmeter_value* {
        const auto& a = from_handle(m)->attributes;
        return i < a.size() ? to_handle(static_cast<const Value*>(a[i].value)) : nullptr;
      },

      [](const tmeter_module_call* c) { return from_handle(c)->index; },
      [](const tmeter_module_call* c) {
        return to_handle(static_cast<const Module*>(from_handle(c)->module));
      },
      [](const tmeter_module_call* c) {
        return to_handle(static_cast<const ModuleCall*>(from_handle(c)->parent));
      },

      [](const tmeter_tensor* t) { return noting_escape(from_handle(t)->index); },
      [](const tmeter_tensor* t) { return noting_escape(to_abi(from_handle(t)->name)); },
      [](const tmeter_tensor* t) { return from_handle(t)->kind; },
      [](const tmeter_tensor* t) { return from_handle(t)->dtype; },
      [](const tmeter_tensor* t) { return span_to_abi(from_handle(t)->dims); },
      [](const tmeter_tensor* t) { return span_to_abi(from_handle(t)->strides); },
      [](const tmeter_tensor* t) { return from_handle(t)->numel; },
      [](const tmeter_tensor* t) -> int32_t { return from_handle(t)->trainable; },
      [](const tmeter_tensor* t) {
        return noting_escape(to_handle(static_cast<const Module*>(from_handle(t)->owner)));
      },
      [](const tmeter_tensor* t) { return to_handle(from_handle(t)->canonical); },
      file_offset,

      [](const tmeter_graph* g, size_t i) {
        const auto& inputs = from_handle(g)->inputs();
        return i < inputs.size() ? span_to_abi(inputs[i].requested) : tmeter_i64_span{};
      },
      [](const tmeter_node* n) { return noting_escape(to_abi(from_handle(n)->name)); },

      contents_of<tmeter_node_span, &CallContents::nodes>,
      contents_of<tmeter_value_span, &CallContents::inputs>,
      contents_of<tmeter_value_span, &CallContents::outputs>,

      [](const tmeter_tensor* t) { return stored_bytes(*from_handle(t)); },
      tensor_storage,
      tensor_part_at,
      [](const tmeter_graph* g) { return from_handle(g)->metadata().size(); },
      metadata_at,
      metadata_find};
  return &api;
}

}  // namespace tmeter::core
