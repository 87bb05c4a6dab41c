#include "traffic.hpp"

#include <algorithm>
#include <array>
#include <tmeter/cpp/op_class.hpp>
#include <unordered_set>

namespace memory {
namespace {

using tmeter::Value;

/// Lists of lists of tensors exist (`index` takes a list of optional tensors); deeper is not real.
constexpr int kMaxListDepth = 4;

void collect(const Value& value, int depth, TensorSet& out) {
  if (value.is_tensor()) {
    out.complete = out.complete && can_be_sized(value);
    out.tensors.push_back(value);
  } else if (value.is_list()) {
    if (depth == kMaxListDepth) out.complete = false;
    for (size_t i = 0; i < value.size() && out.complete; ++i) collect(value[i], depth + 1, out);
  }
}

/// The identity of a value's memory: the stored tensor behind it, else the value itself.
const void* identity(const Value& value) {
  const auto stored = value.tensor();
  return stored ? static_cast<const void*>(stored.canonical().handle())
                : static_cast<const void*>(value.handle());
}

/// `quantized::linear(X, W_prepack, …)`: the weights are inside an object and have no size here.
bool hides_weights(std::string_view name, const Value& value) {
  return value.kind() == TMETER_VALUE_OTHER && name.find("pack") != std::string_view::npos;
}

}  // namespace

bool can_be_sized(const Value& tensor) {
  const auto shape = tensor.shape();
  return tensor.dtype().bytes() > 0 &&
         std::all_of(shape.begin(), shape.end(), [](int64_t dim) { return dim >= 0; });
}

void TensorSet::add(const Value& value) { collect(value, 0, *this); }

void TensorSet::keep_distinct() {
  if (tensors.size() < 2) return;
  std::vector<const void*> ids;
  for (const auto& v : tensors) ids.push_back(identity(v));
  auto sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return;
  std::unordered_set<const void*> seen;
  size_t i = 0;
  std::erase_if(tensors, [&](const Value&) { return !seen.insert(ids[i++]).second; });
}

tmeter::Count TensorSet::bytes() const {
  tmeter::Count sum = 0;
  for (const auto& t : tensors) sum += t.bytes();
  return sum;
}

TensorSet inputs_of(const tmeter::Node& node, std::string_view skip) {
  TensorSet out;
  for (size_t i = 0; i < node.arg_count() && out.complete; ++i) {
    const auto name = node.arg_name(i);
    if (!skip.empty() && name == skip) continue;
    const auto value = node.arg(i);
    if (hides_weights(name, value)) out.complete = false;
    collect(value, 0, out);
  }
  out.keep_distinct();
  return out;
}

TensorSet results_of(const tmeter::Node& node) {
  TensorSet out;
  for (size_t i = 0; i < node.result_count() && out.complete; ++i) {
    collect(node.result(i), 0, out);
  }
  return out;
}

namespace {

using tmeter::Count;
using tmeter::Node;
using tmeter::OpClass;

/// One operator call with the properties that the rules need.
struct Site {
  const Node& node;
  std::string_view name;  // without namespace and in-place mark
  OpClass kind;
  bool in_place;  // writes its first tensor argument
};

template <size_t N>
constexpr bool among(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Value first_tensor(const Node& node) {
  for (size_t i = 0; i < node.arg_count(); ++i) {
    const auto value = node.arg(i);
    if (value.is_tensor()) return value;
  }
  return Value();
}

std::optional<Count> bytes_if_known(const TensorSet& set) {
  return set.complete ? std::optional<Count>(set.bytes()) : std::nullopt;
}

// --- written bytes -------------

/// Bytes of the tensors an in-place operator changes: its first argument, for `_foreach_` all of
/// it.
std::optional<Count> target_bytes(const Site& site) {
  TensorSet targets;
  for (size_t i = 0; i < site.node.arg_count() && targets.tensors.empty(); ++i) {
    const auto value = site.node.arg(i);
    if (value.is_tensor()) targets.tensors.push_back(value);
    for (size_t k = 0; k < value.size(); ++k) {
      if (value[k].is_tensor()) targets.tensors.push_back(value[k]);
    }
  }
  targets.complete = std::all_of(targets.tensors.begin(), targets.tensors.end(), can_be_sized);
  return bytes_if_known(targets);
}

constexpr auto kScatters = std::to_array<std::string_view>(
    {"scatter", "scatter_add", "scatter_reduce", "index_put", "_index_put_impl", "index_add",
     "index_copy", "index_reduce", "put"});

/// In-place scatters touch as many elements as their operands have: the elements of the source,
/// else (a scalar source) one per index; with neither, the whole target is the upper bound.
std::optional<Count> scattered_bytes(const Site& site) {
  const auto target = first_tensor(site.node);
  if (!can_be_sized(target)) return std::nullopt;
  for (const auto* key : {"src", "source", "values", "index"}) {
    const auto value = site.node.arg(std::string_view(key));
    if (value.is_tensor() && value.shape().rank() > 0 && can_be_sized(value)) {
      return std::min(value.numel() * target.dtype().bytes(), target.bytes());
    }
  }
  return target.bytes();
}

bool accumulates(const Site& site) {
  return site.name.ends_with("_add") || site.name.ends_with("_reduce") ||
         site.node.arg("accumulate").as_bool();
}

Traffic in_place_scatter(const Site& site) {
  auto others = inputs_of(site.node);
  const auto target = first_tensor(site.node).handle();
  std::erase_if(others.tensors, [&](const Value& v) { return v.handle() == target; });
  Traffic t{bytes_if_known(others), scattered_bytes(site), Count(0), target_bytes(site)};
  // If all operands have a size, the target has one, too.
  if (t.read && accumulates(site)) *t.read += *t.written;
  return t;
}

// --- read bytes ---------------

struct Lookup {
  std::string_view name, table;  // operator, and the argument it picks elements from
};
constexpr auto kLookups = std::to_array<Lookup>({{"embedding", "weight"},
                                                 {"embedding_bag", "weight"},
                                                 {"_embedding_bag", "weight"},
                                                 {"_embedding_bag_forward_only", "weight"},
                                                 {"index", "self"},
                                                 {"_unsafe_index", "self"},
                                                 {"index_select", "self"},
                                                 {"gather", "self"},
                                                 {"take", "self"},
                                                 {"take_along_dim", "self"},
                                                 {"masked_select", "self"}});

/// Elements selected from the table: for embeddings one row per index, else the size of the result.
/// Never more than the table has (an index may repeat; which ones do is not known).
std::optional<Count> picked_bytes(const Site& site, const Value& table) {
  if (!can_be_sized(table)) return std::nullopt;
  const auto indices = site.node.arg("indices");
  const auto shape = table.shape();
  const bool rows = site.kind == OpClass::kEmbedding && indices.is_tensor();
  const auto picked = rows ? std::optional<Count>(indices.numel() * shape.product(1, shape.rank()) *
                                                  table.dtype().bytes())
                           : bytes_if_known(results_of(site.node));
  return picked ? std::optional<Count>(std::min(*picked, table.bytes())) : std::nullopt;
}

std::optional<Count> lookup_read(const Site& site, std::string_view table) {
  const auto from = site.node.arg(table);
  const auto others = bytes_if_known(inputs_of(site.node, table));
  const auto picked = picked_bytes(site, from);
  if (!others || !picked) return std::nullopt;
  return *others + *picked;
}

bool ignores_inputs(const Site& site) {
  if (site.kind == OpClass::kCreation) return true;  // zeros_like(x) reads only the shape of x
  return site.kind == OpClass::kRandom && (site.in_place || site.name.ends_with("_like"));
}

std::optional<Count> read_bytes(const Site& site) {
  if (ignores_inputs(site)) return Count(0);
  for (const auto& rule : kLookups) {
    if (rule.name == site.name && site.node.arg(rule.table).is_tensor()) {
      return lookup_read(site, rule.table);
    }
  }
  const bool overwrites = site.in_place && site.name == "copy";  // it does not read its target
  return bytes_if_known(inputs_of(site.node, overwrites ? "self" : "out"));
}

// --- operators that move no bytes ---

/// Conversions that may return their argument unchanged. Devices are not part of
/// the graph: a conversion that keeps the element type is assumed to keep the device.
constexpr auto kConversions =
    std::to_array<std::string_view>({"to", "type_as", "cpu", "cuda", "_autocast_to_full_precision",
                                     "_autocast_to_reduced_precision"});

bool is_idle_conversion(const Site& site) {
  if (!among(site.name, kConversions)) return false;
  const auto from = first_tensor(site.node), to = site.node.result(0);
  return from.is_tensor() && to.is_tensor() && from.dtype() == to.dtype() &&
         !site.node.arg("copy").as_bool() && site.node.arg("memory_format").is_none();
}

bool moves_nothing(const Site& site) {
  return site.kind == OpClass::kView || site.kind == OpClass::kControl || is_idle_conversion(site);
}

/// Its memory is allocated, not written.
bool leaves_uninitialised(const Site& site) {
  return site.name.starts_with("empty") || site.name.starts_with("new_empty");
}

// --- operators of a plugin, whose schema states shared and changed arguments ---

/// Empty if the effect of the operator on its arguments is unknown.
std::optional<Traffic> by_schema(const Site& site, const tmeter::Call& call) {
  const auto& node = site.node;
  TensorSet changed, own;
  bool shares = false;
  for (size_t i = 0; i < node.arg_count(); ++i) {
    const auto writes = call.writes(node, i);
    if (!writes) return std::nullopt;
    if (*writes) changed.add(node.arg(i));
  }
  for (size_t i = 0; i < node.result_count(); ++i) {
    const auto memory = call.memory_of(node, i);
    if (memory.kind == TMETER_MEMORY_OWN)
      own.add(node.result(i));
    else if (memory.of_argument())
      shares = true;
    else
      return std::nullopt;
  }
  if (shares && changed.tensors.empty() && own.tensors.empty())
    return Traffic{Count(0), Count(0), Count(0), Count(0), true};
  changed.keep_distinct();
  const auto made = bytes_if_known(own), overwritten = bytes_if_known(changed);
  const auto results =
      made && overwritten ? std::optional<Count>(*made + *overwritten) : std::nullopt;
  Traffic t{read_bytes(site), results, made, results};
  if (leaves_uninitialised(site)) t.written = Count(0);
  return t;
}

struct CachedTraffic {
  const tmeter_node* node = nullptr;
  Traffic traffic;
};

/// A cache of recent nodes is enough: the host requests the metrics of one node soon after each
/// other.
constexpr size_t kCachedNodes = 4096;  // a power of 2

std::vector<CachedTraffic>& traffic_cache() {
  static std::vector<CachedTraffic> cache;  // by node index
  return cache;
}

/// `call`: null without a host.
Traffic compute_traffic(const Node& node, OpClass kind, const tmeter::Call* call) {
  const auto op = node.op();
  const Site site{node, tmeter::base_name(op), kind, tmeter::is_in_place(op)};
  if (moves_nothing(site)) return {Count(0), Count(0), Count(0), Count(0), true};
  if (site.in_place && among(site.name, kScatters)) return in_place_scatter(site);
  if (call && !tmeter::is_common_op(op)) {
    if (const auto traffic = by_schema(site, *call)) return *traffic;
  }
  const bool into_out = node.arg("out").is_tensor();  // add.out writes a tensor it was given
  const auto results = bytes_if_known(results_of(node));
  Traffic t;
  t.read = read_bytes(site);
  t.output = site.in_place || into_out ? Count(0) : results;
  t.results = site.in_place ? target_bytes(site) : results;
  t.written = t.results;
  if (leaves_uninitialised(site)) t.written = Count(0);
  return t;
}

}  // namespace

void forget_traffic() { traffic_cache().clear(); }

namespace {

template <class Compute>
const Traffic& cached_traffic(const Node& node, Compute compute) {
  auto& cache = traffic_cache();
  const size_t place = node.index() & (kCachedNodes - 1);
  if (cache.size() <= place) cache.resize(std::min(place * 2 + 64, kCachedNodes));
  auto& entry = cache[place];
  if (entry.node != node.handle()) entry = {node.handle(), compute()};
  return entry.traffic;
}

}  // namespace

const Traffic& traffic_of(const Node& node, OpClass kind) {
  return cached_traffic(node, [&] { return compute_traffic(node, kind, nullptr); });
}

const Traffic& traffic_of(const Node& node, const tmeter::Call& call) {
  return cached_traffic(node,
                        [&] { return compute_traffic(node, tmeter::op_class(node, call), &call); });
}

}  // namespace memory
