#include "weights.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <tmeter/cpp/natural_order.hpp>
#include <tmeter/cpp/plugin.hpp>

#include "../common/bad_file.hpp"
#include "../common/weight_tree.hpp"

namespace safetensors {
namespace {

using packed::Packed;
using packed::Stored;

/// The packing by config.json beside the weights; warns about another file of that name.
packed::Config config_beside(const tmeter::Source& source, tmeter::Call& call) {
  tmeter::Source file = source;
  try {
    file = source.companion("config.json");
  } catch (const tmeter::Error&) {
    return {};  // absent
  }
  try {
    const auto config = packed::parse_config(file.bytes());
    if (!config.note.empty()) call.warn(config.note);
    return config;
  } catch (const loading::BadFile& e) {
    call.warn("config.json is not used: " + std::string(e.what()));
    return {};
  }
}

tmeter_tensor_desc description(const Stored& t) {
  tmeter_tensor_desc d{};
  d.name = tmeter::to_abi(t.name);
  d.dtype = t.dtype;
  d.dims = t.dims.data();
  d.rank = t.dims.size();
  d.file_offset = t.offset;
  d.storage_bytes = t.bytes;
  d.source = t.file;
  return d;
}

/// Two 4-bit floats are one element of torch's type, along the last dim. Empty where torch has no
/// such type.
std::optional<std::vector<int64_t>> dims_in_torch(const Stored& t) {
  auto dims = t.dims;
  if (t.element != "F4" || dims.empty() || dims.back() % 2 != 0) return std::nullopt;
  dims.back() /= 2;
  return dims;
}

void push(const Packed& p, loading::WeightTree& tree) {
  auto d = description(*p.values);
  d.name = tmeter::to_abi(p.name);
  d.dtype = TMETER_DTYPE_FLOAT32;
  d.dims = p.dims.data();
  d.rank = p.dims.size();
  d.encoding = tmeter::to_abi(p.encoding);
  d.encoding_parameters = tmeter::to_abi(p.parameters);
  d.block_elements = p.block_elements;
  d.block_bytes = p.block_bytes;
  d.stored_dtype = p.values->dtype;
  std::vector<tmeter_stored_part> parts;
  for (const auto& [role, t] : p.parts) {
    tmeter_stored_part part{};
    part.struct_size = sizeof part;
    part.dtype = t->dtype;
    part.role = tmeter::to_abi(role);
    part.name = tmeter::to_abi(t->name);
    part.dims = t->dims.data();
    part.rank = t->dims.size();
    part.file_offset = t->offset;
    part.bytes = t->bytes;
    part.source = t->file;
    parts.push_back(part);
  }
  std::vector<const tmeter_stored_part*> pointers;
  for (const auto& part : parts) pointers.push_back(&part);
  d.parts = pointers.data();
  d.part_count = static_cast<uint32_t>(pointers.size());
  tree.add_parameter(d, true);
}

struct Weight {
  std::string_view name;
  const Stored* plain;
  const Packed* packed;  // null: plain
};

bool precedes(const Weight& a, const Weight& b) { return tmeter::natural_less(a.name, b.name); }

using Places = std::span<const std::vector<Weight>::iterator>;

/// Merges sorted runs: each ends where the next begins.
void merge_runs(Places ends) {
  if (ends.size() < 3) return;
  const auto half = ends.size() / 2;
  merge_runs(ends.first(half + 1));
  merge_runs(ends.subspan(half));
  const auto middle = ends[half];
  if (precedes(*middle, *std::prev(middle)))
    std::inplace_merge(ends.front(), middle, ends.back(), precedes);
}

/// Writers sort each shard by name, and mostly a shard precedes the next: long runs in this order.
void sort_by_name(std::vector<Weight>& weights) {
  std::vector<std::vector<Weight>::iterator> ends{weights.begin()};
  while (ends.back() != weights.end())
    ends.push_back(std::is_sorted_until(ends.back(), weights.end(), precedes));
  merge_runs(ends);
}

}  // namespace

void push_weights(const std::vector<packed::Stored>& stored, const packed::Metadata& metadata,
                  loading::TensorKinds& kinds, const tmeter::Source& source,
                  tmeter::GraphBuilder& graph, tmeter::Call& call) {
  packed::Recognised recognised;
  if (packed::may_be_packed(stored))
    recognised = packed::recognise(stored, config_beside(source, call), metadata);
  else
    for (const auto& t : stored) recognised.plain.push_back(&t);
  std::vector<Weight> weights;
  weights.reserve(recognised.plain.size() + recognised.packed.size());
  for (const auto* t : recognised.plain) weights.push_back({t->name, t, nullptr});
  for (const auto& p : recognised.packed) weights.push_back({p.name, nullptr, &p});
  sort_by_name(weights);
  loading::WeightTree tree(graph);
  size_t without_type = 0;
  for (const auto& w : weights) {
    if (w.packed) {
      push(*w.packed, tree);
      continue;
    }
    const auto& t = *w.plain;
    auto d = description(t);
    const auto dims = t.element.empty() ? std::nullopt : dims_in_torch(t);
    if (dims) d.dims = dims->data();
    if (!dims && !t.element.empty()) d.dtype = TMETER_DTYPE_UNDEFINED;
    tree.add(d, kinds);
    without_type += d.dtype == TMETER_DTYPE_UNDEFINED;
  }
  for (const auto& note : recognised.notes) call.warn(note);
  if (const auto uncertain = kinds.uncertain_kinds(); !uncertain.empty()) call.warn(uncertain);
  if (without_type > 0)
    call.warn(std::to_string(without_type) +
              " tensors have element types that torch does not have (F4 or F6 of odd size): "
              "their elements are not read");
}

}  // namespace safetensors
