#include "state_dict.hpp"

#include <unordered_set>

#include "../common/bad_file.hpp"
#include "choice.hpp"
#include "tensors.hpp"

namespace checkpoint {
namespace {

constexpr size_t kMaxDictNesting = 64;

/// Visits dicts and lists that hold tensors, each once even if many containers share it.
class Walk {
 public:
  using Found = std::function<void(const Value& tensor, const std::string& name)>;
  Walk(bool everything, Found found, std::vector<std::string>& left_out)
      : everything_(everything), found_(std::move(found)), left_out_(left_out) {}

  void run(const Value& value, const std::string& name, size_t depth = 0) {
    if (Tensors::is_tensor(value)) return found_(value, name.empty() ? "tensor" : name);
    if (!is_container(value) || depth > kMaxDictNesting || !seen_.insert(&value).second) return;
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
    const bool skipped = !everything_ && !Tensors::is_tensor(item) && is_beside_model(key);
    if (skipped || !(is_container(item) || item.is(Kind::kObject))) return;
    const auto full = name.empty() ? key : name + "." + key;
    if (Tensors::is_tensor(item) || is_container(item)) return run(item, full, depth + 1);
    if (!weights_.in(item)) return;
    if (item.is_placeholder) refuse_placeholder(item, "entry " + loading::in_quotes(full));
    left_out_.push_back(loading::in_quotes(full) + " (" +
                        loading::shown(item.items->callable->text) + ")");
  }

  bool everything_;
  Found found_;
  std::vector<std::string>& left_out_;
  HiddenWeights weights_;
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
  // Tensors cannot share empty storages.
  key_ = prefix_ + t.storage->key;
  if (t.storage->in_file) d.storage_key = tmeter::to_abi(key_);
  d.storage_offset = t.storage_offset;
  d.file_offset = t.storage->file_offset;
  d.storage_bytes = t.storage->bytes;
  return d;
}

StateDict push_state_dict(const Value& dict, bool everything, Tensors& tensors,
                          Describer& describer, loading::TensorKinds& kinds,
                          loading::WeightTree& tree) {
  StateDict out;
  std::vector<std::string> again;
  Walk(
      everything, [&](const Value&, const std::string& name) { kinds.note(name); }, again)
      .run(dict, "");
  const auto visit = [&](const std::string& name, const Tensor& t) {
    const auto desc = describer.describe(name, t);
    t.is_parameter ? tree.add_parameter(desc, t.requires_grad) : tree.add(desc, kinds);
    out.names.push_back(name);
  };
  const auto read = [&](const Value& tensor, const std::string& name) {
    tensors.read(tensor, name, visit);
  };
  Walk(everything, read, out.left_out).run(dict, "");
  return out;
}

}  // namespace checkpoint
