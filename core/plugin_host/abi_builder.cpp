// tmeter.host.builder/1: the C door to core/ir's GraphBuilder.
#include <algorithm>
#include <array>
#include <filesystem>

#include "core/base/checked.hpp"
#include "core/base/text.hpp"
#include "core/ir/builder.hpp"
#include "core/ir/limits.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/builder_handle.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/source.hpp"
#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {
namespace {

DimSpec dim(const tmeter_dim& d) {
  require_unreserved(std::span(&d, 1), "a tmeter_dim");
  return {d.value, d.expr};
}

tmeter_status status_of(const Error& e) {
  return e.kind() == ErrorKind::kModel ? TMETER_BAD_MODEL : TMETER_INTERNAL;
}

/// Errors land in the call of who builds, and stay: the first one is given again by whatever is
/// called after it.
template <class F>
tmeter_status perform(tmeter_builder* b, F f) {
  if (!is_live(b)) return note_ended_builder(b), TMETER_INVALID_ARGUMENT;
  if (!may_be_used(b->call)) return TMETER_INVALID_ARGUMENT;
  if (b->refused) {
    b->call->frame.error = b->refused->what();
    return status_of(*b->refused);
  }
  return guard_callback(b->call, [&]() -> tmeter_status {
    try {
      b->count_push();
      return f(b->builder), TMETER_OK;
    } catch (const Error& e) {
      b->refused =
          b->of_rule && e.kind() == ErrorKind::kModel ? Error(ErrorKind::kPlugin, e.what()) : e;
    } catch (const std::exception& e) {  // out of memory: what has been built may lack a part
      b->refused = Error(ErrorKind::kModel, e.what());
      throw;
    }
    throw Error(*b->refused);
  });
}
/// Runs `f(builder)`, storing its id.
template <class F>
tmeter_status make(tmeter_builder* b, tmeter_id* out, F f) {
  return perform(b, [&](GraphBuilder& g) { *out = f(g); });
}

/// The room for ids of one call; longer ones are an array that nobody has filled.
constexpr size_t kMostItems = limits::kValues;

/// What there is too much of is the model's.
template <class T>
std::span<T> pushed(T* theirs, size_t count, size_t most, const char* what) {
  return items_of(theirs, count, most, what, ErrorKind::kModel);
}

tmeter_status add_expr(tmeter_builder* b, int32_t op, const tmeter_id* operands, size_t n,
                       tmeter_id* out) {
  return make(b, out, [&](GraphBuilder& g) {
    const auto given = pushed(operands, n, limits::kOperands, "operands of a shape expression");
    return g.expr(op, {given.begin(), given.end()});
  });
}

/// Whoever reads the numbers later relies on this: they lie inside their storage, and that inside
/// its file. Weightless files (no storage) are spared.
void check_place(const TensorSpec& s, const MappedFile& file) {
  if (s.file_offset < 0 || s.storage_bytes == 0) return;
  const auto what = "tensor '" + printable(s.name) + "'";
  if (s.storage_bytes < 0 ||
      !range_fits(static_cast<uint64_t>(s.file_offset), static_cast<uint64_t>(s.storage_bytes),
                  file.bytes().size())) {
    const auto name = std::filesystem::path(file.path()).filename().string();
    throw Error(ErrorKind::kModel, what + " lies beyond the end of " +
                                       (s.file ? "'" + printable(name) + "'" : "the file") +
                                       "; was it saved or downloaded completely?");
  }
  const auto end = elements_end(s);
  const auto bytes = end ? checked_mul(*end, element_bytes(s.dtype)) : std::nullopt;
  if (!bytes || *bytes > s.storage_bytes) {
    throw Error(ErrorKind::kModel, what + " reaches beyond its storage of " +
                                       std::to_string(s.storage_bytes) + " bytes");
  }
}

tmeter_status add_tensor(tmeter_builder* b, const tmeter_tensor_desc* theirs, tmeter_id* out) {
  return make(b, out, [&](GraphBuilder& g) {
    const auto d = adopted(theirs, TMETER_SIZE_1_0(tmeter_tensor_desc), "its tmeter_tensor_desc");
    if (d.source && !(b->source && b->source->has(d.source)))
      throw Error(ErrorKind::kPlugin, "a tensor names a source that is not of this model");
    TensorSpec s;
    s.kind = d.kind;
    s.dtype = d.dtype;
    s.name = view(d.name);
    s.storage_key = view(d.storage_key);
    s.owner = d.owner;
    s.dims = pushed(d.dims, d.rank, limits::kRank, "dims of a tensor");
    if (d.strides) s.strides = std::span<const int64_t>(d.strides, d.rank);
    s.storage_offset = d.storage_offset;
    s.file_offset = d.file_offset;
    s.storage_bytes = d.storage_bytes;
    s.file = d.source ? &d.source->file : nullptr;
    s.trainable = d.trainable != 0;
    if (b->source) check_place(s, s.file ? *s.file : b->source->file);
    return g.tensor(s);
  });
}

tmeter_status add_tensor_value(tmeter_builder* b, int32_t dtype, const tmeter_dim* dims,
                               size_t rank, tmeter_id* out) {
  return make(b, out, [&](GraphBuilder& g) {
    std::array<DimSpec, limits::kRank> specs;
    const auto given = pushed(dims, rank, limits::kRank, "dims of a tensor");
    std::ranges::transform(given, specs.begin(), dim);
    return g.value_tensor(dtype, std::span(specs).first(rank));
  });
}

tmeter_status add_node(tmeter_builder* b, const tmeter_node_desc* theirs, tmeter_id* out) {
  return make(b, out, [&](GraphBuilder& g) {
    const auto d = adopted(theirs, TMETER_SIZE_1_0(tmeter_node_desc), "its tmeter_node_desc");
    const auto given = pushed(d.args, d.arg_count, kMostItems, "arguments of a node");
    const auto results = pushed(d.results, d.result_count, kMostItems, "results of a node");
    require_unreserved(given, "a tmeter_arg");
    std::vector<std::pair<std::string_view, tmeter_id>> many;
    std::array<std::pair<std::string_view, tmeter_id>, 16> few;
    if (given.size() > few.size()) many.resize(given.size());
    const auto args = many.empty() ? std::span(few).first(given.size()) : std::span(many);
    for (size_t i = 0; i < given.size(); ++i) args[i] = {view(given[i].name), given[i].value};
    return g.node(view(d.op), view(d.overload), d.module_call, args, results, view(d.location));
  });
}

}  // namespace

const tmeter_builder_api* builder_interface() {
  using B = tmeter_builder;
  using Id = tmeter_id;
  using G = GraphBuilder;
  static const tmeter_builder_api api{
      sizeof(tmeter_builder_api),
      0,
      [](B* b, tmeter_str k, tmeter_str v) {
        return perform(b, [&](G& g) { g.property(view(k), view(v)); });
      },
      [](B* b, tmeter_str name, int64_t min, int64_t max, int64_t value, Id* out) {
        return make(b, out, [&](G& g) { return g.symbol(view(name), min, max, value); });
      },
      [](B* b, int64_t v, Id* out) { return make(b, out, [&](G& g) { return g.expr_int(v); }); },
      [](B* b, Id symbol, Id* out) {
        return make(b, out, [&](G& g) { return g.expr_symbol(symbol); });
      },
      add_expr,
      [](B* b, Id parent, tmeter_str name, tmeter_str type, Id* out) {
        return make(b, out, [&](G& g) { return g.module(parent, view(name), view(type)); });
      },
      [](B* b, Id module, tmeter_str name, Id value) {
        return perform(b, [&](G& g) { g.module_attribute(module, view(name), value); });
      },
      [](B* b, Id module, Id parent, Id* out) {
        return make(b, out, [&](G& g) { return g.module_call(module, parent); });
      },
      add_tensor,
      [](B* b, Id* out) { return make(b, out, [&](G& g) { return g.value_none(); }); },
      add_tensor_value,
      [](B* b, Id tensor, Id* out) {
        return make(b, out, [&](G& g) { return g.value_bound(tensor); });
      },
      [](B* b, tmeter_dim v, Id* out) {
        return make(b, out, [&](G& g) { return g.value_int(dim(v)); });
      },
      [](B* b, double v, Id* out) { return make(b, out, [&](G& g) { return g.value_float(v); }); },
      [](B* b, int32_t v, Id* out) {
        return make(b, out, [&](G& g) { return g.value_bool(v != 0); });
      },
      [](B* b, tmeter_str v, Id* out) {
        return make(b, out, [&](G& g) { return g.value_text(view(v)); });
      },
      [](B* b, int32_t v, Id* out) { return make(b, out, [&](G& g) { return g.value_dtype(v); }); },
      [](B* b, tmeter_str v, Id* out) {
        return make(b, out, [&](G& g) { return g.value_other(view(v)); });
      },
      [](B* b, const Id* items, size_t n, Id* out) {
        return make(b, out, [&](G& g) {
          return g.value_list(pushed(items, n, kMostItems, "items of a list"));
        });
      },
      [](B* b, tmeter_str name, tmeter_str origin, Id value) {
        return perform(b, [&](G& g) { g.input(view(name), view(origin), value); });
      },
      [](B* b, Id value) { return perform(b, [&](G& g) { g.output(value); }); },
      add_node,
      [](B* b, tmeter_str name, const int64_t* dims, size_t rank) {
        return perform(b, [&](G& g) {
          g.want_input(view(name), pushed(dims, rank, limits::kRank, "dims of an input"));
        });
      },
      [](B* b, Id node, tmeter_str name) {
        return perform(b, [&](G& g) { g.node_name(node, view(name)); });
      }};
  return &api;
}

}  // namespace tmeter::core
