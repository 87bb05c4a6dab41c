#include "state_dict.hpp"

#include <unordered_set>

#include "choice.hpp"

namespace checkpoint {
namespace {

constexpr size_t kMaxDictNesting = 64;

/// Walks dicts and lists that hold tensors; each container once, however often it is referred to.
class Walk {
 public:
  Walk(Tensors& tensors, bool everything, Tensors::Visit visit)
      : tensors_(tensors), everything_(everything), visit_(std::move(visit)) {}

  void run(const Value& value, const std::string& name, size_t depth = 0) {
    if (Tensors::is_tensor(value))
      return tensors_.read(value, name.empty() ? "tensor" : name, visit_);
    const bool container = value.is(Kind::kDict) || value.is(Kind::kList) || value.is(Kind::kTuple);
    if (!container || depth > kMaxDictNesting || !seen_.insert(&value).second) return;
    for (const auto& [key, item] : value.items->pairs)
      if (key->is(Kind::kText) || key->is(Kind::kInt)) member(*item, name, key_text(*key), depth);
    for (size_t i = 0; i < value.list().size(); ++i)
      member(*value.list()[i], name, std::to_string(i), depth);
  }

 private:
  static std::string key_text(const Value& key) {
    if (!key.is(Kind::kText)) return std::to_string(key.integer);
    loading::check_name(key.text);
    return std::string(key.text);
  }

  void member(const Value& item, const std::string& name, const std::string& key, size_t depth) {
    const bool holds = item.is(Kind::kDict) || item.is(Kind::kList) || item.is(Kind::kTuple) ||
                       item.is(Kind::kObject);
    const bool skipped = !everything_ && !Tensors::is_tensor(item) && is_beside_model(key);
    if (holds && !skipped) run(item, name.empty() ? key : name + "." + key, depth + 1);
  }

  Tensors& tensors_;
  bool everything_;
  Tensors::Visit visit_;
  std::unordered_set<const Value*> seen_;
};

}  // namespace

tmeter_tensor_desc Describer::describe(const std::string& name, const Tensor& t) {
  tmeter_tensor_desc d{};
  d.name = tmeter::to_abi(name);
  d.dtype = t.dtype.id();
  d.dims = t.dims.data();
  d.strides = t.strides.data();
  d.rank = t.dims.size();
  d.file_offset = -1;
  d.source = shard_;
  without_type_ += !t.dtype.known();
  if (!t.storage) return d;
  // Storages without bytes are no memory that tensors could share.
  key_ = prefix_ + t.storage->key;
  if (t.storage->in_file) d.storage_key = tmeter::to_abi(key_);
  d.storage_offset = t.storage_offset;
  d.file_offset = t.storage->file_offset;
  d.storage_bytes = t.storage->bytes;
  return d;
}

std::vector<std::string> push_state_dict(const Value& dict, bool everything, Tensors& tensors,
                                         Describer& describer, loading::WeightTree& tree) {
  std::vector<std::string> names;
  const auto visit = [&](const std::string& name, const Tensor& t) {
    const auto desc = describer.describe(name, t);
    t.is_parameter ? tree.add_parameter(desc, t.requires_grad) : tree.add(desc);
    names.push_back(name);
  };
  Walk(tensors, everything, visit).run(dict, "");
  return names;
}

}  // namespace checkpoint
