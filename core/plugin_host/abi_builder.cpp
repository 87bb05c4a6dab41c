// tmeter.host.builder/1: the C interface of core/ir's GraphBuilder.
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

/// The builder keeps its first error: later calls return it again. Its text goes to the call
/// that builds.
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
      b->begin_with_frame();
      return f(b->builder), TMETER_OK;
    } catch (const Error& e) {
      b->refused =
          b->of_rule && e.kind() == ErrorKind::kModel ? Error(ErrorKind::kPlugin, e.what()) : e;
    } catch (const std::exception& e) {  // out of memory: the graph may lack a part
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

/// The longest array of ids in one call; a longer one cannot hold ids that exist.
constexpr size_t kMaxItems = limits::kValues;

/// Too many items are blamed on the model, not on the plugin.
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

[[noreturn]] void refuse_beyond(const std::string& what, const MappedFile* other) {
  const auto name =
      other ? std::filesystem::path(other->path()).filename().string() : std::string();
  throw Error(ErrorKind::kModel, what + " extends beyond the end of " +
                                     (other ? "'" + printable(name) + "'" : "the file") +
                                     "; was it saved or downloaded completely?");
}

/// True if the file contains these bytes. A file without weights is exempt.
bool is_in_file(int64_t offset, int64_t bytes, const MappedFile& file) {
  if (offset < 0 || bytes == 0) return true;
  return bytes > 0 && range_fits(static_cast<uint64_t>(offset), static_cast<uint64_t>(bytes),
                                 file.bytes().size());
}

/// Checks that an encoded tensor and its parts are inside their files. Decoders rely on no more.
void check_encoded_place(const TensorSpec& s, const MappedFile& model) {
  const auto what = "tensor '" + printable(s.name) + "'";
  if (!is_in_file(s.file_offset, s.storage_bytes, s.file ? *s.file : model))
    refuse_beyond(what, s.file);
  for (const auto& p : s.encoding->parts)
    if (!is_in_file(p.file_offset, p.bytes, p.file ? *p.file : model))
      refuse_beyond("'" + printable(p.name) + "', a part of " + what + ",", p.file);
}

/// Checks that the elements are inside their storage and the storage inside its file: readers of
/// elements rely on it. Weightless files (no storage) are exempt.
void check_place(const TensorSpec& s, const MappedFile& file) {
  if (s.file_offset < 0 || s.storage_bytes == 0) return;
  const auto what = "tensor '" + printable(s.name) + "'";
  if (!is_in_file(s.file_offset, s.storage_bytes, file)) refuse_beyond(what, s.file);
  const auto end = elements_end(s);
  const auto bytes = end ? checked_mul(*end, element_bytes(s.dtype)) : std::nullopt;
  if (!bytes || *bytes > s.storage_bytes) {
    throw Error(ErrorKind::kModel, what + " reaches beyond its storage of " +
                                       std::to_string(s.storage_bytes) + " bytes");
  }
}

void require_own_source(const tmeter_builder* b, const tmeter_source* source) {
  if (source && !(b->source && b->source->has(source)))
    throw Error(ErrorKind::kPlugin, "a tensor names a source that is not of this model");
}

/// The file of a tensor without a source; null: the model file itself.
const MappedFile* file_of(const tmeter_builder* b, const tmeter_source* source) {
  if (source) return &source->file;
  return b->part ? &b->part->file->file : nullptr;
}

bool is_module_of_folder(const tmeter_builder* b) { return b->part && b->part->module != 0; }

/// The root of a part is the module that the folder's loader has pushed for it.
tmeter_id root_of_part(tmeter_builder* b, std::string_view type) {
  if (!type.empty()) b->builder.module_type(b->part->module, type);
  return b->part->module;
}

/// A name in a part of a folder, prefixed with its module.
std::string_view in_part(const tmeter_builder* b, tmeter_str name, std::string& room) {
  if (!is_module_of_folder(b) || name.len == 0) return view(name);
  return room = b->part->path + "." + std::string(view(name));
}

/// The encoding of the tensor; null if its elements are stored one by one.
std::optional<EncodingSpec> encoding_of(const tmeter_builder* b, const tmeter_tensor_desc& d) {
  if (!TMETER_HAS(&d, tmeter_tensor_desc, stored_dtype) || d.encoding.len == 0) return std::nullopt;
  EncodingSpec e{view(d.encoding), view(d.encoding_parameters),
                 d.block_elements, d.block_bytes,
                 d.stored_dtype,   {}};
  for (const auto* theirs : pushed(d.parts, d.part_count, limits::kParts, "parts of a tensor")) {
    if (!theirs) throw Error(ErrorKind::kPlugin, "it gives a part of a tensor that is null");
    const auto p = adopted(theirs, TMETER_SIZE_1_2(tmeter_stored_part), "its tmeter_stored_part");
    require_own_source(b, p.source);
    const auto dims = pushed(p.dims, p.rank, limits::kRank, "dims of a part");
    const bool possible = std::ranges::all_of(dims, [](int64_t n) { return n >= 0; });
    if (!possible || p.bytes < 0)
      throw Error(ErrorKind::kModel, "'" + printable(view(p.name)) + "' has an impossible shape");
    e.parts.push_back(
        {p.dtype, view(p.role), view(p.name), dims, p.file_offset, p.bytes, file_of(b, p.source)});
  }
  return e;
}

tmeter_status add_metadata(tmeter_builder* b, const tmeter_metadata* theirs) {
  return perform(b, [&](GraphBuilder& g) {
    const auto m = adopted(theirs, TMETER_SIZE_1_2(tmeter_metadata), "its tmeter_metadata");
    MetadataSpec s{view(m.space), view(m.key), m.type, m.is_array != 0, m.length, {}, {}, {}};
    const auto values = [&](auto* list) {
      return pushed(list, m.count, limits::kMetadataValues, "values of metadata");
    };
    switch (m.type) {
      case TMETER_METADATA_TEXT:
        s.texts = values(m.texts);
        break;
      case TMETER_METADATA_INT:
      case TMETER_METADATA_BOOL:
        s.ints = values(m.ints);
        break;
      case TMETER_METADATA_FLOAT:
        s.floats = values(m.floats);
        break;
      default:
        return;  // a member of a later minor version
    }
    if (!is_module_of_folder(b)) g.metadata(s);
  });
}

tmeter_status add_tensor(tmeter_builder* b, const tmeter_tensor_desc* theirs, tmeter_id* out) {
  return make(b, out, [&](GraphBuilder& g) {
    const auto d = adopted(theirs, TMETER_SIZE_1_0(tmeter_tensor_desc), "its tmeter_tensor_desc");
    require_own_source(b, d.source);
    TensorSpec s;
    s.kind = d.kind;
    s.dtype = d.dtype;
    std::string name, key;  // with the module before them
    s.name = in_part(b, d.name, name);
    s.storage_key = in_part(b, d.storage_key, key);
    s.owner = d.owner;
    s.dims = pushed(d.dims, d.rank, limits::kRank, "dims of a tensor");
    if (d.strides) s.strides = std::span<const int64_t>(d.strides, d.rank);
    s.storage_offset = d.storage_offset;
    s.file_offset = d.file_offset;
    s.storage_bytes = d.storage_bytes;
    s.file = file_of(b, d.source);
    s.trainable = d.trainable != 0;
    s.encoding = encoding_of(b, d);
    if (b->source && s.encoding)
      check_encoded_place(s, b->source->file);
    else if (b->source)
      check_place(s, s.file ? *s.file : b->source->file);
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
    const auto given = pushed(d.args, d.arg_count, kMaxItems, "arguments of a node");
    const auto results = pushed(d.results, d.result_count, kMaxItems, "results of a node");
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
        return perform(b, [&](G& g) {
          if (!is_module_of_folder(b) || view(k) == "content") g.property(view(k), view(v));
        });
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
        return make(b, out, [&](G& g) {
          if (parent == 0 && is_module_of_folder(b)) return root_of_part(b, view(type));
          return g.module(parent, view(name), view(type));
        });
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
          return g.value_list(pushed(items, n, kMaxItems, "items of a list"));
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
      },
      add_metadata,
      [](B* b, Id expr, tmeter_str text) {
        return perform(b, [&](G& g) { g.condition(expr, view(text)); });
      }};
  return &api;
}

}  // namespace tmeter::core
